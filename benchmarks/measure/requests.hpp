// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/floor.hpp>

#include "../options.hpp"

namespace warpheap::bench {

/// A well-mixed function of `value` (the finaliser of SplitMix64).
WARPHEAP_FN constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// Who asks for how much in one round. Computed, not stored, so that a kernel which asks reads nothing beside the
/// allocator's own data; the host computes the same, and so does every allocator's run.
struct requests {
  std::uint64_t count;  ///< requests, numbered from 0
  std::uint64_t size;   ///< bytes; the upper bound in mode `mixed`
  std::uint64_t salt;   ///< what random sizes are drawn from
  request_mode mode;

  /// The requests of round `round` of a run.
  static requests of_round(const run_options& run, std::uint64_t round) {
    return {run.threads, run.size, mix(run.seed ^ mix(round)), run.mode};
  }

  /// Bytes of request `index`.
  WARPHEAP_FN std::uint64_t bytes(std::uint64_t index) const {
    if (mode != request_mode::mixed) return size;
    return 4 * (1 + mix(salt ^ index) % (size / 4));
  }

  /// The grid in which each request has a thread of its own: in mode `warp`, the first lane of a warp.
  grid_shape grid() const { return grid_shape::covering(mode == request_mode::warp ? count * warp_width : count); }

  /// The number of the caller's request, or `none` if it has none to make.
  WARPHEAP_FN std::uint64_t mine() const {
    std::uint64_t index = grid_thread_index();
    if (mode == request_mode::warp) {
      if (lane_index() != 0) return none;
      index /= static_cast<std::uint64_t>(warp_width);
    }
    return index < count ? index : none;
  }

  static constexpr std::uint64_t none = ~std::uint64_t{0};
};

}  // namespace warpheap::bench
