// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/warp_slab/detail/layout.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The memory of a heap: its units, and where each piece of their metadata lies.
///
/// This is the lowest part of `warp_slab`. Each part above has the part below as its only member, so a kernel carries
/// these addresses once, and a part can call only what lies below it.
///
/// Invariant: a unit is in the set of free ones, or its header says what owns it, or it is a later unit of a run. An
/// owner is written before a block of the unit is handed out, so a thread that has a block reads what it belongs to.
///
/// Any lane may call. Views of words leave the orders to the parts above.
class slab_store {
 public:
  using layout = warp_slab_layout;
  using classes = slab_classes;
  using unit_header = layout::unit_header;
  using unit_section = layout::unit_section;
  using class_state = layout::class_state;
  using unit_heap = page_heap<classes::unit_shift>;

  WARPHEAP_FN explicit slab_store(const arena& from)
      : data_(unit_heap::first_page(from.data)),
        control_(reinterpret_cast<layout::control*>(from.metadata)),
        lead_(static_cast<std::uint64_t>(data_ - from.data)),
        initial_units_(units_in(from.bytes)),
        cache_entry_mask_(layout::cache_entries(initial_units_) - 1) {}

  /// Adds the units to the set of free ones, and stores how many units and blocks a slab of each class has. All threads
  /// of a grid share the work.
  WARPHEAP_FN void initialise() const {
    units().add(0, initial_units_, grid_thread_index(), grid_threads());
    for (std::uint64_t i = grid_thread_index(); i < classes::count; i += grid_threads()) {
      const auto c = static_cast<std::uint32_t>(i);
      of_class(c).slab_units = classes::units(c, is_small());
      of_class(c).slab_blocks = classes::blocks(c, is_small());
    }
    if (grid_thread_index() == 0) control_->units = initial_units_;
  }
  /// Adds the units that an arena of `bytes` bytes has more.
  WARPHEAP_FN void grow(std::uint64_t bytes) const { units().grow(control_->units, units_in(bytes)); }

  /// The first unit.
  WARPHEAP_FN std::byte* data() const { return data_; }
  WARPHEAP_FN layout::control& control() const { return *control_; }
  /// Bytes of the arena before the first unit.
  WARPHEAP_FN std::uint64_t lead() const { return lead_; }

  WARPHEAP_FN unit_header& header(std::uint32_t unit) const {
    return of_sections<unit_header, unit_section::units>(offsetof(unit_section, header), unit);
  }
  /// Word of this number (`word_number`).
  WARPHEAP_FN std::uint64_t& word_of(std::uint32_t word) const {
    return of_sections<std::uint64_t, word_number::section_words>(offsetof(unit_section, word), word);
  }
  WARPHEAP_FN atomic_view<std::uint64_t> word(std::uint32_t word) const { return atomic_view{word_of(word)}; }
  /// Entry of the table of class `c`: 1 + the first unit of the slab at `place`, or 0.
  WARPHEAP_FN atomic_view<std::uint32_t> table(std::uint32_t c, std::uint32_t place) const {
    constexpr std::uint32_t each = unit_section::units;
    return atomic_view{
        of_sections<std::uint32_t, each>(offsetof(unit_section, table) + c * each * sizeof(std::uint32_t), place)};
  }
  /// Set of free units.
  WARPHEAP_FN bit_tree free_units() const {
    return {&control_->free_units, reinterpret_cast<std::byte*>(&sections()->free_units), sizeof(unit_section),
            &control_->groups};
  }
  /// The units as pages of a heap.
  WARPHEAP_FN unit_heap units() const { return {data_, free_units()}; }
  /// Set of the places of class `c` whose slabs have a hint that is shown.
  WARPHEAP_FN bit_tree hinted(std::uint32_t c) const {
    return {&of_class(c).hints, reinterpret_cast<std::byte*>(&sections()->hints[c]), sizeof(unit_section)};
  }
  WARPHEAP_FN class_state& of_class(std::uint32_t c) const { return control_->of_class[c]; }

