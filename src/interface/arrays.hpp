// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "guard.hpp"

// Arrays in device memory, for callers that have no library of their own for them.

namespace warpheap::interface {

/// Device memory of the current device in `*array`.
inline void array_make(std::uint64_t bytes, void** array) {
  require(array != nullptr, "there is no place for the array's pointer");
  *array = device_allocate(std::max<std::uint64_t>(bytes, 1));
}

inline void array_end(void* array) noexcept {
  static_cast<void>(guarded([&] { device_release(array); }));
}

inline void array_copy(void* to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  require(to != nullptr && from != nullptr, "an array is null and its size is not 0");
  device_copy(to, from, bytes);
}

/// Waits for what a stream of the current device was given.
inline void await_stream(std::uint64_t stream) {
  device_streams::event mark;
  device_streams::record(mark, reinterpret_cast<device_streams::stream>(stream));
  device_streams::synchronise(mark);
}

/// A kernel that writes what the rule makes of each element.
template <class To, class From, class Rule>
struct convert_all {
  To* to;
  const From* from;
  std::uint64_t count;

  WARPHEAP_FN void operator()() const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      to[i] = Rule{}(from[i]);
    }
  }
};

/// A grid that goes through `count` elements, with no more blocks than the device can run.
inline grid_shape grid_for(std::uint64_t count) {
  const std::uint64_t most = std::uint64_t{describe_machine().multiprocessors} * 8;
  return {std::min(divide_up(count, 256), most), 256};
}

/// Writes what the rule makes of each element.
template <class Rule, class To, class From>
void convert(To* to, const From* from, std::uint64_t count) {
  if (count == 0) return;
  require(to != nullptr && from != nullptr, "an array is null and its size is not 0");
  launch(grid_for(count), convert_all<To, From, Rule>{to, from, count});
  synchronise();
}

/// Numbers of 32 bits as those of 64.
struct widen {
  WARPHEAP_FN std::uint64_t operator()(std::uint32_t number) const { return number; }
};

}  // namespace warpheap::interface
