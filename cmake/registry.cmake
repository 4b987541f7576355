# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Reads the registry of allocators and makes sources for each of them.

# warpheap_registered_allocators(<both_variable> <cuda_variable>)
#
# Sets the first variable to the allocators that run on both backends and the second to those that need a GPU, in
# registry order.
function(warpheap_registered_allocators both_variable cuda_variable)
  set(registry "${PROJECT_SOURCE_DIR}/include/warpheap/allocators/registry.hpp")
  set(${both_variable} "")
  set(${cuda_variable} "")
  if(EXISTS "${registry}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${registry}")
    file(STRINGS "${registry}" lines)
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "//.*" "" line "${line}")
      string(REGEX MATCHALL "(cuda_)?entry\\([a-z0-9_]+\\)" entries "${line}")
      foreach(entry IN LISTS entries)
        string(REGEX MATCH "\\(([a-z0-9_]+)\\)" _ "${entry}")
        set(name "${CMAKE_MATCH_1}") # the next match overwrites it
        if(entry MATCHES "^cuda_")
          list(APPEND ${cuda_variable} "${name}")
        else()
          list(APPEND ${both_variable} "${name}")
        endif()
      endforeach()
    endforeach()
  endif()
  return(PROPAGATE ${both_variable} ${cuda_variable})
endfunction()

# warpheap_instantiate(<template> HOST <variable> CUDA <variable>)
#
# Writes one C++ source for each registered allocator: <template> with @ALLOCATOR@ replaced. The variables get the
# sources for a host program and for a CUDA program. The template is a path below the current source folder.
function(warpheap_instantiate template)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HOST;CUDA" "")
  warpheap_registered_allocators(both cuda_only)
  get_filename_component(stem "${template}" NAME_WE)
  set(${arg_HOST} "")
  set(${arg_CUDA} "")
  foreach(ALLOCATOR IN LISTS both cuda_only)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${stem}/${stem}_${ALLOCATOR}.cpp")
    configure_file("${template}" "${source}" @ONLY)
    list(APPEND ${arg_CUDA} "${source}")
    if(ALLOCATOR IN_LIST both)
      list(APPEND ${arg_HOST} "${source}")
    endif()
  endforeach()
  return(PROPAGATE ${arg_HOST} ${arg_CUDA})
endfunction()
