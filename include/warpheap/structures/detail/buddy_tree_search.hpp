// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/buddy_tree.hpp>

// How a block is found. First by glances, at words that others are not likely to look at in the same moment, whose
// reads do not depend on each other; then by breaking a unit, large ones by turns; and only at last by a look at
// everything.

namespace warpheap {

// A number that few threads share, another one in each turn: so threads that meet part.
WARPHEAP_FN inline std::uint32_t buddy_tree::own_number(std::uint32_t turn) {
  return (static_cast<std::uint32_t>(grid_thread_index()) * 0x9e37'79b9u + turn * 0x85eb'ca6bu) >> 16;
}

// What the top rank shows of a level: the first word that has pages of ours. Not all words, since thousands read it at
// the same time; in the others there is something only where pages go on after a multiple of 2^24.
WARPHEAP_FN inline auto buddy_tree::read_top(std::uint32_t level) const -> look {
  const std::uint32_t index = first_span_ / (layout::words(0) / layout::words(layout::levels - 1) / 64);
  return {index, word(layout::levels - 1, level, index).load(memory_order::relaxed, thread_scope::device)};
}

// What it shows after word `index`, in the next word that shows anything. All are read at the same time.
WARPHEAP_FN inline auto buddy_tree::read_on(std::uint32_t level, std::uint32_t index) const -> look {
  constexpr std::uint32_t rank = layout::levels - 1;
  constexpr std::uint32_t most = layout::words(rank);
  std::uint64_t seen[most];
  for (std::uint32_t i = 0; i < most; ++i) {
    seen[i] = word(rank, level, i).load(memory_order::relaxed, thread_scope::device);
  }
  look next{index, 0};
  for (std::uint32_t i = most; i-- != 0;) {
    if (i > index && seen[i] != 0) next = {i, seen[i]};
  }
  return next;
}

// The first word of a level that may have something, in [from, end). A hint. It comes from above, since words that
// nothing above shows may have no memory.
WARPHEAP_FN inline bool buddy_tree::next_shown(std::uint32_t level, std::uint32_t from, std::uint32_t end,
                                               std::uint32_t& index) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t highest = layout::levels - 1;
  if (level == highest) {
    for (index = from; index < end; ++index) {
      if (word(highest, highest, index).load(relaxed, device) != 0) return true;
    }
    return false;
  }
  std::uint32_t rank = highest;  // of the word looked at; its bits stand for 64^(rank - level - 1) words each
  while (from < end) {           // not a spin: each turn goes on to later words, or one rank down to their bits
    const std::uint32_t shift = 6 * (rank - level - 1);
    const std::uint32_t at = from >> shift;
    const std::uint64_t shown = word(rank, level, at / 64).load(relaxed, device) >> at % 64;
    if (shown == 0) {
      // On after this word, and a rank up, where more can be skipped at once.
      from = (at / 64 + 1) << (shift + 6);
      if (rank != highest) ++rank;
      continue;
    }
    const auto skipped = static_cast<std::uint32_t>(lowest_bit(shown));
    if (skipped != 0) from = (at + skipped) << shift;
    if (rank == level + 1) {
      index = from;
      return from < end;
    }
    --rank;
  }
  return false;
}

// Takes up to `most` blocks of an order from one word; returns where they begin.
WARPHEAP_FN inline std::uint64_t buddy_tree::take_from(word_position at, std::uint32_t order,
                                                       std::uint32_t most) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits = free_word(at);
  std::uint64_t seen = bits.load(relaxed, device);
  for (std::uint32_t turn = 0; seen != 0; ++turn) {  // not a spin: another turn means that others took or gave
    std::uint64_t starts = detail::pick_blocks(seen, order, most);
    if (starts == 0) return 0;
    if (most == 1 && (turn != 0 || popcount(seen) > 32)) {
      // Others want the best one, too; all would meet at each best one in turn.
      starts = std::uint64_t{1} << detail::bit_from(detail::block_starts(seen, order), own_number(turn));
    }
    const std::uint64_t mask = detail::block_bits(starts, order);
    if (order == 0) {
      // Whatever of it is still there will do.
      const std::uint64_t before = bits.fetch_and(~mask, acq_rel, device);
      starts &= before;
      seen = before & ~mask;
    } else if (bits.compare_exchange(seen, seen & ~mask, acq_rel, device)) {
      seen &= ~mask;
    } else {
      continue;
    }
    if (seen == 0) hide(at);
    if (starts != 0) return starts;
  }
  return 0;
}

