// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <warpheap/platform.hpp>

#include "../options.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// In what order blocks are freed: which request's block each thread gives back.
enum class free_order {
  as_allocated,  ///< each thread its own
  reversed,      ///< the first thread the last block
  shuffled,      ///< in no order
  other_block    ///< one that the same thread of another thread block got, half of the grid away
};

/// The modes of a case that runs them.
inline constexpr case_mode frees_as_allocated{"as_allocated", "each thread frees its own block in a later kernel"};
inline constexpr case_mode frees_reversed{"reversed", "the first thread frees the last block, in a later kernel"};
inline constexpr case_mode frees_shuffled{"shuffled", "threads free blocks in no order, in a later kernel"};
inline constexpr case_mode frees_of_other_block{"other_block", "threads free what another thread block asked for"};

/// The order of the mode of that name: `as_allocated` unless it is one of the other three.
inline free_order free_order_of(std::string_view mode) {
  if (mode == frees_reversed.name) return free_order::reversed;
  if (mode == frees_shuffled.name) return free_order::shuffled;
  return mode == frees_of_other_block.name ? free_order::other_block : free_order::as_allocated;
}

/// The block that each thread frees: a bijection of the numbers from 0 to `count - 1`. It is computed, so that a kernel
/// reads nothing to know it.
class freed_block {
 public:
  /// Threads of a block of the grids that `requests` run in.
  static constexpr std::uint64_t block_threads = grid_shape::covering(1).threads;
  /// With fewer requests, some thread of `other_block` has no other block to turn to.
  static constexpr std::uint64_t least_for_other_block = 2 * block_threads;

  /// For `count` requests; `salt` tells one shuffle from another.
  freed_block(free_order order, std::uint64_t count, std::uint64_t salt)
      : order_(order),
        count_(count),
        mask_(next_power_of_two(count) - 1),
        shift_((popcount(mask_) + 1) / 2),
        keys_{mix(salt), mix(salt + 1), mix(salt + 2)} {}

  /// The number of the request whose block thread `index` frees; `index` is less than `count`.
  WARPHEAP_FN std::uint64_t operator()(std::uint64_t index) const {
    switch (order_) {
      case free_order::as_allocated: return index;
      case free_order::reversed: return count_ - 1 - index;
      case free_order::shuffled: return shuffled(index);
      case free_order::other_block: return from_other_block(index);
    }
    return index;
  }

 private:
  // A bijection of the numbers below a power of two that is less than twice `count`: each step has an inverse, since
  // odd numbers have one modulo a power of two. Results that are too large go through it again, which makes it one of
  // the numbers below `count`.
  WARPHEAP_FN std::uint64_t shuffled(std::uint64_t index) const {
    do {
      for (const std::uint64_t key : keys_) {
        index = (index * (key | 1) + (key >> 32)) & mask_;
        index ^= index >> shift_;
      }
    } while (index >= count_);
    return index;
  }

  // Threads of one place in their blocks pass on to each other. Only the last block lacks some of the places.
  WARPHEAP_FN std::uint64_t from_other_block(std::uint64_t index) const {
    const std::uint64_t place = index % block_threads;
    const std::uint64_t blocks = (count_ - place + block_threads - 1) / block_threads;  // that have the place
    std::uint64_t block = index / block_threads + blocks / 2;
    if (block >= blocks) block -= blocks;
    return block * block_threads + place;
  }

  free_order order_;
  std::uint64_t count_;
  std::uint64_t mask_;
  int shift_;
  std::uint64_t keys_[3];
};

}  // namespace warpheap::bench
