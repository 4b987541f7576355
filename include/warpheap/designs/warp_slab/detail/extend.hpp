// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// More slabs for a class that has no free block.
//
// One group at a time does it, of which a lane holds the heap's lock, for all that wait. Attempts are numbered when
// they begin. A waiting group takes a refusal for its own if the attempt began after it had begun to wait: then the
// moment at which nothing was to be had lies within its call.
//
// That moment lies in the last search for blocks of the class. If no units are free after it, and meanwhile no thread
// took any, none were free during it.

namespace warpheap {

// Has the classes extended that lanes of `group` want: class `c` of each lane that is `dry`. `news` is how many there
// had been before the search that found nothing. Lanes that wait for nothing help to extend what others want. Tells dry
// lanes what became of their class; `served`: no slab could be added, but in `found` is a block for some lane of it, or
// there may be some for those who look again. Collective.
WARPHEAP_COLD_FN inline auto warp_slab::extend(lane_mask group, std::uint32_t c, bool dry, std::uint32_t news,
                                               void*& found) const -> outcome {
  extension_wait mine{match(group, dry ? c : classes::count), news, 0, 0, outcome::extended};
  const bool asks = dry && is_leader(mine.peers);
  if (asks) ask(c, mine);
  while (wait_for_turn(group, c, mine)) extend_for_holder(group, c, mine, found);  // not a spin: each turn ends a wait
  if (asks) withdraw_demand(c, mine);
  return shuffle(group, mine.then, leader(mine.peers));
}

// Waits until a lane of `group` holds the lock, or none waits any more; then it is false. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::wait_for_turn(lane_mask group, std::uint32_t c, extension_wait& mine) const {
  // Of a class that begins all warps may wait here, and the classes are extended one after the other.
  constexpr unsigned longest = 1u << 14;
  for (backoff wait{longest}; any(group, mine.then == outcome::waits); wait.pause()) {
    if (mine.then == outcome::waits) look_for_turn(c, mine);
    if (any(group, mine.then == outcome::holds)) return true;
  }
  return false;
}

// Begins to wait for class `c`, for all peers. One lane.
WARPHEAP_COLD_FN inline void warp_slab::ask(std::uint32_t c, extension_wait& mine) const {
  using enum memory_order;
  using enum thread_scope;
  // By an RMW, so that a later attempt sees all that comes before this call.
  mine.earlier = atomic_view{control_->attempts}.fetch_add(0, release, device);
  const auto wanted = static_cast<std::uint32_t>(group_size(mine.peers));
  mine.times = slab_demand{atomic_view{of_class(c).demand}.fetch_add(wanted, relaxed, device)}.times();
  mine.then = outcome::waits;
}

// What became of the class meanwhile; `holds`: nothing, and now the caller holds the lock. One lane.
WARPHEAP_COLD_FN inline void warp_slab::look_for_turn(std::uint32_t c, extension_wait& mine) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view view{of_class(c).news};
  const std::uint64_t refused = atomic_view{of_class(c).refused}.load(acquire, device);
  if (view.load(acquire, device) != mine.news) {
    mine.then = outcome::extended;
  } else if (refused > mine.earlier) {
    mine.then = outcome::refused;
  } else if (control_->lock.try_acquire()) {
    if (view.load(relaxed, device) == mine.news) {
      mine.then = outcome::holds;
    } else {
      control_->lock.release();
    }
  }
}

// Extends the class of the lane of `group` that holds the lock. Collective.
WARPHEAP_COLD_FN inline void warp_slab::extend_for_holder(lane_mask group, std::uint32_t c, extension_wait& mine,
                                                          void*& found) const {
  const bool holds = mine.then == outcome::holds;
  const int holder = leader(ballot(group, holds));  // there is one, since they all ask for the same lock
  const outcome then = extend_alone(group, shuffle(group, mine.peers, holder), shuffle(group, c, holder), found);
  if (holds) mine.then = then;
}

