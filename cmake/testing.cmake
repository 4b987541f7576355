# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# One call declares a test: a host executable and a CUDA executable from the same source, both known to ctest.

include_guard(GLOBAL)
include(googletest)

# warpheap_register_test(<target> <backend> [LABELS <label>...] [TIMEOUT <seconds>])
#
# Tells ctest of a built program. Labels are the backend and the given ones, so `ctest -L host` runs what any machine
# can run and `ctest -L cuda` what needs a GPU.
function(warpheap_register_test target backend)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT" "LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${backend};${arg_LABELS}")
  if(backend STREQUAL "cuda")
    set_tests_properties(${target} PROPERTIES RESOURCE_LOCK gpu)
  endif()
endfunction()

# warpheap_add_test(<layer> <behaviour> [HOST_ONLY] [CUDA_ONLY] [SOURCE <file>] [LABELS <label>...] [TIMEOUT <seconds>]
#                   [LIBRARIES <target>...])
#
# Builds <behaviour>_test.cpp, or <file>, as `<layer>_<behaviour>_host` and `<layer>_<behaviour>_cuda`. The label <layer>
# is added. TIMEOUT is what a healthy run stays far below on two cores under a sanitizer; 300 unless given.
function(warpheap_add_test layer behaviour)
  cmake_parse_arguments(PARSE_ARGV 2 arg "HOST_ONLY;CUDA_ONLY" "SOURCE;TIMEOUT" "LABELS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpheap_add_test(${layer} ${behaviour}): unknown arguments '${arg_UNPARSED_ARGUMENTS}'.")
  endif()
  if(NOT arg_SOURCE)
    set(arg_SOURCE "${behaviour}_test.cpp")
  endif()
  foreach(backend IN ITEMS host cuda)
    set(target ${layer}_${behaviour}_${backend})
    if(backend STREQUAL "host" AND WARPHEAP_HOST AND NOT arg_CUDA_ONLY)
      warpheap_host_program(${target} SOURCES "${arg_SOURCE}" LIBRARIES GTest::gtest_main ${arg_LIBRARIES})
    elseif(backend STREQUAL "cuda" AND WARPHEAP_WITH_CUDA AND NOT arg_HOST_ONLY)
      warpheap_cuda_program(${target} SOURCES "${arg_SOURCE}" LIBRARIES GTest::gtest_main ${arg_LIBRARIES})
    else()
      continue()
    endif()
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests" "${CMAKE_CURRENT_SOURCE_DIR}")
    warpheap_register_test(${target} ${backend} LABELS ${layer} ${arg_LABELS} TIMEOUT ${arg_TIMEOUT})
  endforeach()
endfunction()

# warpheap_add_allocator_tests(<behaviour> TEMPLATE <file> [LABELS <label>...] [TIMEOUT <seconds>])
#
# Declares one test for each registered allocator: `allocators_<behaviour>_<allocator>`, from <file> with @ALLOCATOR@
# replaced. Those that need a GPU get the CUDA program only.
function(warpheap_add_allocator_tests behaviour)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TEMPLATE;TIMEOUT" "LABELS;LIBRARIES")
  warpheap_registered_allocators(both cuda_only)
  foreach(ALLOCATOR IN LISTS both cuda_only)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${behaviour}/${behaviour}_${ALLOCATOR}.cpp")
    configure_file("${arg_TEMPLATE}" "${source}" @ONLY)
    set(only "")
    if(ALLOCATOR IN_LIST cuda_only)
      set(only CUDA_ONLY)
    endif()
    if(WARPHEAP_CUDA_SUITES AND NOT ALLOCATOR IN_LIST WARPHEAP_CUDA_SUITES)
      if(only)
        continue()
      endif()
      set(only HOST_ONLY)
    endif()
    warpheap_add_test(
      allocators
      ${behaviour}_${ALLOCATOR}
      ${only}
      SOURCE "${source}"
      LABELS ${behaviour} ${arg_LABELS}
      TIMEOUT ${arg_TIMEOUT}
      LIBRARIES ${arg_LIBRARIES}
    )
  endforeach()
endfunction()

# warpheap_add_conformance([TIMEOUT <seconds>])
#
# The conformance suite, instantiated for each registered allocator from conformance/instance.cpp.in.
function(warpheap_add_conformance)
  warpheap_add_allocator_tests(conformance TEMPLATE conformance/instance.cpp.in ${ARGN})
endfunction()
