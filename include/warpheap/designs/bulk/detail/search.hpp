// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// Units from anywhere: what a shelf at home lacks is made, counted off the shelves of other arenas, made of pages of their
// chunks, or drained from what is there without need; in this order. Only then there is none.
//
// When may it be said that there is none? If a whole search found nothing and nothing can have slipped by it
// (changes.hpp), it is certain, and noted: until something is given, who comes next reads the note and needs no search. If
// others give all the time, it may never be certain. Then a search is repeated `for_gifts` times, and each repetition says
// that at the places where it looked there was nothing. If memory is only in the hands of others, the search waits for
// them: as long as nothing moves, however long that is, and for `for_changes` searches in which others gave or moved
// something and it got nothing. Who has memory in his hands waits for nobody who searches, so the wait ends.

namespace warpheap {

// True if a search for `what` that found nothing is to be repeated.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::goes_on(std::uint32_t what, const watch& before,
                                                                 turns& left) const {
  if (was_quiet(before)) {
    note_refused(what, before);
    return false;
  }
  const watch now = begin_watch();
  if (is_refused(what, now.given)) return false;
  const bool held = before.restless || !before.quiet || now.begun != before.begun;
  if (held && now.moved == before.moved && now.given == before.given) return true;
  std::uint32_t& more = held ? left.for_changes : left.for_gifts;
  if (more == 0) return false;
  --more;
  return true;
}

// Counts up to `wanted` units off a semaphore, which are then `left`, or off a new bin, which are `held`. False if there
// are none. One lane.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::find_units(std::uint32_t c, std::uint32_t wanted, credit& left,
                                                                    hold& held) const {
  if (wanted > layout::units(c)) wanted = layout::units(c);
  turns more{3, 64};
  if (is_refused(c, given())) return false;
  for (;;) {
    watch search = begin_watch();
    if (ask_home(c, wanted, left, held, search) || find_count(c, wanted, left, search) ||
        make_of_others(c, wanted, held, search)) {
      return true;
    }
    if (drain()) search.restless = true;
    search.uncertain = Buddy::notes_refusals && !buddy().refuses(layout::chunk_order);
    if (!goes_on(c, search, more)) return false;
    backoff().pause();  // a short one, for the next search is work
  }
}

// The two stages at home: units are granted, or the caller makes a bin. A bin is delivered, and its change ended, before the
// caller meets lanes of its warp that wait for one.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::ask_home(std::uint32_t c, std::uint32_t wanted, credit& left,
                                                                  hold& held, watch& search) const {
  using standing = bulk_semaphore::standing;
  const std::uint32_t arena = home();
  const std::uint32_t batch = layout::units(c);
  bulk_semaphore& count = shelf_of(arena, c).count;
  // A thread that knows that nothing can be made does not make waiting threads wait for it.
  if (count.count().available < wanted && !can_make(arena, c)) return false;
  bool made = false;
  lane_mask group = active_group();
  bulk_semaphore::request mine = ask_at(count, wanted, batch);
  do {
    if (mine.what() == standing::produces) {
      begin_change();
      ++search.begun;
      made = make(arena, c, wanted, held);
      if (made) {
        require(count.deliver(mine), "bulk: more blocks than can be counted");
      } else {
        count.give_up(mine, bulk_semaphore::production::passing);
      }
      end_change(made);
    }
  } while (count.waits(mine, group));
  if (mine.what() == standing::failed) return false;
  if (!made) left = {arena, wanted};
  return true;
}

// A request for a unit each of `wanted` lanes; a function of its own, so that its code exists once.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bulk_semaphore::request bulk_allocator<Buddy, ChunkPages>::ask_at(bulk_semaphore& count,
                                                                                   std::uint32_t wanted,
                                                                                   std::uint32_t batch) {
  return count.ask_for_lanes(wanted, batch);
}

// Counts units off the shelf of any arena; with 0 `wanted` only looks for some.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::find_count(std::uint32_t c, std::uint32_t wanted, credit& left,
                                                                    watch& search) const {
  constexpr std::uint32_t at_once = 2;  // since each look waits for memory
  const std::uint32_t first = home();
  for (std::uint32_t i = 0; i <= arena_mask_; i += at_once) {
    bulk_semaphore::counts seen[at_once];
    for (std::uint32_t j = 0; j < at_once; ++j) {
      seen[j] = shelf_of((first + i + j) & arena_mask_, c).count.count();
    }
    for (std::uint32_t j = 0; j < at_once; ++j) {
      const std::uint32_t arena = (first + i + j) & arena_mask_;
      if (seen[j].available > 0) {
        if (wanted == 0) return true;
        const std::uint32_t units = seen[j].available < wanted ? static_cast<std::uint32_t>(seen[j].available) : wanted;
        if (shelf_of(arena, c).count.try_wait(units)) {
          left = {arena, units};
          return true;
        }
        search.restless = true;
      } else if (seen[j].available + static_cast<std::int64_t>(seen[j].reserved) != 0) {
        search.restless = true;  // units that are there are spoken for, and may yet be left
      }
    }
  }
  return false;
}

// Makes a bin, for the shelf at home, of a page of any arena's chunk.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::make_of_others(std::uint32_t c, std::uint32_t wanted,
                                                                        hold& held, watch& search) const {
  credit page{0, 0};
  if (c >= layout::paged_sizes || !find_count(layout::pages_class, 0, page, search)) return false;
  begin_change();
  ++search.begun;
  const bool found = find_count(layout::pages_class, 1, page, search);
  if (found) {
    const hold of = take_listed(page.arena, layout::pages_class, 1);
    held = {of.page + static_cast<std::uint32_t>(lowest_bit(claim_some(of).bits)), wanted, 0};
    const std::uint32_t arena = home();
    set_up(arena, c, held.page, wanted);
    const std::uint32_t rest = layout::units(c) - wanted;
    if (rest != 0) require(shelf_of(arena, c).count.signal(rest), "bulk: more blocks than can be counted");
  }
  end_change(found);
  return found;
}

}  // namespace warpheap
