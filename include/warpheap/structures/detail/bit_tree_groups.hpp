// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/bit_tree.hpp>
#include <warpheap/structures/detail/word_bits.hpp>

// Groups of 64 leaves, whose members are counted in one word: all of a full group are taken by one operation.
//
// A thread counts members off before it takes them, and on again for what it did not get. It counts members on after
// they are in their leaf and their leaf is shown. While a thread hides or shows a leaf, a member of that leaf is not
// counted. So no thread is about to change a leaf of a full group, or a bit above one, and the thread that takes the
// group clears the bits above its leaves without a look at what others add there. It leaves the words of the leaves
// alone. A thread that still finds one of them counts off first, and sees that the group was taken. It may count off
// before its change begins: that can only make the take of a group fail, which lies in a change of its own.
//
// Orders. Counting on releases what was added, and counting off acquires it, as taking a group does. A group that comes
// back is counted on after the bits above its leaves are set: so a thread that takes it again clears them later.

namespace warpheap {

// Begins a change and counts `count` members of leaf `leaf` off; false, and nothing is counted off, if their group was
// taken. One lane, which ends the change in either case.
WARPHEAP_COLD_FN inline bool bit_tree::begin_counted_take(std::uint32_t leaf, std::uint32_t count) const {
  using enum memory_order;
  using enum thread_scope;
  const bit_tree_group before{group_view(leaf / 64).fetch_add(0 - std::uint64_t{count}, before_acquire_fence, device)};
  upper_->changes.begin();
  fence(acq_rel, device);  // releases the begin, and acquires what the count tells: one wait for both
  if (before.is_taken()) count_on(leaf, count);
  return !before.is_taken();
}

// Counts `count` members of leaf `leaf` off; false, and nothing is counted off, if their group was taken. One lane,
// with the change begun.
WARPHEAP_COLD_FN inline bool bit_tree::count_off(std::uint32_t leaf, std::uint32_t count) const {
  using enum memory_order;
  using enum thread_scope;
  const bit_tree_group before{group_view(leaf / 64).fetch_add(0 - std::uint64_t{count}, acquire, device)};
  if (before.is_taken()) count_on(leaf, count);
  return !before.is_taken();
}

// Counts on `count` members of the group of leaf `leaf`, which are in the set, or were counted off and not taken.
// Releases.
WARPHEAP_COLD_FN inline void bit_tree::count_on(std::uint32_t leaf, std::uint32_t count) const {
  group_view(leaf / 64).fetch_add(count, memory_order::release, thread_scope::device);
}

// Adds `run`. Either all groups that lie in it as a whole were taken as a whole, or none was. One lane.
WARPHEAP_COLD_FN inline void bit_tree::add_by_groups(index_run run) const {
  // Members are below 2^25.
  auto at = static_cast<std::uint32_t>(run.first);
  const std::uint32_t end = at + static_cast<std::uint32_t>(run.count);
  while (at != end) at = add_next(at, end);  // not a spin: a part of a group a turn, or all groups that were taken
}

// Adds some of the members [at, end), and returns the first of the others.
WARPHEAP_COLD_FN inline std::uint32_t bit_tree::add_next(std::uint32_t at, std::uint32_t end) const {
  constexpr auto members = static_cast<std::uint32_t>(bit_tree_group::members);
  std::uint32_t stop = end / members * members;
  if (at % members == 0 && stop != at && group_of(at / leaf_bits).is_taken()) {
    add_groups(at / members, stop / members);
  } else {
    stop = (at / members + 1) * members;
    if (stop > end) stop = end;
    add_part(at, stop);
  }
  return stop;
}

// Adds the members [first, end) of one group that was not taken as a whole. Those of several leaves one after the other
// without a wait for memory, between two fences that stand for the orders of all.
WARPHEAP_COLD_FN inline void bit_tree::add_part(std::uint32_t first, std::uint32_t end) const {
  if (end - first / leaf_bits * leaf_bits <= leaf_bits) {
    return add(first / leaf_bits, detail::bit_range(first % leaf_bits, end - first));
  }
  begin_change();
  set_members(first, end);
  fence(memory_order::acq_rel, thread_scope::device);
  const std::uint32_t leaf = first / leaf_bits;
  show_leaves(leaf / 64, detail::bit_range(leaf % 64, (end - 1) / leaf_bits - leaf + 1));
  count_on(leaf, end - first);
  end_change();
}

// Sets the bits of members [first, end). The caller's fences order it.
WARPHEAP_COLD_FN inline void bit_tree::set_members(std::uint32_t first, std::uint32_t end) const {
  while (first != end) {  // not a spin: a leaf a turn
    const std::uint32_t bit = first % leaf_bits;
    const std::uint32_t count = end - first < leaf_bits - bit ? end - first : leaf_bits - bit;
    const std::uint64_t mask = detail::bit_range(bit, count);
    const std::uint64_t before = leaf_view(first / leaf_bits).fetch_or(mask, after_release_fence, thread_scope::device);
    invariant((before & mask) == 0, "bit_tree: a member was added twice");
    (void)before;
    first += count;
  }
}

// Adds all members of groups [first, end), which were taken as a whole, without a wait for each. Nobody else changes
// bits above a taken group, so no look at them is ordered.
WARPHEAP_COLD_FN inline void bit_tree::add_groups(std::uint32_t first, std::uint32_t end) const {
  begin_change();
  for (std::uint32_t group = first; group < end; ++group) {
    atomic_view{upper_->middle[group]}.fetch_or(~std::uint64_t{0}, after_release_fence, thread_scope::device);
  }
  show_groups(first, end);
  count_groups_on(first, end);
}

// Counts all members of groups [first, end) on, which are no longer taken as a whole then, and ends the change that
// shows them.
WARPHEAP_COLD_FN inline void bit_tree::count_groups_on(std::uint32_t first, std::uint32_t end) const {
  using enum thread_scope;
  fence(memory_order::release, device);
  for (; first < end; ++first) {
    const bit_tree_group before{
        group_view(first).fetch_add(bit_tree_group::members - bit_tree_group::taken, after_release_fence, device)};
    invariant(before.is_taken(), "bit_tree: a group was added that was not taken");
    (void)before;
  }
  end_change();
}

// Sets the bits above the middle words of groups [first, end), which had members before: so those of the level above
// are set. With the change begun.
WARPHEAP_COLD_FN inline void bit_tree::show_groups(std::uint32_t first, std::uint32_t end) const {
  using enum memory_order;
  using enum thread_scope;
  for (std::uint32_t group = first; group < end;) {
    const std::uint32_t t = group / 64;
    const std::uint32_t upto = end - t * 64 < 64 ? end - t * 64 : 64;
    const std::uint64_t above = detail::bit_range(group % 64, upto - group % 64);
    const atomic_view top{upper_->top[t]};
    if ((top.load(relaxed, device) & above) != above) top.fetch_or(above, relaxed, device);
    group = t * 64 + upto;
  }
}

// Takes groups that follow each other from `group` on and are full: `most` or `at_once` at most, side by side. The
// fence stands for the acquires of all. Returns how many. One lane, with the change begun.
WARPHEAP_COLD_FN inline std::uint32_t bit_tree::take_groups(std::uint32_t group, std::uint32_t most) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t seen[at_once];
  for (std::uint32_t i = 0; i < at_once; ++i) {
    seen[i] = bit_tree_group::members;
    if (i < most) {
      group_view(group + i).compare_exchange(seen[i], bit_tree_group::taken, before_acquire_fence, device);
    }
  }
  fence(acquire, device);
  std::uint32_t count = 0;
  for (std::uint32_t i = at_once; i-- > 0;) {
    count = i < most && bit_tree_group{seen[i]}.is_full() ? count + 1 : 0;
  }
  for (std::uint32_t i = 0; i < at_once; ++i) {
    if (i > count && i < most && bit_tree_group{seen[i]}.is_full()) add_groups(group + i, group + i + 1);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    atomic_view{upper_->middle[group + i]}.fetch_and(0, relaxed, device);
    const std::uint64_t above = std::uint64_t{1} << (group + i) % 64;
    atomic_view{upper_->top[(group + i) / 64]}.fetch_and(~above, relaxed, device);
  }
  return count;
}

