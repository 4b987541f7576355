// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/bulk/bulk.hpp>

// Units from anywhere: what a shelf at home lacks is made, counted off the shelves of other arenas, made of pages of their
// chunks, or drained from what is there without need; in this order. Only then there is none.
//
// When may it be said that there is none? If a whole search found nothing and nothing can have slipped by it
// (changes.hpp), it is certain, and noted: until something is given, who comes next reads the note and needs no search. If
// others give all the time, it may never be certain. Then a search is repeated `for_gifts` times, and each repetition says
// that at the places where it looked there was nothing. If memory is only in the hands of others for a moment, the search
// waits for them, up to `for_changes` times, far more than a bin takes on its way.

namespace warpheap {

// True if a search for `what` that found nothing is to be repeated.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::goes_on(std::uint32_t what, const watch& before, bool restless,
                                                                 turns& left) const {
  const watch now = begin_watch();
  if (!restless && was_quiet(before)) {
    note_refused(what, before);
    return false;
  }
  if (is_refused(what, now.given)) return false;
  const bool moved = restless || !before.quiet || now.begun != before.begun;
  std::uint32_t& more = moved ? left.for_changes : left.for_gifts;
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
  for (backoff wait;; wait.pause()) {
    const watch before = begin_watch();
    bool restless = false;
    if (ask_home(c, wanted, left, held) || find_count(c, wanted, left, restless) ||
        make_of_others(c, wanted, held, restless)) {
      return true;
    }
    if (drain()) restless = true;
    if (!goes_on(c, before, restless, more)) return false;
  }
}

// The two stages at home: units are granted, or the caller makes a bin.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::ask_home(std::uint32_t c, std::uint32_t wanted, credit& left,
                                                                  hold& held) const {
  using outcome = bulk_semaphore::outcome;
  const std::uint32_t arena = home();
  const std::uint32_t batch = layout::units(c);
  bulk_semaphore& count = shelf_of(arena, c).count;
  // Who knows that nothing can be made does not ask those who wait for it to wait for him.
  if (count.count().available < wanted && !can_make(arena, c)) return false;
  outcome what = count.wait_for_lanes(wanted, batch);
  if (what == outcome::produce) {
    begin_change();
    if (make(arena, c, wanted, held)) {
      require(count.deliver(wanted, batch), "bulk: more blocks than can be counted");
      end_change();
      return true;
    }
    what = count.give_up(wanted, batch, bulk_semaphore::cause::passing);
    end_change();
  }
  if (what != outcome::granted) return false;
  left = {arena, wanted};
  return true;
}

// Counts units off the shelf of any arena; with 0 `wanted` only looks for some.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::find_count(std::uint32_t c, std::uint32_t wanted, credit& left,
                                                                    bool& restless) const {
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
        restless = true;
      } else if (seen[j].available + static_cast<std::int64_t>(seen[j].reserved) != 0) {
        restless = true;  // units that are there are spoken for, and may yet be left
      }
    }
  }
  return false;
}

// Makes a bin, for the shelf at home, of a page of any arena's chunk.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::make_of_others(std::uint32_t c, std::uint32_t wanted,
                                                                        hold& held, bool& restless) const {
  credit page{0, 0};
  if (c >= layout::paged_sizes || !find_count(layout::pages_class, 0, page, restless)) return false;
  begin_change();
  const bool found = find_count(layout::pages_class, 1, page, restless);
  if (found) {
    const hold of = take_listed(page.arena, layout::pages_class, 1);
    held = {of.page + static_cast<std::uint32_t>(lowest_bit(claim_some(of).bits)), wanted};
    const std::uint32_t arena = home();
    set_up(arena, c, held.page, wanted);
    const std::uint32_t rest = layout::units(c) - wanted;
    if (rest != 0) require(shelf_of(arena, c).count.signal(rest), "bulk: more blocks than can be counted");
  }
  end_change();
  return found;
}

}  // namespace warpheap
