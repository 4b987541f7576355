// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform.hpp>

namespace warpheap::target {

template <class T>
std::uint64_t sum_work(std::uint32_t) {
  return 1;
}

template <class T>
void sum(work_memory, const T* values, T* sums, std::uint32_t count) {
  T before{};
  for (std::uint32_t i = 0; i < count; ++i) {
    const T value = values[i];  // read first, as `sums` may be the same array
    sums[i] = before;
    before = static_cast<T>(before + value);
  }
}

}  // namespace warpheap::target
