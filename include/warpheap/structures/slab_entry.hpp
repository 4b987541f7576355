// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// What one operation did to the number of free blocks of a slab.
///
/// All operations on a slab are ordered, and each starts from the number that the one before left. So of all takes and
/// gives that move the number across a threshold in one direction, there is one for each crossing, and its caller alone
/// acts on the crossing.
struct slab_step {
  std::uint32_t before;    ///< free blocks before the operation
  std::uint32_t after;     ///< free blocks after it; equal to `before` if nothing was taken or given
  std::uint32_t capacity;  ///< blocks of the slab; 0 if nothing was taken

  /// Blocks that were taken or given.
  WARPHEAP_FN constexpr std::uint32_t amount() const { return before < after ? after - before : before - after; }
  /// True if this take left fewer than `free` blocks free, and at least `free` were before it.
  WARPHEAP_FN constexpr bool fell_below(std::uint32_t free) const { return before >= free && after < free; }
  /// True if this give left at least `free` blocks free, and fewer were before it.
  WARPHEAP_FN constexpr bool rose_to(std::uint32_t free) const { return before < free && after >= free; }
  /// True if this take took the last free block.
  WARPHEAP_FN constexpr bool none_left() const { return fell_below(1); }
  /// True if this give made a block free in a slab that had none.
  WARPHEAP_FN constexpr bool first_free() const { return rose_to(1); }
  /// True if this give made each block of the slab free.
  WARPHEAP_FN constexpr bool all_free() const { return before != after && after == capacity; }
};

/// One entry of the slab directory: size class, capacity, number of free blocks and generation of a slab in a word.
///
/// An entry is unowned, reserved or assigned. Zero bytes are an unowned entry of generation 0.
///
/// ```
///            try_reserve             assign                try_take, give
/// unowned ----------------> reserved ---------> assigned ----------------> assigned
///         <----------------          <---------
///             vacate                 try_retire: each block is free; generation + 1
/// ```
///
/// Invariant: a reserved entry has one owner, the thread whose `try_reserve` or `try_retire` returned true; that thread
/// alone changes the entry and the slab. In an assigned entry the number of free blocks is the capacity less the
/// permits that takers hold, so it is between 0 and the capacity. A permit is the right to one block of the slab,
/// whichever it is.
///
/// A taker takes permits here before it looks for blocks in the slab, and gives them after the blocks are marked free.
/// So there is a free block for each permit, and a slab of which a thread holds a permit does not change its class. If
/// the class changes between the load and the compare-and-swap of a take, the latter fails.
///
/// The generation tells two owners of one slab apart, modulo 2^16. Only `try_retire(size_class, generation)` depends on
/// it. All other operations allow the same for entries that look the same.
///
/// Memory order: `assign` releases what the owner prepared and `try_take` acquires it. `give` releases what the giver
/// did to the blocks. `give` acquires too, so the giver that made the last block free sees what all others did.
class slab_entry {
 public:
  static constexpr std::uint32_t most_classes = 254;                          ///< size classes are 0 to 253
  static constexpr std::uint32_t most_blocks = (std::uint32_t{1} << 20) - 1;  ///< largest capacity
  static constexpr std::uint32_t unowned = most_classes;       ///< class of an entry that `try_reserve` can take
  static constexpr std::uint32_t reserved = most_classes + 1;  ///< class of an entry whose owner prepares the slab

  /// The parts of the word.
  struct contents {
    std::uint32_t size_class;  ///< a size class, `unowned` or `reserved`
    std::uint32_t capacity;    ///< blocks of the slab; 0 unless assigned
    std::uint32_t free;        ///< free blocks; 0 unless assigned
    std::uint32_t generation;  ///< retirements of the slab, modulo 2^16

    /// True if the slab belongs to a size class.
    WARPHEAP_FN constexpr bool is_assigned() const { return size_class < most_classes; }
  };

  /// The word at one moment. A hint while others change it. No order.
  WARPHEAP_FN contents look() const { return unpack(view().load(memory_order::relaxed, thread_scope::device)); }

  /// Takes up to `count` permits if the slab is assigned to `size_class`. The step's `amount()` is what was taken: 0 if
  /// the slab has another class or no free block. Acquires. One lane.
  WARPHEAP_FN slab_step try_take(std::uint32_t size_class, std::uint32_t count);

  /// Gives `count` permits back, whose blocks are free already. Acquires and releases. One lane.
  WARPHEAP_FN slab_step give(std::uint32_t count);

  /// Makes an unowned entry reserved for the caller. False if the entry is not unowned. Acquires. One lane.
  WARPHEAP_FN bool try_reserve();

  /// Gives the slab to `size_class` with `capacity` blocks, of which the caller takes `taken` permits at once. The
  /// caller alone owns the slab: its entry is reserved for the caller, or is unowned and nobody calls `try_reserve`.
  /// Releases. One lane.
  WARPHEAP_FN void assign(std::uint32_t size_class, std::uint32_t capacity, std::uint32_t taken = 0);

  /// Reserves an assigned entry for the caller if each of its blocks is free, and begins a new generation. False, and
  /// nothing changes, if a block is taken or the entry is not assigned. Acquires. One lane.
  WARPHEAP_FN bool try_retire();

  /// As `try_retire()`, but false, and nothing changes, unless the slab is of `size_class` in `generation`, modulo
  /// 2^16. One lane.
  WARPHEAP_FN bool try_retire(std::uint32_t size_class, std::uint32_t generation);

  /// Makes the entry unowned that the caller reserved or retired. Releases. One lane.
  WARPHEAP_FN void vacate();

 private:
  // class + 2 (mod 256) in bits 0 to 7, capacity 8 to 27, free 28 to 47, generation 48 to 63.
  static constexpr int capacity_shift = 8, free_shift = 28, generation_shift = 48;
  static constexpr std::uint64_t one_free = std::uint64_t{1} << free_shift;

  WARPHEAP_FN static constexpr std::uint64_t pack(contents entry);
  WARPHEAP_FN static constexpr contents unpack(std::uint64_t word);
  WARPHEAP_FN atomic_view<std::uint64_t> view() const { return atomic_view{const_cast<std::uint64_t&>(word_)}; }
  template <class Fits>
  WARPHEAP_FN bool retire_if(Fits fits);

  std::uint64_t word_;
};

}  // namespace warpheap

#include <warpheap/structures/detail/slab_entry.hpp>
