// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <warpheap/platform.hpp>

#include "../options.hpp"

namespace warpheap::bench {

/// Which lanes ask for memory, and for how much.
enum class request_mode {
  thread,  ///< each thread asks for `size` bytes
  warp,    ///< one lane of each warp asks for `size` bytes
  mixed    ///< each thread asks for a random multiple of four from 4 to `size` bytes
};

/// The modes of cases that differ in this alone.
inline constexpr case_mode asks_by_thread{"thread", "each thread asks for the same size"};
inline constexpr case_mode asks_by_warp{"warp", "one lane of each warp asks"};
inline constexpr case_mode asks_for_mixed_sizes{"mixed", "each thread asks for a random multiple of 4 from 4 to size"};

/// The requests that a case's mode of that name makes: `thread` unless it is one of the other two.
inline request_mode request_mode_of(std::string_view mode) {
  if (mode == asks_by_warp.name) return request_mode::warp;
  return mode == asks_for_mixed_sizes.name ? request_mode::mixed : request_mode::thread;
}

/// The requests of one round: which threads ask, and for how much. They are computed, not stored,
/// so that a kernel which asks reads nothing beside the allocator's own data. The host, and each
/// allocator's run, compute the same requests.
struct requests {
  std::uint64_t count;  ///< requests, numbered from 0
  std::uint64_t size;   ///< bytes; the upper bound in mode `mixed`
  std::uint64_t salt;   ///< what random sizes are drawn from
  request_mode mode;
  std::uint64_t least = 4;  ///< the lower bound in mode `mixed`

  /// The requests of round `round` of a run.
  static requests of_round(const run_options& run, std::uint64_t round) {
    return {
        .count = run.threads, .size = run.size, .salt = mix(run.seed ^ mix(round)), .mode = request_mode_of(run.mode)};
  }

  /// Bytes of request `index`.
  WARPHEAP_FN std::uint64_t bytes(std::uint64_t index) const {
    if (mode != request_mode::mixed) return size;
    // The upper half of a random number times the count of sizes: a division would cost a kernel
    // more than a malloc does.
    return least + 4 * ((mix(salt ^ index) >> 32) * ((size - least) / 4 + 1) >> 32);
  }

  /// The grid in which each request has a thread of its own: in mode `warp`, the first lane of a warp.
  grid_shape grid() const { return grid_shape::covering(mode == request_mode::warp ? count * warp_width : count); }

  /// Whether the caller has a request to make; `index` is its number.
  WARPHEAP_FN bool makes(std::uint64_t& index) const {
    index = grid_thread_index();
    if (mode == request_mode::warp) {
      if (lane_index() != 0) return false;
      index /= static_cast<std::uint64_t>(warp_width);
    }
    return index < count;
  }

  /// The number of the caller's request, or `none` if it has none to make.
  WARPHEAP_FN std::uint64_t mine() const {
    std::uint64_t index = 0;
    return makes(index) ? index : none;
  }

  static constexpr std::uint64_t none = ~std::uint64_t{0};
};

}  // namespace warpheap::bench
