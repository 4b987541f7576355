# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Reads the registry of allocators and makes sources for each of them.

set(registry "${PROJECT_SOURCE_DIR}/include/warpheap/designs/registry.def")
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${registry}")

# The designs in registry order: all, those that run on a GPU only, and those that run on the host only.
# WARPHEAP_HEADER_OF_<name> is a design's header.
set(WARPHEAP_DESIGNS "")
set(WARPHEAP_CUDA_DESIGNS "")
set(WARPHEAP_HOST_DESIGNS "")
file(STRINGS "${registry}" lines REGEX "^WARPHEAP_")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^WARPHEAP_(CUDA_|HOST_)?DESIGN\\(([a-z0-9_]+), ([a-z0-9_/]+\\.hpp)\\)$")
    message(FATAL_ERROR "${registry}: '${line}' is not written as the head of the file says.")
  endif()
  list(APPEND WARPHEAP_DESIGNS ${CMAKE_MATCH_2})
  if(CMAKE_MATCH_1)
    list(APPEND WARPHEAP_${CMAKE_MATCH_1}DESIGNS ${CMAKE_MATCH_2})
  endif()
  set(WARPHEAP_HEADER_OF_${CMAKE_MATCH_2} "warpheap/designs/${CMAKE_MATCH_3}")
endforeach()

# How warpheap_add_test names the sources of tests of a design that no GPU has tested.
set(WARPHEAP_UNTESTED_SOURCES HOST_SOURCES)
if(WARPHEAP_TRY_UNTESTED_DESIGNS)
  set(WARPHEAP_HOST_DESIGNS "")
  set(WARPHEAP_UNTESTED_SOURCES SOURCES)
endif()
set(WARPHEAP_DESIGNS_ON_CUDA "")
foreach(design IN LISTS WARPHEAP_DESIGNS)
  if(NOT design IN_LIST WARPHEAP_HOST_DESIGNS)
    list(APPEND WARPHEAP_DESIGNS_ON_CUDA ${design})
  endif()
endforeach()

# warpheap_configure_for(<design> <template> <file>)
#
# Writes <file> from <template>, with the design's name for @ALLOCATOR@ and its header for @HEADER@.
function(warpheap_configure_for ALLOCATOR template file)
  set(HEADER ${WARPHEAP_HEADER_OF_${ALLOCATOR}})
  configure_file("${template}" "${file}" @ONLY)
endfunction()

# warpheap_instantiate(<template> HOST <variable> CUDA <variable>)
#
# Writes one C++ source for each design, by `warpheap_configure_for`. The variables get the sources for a host program
# and for a CUDA program. The template is a path below the current source folder.
function(warpheap_instantiate template)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HOST;CUDA" "")
  get_filename_component(stem "${template}" NAME_WE)
  set(${arg_HOST} "")
  set(${arg_CUDA} "")
  foreach(ALLOCATOR IN LISTS WARPHEAP_DESIGNS)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${stem}/${stem}_${ALLOCATOR}.cpp")
    warpheap_configure_for(${ALLOCATOR} "${template}" "${source}")
    if(NOT ALLOCATOR IN_LIST WARPHEAP_HOST_DESIGNS)
      list(APPEND ${arg_CUDA} "${source}")
    endif()
    if(NOT ALLOCATOR IN_LIST WARPHEAP_CUDA_DESIGNS)
      list(APPEND ${arg_HOST} "${source}")
    endif()
  endforeach()
  return(PROPAGATE ${arg_HOST} ${arg_CUDA})
endfunction()
