// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures/bit_tree.hpp>

namespace warpheap {

/// Storage of queue entries: `segment_words << size` words of 32 bits, the first `segment_words` of them a header.
///
/// A segment is *open* while threads fill it, then *sealed*, then *adopted* by the one thread that hands its entries
/// out, and *retired* when the last of them was read. Only threads that hold a place in a segment touch it: they
/// fill it until the batch of its places is finished, and read it until the batch of its entries is. So when the last
/// one has finished nobody does, and the storage may become anything else. No guess at how late a thread may be is
/// needed, which is what the heuristics of the paper rest on.
struct segment_header {
  static constexpr std::uint32_t most_chunks = 256;  ///< chunks that a segment can lie in
  static constexpr std::uint32_t most_parts = 16;    ///< leaves that they can come from

  std::uint32_t in_use;              ///< opened and not retired
  std::uint32_t count;               ///< its entries, once it is sealed
  std::uint32_t number;              ///< which batch of its queue's its places were
  std::uint32_t next;                ///< the segment that was opened after this one, where segments form a list
  std::uint32_t chunks;              ///< chunks that hold it, where it lies in chunks
  std::uint32_t parts;               ///< leaves of the set of free chunks that they came from
  std::uint32_t leaf[most_parts];    ///< which leaves
  std::uint64_t mask[most_parts];    ///< the chunks of that leaf
  std::uint32_t chunk[most_chunks];  ///< all of them in order; the first holds the header
};

/// Words that the header takes, and the unit of sizes.
inline constexpr std::uint32_t segment_words = 512;
static_assert(sizeof(segment_header) <= segment_words * sizeof(std::uint32_t));

/// Entries of a segment of size `size`.
WARPHEAP_FN constexpr std::uint32_t segment_capacity(std::uint32_t size) {
  return (segment_words << size) - segment_words;
}

/// A segment by name: where it lies, in the units of its store, and its size.
struct segment_name {
  std::uint32_t id;    ///< where it lies
  std::uint32_t size;  ///< it has `segment_words << size` words

  static constexpr int size_bits = 4;  ///< of a packed name, the lowest; above them the id, of 27 bits
  /// The name in one word. Where a name may be missing, 0 stands for none.
  WARPHEAP_FN constexpr std::uint32_t packed() const { return id << size_bits | size; }
  /// The name that was packed into `word`.
  WARPHEAP_FN static constexpr segment_name unpack(std::uint32_t word) { return {word >> size_bits, word & 15}; }
};

/// Segments in one flat array of words; ids count `segment_words`.
struct flat_segments {
  std::uint32_t* words;  ///< the first of the array

  /// The header of a segment.
  WARPHEAP_FN segment_header& header(std::uint32_t id) const {
    return *reinterpret_cast<segment_header*>(words + std::uint64_t{id} * segment_words);
  }
  /// Entry number `place` of a segment.
  WARPHEAP_FN std::uint32_t& entry(std::uint32_t id, std::uint32_t place) const {
    return words[(std::uint64_t{id} + 1) * segment_words + place];
  }
  /// Says that a segment was read by all that had entries of it. Releases their accesses, which the caller acquired, to
  /// its next opener.
  WARPHEAP_FN void retire(std::uint32_t id) const {
    atomic_view{header(id).in_use}.store(0, memory_order::release, thread_scope::device);
  }
};

/// Segments in chunks of an arena, up to 256 each. The id is the index of the first chunk, with `dense` added if each
/// chunk of it lies right before the one before it, as they mostly do: then nobody has to look it up.
struct chunk_segments {
  static constexpr std::uint32_t dense = 1u << 26;  ///< the bit of an id that says so
  static_assert(std::uint64_t{bit_tree::most_leaves} * bit_tree::leaf_bits <= dense);

  std::byte* arena;           ///< where chunk 0 begins
  std::uint32_t chunk_shift;  ///< binary logarithm of a chunk's bytes

  /// The first word of a chunk.
  WARPHEAP_FN std::uint32_t* chunk_words(std::uint32_t chunk) const {
    return reinterpret_cast<std::uint32_t*>(arena + (std::uint64_t{chunk} << chunk_shift));
  }
  /// The header of a segment, in its first chunk.
  WARPHEAP_FN segment_header& header(std::uint32_t id) const {
    return *reinterpret_cast<segment_header*>(chunk_words(id & ~dense));
  }
  /// Entry number `place` of a segment; reads its header unless the segment is dense.
  WARPHEAP_FN std::uint32_t& entry(std::uint32_t id, std::uint32_t place) const {
    const std::uint32_t word = segment_words + place;
    const std::uint32_t in_chunk = chunk_shift - 2;
    const std::uint32_t i = word >> in_chunk;
    const std::uint32_t chunk = (id & dense) != 0 ? (id & ~dense) - i : header(id).chunk[i];
    return chunk_words(chunk)[word & ((1u << in_chunk) - 1)];
  }
};

}  // namespace warpheap