// Where a multiprocessor looks first: so those of one share words that are broken already, and those of different
// ones keep apart. A word's index and 1, or 0 at first.
WARPHEAP_FN inline std::uint32_t& buddy_tree::cache_entry(std::uint32_t level) const {
  return upper_->cache_entry[multiprocessor_index() % layout::cache_entries][level];
}

// True if some unit of a level, from 1 on, may be free. All threads that find no page come here, thousands at once: so
// words that do not depend on each other are read at the same time, and none that is not needed.
WARPHEAP_FN inline bool buddy_tree::may_have(std::uint32_t level) const {
  look top = read_top(level);
  if (top.bits != 0 && may_have_below(level, top)) return true;
  while ((top = read_on(level, top.index)).bits != 0) {  // not a spin: each turn goes on to later words
    if (may_have_below(level, top)) return true;
  }
  return false;
}

// True if some unit may be free below what a word of the top rank shows, which is not 0.
WARPHEAP_FN inline bool buddy_tree::may_have_below(std::uint32_t level, look top) const {
  constexpr std::uint32_t rank = layout::levels - 2;
  if (level >= rank) return true;
  // Level 1 is shown by words of the rank below, which the top rank shows for good.
  while (top.bits != 0) {  // not a spin: each turn goes on to later words
    std::uint64_t seen[8] = {};
    for (std::uint64_t& each : seen) {
      if (top.bits == 0) continue;
      const std::uint32_t index = top.index * 64 + static_cast<std::uint32_t>(lowest_bit(top.bits));
      each = word(rank, level, index).load(memory_order::relaxed, thread_scope::device);
      top.bits &= top.bits - 1;
    }
    for (const std::uint64_t each : seen) {
      if (each != 0) return true;
    }
  }
  return false;
}

// Where the 64 words lie that word `index` of a rank shows; those at either end may have no memory. By addresses, since
// the first of them may be in front of the first span.
WARPHEAP_FN inline auto buddy_tree::words_below(std::uint32_t rank, std::uint32_t level,
                                                std::uint32_t index) const -> column {
  const auto address = [](const void* at) { return reinterpret_cast<std::uint64_t>(at); };
  const std::uint32_t step = rank == 2 ? span_stride_ : static_cast<std::uint32_t>(sizeof(std::uint64_t));
  if (rank == 1) return {address(span_at(index).leaf), step};
  if (rank == 2) return {address(spans_->rank1 + level) + (std::uint64_t{index * 64} - first_span_) * step, step};
  return {address((rank == 3 ? upper_->rank2[level] : upper_->rank3[level]) + index * 64), step};
}

// The best of a few words that `above` shows, of the rank below `rank`: of words of the level itself the first that has
// enough blocks, else the one with the most; of those that show such words, the first that shows any. Its bits are 0 if
// none has anything. Those of the level are other ones for each caller, those that show them the next from word `start`
// on.
WARPHEAP_FN inline auto buddy_tree::best_below(std::uint32_t level, std::uint32_t rank, look above, std::uint32_t start,
                                               std::uint32_t order, std::uint32_t most) const -> look {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t looks = 4;
  const bool last = rank == level + 1;
  std::uint32_t first = own_number(0);
  if (!last) {
    start >>= 6 * (rank - 1 - level);
    first = start / 64 == above.index ? start : 0;
  }
  // All loads before the first is needed, since each waits for memory; of fewer words some twice.
  std::uint32_t bits = 0;  // of each, eight each
  std::uint64_t seen[looks];
  std::uint64_t left = above.bits;
  const column below = words_below(rank, level, above.index);
  for (std::uint32_t i = 0; i < looks; ++i) {
    if (left == 0) left = above.bits;
    const std::uint32_t bit = detail::bit_from(left, first);
    left &= ~(std::uint64_t{1} << bit);
    first = last ? first + 21 : bit;
    bits |= bit << 8 * i;
    seen[i] = atomic_view{*reinterpret_cast<std::uint64_t*>(below.first + std::uint64_t{bit} * below.step)}.load(
        relaxed, device);
  }
  look best{0, 0};
  std::uint32_t value = 0;
  for (std::uint32_t i = looks; i-- != 0;) {
    const auto here = last ? static_cast<std::uint32_t>(popcount(detail::block_starts(seen[i], order)))
                           : static_cast<std::uint32_t>(seen[i] != 0) * most;
    if (here == 0 || (here < most && here < value)) continue;
    value = here;
    best = {above.index * 64 + (bits >> 8 * i & 63), seen[i]};
  }
  return best;
}

