// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <warpheap/primitives/scratch.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/primitives/cuda/sum.hpp>
#else
#include <warpheap/primitives/host/sum.hpp>
#endif

namespace warpheap {

/// Bytes of memory to work in that `exclusive_sum` needs for `count` numbers.
template <std::unsigned_integral T>
std::uint64_t exclusive_sum_work(std::uint32_t count) {
  return target::sum_work<T>(count);
}
/// Sets `sums[i]` to the sum of `values[0]` to `values[i - 1]`, modulo the range of `T`, for each `i` below `count`.
/// The two arrays may be one.
template <std::unsigned_integral T>
void exclusive_sum(work_memory work, const T* values, T* sums, std::uint32_t count) {
  if (count != 0) target::sum(work, values, sums, count);
}

}  // namespace warpheap
