# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The C interface <warpheap/graph/graph.h>, which is compiled, a file for each design: warpheap::graph over the host's
# memory, and where there is nvcc warpheap::graph_cuda over a GPU's. Both are shared libraries that other languages
# load, in lib/ of the build folder; they export the functions of the header and nothing else.

if(NOT WARPHEAP_GRAPH_LIBRARY)
  return()
endif()

set(warpheap_graph_sources "")
foreach(
  source
  IN
  ITEMS algorithms bulk interface ouroboros_va_p warp_slab
)
  list(APPEND warpheap_graph_sources "${PROJECT_SOURCE_DIR}/src/graph/${source}.cpp")
endforeach()

function(warpheap_graph_library target)
  add_library(${target} SHARED ${ARGN})
  set(exports "${PROJECT_SOURCE_DIR}/src/graph/graph.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}")
  set_target_properties(
    ${target}
    PROPERTIES
      LINK_DEPENDS "${exports}"
      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
      CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON
  )
  target_include_directories(
    ${target}
    INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  )
endfunction()

if(WARPHEAP_HOST)
  warpheap_graph_library(warpheap_graph_host ${warpheap_graph_sources})
  add_library(warpheap::graph_host ALIAS warpheap_graph_host)
  set_target_properties(warpheap_graph_host PROPERTIES EXPORT_NAME graph_host)
  target_link_libraries(warpheap_graph_host PRIVATE warpheap)
  if(TARGET warpheap_warnings)
    target_link_libraries(warpheap_graph_host PRIVATE "$<BUILD_INTERFACE:warpheap_warnings>")
  endif()
  if(WARPHEAP_INSTALL)
    install(TARGETS warpheap_graph_host EXPORT warpheap_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endif()

# Nobody gets the one for a GPU unasked: nvcc takes minutes for it. Its test links the objects, for test programs travel
# to the machine with the GPU without the libraries of their build folder.
if(WARPHEAP_WITH_CUDA AND TARGET warpheap_own)
  warpheap_cuda_sources(warpheap_graph_cuda graph_wrappers ${warpheap_graph_sources})
  add_library(warpheap_graph_cuda_objects OBJECT EXCLUDE_FROM_ALL ${graph_wrappers})
  set_target_properties(
    warpheap_graph_cuda_objects
    PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
  )
  target_link_libraries(warpheap_graph_cuda_objects PRIVATE warpheap_own)
  warpheap_graph_library(warpheap_graph_cuda EXCLUDE_FROM_ALL)
  add_library(warpheap::graph_cuda ALIAS warpheap_graph_cuda)
  set_target_properties(warpheap_graph_cuda PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Static)
  target_link_libraries(warpheap_graph_cuda PRIVATE warpheap_graph_cuda_objects)
endif()
