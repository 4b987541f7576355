// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/buddy_tree.hpp>

// How a block is found. First by glances, at words that others are not likely to look at in the same moment, whose reads do
// not depend on each other; then by breaking a unit, large ones by turns; and only at last by a look at everything.

namespace warpheap {

// A number that few threads share, another one in each turn: so those who meet part.
WARPHEAP_FN inline std::uint32_t buddy_tree::own_number(std::uint32_t turn) {
  return (static_cast<std::uint32_t>(grid_thread_index()) * 0x9e37'79b9u + turn * 0x85eb'ca6bu) >> 16;
}

// What is shown of a level by the words of the top rank, read at the same time.
WARPHEAP_FN inline auto buddy_tree::read_top(std::uint32_t level) const -> top_words {
  top_words top;
  for (std::uint32_t i = 0; i < layout::words(layout::levels - 1); ++i) {
    top.bits[i] = word(layout::levels - 1, level, i).load(memory_order::relaxed, thread_scope::device);
  }
  return top;
}

// The first word of a level that may have something, in [from, end). A hint. It comes from above, since words that
// nothing above shows may have no memory behind them.
WARPHEAP_FN inline bool buddy_tree::next_shown(std::uint32_t level, std::uint32_t from, std::uint32_t end,
                                               const top_words& top, std::uint32_t& index) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t highest = layout::levels - 1;
  if (level == highest) {
    for (index = from; index < end; ++index) {
      if (top.bits[index] != 0) return true;
    }
    return false;
  }
  std::uint32_t rank = highest;  // of the word looked at; its bits stand for 64^(rank - level - 1) words each
  while (from < end) {           // not a spin: each turn goes on to later words, or one rank down to their bits
    const std::uint32_t shift = 6 * (rank - level - 1);
    const std::uint32_t at = from >> shift;
    const std::uint64_t shown =
        (rank == highest ? top.bits[at / 64] : word(rank, level, at / 64).load(relaxed, device)) >> at % 64;
    if (shown == 0) {
      // On behind this word, and a rank up, where more can be skipped at once.
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
WARPHEAP_FN inline std::uint64_t buddy_tree::take_from(place at, std::uint32_t order, std::uint32_t most) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits = free_word(at);
  std::uint64_t seen = bits.load(relaxed, device);
  for (std::uint32_t turn = 0; seen != 0; ++turn) {  // not a spin: another turn means that others took or gave
    std::uint64_t starts = detail::pick_blocks(seen, order, most);
    if (starts == 0) return 0;
    if (most == 1 && turn != 0) {
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
WARPHEAP_FN inline std::uint32_t& buddy_tree::seat(std::uint32_t level) const {
  return upper_->seat[multiprocessor_index() % layout::seats][level];
}

// The first group of 64 words of a level, from `start` on and around, of which some are shown.
WARPHEAP_FN inline auto buddy_tree::next_group(std::uint32_t level, std::uint32_t start,
                                               const top_words& top) const -> grab {
  if (level + 1 == layout::levels) return {{level, 0}, (std::uint64_t{1} << layout::words(level)) - 1};
  std::uint32_t index = 0;
  if (!next_shown(level, start, layout::words(level), top, index) && !next_shown(level, 0, start, top, index)) {
    return {{level, 0}, 0};
  }
  const std::uint32_t group = index / 64;
  return {{level, group}, word(level + 1, level, group).load(memory_order::relaxed, thread_scope::device)};
}

// True if some unit of a level, from 1 on, may be free.
WARPHEAP_FN inline bool buddy_tree::may_have(std::uint32_t level) const {
  std::uint32_t index = 0;
  return next_shown(level, 0, layout::words(level), read_top(level), index);
}

// Takes from the best of a few words of a group, for each caller different ones, whose bits are read at the same time.
WARPHEAP_FN inline auto buddy_tree::take_near(grab group, std::uint32_t order, std::uint32_t most) const -> grab {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t looks = 4;
  std::uint32_t at[looks];
  std::uint32_t blocks[looks];
  for (std::uint32_t i = 0; i < looks; ++i) {
    at[i] = group.starts != 0 ? detail::bit_from(group.starts, own_number(i)) : 0;
    const bool there = group.starts != 0;
    group.starts &= ~(std::uint64_t{1} << at[i]);
    at[i] += group.at.index * 64;
    const std::uint64_t seen = there ? free_word({group.at.level, at[i]}).load(relaxed, device) : 0;
    blocks[i] = static_cast<std::uint32_t>(popcount(detail::block_starts(seen, order)));
  }
  // The first that has enough, else the one with the most. Not the one with the least, where all would meet.
  std::uint32_t best = looks - 1;
  for (std::uint32_t i = looks - 1; i-- != 0;) {
    if (blocks[i] >= most || blocks[i] > blocks[best]) best = i;
  }
  const place from{group.at.level, at[best]};
  if (blocks[best] == 0) return {from, 0};
  const grab found{from, take_from(from, order, most)};
  if (found.starts != 0) atomic_view{seat(from.level)}.store(from.index + 1, relaxed, device);
  return found;
}

// Takes from the word at a seat.
WARPHEAP_FN inline auto buddy_tree::take_seated(place at, std::uint32_t order, std::uint32_t most) const -> grab {
  if (at.index == 0) return {at, 0};
  --at.index;
  return {at, take_from(at, order, most)};
}

// A few looks: at the seat, and at what comes behind it.
WARPHEAP_COLD_FN inline auto buddy_tree::glance(std::uint32_t level, std::uint32_t order,
                                                std::uint32_t most) const -> grab {
  const std::uint32_t seated = atomic_view{seat(level)}.load(memory_order::relaxed, thread_scope::device);
  const top_words top = read_top(level);  // together with the seat, since each read takes its time
  const grab found = take_seated({level, seated}, order, most);
  return found.starts != 0 ? found : take_near(next_group(level, seated, top), order, most);
}

// Looks at all words of a level that are shown, from the one at the seat on and around.
WARPHEAP_COLD_FN inline auto buddy_tree::walk(std::uint32_t level, std::uint32_t order,
                                              std::uint32_t most) const -> grab {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t start = atomic_view{seat(level)}.load(relaxed, device);
  std::uint32_t from = start;
  std::uint32_t end = layout::words(level);
  for (bool around = false;;) {  // not a spin: each turn goes on to later words, or around, once
    std::uint32_t index = 0;
    if (!next_shown(level, from, end, read_top(level), index)) {
      if (around) return {{level, 0}, 0};
      around = true;
      from = 0;
      end = start;
      continue;
    }
    const place at{level, index};
    if (free_word(at).load(relaxed, device) == 0) {
      hide(at);  // it was shown without need
    } else {
      const std::uint64_t starts = take_from(at, order, most);
      if (starts != 0) {
        atomic_view{seat(level)}.store(index + 1, relaxed, device);
        return {at, starts};
      }
    }
    from = index + 1;
  }
}

// Whether the caller may break a large unit of a level; then it calls `broke`. Of those who are in need of one only so
// many may as serve them all, and the others wait: so units stay whole that nobody needs. Who is in need is counted until
// it has what it asked for; `needs` has a bit for each level at which the caller is.
//
// Those who break wait for nobody, and as long as somebody is in need and nobody breaks, the next who looks may. No order:
// the units themselves are taken and made by changes of their own.
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

// Breaks a unit: keeps a word of `level` with what is asked for, and makes the rest free.
WARPHEAP_FN inline auto buddy_tree::break_unit(grab unit, std::uint32_t level, std::uint32_t order,
                                               std::uint32_t most) const -> grab {
  std::uint32_t index = unit.at.index * 64 + static_cast<std::uint32_t>(lowest_bit(unit.starts));
  for (std::uint32_t at = unit.at.level - 1; at > level; --at) {
    put({at, index}, ~std::uint64_t{1});
    atomic_view{seat(at)}.store(index + 1, memory_order::relaxed, thread_scope::device);
    index *= 64;
  }
  const grab found{{level, index}, detail::pick_blocks(~std::uint64_t{0}, order, most)};
  const std::uint64_t rest = ~detail::block_bits(found.starts, order);
  if (rest != 0) put(found.at, rest);
  atomic_view{seat(level)}.store(index + 1, memory_order::relaxed, thread_scope::device);
  return found;
}

// Breaks a unit above `level`. `waits` if others break already, and so many that the caller has to wait for what they
// make free.
WARPHEAP_COLD_FN inline auto buddy_tree::split(std::uint32_t level, std::uint32_t order, std::uint32_t most,
                                               std::uint32_t& needs, bool& waits) const -> grab {
  grab unit{{level, 0}, 0};
  // Units of 64 pages are many; to take one of them is no matter of turns.
  if (level == 0) {
    const std::uint32_t seated = atomic_view{seat(1)}.load(memory_order::relaxed, thread_scope::device);
    const grab group = next_group(1, seated, read_top(1));
    if (group.starts != 0) {
      begin_change();
      unit = take_seated({1, seated}, 0, 1);
      if (unit.starts == 0) unit = take_near(group, 0, 1);
      if (unit.starts != 0) unit = break_unit(unit, level, order, most);
      end_change();
      if (unit.starts != 0) return unit;
    }
  }
  for (std::uint32_t from = level < 2 ? 2 : level + 1; from < layout::levels; ++from) {
    if (!may_have(from)) continue;
    if (!may_break(from, needs)) {
      waits = true;
      return {{level, 0}, 0};
    }
    begin_change();
    // Who had the turn before may have made smaller ones, and of the largest none is broken without need. Of others it may
    // be: who takes a smaller one at its turn leaves those who wait with less.
    const bool largest = from + 1 == layout::levels;
    if (largest && level + 1 < from && may_have(from - 1)) unit = glance(from - 1, 0, 1);
    if (unit.starts == 0) unit = glance(from, 0, 1);
    if (unit.starts == 0) unit = walk(from, 0, 1);
    if (unit.starts != 0) unit = break_unit(unit, level, order, most);
    end_change();
    broke(from);
    if (unit.starts != 0) return unit;
  }
  if (level != 0 || !may_have(1)) return unit;
  begin_change();
  unit = walk(1, 0, 1);
  if (unit.starts != 0) unit = break_unit(unit, level, order, most);
  end_change();
  return unit;
}

// Takes up to `most` blocks of one word. None means that there was none at one moment of the call, but for those of
// `give`s that had not returned: the pass met every word, and from the moment at which it met one to its end nothing
// was given by a call that has returned, and nothing was under way.
WARPHEAP_COLD_FN inline auto buddy_tree::take_some(std::uint32_t order, std::uint32_t most,
                                                   patience tries) const -> grab {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view refused{upper_->refused[order]};
  const std::uint32_t level = detail::buddy_level(order);
  const std::uint32_t within = order - 6 * level;
  grab found{{0, 0}, 0};
  std::uint32_t needs = 0;
  if (refuses(order)) return found;
  for (backoff wait;; wait.pause()) {
    found = glance(level, within, most);
    if (found.starts != 0) break;
    bool waits = false;
    found = split(level, within, most, needs, waits);
    if (found.starts != 0) break;
    if (waits) continue;
    // There seems to be nothing: now with an eye on what others do.
    const watch before = begin_watch();
    if (refused.load(relaxed, device) == before.given + 1) break;
    found = split(level, within, most, needs, waits);
    if (found.starts != 0) break;
    if (waits) continue;
    found = walk(level, within, most);
    if (found.starts != 0) break;
    if (was_quiet(before)) {
      refused.store(before.given + 1, relaxed, device);
      break;
    }
    // Only gifts can go on for ever; what else moves was given before.
    const bool moved_only = atomic_view{upper_->given}.load(relaxed, device) == before.given;
    if (!moved_only && tries.searches != patience::endless && --tries.searches == 0) break;
  }
  if (needs != 0) end_needs(needs);
  return found;
}

}  // namespace warpheap
