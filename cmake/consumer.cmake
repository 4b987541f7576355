# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Tests that build the projects of tests/consumer/ against the library, installed and as a subdirectory:
# `consumer_<way>_<what>`. The host program is run too; those for CUDA need nvcc and no GPU, so their label is
# `toolkit`.

function(warpheap_add_consumer_test way backend label)
  cmake_parse_arguments(PARSE_ARGV 3 arg "RUN" "LANGUAGE;PROJECT;OPTION;REFUSED;HOLDS" "")
  set(name consumer_${way}_${backend})
  list(GET CMAKE_CUDA_ARCHITECTURES 0 architecture)
  add_test(
    NAME ${name}
    COMMAND
      "${CMAKE_COMMAND}" "-DWAY=${way}" "-DLANGUAGE=${arg_LANGUAGE}" "-DRUN=${arg_RUN}" "-DARCHITECTURE=${architecture}"
      "-DPROJECT=${arg_PROJECT}" "-DOPTION=${arg_OPTION}" "-DREFUSED=${arg_REFUSED}" "-DHOLDS=${arg_HOLDS}"
      "-DGENERATOR=${CMAKE_GENERATOR}" "-DBUILD=${PROJECT_BINARY_DIR}" "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/${name}" -P
      "${PROJECT_SOURCE_DIR}/tests/consumer/try_consumer.cmake"
  )
  set_tests_properties(${name} PROPERTIES LABELS "${label};consumer" TIMEOUT 300)
endfunction()

foreach(way IN ITEMS package subdirectory)
  if(WARPHEAP_HOST AND NOT WARPHEAP_SANITIZE)
    warpheap_add_consumer_test(${way} host host LANGUAGE CXX RUN)
  endif()
  if(WARPHEAP_WITH_CUDA)
    warpheap_add_consumer_test(${way} cuda toolkit LANGUAGE CUDA)
    warpheap_add_consumer_test(${way} mixed toolkit LANGUAGE CUDA PROJECT mixed RUN)
  endif()
endforeach()

if(WARPHEAP_WITH_CUDA)
  # One way only, since each compiles the drop-in.
  warpheap_add_consumer_test(package dropin toolkit LANGUAGE CUDA PROJECT dropin RUN HOLDS __wrap___cudaLaunchKernel)
  warpheap_add_consumer_test(whole_package cuda_only toolkit LANGUAGE CUDA PROJECT cuda_only)
  warpheap_add_consumer_test(
    package
    two_backends
    toolkit
    LANGUAGE CUDA
    PROJECT mixed
    OPTION -DCONSUMER_TARGET=warpheap::warpheap
    REFUSED warpheap_this_program_mixes_the_CUDA_backend_with_the_host_backend
  )
endif()

add_test(
  NAME consumer_older_gpu
  COMMAND
    "${CMAKE_COMMAND}" "-DCXX=${CMAKE_CXX_COMPILER}" "-DINCLUDE=${PROJECT_SOURCE_DIR}/include"
    "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/consumer_older_gpu" -P "${PROJECT_SOURCE_DIR}/tests/consumer/older_gpu.cmake"
)
set_tests_properties(consumer_older_gpu PROPERTIES LABELS "host;toolkit;consumer" TIMEOUT 300)
