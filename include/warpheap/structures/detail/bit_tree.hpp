// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/bit_tree.hpp>
#include <warpheap/structures/detail/word_bits.hpp>

namespace warpheap {
namespace detail {

// Calls `visit(leaf, mask)` for each leaf that has members of `run`, with those.
template <class Visit>
WARPHEAP_FN void for_each_leaf(index_run run, Visit visit) {
  while (run.count != 0) {  // not a spin: each turn goes on to the next leaf
    const auto first = static_cast<std::uint32_t>(run.first) % bit_tree::leaf_bits;
    const std::uint64_t room = bit_tree::leaf_bits - first;
    const std::uint64_t count = run.count < room ? run.count : room;
    visit(static_cast<std::uint32_t>(run.first / bit_tree::leaf_bits), bit_range(first, count));
    run = {run.first + count, run.count - count};
  }
}

}  // namespace detail

// Orders. Adding a member releases what the adder wrote, taking it acquires that. Adding and hiding race as in Dekker's
// algorithm: the adder sets the leaf's bit and then reads the word above; the hider clears the bit above, and then
// reads the leaf by an RMW that changes nothing. That RMW acquires and releases, by itself or by a fence before it and
// one after it. Both RMWs are of one word, so the later sees the earlier, and with it what came before: either the
// hider sees the member, or the adder the cleared bit. This holds one level up, too. A release fence after the begin of
// a change, before the first upper word changes, lets threads that see the change see that it was begun.

// Sets the bits above a leaf that has members now. A bit that is set already has those above it, or a thread is just
// setting or clearing these within a change.
WARPHEAP_FN inline void bit_tree::show(std::uint32_t leaf) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t word = leaf / 64;
  const std::uint64_t bit = std::uint64_t{1} << leaf % 64;
  const atomic_view middle{upper_->middle[word]};
  // Acquires the begin of a change that is just setting it.
  if ((middle.load(acquire, device) & bit) != 0) return;
  begin_change();
  show_leaves(word, bit);
  end_change();
}

// Sets the bits `leaves` of a middle word, and those above it, with the change begun.
WARPHEAP_FN inline void bit_tree::show_leaves(std::uint32_t word, std::uint64_t leaves) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint64_t over = std::uint64_t{1} << word / 64 % 64;
  const atomic_view root{upper_->root[word / 64 / 64]};
  if ((root.load(relaxed, device) & over) == 0) root.fetch_or(over, relaxed, device);
  atomic_view{upper_->middle[word]}.fetch_or(leaves, acq_rel, device);
  const std::uint64_t above = std::uint64_t{1} << word % 64;
  const atomic_view top{upper_->top[word / 64]};
  if ((top.load(relaxed, device) & above) == 0) top.fetch_or(above, relaxed, device);
}

// A thread that sees what a change did sees that it had begun: the fence releases it with each relaxed change.
WARPHEAP_FN inline void bit_tree::begin_change() const {
  upper_->changes.begin();
  fence(memory_order::release, thread_scope::device);
}
WARPHEAP_FN inline void bit_tree::end_change() const { upper_->changes.end(); }

// Clears bits of one middle word, and the bit above it if the word is zero then. The caller's fences order it.
WARPHEAP_FN inline void bit_tree::clear_middle(std::uint64_t word, std::uint64_t mask) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view middle{upper_->middle[word]};
  if ((middle.fetch_and(~mask, relaxed, device) & ~mask) != 0) return;
  const std::uint64_t above = std::uint64_t{1} << word % 64;
  const atomic_view top{upper_->top[word / 64]};
  top.fetch_and(~above, relaxed, device);
  if (middle.fetch_or(0, acq_rel, device) != 0) top.fetch_or(above, relaxed, device);
}

// Clears the bits above a leaf that was seen to be zero, and sets them again if the leaf has members meanwhile.
WARPHEAP_FN inline void bit_tree::hide(std::uint32_t leaf) const {
  begin_change();
  clear_middle(leaf / 64, std::uint64_t{1} << leaf % 64);
  if (leaf_view(leaf).fetch_or(0, memory_order::acq_rel, thread_scope::device) != 0) show(leaf);
  end_change();
}

// Hides leaves [begin, end), most of which were seen to be zero. Collective.
WARPHEAP_COLD_FN inline void bit_tree::hide_together(lane_mask group, std::uint32_t begin, std::uint32_t end) const {
  using enum memory_order;
  using enum thread_scope;
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  if (is_leader(group)) begin_change();
  sync(group);  // orders the begin before each lane's clears, the clears before the looks, and those before the end
  clear_share(begin, end, rank, lanes);
  sync(group);
  fence(acq_rel, device);
  show_share(begin + rank, end, lanes);
  fence(acq_rel, device);
  sync(group);
  if (is_leader(group)) end_change();
}

