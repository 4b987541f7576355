// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap::detail {

/// Device memory that a workspace keeps between calls. It only grows, and contents do not survive a growth.
template <class T>
class scratch {
 public:
  /// Makes room for `count` elements. An eighth is added, so a graph that grows slowly seldom costs an allocation.
  void reserve(std::uint64_t count) {
    if (count > memory_.size()) memory_ = device_array<T>(count + count / 8);
  }
  /// Makes room for `count` elements, and the bytes of these zero.
  void reserve_zeros(std::uint64_t count) {
    reserve(count);
    device_fill(memory_.data(), 0, count * sizeof(T));
  }

  T* data() const { return memory_.data(); }             ///< the first element, in device memory
  std::uint64_t room() const { return memory_.size(); }  ///< elements that fit
  /// Copies `count` elements from `first` on to the host; waits for all launches.
  void read(T* into, std::uint64_t first, std::uint64_t count) const {
    device_copy(into, memory_.data() + first, count * sizeof(T));
  }

 private:
  device_array<T> memory_{0};
};

}  // namespace warpheap::detail
