// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <warpheap/platform.hpp>

#include "placement.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// What kernels of `holdings` find.
struct block_sums {
  std::uint64_t blocks;
  std::uint64_t bytes;
  std::uint64_t wrong;            ///< blocks that broke the kernel's rule
  std::uint64_t inverted_place;   ///< the lowest place of those; inverted, as below, so that it only rises from 0
  std::uint64_t inverted_lowest;  ///< the lowest address
  std::uint64_t highest;          ///< the end of the highest block
};

/// What kernels of `holdings` know, in device memory.
struct block_ledger {
  request_stream asked;
  void** blocks;            ///< the block of each place, or null
  std::uint64_t* requests;  ///< the number of the request that it was for
  block_sums* found;
};

/// All blocks that a run holds, over many rounds: too many to copy to the host and sort, so they are judged where they
/// are. A null block is no fault here and counts as not held. Nothing of this belongs into a measured time.
class holdings {
 public:
  struct amount {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;  ///< as they were asked for
  };

  /// Blocks are to be aligned to `alignment`, a power of two of at least 4, and to lie within `most_span` bytes. There
  /// is room for `places` of them, and more is taken as needed.
  holdings(const request_stream& asked, std::uint64_t alignment, std::uint64_t most_span, std::uint64_t places);

  /// Plans a round and makes room for its blocks. `exchanges` of its requests, at most half of them, give a block back
  /// before they ask; fewer do if there are not so many places in use.
  placement plan(std::uint64_t round, std::uint64_t exchanges = 0);

  void** blocks() const { return blocks_.data(); }  ///< the block of each place; `plan` may move them
  std::uint64_t places() const { return places_; }  ///< in use
  const amount& held() const { return held_; }      ///< taken and not given back
  std::uint64_t span_bytes() const { return highest_ <= lowest_ ? 0 : highest_ - lowest_; }  ///< of all ever held

  /// Before a round runs: looks at the blocks that it will give back. They must hold what `fill` wrote. Returns how
  /// much they are; they no longer count as held.
  amount give_back(const placement& where);
  /// After a round: looks at the blocks that its first `count` requests have got, and counts them as held. Returns how
  /// much they are. Only addresses are checked here, so that no fault of them does harm.
  amount take(const placement& where, std::uint64_t round, std::uint64_t count);
  /// Writes all bytes of the blocks that `take` saw, unless there was a fault.
  void fill(const placement& where, std::uint64_t count);

  /// Writes all bytes of all blocks, unless there was a fault.
  void fill_all() { fill(in_order(), places_); }
  /// Checks, exactly, that no two blocks share a byte: each marks its units of `alignment` bytes in a bitmap of the
  /// span. Since each block begins with a unit, two that share one share its first byte.
  void judge_overlap();
  /// Checks that each block holds what `fill` wrote.
  void judge_contents();

  /// One of the blocks that are held; null if none is. For tests: it copies all their addresses.
  void* any_block() const;

  /// What was wrong first; empty if nothing was.
  const std::string& fault() const { return fault_; }

  /// Blocks that are no longer held.
  struct removed {
    amount what;
    device_array<void*> blocks;  ///< one for each place that was in use; null: that place had none, or keeps its own
  };
  /// Takes blocks out of the places: all, or all but about one in `spare`, which `salt` chooses. They must hold what
  /// `fill` wrote. They are not freed: the caller does that.
  removed remove(std::uint64_t spare = 0, std::uint64_t salt = 0);

  /// Forgets all blocks, and where they were.
  void clear();

 private:
  static placement in_order();
  block_ledger known() const { return {asked_, blocks_.data(), requests_.data(), sums_.data()}; }
  block_sums collect();
  void blame(const block_sums& seen, const std::string& what);

  request_stream asked_;
  std::uint64_t alignment_;
  std::uint64_t most_span_;
  device_array<void*> blocks_;
  device_array<std::uint64_t> requests_;
  device_array<block_sums> sums_;
  std::uint64_t places_ = 0;
  amount held_;
  std::uint64_t lowest_ = ~std::uint64_t{0};
  std::uint64_t highest_ = 0;
  std::string fault_;
};

}  // namespace warpheap::bench
