// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// The hot way of a request: blocks of the word in the warp's cache entry and then, if the warp has one, of a word that
// each lane probes. Lanes that still lack a block go the cold way (elsewhere.hpp). What no slab serves is a run
// (large.hpp).
//
// The hot way has no loop, and lanes that have their blocks wait for the others of their group. On a GPU, lanes that
// diverged do not reconverge by themselves once one of them has yielded within a branch, and ptxas has loops yield. A
// kernel whose threads malloc and free by turns is three times as fast without loops (results/essays/warp_slab.md).

namespace warpheap {

WARPHEAP_FN inline void* warp_slab::malloc(std::uint64_t bytes) const {
  if (bytes > classes::largest_bytes) return cold_call([*this, bytes] { return malloc_run(bytes, 1); });
  return take_block(active_group(), classes::of(bytes));
}

WARPHEAP_FN inline void* warp_slab::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  // Bytes. Blocks of a power of two up to this are aligned to their size; larger powers of two at least to this.
  constexpr std::uint64_t most = 4096;
  if (alignment <= capabilities.alignment) return malloc(bytes);
  if (bytes > classes::largest_bytes || alignment > most) {
    return cold_call([*this, bytes, alignment] { return malloc_run(bytes, alignment); });
  }
  return malloc(next_power_of_two(bytes < alignment ? alignment : bytes));
}

// A block for each lane of `group`, whose lanes may want blocks of different classes. Collective.
//
// The leaders of the classes claim side by side, so a warp that wants blocks of a dozen classes waits for memory no
// longer than a warp whose lanes want the same. A lane that comes alone uses no collective operation.
WARPHEAP_FN inline void* warp_slab::take_block(lane_mask group, classes::fit fit) const {
  // Lanes may use different heaps, too. The low bits of the control block's address are zero, which leaves room for
  // `c`.
  static_assert(classes::count <= alignof(layout::control));
  const bool alone = group == lane_bit();
  std::uint32_t c = fit.of_class;
  slab_claim got;
  if (alone) {
    got = claims().claim_cached(c, 1);
    if (got.serves(0)) return claims().block_of(fit.bytes, got, 0);
  }
  const warp_request peers = warp_request::of(group, &store().control(), c);
  if (!alone && peers.rank() == 0) got = claims().claim_cached(c, peers.size());
  const lane_mask reconverged = reconverge(group);  // what the leaders acquired is acquired for all
  got = claims().broadcast(reconverged, peers, got);
  const auto rank = static_cast<int>(peers.rank());
  const bool served = got.serves(rank);
  if (all(reconverged, served)) return claims().block_of(fit.bytes, got, rank);
  void* block = served ? claims().block_of(fit.bytes, got, rank) : nullptr;
  if (rank != 0 && got.stale()) got = {};                           // the first of the peers puts the blocks back
  group = warp_request::of(reconverged, &store().control()).lanes;  // lanes that use another heap cannot help
  // A group without a cache entry mostly asks for the first time, of classes that begin. Their free blocks are for
  // threads that drew tickets of them, and a probe would take these. Otherwise the cold way probes.
  if (any(group, got.word != slab_claim::nowhere)) sharing().take_anywhere(group, c, got, block);
  if (all(reconverge(group), block != nullptr)) return block;
  block = cold_call([*this, group, c, block, got] { return take_elsewhere(group, c, got, block); });
  if (block == nullptr) block = cold_call([*this, c] { return take_without_slab(c); });
  sync(group);
  return block;
}

}  // namespace warpheap
