// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <cstdint>
#include <vector>

namespace warpheap::test::run {

static __global__ void fill_kernel(std::uint32_t* words, std::uint64_t count, std::uint32_t value) {
  const std::uint64_t first = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  const std::uint64_t step = gridDim.x * std::uint64_t{blockDim.x};
  for (std::uint64_t i = first; i < count; i += step) words[i] = value;
}

/// Lets a kernel on `stream` set `count` words to `value`.
inline void fill(std::uint32_t* words, std::uint64_t count, std::uint32_t value, cudaStream_t stream = nullptr) {
  fill_kernel<<<4, 128, 0, stream>>>(words, count, value);
}

/// True if each of `count` words is `value` once the work that `stream` has is done.
inline bool is_filled(const std::uint32_t* words, std::uint64_t count, std::uint32_t value,
                      cudaStream_t stream = nullptr) {
  std::vector<std::uint32_t> copy(count);
  if (cudaMemcpyAsync(copy.data(), words, 4 * count, cudaMemcpyDefault, stream) != cudaSuccess) return false;
  if (cudaStreamSynchronize(stream) != cudaSuccess) return false;
  return copy == std::vector<std::uint32_t>(count, value);
}

}  // namespace warpheap::test::run