// Extends the class for all that wait, and gives the lock back, which the first of the lanes `wanting` blocks holds.
// Collective over `group`.
WARPHEAP_COLD_FN inline auto warp_slab::extend_alone(lane_mask group, lane_mask wanting, std::uint32_t c,
                                                     void*& found) const -> outcome {
  using enum memory_order;
  using enum thread_scope;
  std::uint32_t slabs = 0;
  std::uint64_t attempt = 0;
  if (is_leader(wanting)) {
    attempt = atomic_view{control_->attempts}.fetch_add(1, acquire, device) + 1;
    slabs = slabs_wanted(c, static_cast<std::uint32_t>(group_size(wanting)), wanting != group);
  }
  slabs = shuffle(group, slabs, leader(wanting));
  sync(group);  // what the lock's holder before wrote is visible to all lanes
  const outcome then = add_or_search(group, wanting, c, slabs, found);
  sync(group);
  if (is_leader(wanting)) {
    // Where a search found blocks there may be more: those who wait look by themselves and need not have the lock in
    // turn.
    if (then != outcome::refused) atomic_view{of_class(c).news}.fetch_add(1, release, device);
    if (then == outcome::refused) atomic_view{of_class(c).refused}.store(attempt, release, device);
    control_->lock.release();
  }
  return then;
}

// Adds slabs or, if there is no memory for one, looks once more for blocks. The lock's holder. Collective over `group`.
WARPHEAP_COLD_FN inline auto warp_slab::add_or_search(lane_mask group, lane_mask wanting, std::uint32_t c,
                                                      std::uint32_t slabs, void*& found) const -> outcome {
  if (add_slabs(group, c, slabs)) return outcome::extended;
  while (reclaim(group, slabs * units_of(c))) {  // not a spin: each turn takes slabs back
    if (add_slabs(group, c, slabs)) return outcome::extended;
  }
  // Blocks of the class may have come back since the caller looked.
  const bit_tree::watch units = free_units().begin_watch();
  stop_point("warp_slab.add_or_search.watched");
  sync(group);
  void* const got = search(group, wanting, c);
  stop_point("warp_slab.add_or_search.searched");
  if (got != nullptr) found = got;
  if (any(group, got != nullptr)) return outcome::served;
  if (add_slabs(group, c, slabs)) return outcome::extended;
  // A run may have had units that were there during the search. Then all look again.
  const bool quiet = any(group, is_leader(group) && free_units().was_quiet(units));
  return quiet ? outcome::refused : outcome::served;
}

// Subtracts the demand that `ask` counted, unless a lock holder, maybe the caller, has taken it since. One lane.
WARPHEAP_COLD_FN inline void warp_slab::withdraw_demand(std::uint32_t c, const extension_wait& mine) const {
  using enum memory_order;
  using enum thread_scope;
  const auto blocks = static_cast<std::uint32_t>(group_size(mine.peers));
  const atomic_view view{of_class(c).demand};
  if (slab_demand{view.load(relaxed, device)}.times() != mine.times) return;
  const slab_demand before{view.fetch_sub(blocks, relaxed, device)};
  // Taken just then. If it is taken once more before this, some blocks too many are waited for, once.
  if (before.times() != mine.times) view.fetch_add(blocks, relaxed, device);
}

// Adds up to `slabs` slabs, at least one; false if there are no units. The lock's holder. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::add_slabs(lane_mask group, std::uint32_t c, std::uint32_t slabs) const {
  std::uint32_t left = slabs;
  while (left != 0 && add_neighbours(group, c, left)) {  // not a spin: each turn adds slabs
  }
  return left != slabs;
}

// Adds up to `slabs` slabs that lie side by side, and subtracts them; false if there are no units. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::add_neighbours(lane_mask group, std::uint32_t c, std::uint32_t& slabs) const {
  // At multiples of their size, so that those of one class fill a heap whatever was where before.
  const index_run run = free_units().take_blocks(group, units_of(c), slabs);
  const auto count = static_cast<std::uint32_t>(run.count) / units_of(c);
  if (count == 0) return false;
  slabs -= count;
  make_slabs(group, c, static_cast<std::uint32_t>(run.first), count);
  return true;
}

// Makes units from `unit` on slabs of class `c`, all of their blocks free. The lock's holder. Collective.
//
// Step by step, each for all slabs, with the lanes side by side: what a word tells of must be there before the word. A
// fence between two steps stands for the releases of all stores of the second.
WARPHEAP_COLD_FN inline void warp_slab::make_slabs(lane_mask group, std::uint32_t c, std::uint32_t unit,
                                                   std::uint32_t slabs) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  if (is_leader(group)) {
    control_->used_classes |= std::uint64_t{1} << c;
    atomic_view{control_->slab_units}.fetch_add(slabs * units_of(c), relaxed, device);
    begin_change(c);
  }
  sync(group);
  make_headers(group, c, unit, places, slabs);
  open_slabs(group, c, unit, places, slabs);
  if (!is_leader(group)) return;
  atomic_view{of_class(c).newest}.store(places, relaxed, device);
  atomic_view{of_class(c).places}.store(places + slabs, release, device);
  end_change(c);
}

