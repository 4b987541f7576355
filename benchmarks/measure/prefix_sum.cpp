// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "prefix_sum.hpp"

#include <cstddef>
#include <functional>
#include <numeric>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <cub/device/device_scan.cuh>
#endif

namespace warpheap::bench {
namespace {

#if defined(WARPHEAP_BACKEND_CUDA)

// With no scratch memory only tells how much it needs, as CUB has it.
std::size_t scan(void* scratch, std::size_t bytes, const std::uint32_t* from, std::uint64_t* to, std::uint64_t count) {
  const cudaError_t code = cub::DeviceScan::ExclusiveScan(scratch, bytes, from, to, ::cuda::std::plus<>{},
                                                          std::uint64_t{0}, static_cast<std::int64_t>(count));
  target::cuda_must(code, "computing a prefix sum");
  return bytes;
}

#else

std::size_t scan(void* scratch, std::size_t bytes, const std::uint32_t* from, std::uint64_t* to, std::uint64_t count) {
  if (scratch != nullptr) std::exclusive_scan(from, from + count, to, std::uint64_t{0}, std::plus<std::uint64_t>{});
  return bytes;
}

#endif

}  // namespace

prefix_sum::prefix_sum(std::uint64_t count) : count_(count), scratch_(scan(nullptr, 0, nullptr, nullptr, count)) {}

void prefix_sum::run(const std::uint32_t* from, std::uint64_t* to) const {
  // An array has memory even if it is of no bytes.
  scan(scratch_.data(), scratch_.size(), from, to, count_);
}

}  // namespace warpheap::bench
