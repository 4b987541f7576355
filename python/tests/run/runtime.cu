// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A program of CUDA's runtime for tests of `warpheap run`: what each call answers.

#include <cuda_runtime.h>
#include <cstdio>

int main() {
  void* block = nullptr;
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&block, 1000)));
  std::printf("%s\n", cudaGetErrorName(cudaMallocAsync(&block, 1000, cudaStreamPerThread)));
  std::printf("%s\n", cudaGetErrorName(cudaFree(block)));
}