// The headers of slabs from `unit` on, at places from `place` on. Collective.
WARPHEAP_COLD_FN inline void warp_slab::make_headers(lane_mask group, std::uint32_t c, std::uint32_t unit,
                                                     std::uint32_t place, std::uint32_t slabs) const {
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  for (auto i = static_cast<std::uint32_t>(group_rank(group)); i < slabs; i += lanes) {
    make_header(c, unit + i * units_of(c), place + i);
  }
  sync(group);
}

// The words of slabs whose headers are there, and all that leads to them. Collective.
WARPHEAP_COLD_FN inline void warp_slab::open_slabs(lane_mask group, std::uint32_t c, std::uint32_t unit,
                                                   std::uint32_t place, std::uint32_t slabs) const {
  fence(memory_order::release, thread_scope::device);
  make_words(group, c, unit, slabs);
  fill_table(group, c, unit, place, slabs);
  sync(group);
  mark_places(group, c, place, place + slabs);
  sync(group);
}

// Each lane of `group` does its share of these.
WARPHEAP_COLD_FN inline void warp_slab::make_words(lane_mask group, std::uint32_t c, std::uint32_t unit,
                                                   std::uint32_t slabs) const {
  // Lane by lane along the slabs or, where there are more of them, along the words of each.
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  const bool few = slabs < words_of(c);
  WARPHEAP_ROLLED for (std::uint32_t slab = few ? 0 : rank; slab < slabs; slab += few ? 1 : lanes) {
    const std::uint32_t first = unit + slab * units_of(c);
    WARPHEAP_ROLLED for (std::uint32_t w = few ? rank : 0; w < words_of(c); w += few ? lanes : 1) {
      make_word(c, word_number::make(first, w), all_blocks(c, w));
    }
  }
}
WARPHEAP_COLD_FN inline void warp_slab::fill_table(lane_mask group, std::uint32_t c, std::uint32_t unit,
                                                   std::uint32_t place, std::uint32_t slabs) const {
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  for (auto i = static_cast<std::uint32_t>(group_rank(group)); i < slabs; i += lanes) {
    table(c, place + i).store(unit + i * units_of(c) + 1, after_release_fence, thread_scope::device);
  }
}
WARPHEAP_COLD_FN inline void warp_slab::mark_places(lane_mask group, std::uint32_t c, std::uint32_t begin,
                                                    std::uint32_t end) const {
  constexpr std::uint32_t leaf = bit_tree::leaf_bits;
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const bit_tree places = hints(c);
  for (auto i = begin / leaf + static_cast<std::uint32_t>(group_rank(group)); i * leaf < end; i += lanes) {
    const std::uint32_t from = i * leaf < begin ? begin : i * leaf;
    const std::uint32_t to = (i + 1) * leaf < end ? (i + 1) * leaf : end;
    if (from < to) places.mark(i, detail::bit_range(from % leaf, to - from));
  }
}

// What tells of the slab that begins at `unit`, at `place` of the table. Before its words, by which the first block is
// handed out. One lane.
WARPHEAP_COLD_FN inline void warp_slab::make_header(std::uint32_t c, std::uint32_t unit, std::uint32_t place) const {
  using enum memory_order;
  using enum thread_scope;
  WARPHEAP_ROLLED for (std::uint32_t u = 0; u < units_of(c); ++u) {
    atomic_view{header(unit + u).owner}.store(unit_owner::slab(c, u).value, memory_order::relaxed,
                                              thread_scope::device);
  }
  atomic_view{header(unit).hint}.store(slab_hint::make(c, place).value, relaxed, device);
}

// Word `at` of it, with the blocks `all`. A fence has released the header, and what those did who had the units.
WARPHEAP_FN inline void warp_slab::make_word(std::uint32_t c, std::uint32_t at, std::uint32_t all) const {
  word(at).store(slab_word::make(c, all).value, after_release_fence, thread_scope::device);
}

}  // namespace warpheap
