# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Target headers_alone: compiles each public header by itself, so that none leans on what was included before it.

file(
  GLOB_RECURSE headers
  CONFIGURE_DEPENDS
  RELATIVE "${PROJECT_SOURCE_DIR}/include"
  "${PROJECT_SOURCE_DIR}/include/*.hpp"
)
list(FILTER headers EXCLUDE REGEX "/detail/|/(platform|primitives)/(cuda|host)/")

# sources_of(<header>...): a translation unit for each, in the caller's `sources`.
function(sources_of)
  set(sources "")
  foreach(header IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "${header}" name)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/headers_alone/${name}.cpp")
    # Twice: a header can be included again.
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND sources "${source}")
  endforeach()
  return(PROPAGATE sources)
endfunction()

add_custom_target(headers_alone)
if(WARPHEAP_HOST AND NOT WARPHEAP_SANITIZE)
  # nvtx_adaptor includes a header of the toolkit; its test compiles it where there is one.
  set(on_host ${headers})
  list(FILTER on_host EXCLUDE REGEX "/adaptors/nvtx")
  sources_of(${on_host})
  add_library(headers_alone_host OBJECT ${sources})
  target_link_libraries(headers_alone_host PRIVATE warpheap_own)
  add_dependencies(headers_alone headers_alone_host)
endif()
if(WARPHEAP_WITH_CUDA)
  # No header above the platform has text for one compiler alone (an #if), but for those that keep designs which no GPU
  # has tested out of CUDA programs. So the others lean on the same with nvcc as without,
  # and the outermost ones bring all of them in. Those that use the toolkit for themselves are compiled, too. What is
  # to be linked has a test of its own.
  list(FILTER headers EXCLUDE REGEX "/device_hot")
  list(
    FILTER headers
    INCLUDE
    REGEX "^warpheap[^/]*$|^warpheap/[^/]*$|^warpheap/platform/|/cuda_malloc/|/adaptors/(cccl|nvtx)"
  )
  sources_of(${headers})
  warpheap_cuda_sources(headers_alone_cuda wrappers ${sources})
  add_library(headers_alone_cuda OBJECT ${wrappers})
  target_link_libraries(headers_alone_cuda PRIVATE warpheap_own)
  list(GET CMAKE_CUDA_ARCHITECTURES 0 one_architecture)
  set_target_properties(headers_alone_cuda PROPERTIES CUDA_ARCHITECTURES ${one_architecture})
  add_dependencies(headers_alone headers_alone_cuda)
endif()
