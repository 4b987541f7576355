# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Interfaces for C, which are compiled: for NAME, warpheap::NAME_host over the host's memory, and where there is nvcc
# warpheap::NAME_cuda over a GPU's. Both are shared libraries that other languages load, in lib/ of the build folder;
# they export the functions of the interface's header and nothing else.

# warpheap_shared_library(<target> <version script> [EXCLUDE_FROM_ALL] [<source>...])
function(warpheap_shared_library target exports)
  add_library(${target} SHARED ${ARGN})
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

# warpheap_c_library(<name> EXPORTS <version script> SOURCES <file>... [CUDA_SOURCES <file>...] [OVER_DRIVER <file>...])
#
# CUDA_SOURCES are those of the library for a GPU, where they differ. One that starts no kernels names in OVER_DRIVER
# what stands for CUDA's runtime: then SOURCES and these are host code, which nvcc does not read and which no runtime is
# linked to.
function(warpheap_c_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORTS" "SOURCES;CUDA_SOURCES;OVER_DRIVER")
  if(WARPHEAP_HOST)
    set(host warpheap_${name}_host)
    warpheap_shared_library(${host} "${arg_EXPORTS}" ${arg_SOURCES})
    add_library(warpheap::${name}_host ALIAS ${host})
    set_target_properties(${host} PROPERTIES EXPORT_NAME ${name}_host)
    target_link_libraries(${host} PRIVATE warpheap)
    if(TARGET warpheap_warnings)
      target_link_libraries(${host} PRIVATE "$<BUILD_INTERFACE:warpheap_warnings>")
    endif()
    if(WARPHEAP_INSTALL)
      install(TARGETS ${host} EXPORT warpheap_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    endif()
  endif()

  if(NOT WARPHEAP_WITH_CUDA OR NOT TARGET warpheap_own)
    return()
  endif()
  set(cuda warpheap_${name}_cuda)
  if(arg_OVER_DRIVER)
    find_package(CUDAToolkit REQUIRED)
    warpheap_shared_library(${cuda} "${arg_EXPORTS}" ${arg_SOURCES} ${arg_OVER_DRIVER})
    target_link_libraries(${cuda} PRIVATE warpheap_cuda warpheap_warnings)
    target_link_options(${cuda} PRIVATE "LINKER:-z,defs")
    # CMake would have the loader look into the folder of the toolkit, of which the library links nothing.
    set_target_properties(${cuda} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "")
  else()
    # Nobody gets it unasked: nvcc takes minutes for it. Its test links the objects, for test programs travel to the
    # machine with the GPU without the libraries of their build folder.
    if(NOT arg_CUDA_SOURCES)
      set(arg_CUDA_SOURCES ${arg_SOURCES})
    endif()
    warpheap_cuda_sources(${cuda} wrappers ${arg_CUDA_SOURCES})
    add_library(${cuda}_objects OBJECT EXCLUDE_FROM_ALL ${wrappers})
    set_target_properties(
      ${cuda}_objects
      PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
    )
    target_link_libraries(${cuda}_objects PRIVATE warpheap_own)
    warpheap_shared_library(${cuda} "${arg_EXPORTS}" EXCLUDE_FROM_ALL)
    set_target_properties(${cuda} PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Static)
    target_link_libraries(${cuda} PRIVATE ${cuda}_objects)
  endif()
  add_library(warpheap::${name}_cuda ALIAS ${cuda})
  if(WARPHEAP_INSTALL)
    install(FILES "$<TARGET_FILE:${cuda}>" DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL)
  endif()
endfunction()
