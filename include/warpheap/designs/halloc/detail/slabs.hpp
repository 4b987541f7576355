// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// A slab and permits of it, in the hands of a thread.
struct halloc_permits {
  std::uint32_t slab;     // its number
  std::uint32_t page;     // where it begins
  std::uint32_t permits;  // 0: nothing was found
};

/// The slabs of a heap: made of pages, listed by their fill, given to another class when no block is in them, and
/// turned into pages again.
///
/// Invariant: the entry of a slab has the permits that nobody holds. Holders are live blocks, heads with tickets, and
/// threads on their way between these. A slab changes its class, or becomes pages, only by the thread that retired its
/// entry, which had all permits then.
///
/// Invariant: a slab that no thread holds is in the set that its entry tells: `slab_sets` keeps that.
template <class Layout>
class halloc_slabs {
 public:
  using classes = typename Layout::classes;
  using figures_type = typename Layout::class_figures;
  static constexpr std::uint32_t none = slab_sets::none;

  WARPHEAP_FN explicit halloc_slabs(const arena& from) : pages_(from) {}
  WARPHEAP_FN const halloc_pages<Layout>& pages() const { return pages_; }
  WARPHEAP_FN auto quiescence() const { return pages_.quiescence(); }
  WARPHEAP_FN typename Layout::control& control() const { return pages_.control(); }
  WARPHEAP_FN figures_type& figures(std::uint32_t c) const { return control().of_class[c].figures; }
  WARPHEAP_FN slab_entry& entry(std::uint32_t slab) const { return control().entries[slab]; }
  WARPHEAP_FN slab_sets sets() const {
    // Searches spread over what a heap of this size has at first.
    const std::uint64_t slabs = (pages_.initial_bytes() / Layout::page_bytes >> pages_.slab_order()) + 1;
    constexpr std::uint64_t most = Layout::most_slabs;
    return {control().set_memory, Layout::sets, static_cast<std::uint32_t>(slabs < most ? slabs : most)};
  }

  /// The set that a slab belongs to.
  struct where {
    slab_entry* entries;
    WARPHEAP_FN std::uint32_t operator()(std::uint32_t slab) const {
      const slab_entry::contents seen = entries[slab].look();
      return seen.is_assigned() ? Layout::set_by_fill(seen.size_class, seen.free, seen.capacity) : Layout::sets;
    }
  };
  WARPHEAP_FN where place() const { return {control().entries}; }

  /// Lists a slab that the caller holds. One lane.
  WARPHEAP_COLD_FN void put(std::uint32_t slab) const { sets().put(slab, place()); }
  /// Lists a slab anew whose entry the caller moved away from the set `from`. One lane.
  WARPHEAP_COLD_FN void moved(std::uint32_t slab, std::uint32_t from) const { sets().moved(slab, from, place()); }
  /// Takes a slab out of the first set of `order` that has one; the caller holds it. One lane.
  WARPHEAP_COLD_FN std::uint32_t pick(set_order order, std::uint32_t seed) const {
    return sets().pick(lane_bit(), order, seed).slab;
  }

  /// Gives `count` permits of the slab back, whose blocks are free, and lists the slab by its new fill. One lane.
  WARPHEAP_FN void give(halloc_slab_name of, std::uint32_t count) const {
    const slab_step step = entry(of.slab()).give(count);
    const std::uint32_t from = Layout::set_by_fill(of.of_class(), step.before, step.capacity);
    const std::uint32_t to = Layout::set_by_fill(of.of_class(), step.after, step.capacity);
    if (from == to) return;
    const halloc_slabs self = *this;
    cold_call([self, of, from] {
      self.moved(of.slab(), from);
      return 0;
    });
  }

  /// Takes all permits of a slab of class `c` out of the first set of `order` that has one. One lane, within a change.
  WARPHEAP_COLD_FN halloc_permits take_listed(set_order order, std::uint32_t c, std::uint32_t seed) const {
    for (;;) {  // not a spin: each turn takes a slab out of a set, and permits of it unless another thread was faster
      const std::uint32_t slab = pick(order, seed);
      if (slab == none) return {none, 0, 0};
      const std::uint32_t permits = entry(slab).try_take(c, slab_entry::most_blocks).amount();
      put(slab);
      if (permits != 0) return {slab, control().page_of[slab], permits};
    }
  }

  /// Takes up to `wanted` permits of a slab of the set `from` of class `c`, which stays listed by its fill. Few tries:
  /// `permits` may be 0 though a slab has some. For slabs that have too few permits to become a head. One lane.
  WARPHEAP_COLD_FN halloc_permits take_some(std::uint32_t from, std::uint32_t c, std::uint32_t wanted,
                                            std::uint32_t seed) const {
    constexpr std::uint32_t tries = 4;
    for (std::uint32_t i = 0; i < tries; ++i) {
      const std::uint32_t slab = sets().find(from, seed + i);
      if (slab == none) break;
      const slab_step step = entry(slab).try_take(c, wanted);
      if (step.amount() == 0) continue;
      const std::uint32_t before = Layout::set_by_fill(c, step.before, step.capacity);
      if (before != Layout::set_by_fill(c, step.after, step.capacity)) moved(slab, before);
      return {slab, control().page_of[slab], step.amount()};
    }
    return {none, 0, 0};
  }