// How many groups from `group` on are full, one after the other: `most` or `at_once` at most, which are read side by
// side. A hint while others add and take.
WARPHEAP_COLD_FN inline std::uint32_t bit_tree::count_full_groups(std::uint32_t group, std::uint32_t most) const {
  std::uint64_t seen[at_once];
  for (std::uint32_t i = 0; i < at_once; ++i) {
    seen[i] = i < most ? group_view(group + i).load(memory_order::relaxed, thread_scope::device) : 0;
  }
  std::uint32_t count = 0;
  for (std::uint32_t i = at_once; i-- > 0;) count = bit_tree_group{seen[i]}.is_full() ? count + 1 : 0;
  return count;
}

// As `take_next` in a set with groups; what is taken is of one part, which ends at `part_end`.
//
// Leaves are hidden at once: of many members few lie in groups that are not taken as a whole.
WARPHEAP_COLD_FN inline bool bit_tree::take_next_of_groups(std::uint32_t& at, std::uint32_t part_end) const {
  constexpr auto members = static_cast<std::uint32_t>(bit_tree_group::members);
  const std::uint32_t leaf = at / leaf_bits;
  if (at % members == 0 && part_end - at >= members) {
    const std::uint32_t groups = take_groups(leaf / 64, (part_end - at) / members);
    at += groups * members;
    return groups != 0;
  }
  std::uint32_t stop = (leaf / 64 + 1) * members;
  if (stop > (leaf + at_once) * leaf_bits) stop = (leaf + at_once) * leaf_bits;
  if (stop > part_end) stop = part_end;
  if (!count_off(leaf, stop - at)) return false;
  std::uint64_t got[at_once];
  if (take_leaves(at, stop, got)) {
    hide_taken(at, stop);
    at = stop;
    return true;
  }
  std::uint32_t lacking = stop - at;
  for (std::uint32_t i = 0; i < at_once; ++i) {
    if (got[i] == 0) continue;
    put_back(leaf + i, got[i]);
    lacking -= static_cast<std::uint32_t>(popcount(got[i]));
  }
  count_on(leaf, lacking);
  return false;
}

}  // namespace warpheap