// A word of a level that has something, found by few looks, which may miss it.
WARPHEAP_FN inline auto buddy_tree::look_around(std::uint32_t level, look top, std::uint32_t start, std::uint32_t order,
                                                std::uint32_t most) const -> look {
  std::uint32_t rank = layout::levels - 1;
  if (level == rank) {
    top = {0, (std::uint64_t{1} << layout::words(level)) - 1};
    ++rank;
  }
  for (; rank != level && top.bits != 0; --rank) top = best_below(level, rank, top, start, order, most);
  return top;
}

// A few looks: at the cache entry, and at what comes after it.
//
// All threads that come at once go this way, so it is short: most of its time is that of its first instructions and
// words on their way from memory.
WARPHEAP_COLD_FN inline auto buddy_tree::glance(std::uint32_t level, std::uint32_t order,
                                                std::uint32_t most) const -> grab {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view mine{cache_entry(level)};
  const std::uint32_t cached = mine.load(relaxed, device);
  look top = read_top(level);  // together with the cache entry, since each read takes its time
  look at{cached - 1, cached};
  // not a spin: the cached word, then a word of each part that the top rank shows
  for (bool first = true;; first = false) {
    const std::uint64_t starts = at.bits != 0 ? take_from({level, at.index}, order, most) : 0;
    if (starts != 0) {
      if (!first) mine.store(at.index + 1, relaxed, device);
      return {{level, at.index}, starts};
    }
    if (!first) top = read_on(level, top.index);
    if (top.bits == 0 && !first) return {{level, 0}, 0};
    at = look_around(level, top, cached, order, most);
  }
}

// Looks at all words of a level that are shown, from the cached one on and around.
WARPHEAP_COLD_FN inline auto buddy_tree::walk(std::uint32_t level, std::uint32_t order,
                                              std::uint32_t most) const -> grab {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t start = atomic_view{cache_entry(level)}.load(relaxed, device);
  std::uint32_t from = start;
  std::uint32_t end = layout::words(level);
  for (bool around = false;;) {  // not a spin: each turn goes on to later words, or around, once
    std::uint32_t index = 0;
    if (!next_shown(level, from, end, index)) {
      if (around) return {{level, 0}, 0};
      around = true;
      from = 0;
      end = start;
      continue;
    }
    const word_position at{level, index};
    if (free_word(at).load(relaxed, device) == 0) {
      hide(at);  // it was shown without need
    } else {
      const std::uint64_t starts = take_from(at, order, most);
      if (starts != 0) {
        atomic_view{cache_entry(level)}.store(index + 1, relaxed, device);
        return {at, starts};
      }
    }
    from = index + 1;
  }
}

// Whether the caller may break a large unit of a level; then it calls `broke`. Only as many threads may break units as
// serve all threads in need, and the others wait: so units stay whole that no thread needs. A thread in need is counted
// until it has what it asked for; `needs` has a bit for each level at which the caller is.
//
// A thread that breaks a unit waits for no other thread. As long as some thread is in need and none breaks, the next
// thread that looks may. No order: the units themselves are taken and made by changes of their own.
WARPHEAP_FN inline bool buddy_tree::may_break(std::uint32_t level, std::uint32_t& needs) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint64_t one_turn = std::uint64_t{1} << 32;
  const atomic_view turns{upper_->turns[level]};
  const auto enough = [level](std::uint64_t seen) {
    return seen >> 32 >= layout::breakers(level, static_cast<std::uint32_t>(seen));
  };
  const bool counted = (needs >> level & 1) != 0;
  needs |= 1u << level;
  // Looked at first, since many may come.
  if (enough(counted ? turns.load(relaxed, device) : turns.fetch_add(1, relaxed, device))) return false;
  if (!enough(turns.fetch_add(one_turn, relaxed, device))) return true;
  turns.fetch_sub(one_turn, relaxed, device);
  return false;
}

WARPHEAP_FN inline void buddy_tree::broke(std::uint32_t level) const {
  atomic_view{upper_->turns[level]}.fetch_sub(std::uint64_t{1} << 32, memory_order::relaxed, thread_scope::device);
}