  /// Reserves a fully free slab, of any class, for the caller; no permits. One lane, within a change.
  WARPHEAP_COLD_FN halloc_permits take_free(std::uint32_t seed) const {
    for (;;) {  // not a spin: each turn takes a slab out of the set, and retires it unless another thread was faster
      const std::uint32_t slab = pick(set_order::of(Layout::free_set), seed);
      if (slab == none) return {none, 0, 0};
      if (entry(slab).try_retire()) return {slab, control().page_of[slab], 0};
      put(slab);
    }
  }

  /// Reserves pages and a number for a new slab; no permits. One lane, within a change.
  WARPHEAP_COLD_FN halloc_permits take_new() const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t page = pages_.source().take(pages_.slab_order(), retry_limit{2});
    if (page == page_source::none) return {none, 0, 0};
    const std::uint32_t guess = (page - pages_.first_page()) >> pages_.slab_order();
    const std::uint32_t slab = numbers().claim(lane_bit(), guess % Layout::most_slabs);
    if (slab == slot_bits<>::none) {
      pages_.source().give(page);
      return {none, 0, 0};
    }
    const bool reserved = entry(slab).try_reserve();
    invariant(reserved, "halloc: the entry of a number that was free is owned");
    control().page_of[slab] = page;
    // Relaxed: a search that needs the entry sees the change that this is part of.
    atomic_view{control().slabs_end}.fetch_max(slab + 1, relaxed, device);
    return {slab, page, 0};
  }

  /// Makes the reserved slab one of class `c`, with all of its permits in the caller's hands. Collective over `group`,
  /// whose lanes share the work.
  WARPHEAP_COLD_FN halloc_permits assign(lane_mask group, std::uint32_t c, halloc_permits at) const {
    const figures_type& of = figures(c);
    const slot_bits<> bits = pages_.bits(at.page, of.slots);
    reset(group, bits);
    mark_absent(group, c, bits);
    sync(group);
    if (is_leader(group)) {
      pages_.slab_at(at.page).store(halloc_slab_name::make(at.slab, c).value, memory_order::relaxed,
                                    thread_scope::device);  // `assign` releases it
      entry(at.slab).assign(c, of.capacity, of.capacity);
      put(at.slab);
    }
    return {at.slab, at.page, of.capacity};
  }

  /// Turns the reserved slab into pages. One lane, within a change.
  WARPHEAP_COLD_FN void dissolve(halloc_permits at) const {
    pages_.slab_at(at.page).store(0, memory_order::relaxed, thread_scope::device);  // `give` releases it
    entry(at.slab).vacate();
    numbers().release(at.slab);
    pages_.source().give(at.page);
  }

  /// Turns all fully free slabs into pages; true if there was one. One lane.
  WARPHEAP_COLD_FN bool dissolve_free() const {
    bool found = false;
    while (sets().find(Layout::free_set, 0) != none) {  // not a spin: each turn takes a slab, or another thread did
      quiescence().begin_change();
      const halloc_permits at = take_free(0);
      if (at.slab != none) {
        dissolve(at);
        found = true;
      }
      quiescence().end_change();
    }
    return found;
  }

  /// True if `sees(entry)` for an entry of a slab. Collective over `group`.
  template <class Sees>
  WARPHEAP_FN bool any_entry(lane_mask group, Sees sees) const {
    const std::uint32_t end = atomic_view{control().slabs_end}.load(memory_order::relaxed, thread_scope::device);
    bool found = false;
    for (auto i = static_cast<std::uint32_t>(group_rank(group)); i < end;
         i += static_cast<std::uint32_t>(group_size(group))) {
      const slab_entry::contents seen = entry(i).look();
      if (seen.is_assigned() && sees(seen)) found = true;
    }
    return any(group, found);
  }

  /// The block of a lane that holds a permit of the slab of class `c` at `page`; looks from slot `start` on. Collective
  /// over `group`, whose lanes hold a permit each.
  WARPHEAP_FN void* claim(lane_mask group, std::uint32_t c, std::uint32_t page, std::uint32_t start) const {
    return block_at(c, page, pages_.bits(page, figures(c).slots).claim_counted(group, start));
  }
  /// Address of slot `slot` of the slab of class `c` at `page`.
  WARPHEAP_FN void* block_at(std::uint32_t c, std::uint32_t page, std::uint32_t slot) const {
    return reinterpret_cast<void*>(pages_.address_of(page) + figures(c).first + slot * classes::bytes(c));
  }

 private:
  WARPHEAP_FN slot_bits<> numbers() const { return {control().numbers, Layout::most_slabs}; }

  WARPHEAP_COLD_FN static void reset(lane_mask group, slot_bits<> bits) { bits.reset(group); }

  // Sets the bits of slots that would begin at a page. Nobody else uses the bitmap.
  WARPHEAP_COLD_FN void mark_absent(lane_mask group, std::uint32_t c, slot_bits<> bits) const {
    const figures_type& of = figures(c);
    if (of.capacity == of.slots) return;
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    for (auto page = static_cast<std::uint32_t>(group_rank(group)) + 1; page >> pages_.slab_order() == 0;
         page += lanes) {
      const auto at = static_cast<std::uint32_t>(page * Layout::page_bytes);
      if (at < of.first) continue;
      const std::uint32_t slot = classes::divide(at - of.first, c);
      if (slot >= of.slots || of.first + slot * classes::bytes(c) != at) continue;
      bits.claim_bits(slot / slot_bits<>::word_bits, 1u << slot % slot_bits<>::word_bits);
    }
  }

  halloc_pages<Layout> pages_;
};

}  // namespace warpheap::detail