// Clears the bits above leaves [begin, end): the share of the caller, one of `lanes`. The caller's fences order it.
WARPHEAP_COLD_FN inline void bit_tree::clear_share(std::uint32_t begin, std::uint32_t end, std::uint32_t rank,
                                                   std::uint32_t lanes) const {
  for (std::uint32_t word = begin / 64 + rank; word * 64 < end; word += lanes) {
    const std::uint32_t from = word * 64 < begin ? begin - word * 64 : 0;
    const std::uint32_t upto = (word + 1) * 64 > end ? end - word * 64 : 64;
    clear_middle(word, detail::bit_range(from, upto - from));
  }
}

// Sets the bits above those of the caller's leaves that have members: `at` and each that is `lanes` further, below
// `end`. It changes no leaf.
WARPHEAP_COLD_FN inline void bit_tree::show_share(std::uint32_t at, std::uint32_t end, std::uint32_t lanes) const {
  for (; at < end; at += at_once * lanes) {
    std::uint32_t some = see_share(at, end, lanes);
    for (; some != 0; some &= some - 1) insert(at + static_cast<std::uint32_t>(lowest_bit(some)) * lanes, 0);
  }
}

// Which of the caller's next `at_once` leaves below `end` have members, from `at` on and each `lanes` further, by looks
// that change nothing and that the caller's fences order. Several at a time, since each look waits for memory.
WARPHEAP_COLD_FN inline std::uint32_t bit_tree::see_share(std::uint32_t at, std::uint32_t end,
                                                          std::uint32_t lanes) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t there[at_once];
  for (std::uint32_t i = 0; i < at_once; ++i) {
    const std::uint32_t leaf = at + i * lanes < end ? at + i * lanes : at;
    there[i] = leaf_view(leaf).fetch_or(0, relaxed, device);
  }
  std::uint32_t some = 0;
  for (std::uint32_t i = 0; i < at_once; ++i) {
    if (there[i] != 0 && at + i * lanes < end) some |= 1u << i;
  }
  return some;
}

WARPHEAP_FN inline void bit_tree::add(std::uint32_t leaf, std::uint64_t mask) const {
  const std::uint64_t before = leaf_view(leaf).fetch_or(mask, memory_order::acq_rel, thread_scope::device);
  invariant((before & mask) == 0, "bit_tree: a member was added twice");
  (void)before;
  show(leaf);
  if (groups_ != nullptr) count_on(leaf, static_cast<std::uint32_t>(popcount(mask)));
}

WARPHEAP_COLD_FN inline void bit_tree::insert(std::uint32_t leaf, std::uint64_t mask) const {
  leaf_view(leaf).fetch_or(mask, memory_order::acq_rel, thread_scope::device);
  show(leaf);
}

// Adds members again that were taken. One lane.
WARPHEAP_COLD_FN inline void bit_tree::put_back(std::uint32_t leaf, std::uint64_t mask) const {
  insert(leaf, mask);
  if (groups_ != nullptr) count_on(leaf, static_cast<std::uint32_t>(popcount(mask)));
}

// The leaves one after the other without a wait for memory, between two fences that stand for the orders of all, and
// then the bits above 64 of them at a time.
WARPHEAP_COLD_FN inline void bit_tree::insert(index_run run) const {
  invariant(groups_ == nullptr, "bit_tree: insert in a set with groups");
  if (run.count == 0) return;
  const auto first = static_cast<std::uint32_t>(run.first / leaf_bits);
  const auto last = static_cast<std::uint32_t>((run.first + run.count - 1) / leaf_bits);
  begin_change();
  detail::for_each_leaf(run, [this](std::uint32_t leaf, std::uint64_t mask) {
    leaf_view(leaf).fetch_or(mask, after_release_fence, thread_scope::device);
  });
  fence(memory_order::acq_rel, thread_scope::device);
  for (std::uint32_t word = first / 64; word <= last / 64; ++word) {
    const std::uint32_t from = word == first / 64 ? first % 64 : 0;
    const std::uint32_t upto = word == last / 64 ? last % 64 + 1 : 64;
    show_leaves(word, detail::bit_range(from, upto - from));
  }
  end_change();
}

WARPHEAP_COLD_FN inline bool bit_tree::erase(std::uint32_t member) const {
  const std::uint32_t leaf = member / leaf_bits;
  const std::uint64_t bit = std::uint64_t{1} << member % leaf_bits;
  invariant(groups_ == nullptr, "bit_tree: erase in a set with groups");
  const std::uint64_t before = leaf_view(leaf).fetch_and(~bit, memory_order::acq_rel, thread_scope::device);
  if (before == bit) hide(leaf);
  return (before & bit) != 0;
}