// The caller is in need no more.
WARPHEAP_FN inline void buddy_tree::end_needs(std::uint32_t needs) const {
  for (std::uint32_t level = 2; level < layout::levels; ++level) {
    if ((needs >> level & 1) != 0) {
      atomic_view{upper_->turns[level]}.fetch_sub(1, memory_order::relaxed, thread_scope::device);
    }
  }
}

// Breaks a unit: keeps a word of `level` with what is asked for, and makes the rest free. The
// caller keeps a part of each word on the way, so no word is complete and nothing merges.
//
// Others wait for what becomes free, so this does for all levels side by side what `put` and `show` do for one, without
// a look. The first fence releases what the last owners did, with the parts; the second one the parts, and the bits
// above, with the bits that show them. No acquire: a thread that hides a word clears its bit and then looks at it. If
// the bit was set before, the hider acquires that and sees the part; else the bit stays.
WARPHEAP_COLD_FN inline auto buddy_tree::break_unit(grab unit, std::uint32_t level, std::uint32_t order,
                                                    std::uint32_t most) const -> grab {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t highest = layout::levels - 1;
  const std::uint32_t first = unit.at.index * 64 + static_cast<std::uint32_t>(lowest_bit(unit.starts));
  const std::uint64_t starts = detail::pick_blocks(~std::uint64_t{0}, order, most);
  const std::uint64_t keeps = detail::block_bits(starts, order);
  // The words on the way: the first of each level in the unit.
  const auto index = [&](std::uint32_t at) { return first << 6 * (unit.at.level - 1 - at); };
  const auto broken = [&](std::uint32_t at) {
    return at >= level && at < unit.at.level && (at != level || ~keeps != 0);
  };
  // The bits above are set for good, mostly long since, and words that thousands look at; so a look and no write.
  std::uint64_t above[highest][layout::levels] = {};
  const auto shown_by = [&](std::uint32_t at, std::uint32_t rank) { return index(at) >> 6 * (rank - 1 - at); };
  for (std::uint32_t at = highest; at-- != 0;) {  // not a spin: each turn goes one level down
    for (std::uint32_t rank = at + 2; rank < layout::levels; ++rank) {
      if (broken(at)) above[at][rank] = word(rank, at, shown_by(at, rank) / 64).load(relaxed, device);
    }
  }
  fence(release, device);
  for (std::uint32_t at = highest; at-- != 0;) {
    const std::uint64_t parts = at == level ? ~keeps : ~std::uint64_t{1};
    if (broken(at)) free_word({at, index(at)}).fetch_or(parts, after_release_fence, device);
  }
  for (std::uint32_t at = highest; at-- != 0;) {
    for (std::uint32_t rank = at + 2; rank < layout::levels; ++rank) {
      if (!broken(at)) continue;
      const std::uint64_t bit = std::uint64_t{1} << shown_by(at, rank) % 64;
      if ((above[at][rank] & bit) == 0) word(rank, at, shown_by(at, rank) / 64).fetch_or(bit, relaxed, device);
    }
  }
  fence(release, device);
  for (std::uint32_t at = highest; at-- != 0;) {
    if (!broken(at)) continue;
    word(at + 1, at, index(at) / 64).fetch_or(std::uint64_t{1} << index(at) % 64, after_release_fence, device);
    atomic_view{cache_entry(at)}.store(index(at) + 1, relaxed, device);
  }
  return {{level, index(level)}, starts};
}

// All of a unit of 64 pages, as blocks of `order`. Nothing of it is left over, so nobody can miss it.
WARPHEAP_FN inline auto buddy_tree::take_whole(std::uint32_t order) const -> grab {
  const grab unit = glance(1, 0, 1);
  if (unit.starts == 0) return unit;
  return {{0, unit.at.index * 64 + static_cast<std::uint32_t>(lowest_bit(unit.starts))},
          detail::block_starts(~std::uint64_t{0}, order)};
}

