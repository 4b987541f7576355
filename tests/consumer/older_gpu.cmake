# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Compiles for a GPU that is too old, which fails with an error that names the least compute capability. nvcc 13
# compiles for no such GPU, so the macros of one that does are set by hand.
#
#   cmake -D CXX=<C++ compiler> -D INCLUDE=<our headers> -D FOLDER=<for the try> -P older_gpu.cmake

file(REMOVE_RECURSE "${FOLDER}")
file(WRITE "${FOLDER}/older.cpp" "#define __CUDACC__\n#define __CUDA_ARCH__ 700\n#include <warpheap.hpp>\n")
execute_process(
  COMMAND "${CXX}" -std=c++20 -fsyntax-only "-I${INCLUDE}" "${FOLDER}/older.cpp"
  RESULT_VARIABLE result
  ERROR_VARIABLE text
)
if(result EQUAL 0 OR NOT text MATCHES "compile for sm_75 or newer")
  message(FATAL_ERROR "Compiling for sm_70 ended with ${result} and did not name sm_75:\n${text}")
endif()
