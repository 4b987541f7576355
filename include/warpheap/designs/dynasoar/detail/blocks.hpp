// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/dynasoar/detail/layout.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// A slot that was taken for the caller.
struct dynasoar_slot {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t block;       // `none`: nothing was free
  std::uint32_t slot;        // below the capacity of the block
  std::uint32_t generation;  // of the block
};

/// The blocks of a heap and their life cycle.
///
/// ```
///                 create                         take, give
/// free (unowned) --------> active[T] <----------------------------> full (rest)
///        ^                     |
///        '---------------------'  retire: the last object is gone
/// ```
///
/// A block is in one of the sets *free*, *active[T]* (type T, with free slots) and *rest* (full), or in the hands of
/// one thread; `where` reads its entry and tells the set (slab_sets). The blocks of type T that are active or full are
/// the set *allocated[T]*, a bitmap.
///
/// Invariant: a slot whose bit in `taken` is set belongs to one owner, who holds a permit of the entry. A taker takes
/// permits of the entry first, which fails if the block has another type by now, and then the bits. So the type of a
/// block stands still while a slot is taken or about to be, and each permit finds a bit.
///
/// Invariant: a block is in allocated[T] if its entry is assigned to T. The creator sets the bit while it holds
/// permits, the retirer clears it while the entry is reserved for it, so both are ordered.
///
/// Null is certain if a search saw each set empty while no thread moved a block. A search waits for a thread that is
/// just moving one, and gives up after `most_searches` searches during each of which other threads moved blocks.
class dynasoar_blocks {
 public:
  static constexpr std::uint32_t most_searches = 1u << 14;
  static constexpr std::uint32_t no_slot = 64;

  /// The blocks of a heap with `types` types, whose metadata is at `metadata`. `lists_blocks`: it has allocated[T].
  WARPHEAP_FN dynasoar_blocks(std::byte* metadata, std::uint32_t types, std::uint32_t blocks, bool lists_blocks)
      : sets_(metadata, types + 1, blocks),
        headers_(reinterpret_cast<dynasoar_header*>(metadata + dynasoar_layout::sets_bytes(types, blocks))),
        blocks_(blocks),
        lists_blocks_(lists_blocks) {}

  WARPHEAP_FN std::uint32_t count() const { return blocks_; }
  WARPHEAP_FN dynasoar_header& header(std::uint32_t block) const { return headers_[block]; }
  /// A word that differs from those of other blocks, and of blocks of other heaps.
  WARPHEAP_FN std::uint64_t key(std::uint32_t block) const { return reinterpret_cast<std::uint64_t>(headers_ + block); }
  /// The lanes that come with the caller and want a slot of this heap and of `type` as well.
  WARPHEAP_FN lane_mask takers(std::uint32_t type) const {
    return match(active_group(), key(0) ^ std::uint64_t{type} << 56);  // addresses have fewer bits
  }
  /// Words of allocated[type].
  WARPHEAP_FN std::uint64_t* allocated(std::uint32_t type) const {
    return reinterpret_cast<std::uint64_t*>(headers_ + blocks_) + type * dynasoar_layout::leaves(blocks_);
  }

  /// Makes all blocks free. Each thread of a grid calls; the metadata was zeroed before.
  WARPHEAP_FN void initialise() const {
    const auto leaves = static_cast<std::uint32_t>(dynasoar_layout::leaves(blocks_));
    for (std::uint64_t i = grid_thread_index(); i < leaves; i += grid_threads()) {
      const auto leaf = static_cast<std::uint32_t>(i);
      const std::uint32_t left = blocks_ - leaf * bit_tree::leaf_bits;
      sets_.add(leaf, left < bit_tree::leaf_bits ? slots_below(left) : ~std::uint64_t{0}, free_set);
    }
  }

  /// Takes a slot in a block of `type` for each lane of `group`; a block of it has `capacity` slots, 1 to 64. All lanes
  /// pass the same heap, type and capacity. Collective; any lanes.
  WARPHEAP_FN dynasoar_slot take(lane_mask group, std::uint32_t type, std::uint32_t capacity) const;

  /// Gives the slots of `mask` in `block` back, whose owners the caller has met, and returns those of them that were
  /// taken. One lane.
  WARPHEAP_FN std::uint64_t give(std::uint32_t block, std::uint64_t mask) const;

