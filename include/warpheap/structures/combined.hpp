// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// A lane's part of one block that serves a group of lanes.
struct byte_share {
  static constexpr std::uint64_t too_many = ~std::uint64_t{0};  ///< total of what no block can serve

  std::uint64_t offset;  ///< bytes from the begin of the block to the part; of no meaning if the total is `too_many`
  std::uint64_t total;   ///< bytes of all parts, one for all lanes; `too_many` if the sum does not fit in 64 bits

  /// True if a block can serve the lanes, as far as the sum of their parts tells.
  WARPHEAP_FN constexpr bool fits() const { return total != too_many; }
};

namespace detail {

// The sum, or the largest number if that is less than the sum.
struct saturating_plus {
  WARPHEAP_FN std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a + b < a ? byte_share::too_many : a + b;
  }
};

}  // namespace detail

/// Makes one request of those of the lanes of `group`: each lane's part begins at a multiple of `alignment`, a power of
/// two, and has at least `bytes` bytes; a lane that asks for 0 bytes takes no room. Parts follow each other in lane
/// order. A sum beyond 64 bits is `too_many` for all lanes. Collective; any lanes. No memory order: values alone pass.
WARPHEAP_FN inline byte_share combine(lane_mask group, std::uint64_t bytes, std::uint64_t alignment) {
  const bool rounds = bytes <= byte_share::too_many - alignment;
  const std::uint64_t padded = rounds ? align_up(bytes, alignment) : byte_share::too_many;
  const std::uint64_t upto = inclusive_scan(group, padded, detail::saturating_plus{});
  return {upto - padded, shuffle(group, upto, highest_bit(group))};
}

/// A part of a block that serves a group and comes back by itself: 16 bytes in front of what its owner uses. The last
/// piece that comes back gives the block to its releaser.
///
/// The pieces of a block follow each other from the block's begin on, so the first piece lies where the block does. The
/// first one keeps the number of pieces that have not come back.
///
/// Invariant: that number is the number of pieces whose owners have not called `release`. Each piece takes part in one
/// release, so one call alone brings the number to 0, and its caller alone has the block.
///
/// Memory order: what a thread did before it released a piece happens before what the thread does that gets the block.
/// `make` is ordered before each use of a piece by the `sync` at its end.
///
/// XMalloc (Huang et al., CIT 2010) combines the small requests of a warp so.
struct alignas(16) combined_piece {
  static constexpr std::uint64_t unit_bytes = 16;    ///< of what is counted in units; alignment of all parts
  static constexpr std::uint64_t header_bytes = 16;  ///< bytes in front of what the owner uses

  std::uint32_t to_block;  ///< units from the begin of the block to the piece
  std::uint32_t units;     ///< units that the owner may use
  std::uint32_t left;      ///< of the first piece of a block: pieces that have not come back
  std::uint32_t unused;    ///< no meaning

  /// Bytes of a block that a piece for `bytes` bytes takes. `bytes` is below 2^36.
  WARPHEAP_FN static constexpr std::uint64_t bytes_for(std::uint64_t bytes) {
    return header_bytes + align_up(bytes, unit_bytes);
  }

  /// Makes the caller's piece in the block at `block`, aligned to 16 bytes, and returns what its owner uses. `share` is
  /// what `combine(group, bytes_for(bytes), unit_bytes)` returned to the caller; the total is below 2^36. Each lane of
  /// `group` has a piece. Collective; any lanes.
  WARPHEAP_FN static void* make(lane_mask group, std::byte* block, const byte_share& share, std::uint64_t bytes) {
    auto* const piece = reinterpret_cast<combined_piece*>(block + share.offset);
    const bool first = is_leader(group);
    *piece = {static_cast<std::uint32_t>(share.offset / unit_bytes),
              static_cast<std::uint32_t>(align_up(bytes, unit_bytes) / unit_bytes),
              first ? static_cast<std::uint32_t>(group_size(group)) : 0, 0};
    sync(group);  // no lane gives its piece away before the number is there
    return piece + 1;
  }

  /// The piece whose owner uses `payload`.
  WARPHEAP_FN static combined_piece& of(const void* payload) {
    return static_cast<combined_piece*>(const_cast<void*>(payload))[-1];
  }
  /// Bytes that the owner may use.
  WARPHEAP_FN std::uint64_t usable_bytes() const { return units * unit_bytes; }
  /// Address of the block.
  WARPHEAP_FN std::uint64_t block() const {
    return reinterpret_cast<std::uint64_t>(this) - std::uint64_t{to_block} * unit_bytes;
  }

  /// Gives back a piece of each lane of `group`. Returns true to one lane for each block of which no piece is left; the
  /// block is that lane's. One atomic for each block that the lanes have pieces of. Collective; any lanes.
  WARPHEAP_FN static bool release(lane_mask group, const combined_piece& mine) {
    const std::uint64_t block = mine.block();
    const lane_mask same = match(group, block);
    sync(group);  // the leaders release what all lanes did
    if (!is_leader(same)) return false;
    const auto count = static_cast<std::uint32_t>(group_size(same));
    // Releases what these owners did with their pieces, and acquires what all others did, for who gets the block.
    const std::uint32_t before = atomic_view{reinterpret_cast<combined_piece*>(block)->left}.fetch_sub(
        count, memory_order::acq_rel, thread_scope::device);
    require(before >= count, "combined_piece: a piece is given back twice");
    return before == count;
  }
};
static_assert(sizeof(combined_piece) == combined_piece::header_bytes);

}  // namespace warpheap