  /// Units, blocks and words of a slab of class `c` in this heap. The size that the heap began with decides, for good.
  /// `initialise` stores them, since the cold ways would need registers to work them out.
  WARPHEAP_FN std::uint32_t units_of(std::uint32_t c) const { return of_class(c).slab_units; }
  WARPHEAP_FN std::uint32_t blocks_of(std::uint32_t c) const { return of_class(c).slab_blocks; }
  WARPHEAP_FN std::uint32_t words_of(std::uint32_t c) const { return (blocks_of(c) + 31) / 32; }
  /// The bits of word `index` of a slab that stand for blocks.
  WARPHEAP_FN std::uint32_t all_blocks(std::uint32_t c, std::uint32_t index) const {
    return layout::all_blocks(blocks_of(c), index);
  }
  /// True if word `index` of a slab, seen as `seen`, says that all of its blocks are free.
  WARPHEAP_FN bool is_whole_word(std::uint32_t c, std::uint32_t index, slab_word seen) const {
    return seen.is_of(c) && seen.free_bits() == all_blocks(c, index);
  }

  /// The cache entry of the caller's warp for class `c`. Each class has all cache entries of the heap, cyclic from a
  /// first one of its own, so in a small heap warps and classes share cache entries. A cache entry of another class
  /// does not count.
  WARPHEAP_FN atomic_view<std::uint64_t> cache_entry(std::uint32_t c) const {
    constexpr std::uint32_t there = unit_section::section_cache_entries;
    static_assert(classes::count <= unit_section::class_cache_entries);
    const std::uint32_t mine =
        (grid_warp_index() + c * (cache_entry_mask_ / unit_section::class_cache_entries + 1)) & cache_entry_mask_;
    return atomic_view{of_sections<std::uint64_t, there>(offsetof(unit_section, cache_entries), mine)};
  }
  /// The contention record of the caller's warp, which warps of a small heap share.
  WARPHEAP_FN atomic_view<std::uint32_t> contention() const {
    constexpr std::uint32_t there = unit_section::section_cache_entries / unit_section::class_cache_entries;
    const std::uint32_t mine = grid_warp_index() & (cache_entry_mask_ / unit_section::class_cache_entries);
    return atomic_view{sections()[mine / there].contention[mine % there]};
  }
  /// Whether less than half of the heap is slabs, so that what one class has in store is not what others lack.
  WARPHEAP_FN bool has_room() const {
    return atomic_view{control_->slab_units}.load(memory_order::relaxed, thread_scope::device) < control_->units / 2;
  }

  /// Whether units are likely to be found where makers look for them: while less than 15/16 of the heap is slabs.
  WARPHEAP_FN bool has_units_ahead() const {
    return atomic_view{control_->slab_units}.load(memory_order::relaxed, thread_scope::device) <
           control_->units - control_->units / 16;
  }

  /// Makes units free that are a run, or were a slab. One lane, which has acquired all accesses to them.
  WARPHEAP_COLD_FN void free_run(std::uint32_t unit, std::uint32_t units) const {
    atomic_view{header(unit).owner}.store(0, memory_order::relaxed, thread_scope::device);
    free_units().add({unit, units});
  }

 private:
  WARPHEAP_FN unit_section* sections() const {
    return reinterpret_cast<unit_section*>(reinterpret_cast<std::byte*>(control_) + layout::sections_at());
  }
  // Element `index` of the arrays of `each` elements that all sections have at byte `offset`. An address advances by
  // one element for each index, and by the rest of a section for each section.
  template <class T, std::uint32_t each>
  WARPHEAP_FN T& of_sections(std::uint64_t offset, std::uint32_t index) const {
    constexpr std::uint64_t rest = sizeof(unit_section) - each * sizeof(T);
    // In this order the constants are part of the access.
    std::byte* at = reinterpret_cast<std::byte*>(control_) + std::uint64_t{index / each} * rest;
    at += std::uint64_t{index} * sizeof(T);
    return *reinterpret_cast<T*>(at + (layout::sections_at() + offset));
  }
  WARPHEAP_FN bool is_small() const { return initial_units_ < layout::small_heap; }
  WARPHEAP_FN std::uint32_t units_in(std::uint64_t bytes) const {
    return static_cast<std::uint32_t>(unit_heap::pages_in(bytes, lead_));
  }

  // Kernels get these fields by value, so no byte of them is padding.
  std::byte* data_;
  layout::control* control_;
  std::uint64_t lead_;
  std::uint32_t initial_units_;
  std::uint32_t cache_entry_mask_;  // warps whose numbers differ in other bits only share a cache entry
};

}  // namespace warpheap::detail
