# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Tests that build tests/consumer/ against the library, installed and as a subdirectory: `consumer_<way>_<backend>`. The
# host program is run too; that for CUDA needs nvcc and no GPU, so its label is `toolkit`.

function(warpheap_add_consumer_test way backend label)
  cmake_parse_arguments(PARSE_ARGV 3 arg "RUN" "LANGUAGE" "")
  set(name consumer_${way}_${backend})
  list(GET CMAKE_CUDA_ARCHITECTURES 0 architecture)
  add_test(
    NAME ${name}
    COMMAND
      "${CMAKE_COMMAND}" "-DWAY=${way}" "-DLANGUAGE=${arg_LANGUAGE}" "-DRUN=${arg_RUN}" "-DARCHITECTURE=${architecture}"
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
  endif()
endforeach()
