// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <allocator/conformance/block_list.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <support/scale.hpp>
#include <support/watched_heap.hpp>
#include <utility>
#include <vector>
#include <warpheap/heap.hpp>

namespace warpheap::test {

inline constexpr std::uint64_t operator""_KiB(unsigned long long count) { return count << 10; }
inline constexpr std::uint64_t operator""_MiB(unsigned long long count) { return count << 20; }

/// Bytes that a test gives to a heap. A design that is slow on a GPU gets fewer, as it gets fewer threads. One that
/// takes none of our memory gets the same each time, because the toolkit's heap can be sized only once in a process.
/// One whose small blocks share memory gets more: a few that are left keep the memory of many.
template <class A>
std::uint64_t heap_bytes_for(std::uint64_t wanted) {
  if (!A::capabilities.uses_arena) return 64_MiB;
  if (A::capabilities.shared_below != 0) wanted *= 4;
  return this_backend == backend::cuda && work_divisor<A>() > 1
             ? wanted / std::max<std::uint64_t>(work_divisor<A>() / 4, 1)
             : wanted;
}

/// One heap under test, watched: kernels run on it through `run`, and what they find goes to the findings.
template <class A>
class trial {
 public:
  static constexpr std::uint32_t threads_per_block = 128;

  trial(findings& found, std::uint64_t bytes, heap_options options = {})
      : found_(found), heap_(heap_bytes_for<A>(bytes), options), owners_(4 * heap_.size()) {}

  warpheap::heap<A>& heap() { return heap_; }
  ownership& owners() { return owners_; }
  watched_heap<A> watched() const { return watch(heap_); }
  /// Another heap's handle, watched together with this one: their blocks must not overlap either.
  watched_heap<A> watch(const warpheap::heap<A>& other) const { return {other.ref(), owners_.view(), found_.view()}; }

  /// Runs `body(watched(), arguments...)` in at least `threads` threads and collects what it finds.
  template <class Body, class... Arguments>
  void run(std::uint64_t threads, Body body, Arguments... arguments) {
    run_unwatched(threads, body, watched(), arguments...);
  }
  template <class Body, class... Arguments>
  void run_unwatched(std::uint64_t threads, Body body, Arguments... arguments) {
    launch(grid_shape::covering(threads, threads_per_block), body, arguments...);
    synchronise();
    found_.collect(owners_.lowest());
    if (A::capabilities.uses_arena && !shared_owners_) {
      found_.expect(owners_.span() <= heap_.size(), "blocks span " + std::to_string(owners_.span()) +
                                                        " B of addresses, more than the heap's " +
                                                        std::to_string(heap_.size()));
    }
  }
  /// Says that blocks of other heaps have owners here too, so that addresses can lie far apart.
  void share_owners() { shared_owners_ = true; }

  /// Takes blocks of `bytes` until there are no more, adds them to `list` and returns how many that were.
  std::uint64_t fill(block_list& list, std::uint64_t bytes, std::uint64_t threads = fill_threads()) {
    const std::uint64_t before = list.size();
    run(threads, fill_kernel{}, list.view(), bytes);
    return list.size() - before;
  }
  /// Threads of two blocks at least, at a normal scale.
  static std::uint64_t fill_threads() {
    constexpr bool linear = refuses_in_linear_time<A>();
    return scaled_for<A>(linear ? 256 : 512, linear ? 1 << 12 : 1 << 16);
  }

  /// Gives back the blocks of `list`, one by one if the design can, else by a reset.
  void give_back(block_list& list, std::uint64_t bytes) {
    if constexpr (A::capabilities.individual_free) {
      run(fill_threads(), free_kernel{}, list.view(), bytes);
    } else {
      reset();
    }
    list.clear();
  }
  void reset() {
    if constexpr (A::capabilities.reset) {
      heap_.reset();
      owners_.clear();
    } else {
      throw std::logic_error("the design can take back nothing: its test must ask before");
    }
  }
  static constexpr bool can_give_back = A::capabilities.individual_free || A::capabilities.reset;

 private:
  findings& found_;
  warpheap::heap<A> heap_;
  ownership owners_;
  bool shared_owners_ = false;
};

/// Bytes of the heap that fill tests fill, which takes time for each of its blocks. Thousands of blocks on the host.
template <class A>
std::uint64_t fill_heap_bytes() {
  const bool is_small = scale_in_force() == work_scale::small;
  if (this_backend == backend::host) return is_small || refuses_in_linear_time<A>() ? 128_KiB : 256_KiB;
  if (!refuses_in_linear_time<A>()) return 16_MiB;
  return is_small ? 256_KiB : 1_MiB;
}

/// Bytes of a heap that threads keep full while each goes on to ask: a refusal of each step looks everywhere.
template <class A>
std::uint64_t crowded_heap_bytes() {
  if (this_backend == backend::host) return 128_KiB;
  return refuses_in_linear_time<A>() ? 512_KiB : 4_MiB;
}

/// Bytes of a heap with room for all that many threads hold. At a small scale fewer, so that the sizes which fill it
/// stay those of slabs.
inline std::uint64_t roomy_heap_bytes() {
  if (this_backend == backend::host) return 2_MiB;
  return scale_in_force() == work_scale::small ? 64_MiB : 512_MiB;
}

/// Sizes to fill a heap of `bytes` with, the smallest first: a few thousand blocks on the host, up to a million on a
/// GPU. Blocks of these sizes share no memory.
template <class A>
std::vector<std::uint64_t> fill_sizes(std::uint64_t bytes) {
  const std::uint64_t most = scaled_for<A>(1 << 14, 1 << 20);
  const std::uint64_t smallest =
      std::min(std::max(align_up(bytes / most + (bytes / most == 0), 16), A::capabilities.shared_below),
               A::capabilities.largest_bytes);
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t size : {smallest, 3 * smallest + 1, 21 * smallest - 8}) {
    if (size <= A::capabilities.largest_bytes) sizes.push_back(size);
  }
  return sizes;
}

/// A list with room for all blocks of `bytes` that `t`'s heap can have, grown four times over.
template <class A>
block_list list_for(trial<A>& t, std::uint64_t bytes) {
  return block_list{4 * (t.heap().size() / bytes) + 64};
}

}  // namespace warpheap::test