  /// Gives `slot` of `block` back, together with the lanes that come with it; true if the slot was taken. `no_slot`
  /// gives nothing. No lane returns before its slot can be found. Collective over `group`; the lanes may name different
  /// blocks and heaps.
  WARPHEAP_FN bool give_together(lane_mask group, std::uint32_t block, std::uint32_t slot) const;

  /// True if `slot` of `block` is taken. A hint while others take and give.
  WARPHEAP_FN bool is_taken(std::uint32_t block, std::uint32_t slot) const { return slots(block).is_taken(slot); }
  /// Taken slots of `block`. Exact while no thread takes and gives.
  WARPHEAP_FN std::uint32_t taken_slots(std::uint32_t block) const {
    const slab_entry::contents entry = headers_[block].entry.look();
    return entry.is_assigned() ? entry.capacity - entry.free : 0;
  }

  /// A word with the bits of the slots below `count`, 0 to 64.
  WARPHEAP_FN static std::uint64_t slots_below(std::uint32_t count) {
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

 private:
  static constexpr std::uint32_t free_set = 0;
  static constexpr int tries = 5;       // places where the paper looks before it takes a free block
  static constexpr int home_tries = 2;  // of these at home, where the warps of a multiprocessor leave rests of blocks
  WARPHEAP_FN static constexpr std::uint32_t active_set(std::uint32_t type) { return type + 1; }

  // Permits of a block that were taken: for `amount` lanes, 0 if none were.
  struct permits {
    std::uint32_t block, amount, generation;
    bool created;  // the caller made the block, and has its first slots
  };
  enum class outcome : std::uint32_t { taken, lost, empty };  // lost: another thread was faster

  WARPHEAP_FN slot_bits<std::uint64_t> slots(std::uint32_t block) const { return {&headers_[block].taken, 64}; }
  // The set that a block belongs to, for slab_sets. A block that is being retired is in `rest` until it is free.
  WARPHEAP_FN auto where() const {
    return [headers = headers_, rest = sets_.rest()](std::uint32_t block) {
      const slab_entry::contents entry = headers[block].entry.look();
      if (entry.size_class == slab_entry::unowned) return free_set;
      return entry.is_assigned() && entry.free != 0 ? active_set(entry.size_class) : rest;
    };
  }
  WARPHEAP_FN std::uint32_t home() const;
  WARPHEAP_FN permits find_permits(std::uint32_t type, std::uint32_t capacity, std::uint32_t wanted) const;
  WARPHEAP_FN permits find_or_create(std::uint32_t type, std::uint32_t capacity, std::uint32_t wanted,
                                     std::uint32_t from) const;
  WARPHEAP_FN void find_patiently(std::uint32_t type, std::uint32_t capacity, std::uint32_t wanted, std::uint32_t from,
                                  permits& got) const;
  WARPHEAP_FN std::uint32_t place_of_try(std::uint32_t at_home, int number) const;
  // Where a search goes on that another thread was faster in at `block`: in its leaf first.
  WARPHEAP_FN static std::uint32_t after(std::uint32_t block) {
    return block / bit_tree::leaf_bits * bit_tree::leaf_bits + (block + 1) % bit_tree::leaf_bits;
  }
  WARPHEAP_COLD_FN outcome take_of(std::uint32_t block, std::uint32_t type, std::uint32_t wanted, permits& got) const;
  WARPHEAP_COLD_FN outcome try_free(std::uint32_t type, std::uint32_t capacity, std::uint32_t wanted,
                                    std::uint32_t& from, permits& got) const;
  WARPHEAP_FN void create(std::uint32_t block, std::uint32_t type, std::uint32_t capacity, std::uint32_t taken) const;
  WARPHEAP_COLD_FN void retire(std::uint32_t block, std::uint32_t type, bool was_full) const;
  WARPHEAP_FN void leave_set(std::uint32_t block, std::uint32_t set) const {
    cold_call([self = *this, block, set] { self.sets_.moved(block, set, self.where()); });
  }

  slab_sets sets_;
  dynasoar_header* headers_;
  std::uint32_t blocks_;
  bool lists_blocks_;
};

}  // namespace warpheap::detail

#include <warpheap/designs/dynasoar/detail/give.hpp>
#include <warpheap/designs/dynasoar/detail/take.hpp>
