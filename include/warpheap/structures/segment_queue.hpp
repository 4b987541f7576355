// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures/segment.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// A segment that its adopter hands out: entries [0, count) of `segment`.
struct adopted_segment {
  segment_name segment;  ///< which one
  std::uint32_t count;   ///< 0: the queue was empty
};

/// What all queues of segments share. Zero bytes are an empty queue. Counts of segments and their numbers are modulo
/// 2^32: a queue never has as many segments at once, and the rings that they index have a power of two of places.
struct segment_queue_state {
  batch_ring places;                  ///< places in segments, for pushing threads; a batch is a segment's name or 0
  alignas(128) std::uint32_t opened;  ///< segments opened so far; written by the opener
  std::uint32_t adopted;              ///< segments adopted so far; written by the adopter
  std::uint32_t last;                 ///< the segment opened last, 0 if it was adopted; the opener's
  std::uint32_t size_hint;            ///< how much larger than the smallest the next segment should be
};

/// A queue of 32-bit values that many threads fill and one at a time empties, a segment at a time.
///
/// `Kind` says where segments lie and how they are kept in order: `static_ring`, `virtual_array` or `virtual_list`, the
/// queues of Ouroboros (Winter et al., ICS 2020). What they share is here. A pushing thread draws a place, one draw for
/// the lanes of a group. The thread that draws the first place after the open segment, the *opener*, opens the next. If
/// there is no room for one, it publishes places that are nowhere for the threads that wait.
template <class Kind>
class segment_queue {
 public:
  using state = typename Kind::state;  ///< what it keeps in device memory

  /// The queue whose state is `from` and whose segments are kept as `kind` says.
  WARPHEAP_FN segment_queue(state& from, const Kind& kind) : state_(from), kind_(kind) {}

  /// Puts one value of each lane of `group` in. Returns false to a lane whose value found no room. Collective; any
  /// lanes. A push may wait for the opener of a segment, so groups of a warp that come together push one at a time
  /// (`one_group_at_a_time`). The adopter of the entry sees what the lane wrote before.
  WARPHEAP_FN bool push(lane_mask group, std::uint32_t value) const {
    return push(group, value, [this](lane_mask openers, batch_ring::batch newest) {
      cold_call([*this, openers, newest] { open(openers, newest); });
    });
  }
  /// As `push`, for a caller that can make the queue anew: `open_anew(openers, newest)` calls `open` with these. So
  /// nothing of the queue has to be kept for it.
  template <class OpenAnew>
  WARPHEAP_FN bool push(lane_mask group, std::uint32_t value, OpenAnew open_anew) const;

  /// Publishes the places of a new segment, or places that are nowhere; part of `push`. Collective over the opener's
  /// group.
  WARPHEAP_COLD_FN void open(lane_mask group, batch_ring::batch newest) const;

  /// Takes over the oldest segment with all that was put in before the call; the reader of its entries retires it. None
  /// if the queue is empty. One lane, and no other adopts at the same time.
  WARPHEAP_COLD_FN adopted_segment adopt() const;

  /// Gives back the storage that is kept in reserve, if there is any. One lane.
  WARPHEAP_COLD_FN bool trim() const { return kind_.trim(state_); }

  /// True if an `adopt` would find something. A hint while others push.
  WARPHEAP_FN bool has_entries() const;

  /// Entries that can be adopted, and chunks that hold them or are kept in reserve, where segments lie in chunks.
  struct contents {
    std::uint64_t entries;  ///< entries that can be adopted
    std::uint64_t chunks;   ///< chunks that hold them, or are kept in reserve
  };
  /// What the queue holds; `chunks` is how many chunks there are for segments to lie in, where they do. Exact while
  /// nobody uses the queue. While others do it may be anything up to what segments can hold, but all reads stay within
  /// the queue's memory and those chunks, and it ends after as many segments as there can be. One lane.
  WARPHEAP_FN contents look(std::uint64_t chunks = unbounded) const {
    return look(chunks, [chunks](segment_name segment) { return (segment.id & ~chunk_segments::dense) < chunks; });
  }
  /// As `look`, where chunks may lack memory: reads no segment in chunks for which `exists(name)` is false.
  template <class Exists>
  WARPHEAP_FN contents look(std::uint64_t chunks, Exists exists) const;
  /// Entries that can be adopted, as `look` tells.
  WARPHEAP_FN std::uint64_t size() const { return look().entries; }
  /// Chunks that hold them or are kept in reserve, as `look` tells.
  WARPHEAP_FN std::uint64_t chunks() const { return look().chunks; }

 private:
  static constexpr std::uint64_t unbounded = ~std::uint64_t{0};
  WARPHEAP_FN segment_name adopt_last(std::uint32_t number) const;

  state& state_;
  Kind kind_;
};

}  // namespace warpheap

#include <warpheap/structures/detail/segment_queue.hpp>