// Breaks a unit above `level`. `waits` if others break already, and so many that the caller has to wait for what they
// make free.
//
// Units of 64 pages are many, and to take one of them is no matter of turns; larger ones are broken by turns, and at
// last all of the former are looked through.
WARPHEAP_FN inline auto buddy_tree::split(std::uint32_t level, std::uint32_t order, std::uint32_t most,
                                          std::uint32_t& needs, bool& waits) const -> grab {
  // A thread that wants a whole unit has looked for one.
  const std::uint32_t first = level != 0 ? level + 1 : most << order < 64 ? 1 : 2;
  for (std::uint32_t turn = first; turn <= layout::levels; ++turn) {
    const bool through = turn == layout::levels;  // all units of 64 pages
    if (through && level != 0) break;
    const std::uint32_t from = through ? 1 : turn;
    if (!may_have(from)) continue;
    if (from >= 2 && !may_break(from, needs)) {
      waits = true;
      break;
    }
    begin_change();
    grab unit{{level, 0}, 0};
    // The thread that had the turn before may have made smaller ones, and of the largest none is broken without need.
    // Of others it may be: who takes a smaller one at its turn leaves those who wait with less.
    if (from + 1 == layout::levels && level + 1 < from && may_have(from - 1)) unit = glance(from - 1, 0, 1);
    if (unit.starts == 0 && !through) unit = glance(from, 0, 1);
    if (unit.starts == 0 && turn >= 2) unit = walk(from, 0, 1);
    if (unit.starts != 0) unit = break_unit(unit, level, order, most);
    end_change();
    if (from >= 2) broke(from);
    if (unit.starts != 0) return unit;
  }
  return {{level, 0}, 0};
}

// A pass of `take_some` that meets every word, for a thread that found nothing in a pass without a snapshot. Tells
// whether it proves that no block is free. Apart, and with values instead of references, since few of its values
// outlive it: so the search takes fewer registers than a kernel with blocks of 1,024 threads can have.
WARPHEAP_COLD_FN inline auto buddy_tree::take_with_snapshot(std::uint32_t order, std::uint32_t most,
                                                            std::uint32_t needs) const -> pass_result {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t level = detail::buddy_level(order);
  const std::uint32_t within = order - 6 * level;
  grab found{{0, 0}, 0};
  stop_point("buddy_tree.take.missed");
  const quiescence_snapshot before = begin_snapshot();
  stop_point("buddy_tree.take.snapshot_begun");
  if (atomic_view{upper_->refused[order]}.load(relaxed, device) == before.given + 1) {
    return {found, needs, verdict::over};
  }
  bool waits = false;
  found = split(level, within, most, needs, waits);
  if (waits) return {found, needs, verdict::moved};
  if (found.starts == 0) found = walk(level, within, most);
  if (found.starts != 0) return {found, needs, verdict::over};
  if (was_quiescent(before)) {
    atomic_view{upper_->refused[order]}.store(before.given + 1, relaxed, device);
    return {found, needs, verdict::over};
  }
  const bool moved_only = atomic_view{upper_->given}.load(relaxed, device) == before.given;
  return {found, needs, moved_only ? verdict::moved : verdict::given};
}

// Takes up to `most` blocks of one word. None means that no block was free at one moment of the call, but for those of
// `give`s that had not returned: the pass met every word, and from the moment at which it met one to its end nothing
// was given by a call that has returned, and nothing was under way.
WARPHEAP_COLD_FN inline auto buddy_tree::take_some(std::uint32_t order, std::uint32_t most,
                                                   retry_limit tries) const -> grab {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t level = detail::buddy_level(order);
  const std::uint32_t within = order - 6 * level;
  // A thread that wants all of a unit of 64 pages looks for one first.
  const bool whole = level == 0 && most << within >= 64;
  grab found{{0, 0}, 0};
  std::uint32_t needs = 0;
  if (refuses(order)) return found;
  for (backoff wait;; wait.pause()) {
    found = whole ? take_whole(within) : glance(level, within, most);
    if (found.starts != 0) break;
    bool waits = false;
    found = split(level, within, most, needs, waits);
    if (found.starts != 0) break;
    if (waits) continue;
    if (whole) found = glance(level, within, most);
    if (found.starts != 0) break;
    // There seems to be nothing: now with an eye on what others do.
    const pass_result seen = take_with_snapshot(order, most, needs);
    found = seen.found;
    needs = seen.needs;
    if (seen.what == verdict::over) break;
    // Only gifts can go on for ever; what else moves was given before.
    if (seen.what == verdict::given && tries.searches != retry_limit::endless && --tries.searches == 0) break;
  }
  if (needs != 0) end_needs(needs);
  return found;
}

}  // namespace warpheap
