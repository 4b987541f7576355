// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <warpheap/graph/detail/contiguous_stages.hpp>
#include <warpheap/graph/detail/sort_stages.hpp>
#include <warpheap/platform/device.hpp>

// A small batch in one kernel of one block: starting eleven kernels takes longer than what they do for a few edges.

namespace warpheap::detail {

// Keys of the largest batch that one block serves.
inline constexpr std::uint32_t most_small_keys = 256;
// Threads of the block: one for each key, and one for the end.
inline constexpr std::uint32_t small_batch_threads = most_small_keys + warp_width;

// What the threads of the block share.
struct small_batch_memory {
  std::uint64_t keys[most_small_keys];
};

// Sets `sums[i]` to the sum of `sums[0]` to `sums[i - 1]` for each `i` below `count`. The first warp does it, and all
// of its lanes call.
template <class T>
WARPHEAP_FN void sum_in_warp(T* sums, std::uint32_t count) {
  const lane_mask warp = low_bits(warp_width);
  T before{};
  for (std::uint32_t begin = 0; begin < count; begin += warp_width) {
    const std::uint32_t i = begin + static_cast<std::uint32_t>(lane_index());
    const T value = i < count ? sums[i] : T{};
    const T own = exclusive_scan(warp, value, T{}, plus{});
    if (i < count) sums[i] = before + own;
    before += shuffle(warp, static_cast<T>(own + value), warp_width - 1);
  }
}

// The stages of a batch, one after the other, with a barrier of the block between two: each sees what all threads did
// in those before. The stages of lists that cannot be searched need memory for the whole graph, so they are not here.
template <class Layout, batch_kind Kind, class HeapRef>
struct small_batch {
  static constexpr bool serves = judge_edges<Layout, Kind>::searches;

  pack_edges<Layout> pack;  // its `batch` names the arrays into which keys are sorted
  HeapRef heap;
  bool replaces;  // weights of edges that the graph has

  WARPHEAP_FN void operator()(small_batch_memory& shared) const
    requires(serves)
  {
    const batch_view<Layout>& batch = pack.batch;
    if (thread_index() == 0) *batch.totals = {};
    sync_block();
    pack();
    sync_block();
    sort(shared);
    sync_block();
    judge_edges<Layout, Kind>{batch}();
    sync_block();
    if (thread_index() < warp_width) sum_in_warp(batch.ranks, batch.count + 1);
    sync_block();
    gather_runs<Layout>{batch}();
    sync_block();
    plan_lists<Layout, Kind, HeapRef>{batch, heap}();
    sync_block();
    if (thread_index() < warp_width) sum_in_warp(batch.extra, batch.count + 1);
    sync_block();
    if constexpr (Kind == batch_kind::add && !std::is_void_v<typename Layout::weight_type>) {
      if (replaces) replace_weights<Layout>{batch}();
      sync_block();
    }
    move_lists<Layout, Kind>{batch}();
    sync_block();
    settle_lists<Layout, Kind, HeapRef>{batch, heap}();
  }

 private:
  // Each thread finds the place of its key: after those that are smaller, and after equal ones of lower threads.
  WARPHEAP_FN void sort(small_batch_memory& shared) const {
    const batch_view<Layout>& batch = pack.batch;
    const std::uint32_t mine = thread_index();
    if (mine < batch.count) shared.keys[mine] = pack.keys[mine];
    sync_block();
    if (mine >= batch.count) return;
    const std::uint64_t key = shared.keys[mine];
    std::uint32_t place = 0;
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      place += shared.keys[i] < key || (shared.keys[i] == key && i < mine) ? 1 : 0;
    }
    const_cast<std::uint64_t*>(batch.keys)[place] = key;
    if (pack.origin != nullptr) const_cast<std::uint32_t*>(batch.origin)[place] = mine;
  }
};

}  // namespace warpheap::detail
