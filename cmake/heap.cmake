# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The C interface <warpheap/heap/heap.h>, a file for each design: warpheap::heap_host and warpheap::heap_cuda.

if(NOT WARPHEAP_HEAP_LIBRARY)
  return()
endif()

# Each design is two heaps, one of them checked, for each architecture, and nvcc takes long for each. So the library has
# the default and one design of some families.
set(
  WARPHEAP_HEAP_DESIGNS
  "warp_slab;bump;bulk;ouroboros_va_p;scatter;halloc"
  CACHE STRING
  "Designs of the library of heaps, the default first; `all` is those of the registry"
)
set(designs ${WARPHEAP_HEAP_DESIGNS})
if(designs STREQUAL "all")
  set(designs ${WARPHEAP_DESIGNS})
  list(REMOVE_ITEM designs warp_slab)
  list(PREPEND designs warp_slab)
endif()

# heap_sources(<variable> <folder> <design>...): the sources of a library with these designs.
function(heap_sources variable folder)
  set(${variable} "${PROJECT_SOURCE_DIR}/src/heap/interface.cpp")
  set(DECLARED "")
  set(LISTED "")
  foreach(design IN LISTS ARGN)
    if(NOT design IN_LIST WARPHEAP_DESIGNS)
      list(JOIN WARPHEAP_DESIGNS ", " known)
      message(FATAL_ERROR "WARPHEAP_HEAP_DESIGNS has '${design}'; the registry has ${known}.")
    endif()
    set(source "${PROJECT_BINARY_DIR}/heap_library/${folder}/${design}.cpp")
    warpheap_configure_for(${design} "${PROJECT_SOURCE_DIR}/src/heap/design.cpp.in" "${source}")
    list(APPEND ${variable} "${source}")
    string(APPEND DECLARED "extern const named_design heaps_of_${design};\n")
    list(APPEND LISTED "&heaps_of_${design}")
  endforeach()
  list(JOIN LISTED ", " LISTED)
  list(JOIN ARGN "," NAMES)
  set(source "${PROJECT_BINARY_DIR}/heap_library/${folder}/designs.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/src/heap/designs.cpp.in" "${source}" @ONLY)
  list(APPEND ${variable} "${source}")
  return(PROPAGATE ${variable})
endfunction()

set(host_designs ${designs})
list(REMOVE_ITEM host_designs ${WARPHEAP_CUDA_DESIGNS} "")
set(cuda_designs ${designs})
list(REMOVE_ITEM cuda_designs ${WARPHEAP_HOST_DESIGNS} "")
heap_sources(on_host host ${host_designs})
heap_sources(on_cuda cuda ${cuda_designs})
warpheap_c_library(heap EXPORTS "${PROJECT_SOURCE_DIR}/src/heap/heap.map" SOURCES ${on_host} CUDA_SOURCES ${on_cuda})
