// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures/bit_tree.hpp>
#include <warpheap/structures/segment_queue.hpp>

// How queues keep their segments. A kind has:
//
// | member | promise |
// |---|---|
// | `state` | what the queue keeps in device memory, a `segment_queue_state`; zero bytes are empty |
// | `segments()` | where entries lie |
// | `open(group, state)` | called by the opener's group: the packed name of a new segment, or 0 if there is no room |
// | `take_oldest(state, number)` | called by the adopter: the name of the oldest segment, the `number`th of all |
// | `following(state, i, before)` | the name of the i-th oldest, after `before`. Any name while others use the queue |
// | `most_segments(state, chunks)` | more segments than that the queue never has, if there are so many chunks |
// | `retire(state, id)` | an adopted segment was read by all; gives its storage back, or keeps it in reserve |
// | `trim(state)` | gives back what is in reserve; true if there was any. One lane |
namespace warpheap {

/// The static queue: a ring of segments of one size in memory of its own. It refuses when all of them hold entries.
struct static_ring {
  /// Where the segments lie: side by side.
  struct extent {
    std::uint32_t packed_first;  ///< name of the first segment
    std::uint32_t count;         ///< how many there are, a power of two
    /// True for the same segments.
    bool operator==(const extent&) const = default;
  };
  /// What the queue keeps in device memory.
  struct state : segment_queue_state {
    extent ring;  ///< set before any use
  };

  flat_segments flat;  ///< the memory of the ring

  /// Where entries lie.
  WARPHEAP_FN flat_segments segments() const { return flat; }
  /// The packed name of the next segment, or 0 if it is in use yet. Collective over the opener's group.
  WARPHEAP_FN std::uint32_t open(lane_mask group, state& of) const;
  /// The name of the oldest segment, the `number`th of all. One lane, the adopter.
  WARPHEAP_FN segment_name take_oldest(state& of, std::uint32_t number) const { return name_of(of, number); }
  /// The name of the i-th oldest. One that exists even while others use the queue.
  WARPHEAP_FN segment_name following(const state& of, std::uint32_t i, segment_name) const {
    return name_of(of, speculative_load(of.adopted) + i);
  }
  /// Segments that the queue can have.
  WARPHEAP_FN static std::uint64_t most_segments(const state& of, std::uint64_t) { return of.ring.count; }
  /// An adopted segment was read by all, and may be opened again.
  WARPHEAP_FN void retire(state&, std::uint32_t id) const { flat.retire(id); }
  /// False: nothing is kept in reserve.
  WARPHEAP_FN bool trim(state&) const { return false; }

 private:
  WARPHEAP_FN static segment_name name_of(const state& of, std::uint32_t number) {
    const segment_name first = segment_name::unpack(of.ring.packed_first);
    return {first.id + ((number & (of.ring.count - 1)) << first.size), first.size};
  }
};

/// What the states of the virtualised queues share.
///
/// Invariant: a segment in reserve is in no queue, and all its readers have finished. Its header and its chunks are as
/// its opener made them. The thread that exchanges its name for 0 owns it.
struct virtual_queue_state : segment_queue_state {
  std::uint32_t reserve[2];  ///< packed names; 0: none
};

/// What the virtualised queues share: segments lie in chunks of the heap, taken when needed and given back when read,
/// but for a reserve: to find the chunks of a large segment takes long, and others wait for the opener.
struct virtual_queue {
  static constexpr std::uint32_t most_chunks_log2 = 8;  ///< binary logarithm of the chunks that a segment can have
  static_assert(1u << most_chunks_log2 == segment_header::most_chunks);

  chunk_segments chunks;  ///< the heap's
  bit_tree free_chunks;   ///< those of them that segments may take
  /// Binary logarithm of the chunks that a segment gets at most. A queue that can never have more entries than a
  /// smaller segment holds would take memory from the blocks for nothing.
  std::uint32_t largest = most_chunks_log2;

