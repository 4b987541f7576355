# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# What a user can set, and the checks that a wrong value fails.

# Declares the cache variable `name` and stops with the right names when it holds another value.
function(warpheap_choice name default help)
  set(${name} "${default}" CACHE STRING "${help}")
  set_property(CACHE ${name} PROPERTY STRINGS ${ARGN})
  if(NOT "${${name}}" IN_LIST ARGN)
    list(JOIN ARGN "', '" choices)
    message(FATAL_ERROR "${name} is '${${name}}'; use one of '${choices}'.")
  endif()
endfunction()

warpheap_choice(WARPHEAP_CUDA AUTO "Build CUDA programs: AUTO does where nvcc is found" AUTO ON OFF)
warpheap_choice(WARPHEAP_SANITIZE "" "Sanitizer of host programs; address brings UBSan along" "" address thread)
warpheap_choice(WARPHEAP_HOST_WARP_WIDTH 32 "Lanes of a warp on the host executor" 32 4 1)
warpheap_choice(WARPHEAP_FIBER native "How the host executor switches lanes" native ucontext)

option(WARPHEAP_HOST "Build the host executor and host programs" ON)
option(WARPHEAP_CHECKED "Check the invariants of our own code as it runs" OFF)
option(WARPHEAP_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(WARPHEAP_BUILD_BENCHMARKS "Build the benchmark driver" ${PROJECT_IS_TOP_LEVEL})
option(WARPHEAP_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(WARPHEAP_GRAPH_LIBRARY "Build the shared library of dynamic graphs" ${PROJECT_IS_TOP_LEVEL})
option(WARPHEAP_HEAP_LIBRARY "Build the shared library of heaps" ${PROJECT_IS_TOP_LEVEL})
option(WARPHEAP_POOL_LIBRARY "Build the shared library of pools in stream order" ${PROJECT_IS_TOP_LEVEL})
option(WARPHEAP_RUN_LIBRARY "Build the shared library of `warpheap run`" ${PROJECT_IS_TOP_LEVEL})
# Many small translation units spend most of their time in the same headers; but after an edit one is built faster.
set(whole_programs OFF)
if(WARPHEAP_SANITIZE)
  set(whole_programs ON)
endif()
option(WARPHEAP_WHOLE_PROGRAMS "Compile all files of a host test as one translation unit" ${whole_programs})
option(
  WARPHEAP_PRECOMPILED_HEADERS
  "Compile headers that many host programs share once, with WARPHEAP_WHOLE_PROGRAMS; not together with ccache"
  ON
)
# Where no GPU can run the CUDA tests that instantiate every design, some stand for all.
set(WARPHEAP_CUDA_SUITES "" CACHE STRING "Designs that such CUDA tests are built for; empty: all of them")
# The environment decides at first, so every command that configures a build can try them.
set(try_untested OFF)
if(DEFINED ENV{WARPHEAP_TRY_UNTESTED_DESIGNS})
  set(try_untested "$ENV{WARPHEAP_TRY_UNTESTED_DESIGNS}")
endif()
option(
  WARPHEAP_TRY_UNTESTED_DESIGNS
  "CUDA programs of designs that the registry lists for the host only"
  ${try_untested}
)
option(WARPHEAP_INSTALL "Add the rules of `cmake --install`" ${PROJECT_IS_TOP_LEVEL})

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(WARPHEAP_CCACHE ccache)
  mark_as_advanced(WARPHEAP_CCACHE)
  foreach(language IN ITEMS CXX CUDA)
    if(WARPHEAP_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${WARPHEAP_CCACHE}")
    endif()
  endforeach()
  set(CMAKE_CXX_EXTENSIONS OFF)
endif()

# What is edited often is compiled without them, so that each file is seen to include what it uses. With its default
# settings ccache keeps no object that was made with them. Under ThreadSanitizer GCC 12 warns of the standard library's
# own strings if these come from a precompiled header.
if(NOT WARPHEAP_WHOLE_PROGRAMS OR WARPHEAP_CCACHE OR WARPHEAP_SANITIZE STREQUAL "thread")
  set(WARPHEAP_PRECOMPILED_HEADERS OFF)
endif()