WARPHEAP_COLD_FN inline void bit_tree::add_by_leaves(index_run run) const {
  detail::for_each_leaf(run, [this](std::uint32_t leaf, std::uint64_t mask) { add(leaf, mask); });
}

// True if the bit above a leaf is set. A leaf without one may not even have memory.
WARPHEAP_FN inline bool bit_tree::is_shown(std::uint32_t leaf) const {
  if (leaf >= most_leaves) return false;
  return (atomic_view{upper_->middle[leaf / 64]}.load(memory_order::relaxed, thread_scope::device) >> leaf % 64 & 1) !=
         0;
}

// One pass over the levels.
WARPHEAP_FN inline bool bit_tree::search(bool highest, std::uint32_t& leaf) const {
  using enum memory_order;
  using enum thread_scope;
  const auto pick = [=](std::uint64_t word) {
    return static_cast<std::uint32_t>(highest ? highest_bit(word) : lowest_bit(word));
  };
  constexpr std::uint32_t roots = most_leaves / 64 / 64 / 64;
  for (std::uint32_t i = 0; i < roots; ++i) {
    const std::uint32_t r = highest ? roots - 1 - i : i;
    std::uint64_t root = atomic_view{upper_->root[r]}.load(relaxed, device);
    while (root != 0) {  // not a spin: each turn drops a bit of a word that was read once
      const std::uint32_t t = r * 64 + pick(root);
      root &= ~(std::uint64_t{1} << t % 64);
      std::uint64_t top = atomic_view{upper_->top[t]}.load(relaxed, device);
      while (top != 0) {  // not a spin: the same
        const std::uint32_t m = t * 64 + pick(top);
        top &= ~(std::uint64_t{1} << m % 64);
        const std::uint64_t middle = atomic_view{upper_->middle[m]}.load(relaxed, device);
        if (middle == 0) continue;
        leaf = m * 64 + pick(middle);
        return true;
      }
    }
  }
  return false;
}

// A leaf that may have members; false if the set was empty at one moment of the call.
//
// Bits that a hider cleared for a moment could make the pass miss a member. Such a pass is repeated: it overlapped a
// clear that had begun before or began during it. With a cleared bit, the pass and the fence after it see that its
// clear had begun.
WARPHEAP_COLD_FN inline bool bit_tree::find(bool highest, std::uint32_t& leaf) const {
  using enum memory_order;
  using enum thread_scope;
  for (backoff wait;; wait.pause()) {
    const quiescence_snapshot before = begin_snapshot();
    if (search(highest, leaf)) return true;
    if (was_quiescent(before)) return false;
  }
}

WARPHEAP_FN inline auto bit_tree::begin_snapshot() const -> quiescence_snapshot { return upper_->changes.quiescence(); }

WARPHEAP_FN inline bool bit_tree::was_quiescent(quiescence_snapshot before) const {
  fence(memory_order::acquire, thread_scope::device);
  return upper_->changes.was_quiescent(before);
}

WARPHEAP_COLD_FN inline bool bit_tree::next_leaf(std::uint32_t from, std::uint32_t& leaf) const {
  using enum memory_order;
  using enum thread_scope;
  for (std::uint32_t word = from / 64; word < most_leaves / 64;) {  // not a spin: each turn goes on to later words
    std::uint64_t middle = atomic_view{upper_->middle[word]}.load(relaxed, device);
    if (word == from / 64) middle &= ~std::uint64_t{0} << from % 64;
    if (middle != 0) {
      leaf = word * 64 + static_cast<std::uint32_t>(lowest_bit(middle));
      return true;
    }
    // The next word that is not zero, as the levels above have it.
    ++word;
    while (word < most_leaves / 64) {  // not a spin: each turn goes on to later words
      const std::uint64_t root = atomic_view{upper_->root[word / 64 / 64]}.load(relaxed, device) >> word / 64 % 64;
      if (root == 0) {
        word = (word / 64 / 64 + 1) * 64 * 64;
        continue;
      }
      if ((root & 1) == 0) word = (word / 64 + static_cast<std::uint32_t>(lowest_bit(root))) * 64;
      const std::uint64_t top = atomic_view{upper_->top[word / 64]}.load(relaxed, device) >> word % 64;
      if (top != 0) {
        word += static_cast<std::uint32_t>(lowest_bit(top));
        break;
      }
      word = (word / 64 + 1) * 64;
    }
  }
  return false;
}

}  // namespace warpheap