  /// Where entries lie.
  WARPHEAP_FN chunk_segments segments() const { return chunks; }
  /// An adopted segment was read by all: keeps its chunks in reserve or gives them back. One lane.
  WARPHEAP_FN void retire(virtual_queue_state& of, std::uint32_t id) const;
  /// Gives back what is in reserve; true if there was any. One lane.
  WARPHEAP_FN bool trim(virtual_queue_state& of) const;

 protected:
  /// The packed name of a segment out of the reserve or of free chunks, or 0 if there is neither. Collective over the
  /// opener's group.
  WARPHEAP_FN std::uint32_t fresh_segment(lane_mask group, virtual_queue_state& of) const;

 private:
  WARPHEAP_FN std::uint32_t make_segment(lane_mask group, virtual_queue_state& of) const;
  WARPHEAP_FN std::uint32_t take_reserve(virtual_queue_state& of) const;
  WARPHEAP_FN static std::uint32_t take_out(std::uint32_t& reserved);
  WARPHEAP_FN void give_back(std::uint32_t id) const;
  // A segment's size is that of a chunk and the binary logarithm of its chunks.
  WARPHEAP_FN std::uint32_t chunk_size() const {
    return static_cast<std::uint32_t>(highest_bit((1u << chunks.chunk_shift) / 4 / segment_words));
  }
  WARPHEAP_FN std::uint32_t packed_name(std::uint32_t id, std::uint32_t chunks_log2) const {
    return segment_name{id, chunk_size() + chunks_log2}.packed();
  }
};

/// The virtualised array queue: an array keeps the names of the segments in order.
struct virtual_array : virtual_queue {
  static constexpr std::uint32_t ring_segments = 256;  ///< segments that the queue can have

  /// What the queue keeps in device memory.
  struct state : virtual_queue_state {
    std::uint32_t ring[ring_segments];  ///< packed names, the `number`th at `number` modulo the size
  };

  /// The packed name of a new segment, or 0 if there is no room. Collective over the opener's group.
  WARPHEAP_FN std::uint32_t open(lane_mask group, state& of) const;
  /// The name of the oldest segment, the `number`th of all. One lane, the adopter.
  WARPHEAP_FN segment_name take_oldest(state& of, std::uint32_t number) const;
  /// The name of the i-th oldest. Any name while others use the queue.
  WARPHEAP_FN segment_name following(const state& of, std::uint32_t i, segment_name) const {
    return segment_name::unpack(speculative_load(of.ring[(speculative_load(of.adopted) + i) % ring_segments]));
  }
  /// Segments that the queue can have.
  WARPHEAP_FN static std::uint64_t most_segments(const state&, std::uint64_t) { return ring_segments; }
};

/// The virtualised linked queue: each segment's header names the next one.
struct virtual_list : virtual_queue {
  /// What the queue keeps in device memory.
  struct state : virtual_queue_state {
    std::uint32_t front;  ///< the oldest segment that is not adopted
  };

  /// The packed name of a new segment, or 0 if there is no room. Collective over the opener's group.
  WARPHEAP_FN std::uint32_t open(lane_mask group, state& of) const;
  /// The name of the oldest segment, the `number`th of all. One lane, the adopter.
  WARPHEAP_FN segment_name take_oldest(state& of, std::uint32_t number) const;
  /// The name of the i-th oldest, which follows `before`. Any name while others use the queue.
  WARPHEAP_FN segment_name following(const state& of, std::uint32_t i, segment_name before) const {
    return segment_name::unpack(speculative_load(i == 0 ? of.front : chunks.header(before.id).next));
  }
  /// Segments that the queue can have: each has a chunk.
  WARPHEAP_FN static std::uint64_t most_segments(const state&, std::uint64_t chunks) { return chunks; }
};

}  // namespace warpheap

#include <warpheap/structures/detail/segment_kinds.hpp>
