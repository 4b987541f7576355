// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// Neighbouring members of a set, `[first, first + count)`.
struct index_run {
  std::uint64_t first;  ///< the lowest of them
  std::uint64_t count;  ///< 0: nothing was found
};

/// The state of 64 leaves of a `bit_tree`, in one word: how many members they have, or that a thread took all of them
/// by one operation. Zero bits: no members.
///
/// Invariant: the count is at most the number of the members, since a thread counts a member off before it takes it,
/// and counts it on after it added it. So a full group has all of its members, and no thread is between counting off
/// and taking, or between adding and counting on. A thread that comes upon a taken group counts off and on again, so
/// the word of such a group is not exact.
struct bit_tree_group {
  static constexpr std::uint64_t members = 64 * 64;               ///< of a full group
  static constexpr std::uint64_t taken = std::uint64_t{1} << 40;  ///< what is stored where all were taken at once
  std::uint64_t word;                                             ///< the members, or `taken`

  /// Whether it has all of its members.
  WARPHEAP_FN bool is_full() const { return word == members; }
  /// Whether a thread took all of its members by one operation. A count below zero, of threads that take more than
  /// there is, has all upper bits set.
  WARPHEAP_FN bool is_taken() const { return static_cast<std::int64_t>(word) >= static_cast<std::int64_t>(taken / 2); }
};

/// A set of integers below 2^25 in device memory that threads add to and take from, with runs of neighbours found fast.
///
/// Bitmaps in four levels: a leaf has a bit for each member, and each word above has a bit for each non-zero word
/// below it, so a search reads a few words. The leaves lie where the owner wants them, one word of 8 bytes, aligned to
/// 8, every `leaf_stride` bytes.
///
/// For long runs, an owner may give the set a word for each *group* of 64 leaves (`bit_tree_group`). It counts the
/// members of the group, so a thread takes all 4,096 of a full group by one operation, and adds them by another. The
/// leaves of a group that was taken as a whole keep their bits, which mean nothing then.
///
/// Invariant: from the return of an `add` until the member is taken, the bits above its leaf are set, or a thread that
/// is about to set them, or to set again what it cleared, has begun a change and not ended it. A set bit above a zero
/// word only costs time. A leaf of a group that was taken as a whole has no bit above it, except while that take ends
/// and while the group comes back.
///
/// Memory order: adding a member releases, taking it acquires. So a thread that takes a member sees what its adder
/// wrote before. In a collective take that is the lane that took the member; the other lanes see it after a `sync`.
///
/// Any number of threads may call at once, except where a function says otherwise. "Collective over `group`" means that
/// all lanes of `group` call together, with equal arguments but for references.
class bit_tree {
 public:
  static constexpr std::uint32_t leaf_bits = 64;          ///< members that a leaf has a bit for
  static constexpr std::uint32_t most_leaves = 1u << 19;  ///< 2^25 members

  /// The levels above the leaves; zero bytes are an empty set.
  struct levels {
    std::uint64_t root[most_leaves / 64 / 64 / 64];  ///< tops that were ever used; never cleared
    std::uint64_t top[most_leaves / 64 / 64];        ///< a bit for each word of `middle` that may not be zero
    std::uint64_t middle[most_leaves / 64];          ///< a bit for each leaf that may not be zero
    change_counter<std::uint32_t> changes;           ///< changes that a search could be misled by
  };
  /// A word for each group of leaves, by `bit_tree_group`.
  struct groups {
    std::uint64_t word[most_leaves / 64];
  };

  /// The set whose leaves are the words at `leaves`, `leaves + leaf_stride`, … `counted` has the words of its groups,
  /// or is null for a set without. All zero at first.
  ///
  /// A set with groups serves `add`, `take_exactly`, `take_neighbours`, `take_blocks`, `take_blocks_apart`, `try_take`,
  /// `try_take_block`, `try_take_from` and functions that only read. The others keep no counts, and are not to be
  /// called.
  WARPHEAP_FN bit_tree(levels* upper, std::byte* leaves, std::uint32_t leaf_stride, groups* counted = nullptr)
      : upper_(upper), leaves_(leaves), groups_(counted), leaf_stride_(leaf_stride) {}

  /// Adds the members of `mask` in leaf `leaf`, none of which may be in the set. One lane.
  WARPHEAP_FN void add(std::uint32_t leaf, std::uint64_t mask) const;
  /// Adds the members of `run`, none of which may be in the set. In a set with groups, a run that `take_exactly` took
  /// is added by one call, and a run of `take_neighbours` by one call for every `least` members from its first one on.
  /// One lane.
  WARPHEAP_FN void add(index_run run) const { groups_ == nullptr ? add_by_leaves(run) : add_by_groups(run); }

  /// Takes a run of up to `most` neighbours: the lowest member and those that follow it. An empty result means that the
  /// set was empty at one moment during the call. Collective over `group`; any lanes.
  WARPHEAP_COLD_FN index_run take_run(lane_mask group, std::uint64_t most) const;

  /// Takes members of one leaf for each lane of `group` whose rank is below `leaves`: of the highest leaf with members
  /// and of those right below it. A lane gets its `leaf`, and a mask of what it took there: the highest members, `most`
  /// of them at most, maybe none. If all lanes got none, the set was empty at one moment during the call. Collective
  /// over `group`.
  WARPHEAP_FN std::uint64_t take_high(lane_mask group, std::uint32_t leaves, std::uint32_t most,
                                      std::uint32_t& leaf) const {
    return take_some(true, group, leaves, most, leaf);
  }
  /// As `take_high`, of the lowest leaf with members and of those right above it; of each leaf still the highest
  /// members.
  WARPHEAP_FN std::uint64_t take_low(lane_mask group, std::uint32_t leaves, std::uint32_t most,
                                     std::uint32_t& leaf) const {
    return take_some(false, group, leaves, most, leaf);
  }

  /// Takes `run` as a whole or, if a member is not in the set, nothing. In a set with groups it may also take nothing
  /// if another thread tried to take of the run meanwhile. One lane.
  WARPHEAP_FN bool take_exactly(index_run run) const { return take_parts(run, static_cast<std::uint32_t>(run.count)); }

  /// Takes between `least` and `most` neighbours, a multiple of `least`, from a member m on for which `phase + m` is a
  /// multiple of `alignment`, a power of two: the lowest that it finds, or an empty run if the set had no such run at
  /// one moment of the call. One lane at a time, or two spoil each other's search by what they take and put back;
  /// others may add and take.
  WARPHEAP_COLD_FN index_run take_neighbours(std::uint32_t least, std::uint32_t most, std::uint32_t alignment,
                                             std::uint32_t phase) const;

  /// Takes a run of up to `most` blocks of `size` neighbours, up to 64, each from a multiple of `size` on: the lowest
  /// such block and those that follow it. An empty run means that there was no block at one moment of the call. One
  /// group at a time, and beside it no thread takes in another way than by `try_take_block`, `try_take_from`,
  /// `try_take` and `take_blocks_apart`; others may add. Collective over `group`; any lanes.
  WARPHEAP_COLD_FN index_run take_blocks(lane_mask group, std::uint32_t size, std::uint32_t most) const;

  /// Takes up to `most` blocks of `size` neighbours, up to 64, that lie in one leaf each and begin at a multiple of
  /// `size`. They are of the lowest row of leaves of which one was taken, where a row has a leaf for each lane. A lane
  /// takes at most its share of `most` from its own `leaf`, and gets the members of that leaf with which its blocks
  /// begin. If no lane gets any, one pass over the set took none, which tells nothing of what there is. Collective over
  /// `group`, and beside all others.
  WARPHEAP_COLD_FN std::uint64_t take_blocks_apart(lane_mask group, std::uint32_t size, std::uint32_t most,
                                                   std::uint32_t& leaf) const;

  /// True if a block of `size` neighbours, up to 64, from a multiple of `size` on seems to be in the set. A hint while
  /// others add and take. Collective over `group`; any lanes.
  WARPHEAP_COLD_FN bool has_block(lane_mask group, std::uint32_t size) const;

  /// Takes a block of `size` neighbours from a multiple of `size` on, if a few looks find one; `first` becomes its
  /// lowest member. `size` is a power of two up to 64. The looks are at leaves from the lowest one with members on.
  /// Threads that come at once with different numbers `mine` spread over `window` leaves. False tells nothing of what
  /// there is. Any lanes, each for itself, and beside all others.
  WARPHEAP_COLD_FN bool try_take_block(std::uint32_t size, std::uint32_t mine, std::uint32_t window,
                                       std::uint32_t& first) const;

  /// Takes a block of `size` neighbours, up to 64, that lies in one leaf and begins at a multiple of `size`; `first`
  /// becomes its lowest member. The caller looks at a few leaves that have members, from `leaf` on and once around, and
  /// `leaf` becomes the one where the search ended. It takes block number `mine` of the leaf, or another block if that
  /// is not free: threads with different numbers seldom want the same block. False tells nothing of what there is. Any
  /// lanes, each for itself, and beside all others.
  WARPHEAP_COLD_FN bool try_take_from(std::uint32_t size, std::uint32_t mine, std::uint32_t& leaf,
                                      std::uint32_t& first) const;

  /// Takes `run`, whose members are of one leaf, by one operation or, if a member is not in the set, nothing. Any
  /// lanes, and beside all others.
  WARPHEAP_COLD_FN bool try_take(index_run run) const;

  /// Inserts the members of `mask` in leaf `leaf`; idempotent, unlike `add`: some may be in the set. One lane.
  WARPHEAP_COLD_FN void insert(std::uint32_t leaf, std::uint64_t mask) const;
  /// Inserts the members of `run`; some may be in the set. One lane.
  WARPHEAP_COLD_FN void insert(index_run run) const;
  /// Inserts `member`, which may be in the set. One lane.
  WARPHEAP_FN void insert(std::uint32_t member) const {
    invariant(groups_ == nullptr, "bit_tree: insert in a set with groups");
    insert(member / leaf_bits, std::uint64_t{1} << member % leaf_bits);
  }
  /// Erases `member`; true if it was in the set, and this call erased it. One lane.
  WARPHEAP_COLD_FN bool erase(std::uint32_t member) const;

  /// Sets `leaf` to the first leaf from `from` on that may have members; false, and `leaf` stays, if no such leaf has
  /// any. A hint while others add and take. One lane.
  WARPHEAP_COLD_FN bool next_leaf(std::uint32_t from, std::uint32_t& leaf) const;

  /// What a search of several steps remembers, to know afterwards whether it can have missed a member.
  using quiescence_snapshot = change_counter<std::uint32_t>::snapshot;
  /// Takes a snapshot, before the search. Acquires. One lane.
  WARPHEAP_FN quiescence_snapshot begin_snapshot() const;
  /// After the search: true if no change was under way when the snapshot was taken, and none has begun since. Then the
  /// search missed no member that was in the set from its begin to its end. Acquires. One lane.
  WARPHEAP_FN bool was_quiescent(quiescence_snapshot before) const;

  /// How many members one `add` of a run should have, from a multiple of that number on: it then does not wait for each
  /// leaf by itself, and the threads of a grid can share the work.
  WARPHEAP_FN std::uint64_t added_at_once() const { return groups_ == nullptr ? leaf_bits : 8 * leaf_bits; }

  /// The members of one leaf, as bits. A hint while others add and take.
  WARPHEAP_FN std::uint64_t leaf_word(std::uint32_t leaf) const {
    const std::uint64_t word = shown_word(leaf);
    return groups_ != nullptr && group_of(leaf).is_taken() ? 0 : word;  // both are read before one waits
  }

 private:
  // How many neighbours are wanted, and how far member 0 lies above an aligned one.
  struct neighbours {
    std::uint32_t least, most, alignment, phase;
  };
  struct blocks {
    std::uint32_t size, most;
  };

  WARPHEAP_FN atomic_view<std::uint64_t> leaf_view(std::uint32_t leaf) const {
    return atomic_view{*reinterpret_cast<std::uint64_t*>(leaves_ + std::uint64_t{leaf} * leaf_stride_)};
  }
  // The word of a leaf. It tells nothing while the group is taken as a whole: also just before the leaf is hidden, and
  // just after it is shown again.
  WARPHEAP_FN std::uint64_t shown_word(std::uint32_t leaf) const {
    return leaf_view(leaf).load(memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN atomic_view<std::uint64_t> group_view(std::uint32_t group) const {
    return atomic_view{groups_->word[group]};
  }
  // The group of a leaf. A hint while others add and take.
  WARPHEAP_FN bit_tree_group group_of(std::uint32_t leaf) const {
    return {group_view(leaf / 64).load(memory_order::relaxed, thread_scope::device)};
  }
  WARPHEAP_FN bool is_shown(std::uint32_t leaf) const;
  WARPHEAP_FN void show(std::uint32_t leaf) const;
  WARPHEAP_FN void show_leaves(std::uint32_t word, std::uint64_t leaves) const;
  WARPHEAP_FN void hide(std::uint32_t leaf) const;
  WARPHEAP_FN void begin_change() const;
  WARPHEAP_FN void end_change() const;
  WARPHEAP_FN void clear_middle(std::uint64_t word, std::uint64_t mask) const;
  WARPHEAP_COLD_FN void hide_together(lane_mask group, std::uint32_t begin, std::uint32_t end) const;
  static constexpr std::uint32_t at_once = 6;  // leaves that one lane looks at or takes before it waits for memory
  WARPHEAP_COLD_FN void clear_share(std::uint32_t begin, std::uint32_t end, std::uint32_t rank,
                                    std::uint32_t lanes) const;
  WARPHEAP_COLD_FN void show_share(std::uint32_t at, std::uint32_t end, std::uint32_t lanes) const;
  WARPHEAP_COLD_FN std::uint32_t see_share(std::uint32_t at, std::uint32_t end, std::uint32_t lanes) const;
  WARPHEAP_COLD_FN bool find(bool highest, std::uint32_t& leaf) const;
  WARPHEAP_FN bool search(bool highest, std::uint32_t& leaf) const;
  WARPHEAP_COLD_FN std::uint64_t take_some(bool highest, lane_mask group, std::uint32_t leaves, std::uint32_t most,
                                           std::uint32_t& leaf) const;
  WARPHEAP_COLD_FN void put_back(std::uint32_t leaf, std::uint64_t mask) const;
  WARPHEAP_COLD_FN void add_by_leaves(index_run run) const;
  WARPHEAP_COLD_FN void add_by_groups(index_run run) const;
  WARPHEAP_COLD_FN std::uint32_t add_next(std::uint32_t at, std::uint32_t end) const;
  WARPHEAP_COLD_FN void add_part(std::uint32_t first, std::uint32_t end) const;
  WARPHEAP_COLD_FN void set_members(std::uint32_t first, std::uint32_t end) const;
  WARPHEAP_COLD_FN void add_groups(std::uint32_t first, std::uint32_t end) const;
  WARPHEAP_COLD_FN void count_groups_on(std::uint32_t first, std::uint32_t end) const;
  WARPHEAP_COLD_FN void show_groups(std::uint32_t first, std::uint32_t end) const;
  WARPHEAP_FN bool begin_take(std::uint32_t leaf, std::uint32_t count) const {
    if (groups_ != nullptr) return begin_counted_take(leaf, count);
    begin_change();
    return true;
  }
  WARPHEAP_COLD_FN bool begin_counted_take(std::uint32_t leaf, std::uint32_t count) const;
  WARPHEAP_COLD_FN bool count_off(std::uint32_t leaf, std::uint32_t count) const;
  WARPHEAP_COLD_FN void count_on(std::uint32_t leaf, std::uint32_t count) const;
  WARPHEAP_COLD_FN std::uint32_t take_groups(std::uint32_t group, std::uint32_t most) const;
  WARPHEAP_COLD_FN std::uint32_t count_full_groups(std::uint32_t group, std::uint32_t most) const;
  WARPHEAP_COLD_FN bool search_neighbours_once(const neighbours& wanted, index_run& run) const;
  WARPHEAP_COLD_FN index_run search_neighbours(const neighbours& wanted) const;
  WARPHEAP_COLD_FN index_run neighbours_of_leaf(std::uint32_t from) const;
  WARPHEAP_COLD_FN std::uint32_t whole_leaves(std::uint32_t leaf, std::uint32_t most) const;
  WARPHEAP_COLD_FN std::uint32_t whole_leaves_at_once(std::uint32_t leaf, std::uint32_t most) const;
  WARPHEAP_COLD_FN bool take_parts(index_run run, std::uint32_t part) const;
  WARPHEAP_COLD_FN index_run take_aligned(std::uint32_t first, std::uint32_t end, const neighbours& wanted) const;
  WARPHEAP_COLD_FN bool take_next(std::uint32_t& at, std::uint32_t end) const;
  WARPHEAP_COLD_FN bool take_next_of_groups(std::uint32_t& at, std::uint32_t part_end) const;
  WARPHEAP_COLD_FN void hide_taken(std::uint32_t first, std::uint32_t end) const;
  WARPHEAP_COLD_FN bool take_leaves(std::uint32_t at, std::uint32_t stop, std::uint64_t (&got)[at_once]) const;
  WARPHEAP_FN index_run take_from_leaf(std::uint32_t leaf, std::uint64_t most) const;
  WARPHEAP_COLD_FN std::uint32_t extend(lane_mask group, std::uint32_t first_leaf, std::uint32_t most) const;
  static constexpr std::uint32_t rows = 2;  // leaves that each lane takes before it waits, where all lanes take leaves
  WARPHEAP_COLD_FN bool extend_once(lane_mask group, std::uint32_t first_leaf, std::uint32_t most,
                                    std::uint32_t& total) const;
  WARPHEAP_COLD_FN void take_rows(std::uint32_t first_leaf, std::uint32_t mine, std::uint32_t lanes, std::uint32_t most,
                                  std::uint64_t (&got)[rows]) const;
  WARPHEAP_COLD_FN bool search_blocks(lane_mask group, const blocks& wanted, index_run& run) const;
  WARPHEAP_COLD_FN void extend_blocks(lane_mask group, const blocks& wanted, index_run& run) const;
  WARPHEAP_COLD_FN bool find_blocks(lane_mask group, std::uint32_t& leaf, std::uint32_t size) const;
  WARPHEAP_COLD_FN bool look_for_blocks_once(lane_mask group, std::uint32_t& leaf, std::uint32_t size,
                                             bool& quiescent) const;
  WARPHEAP_COLD_FN bool look_for_blocks(lane_mask group, std::uint32_t& leaf, std::uint32_t size) const;
  WARPHEAP_COLD_FN bool find_together(lane_mask group, std::uint32_t& leaf) const;
  WARPHEAP_FN std::uint64_t blocks_of_leaf(std::uint32_t leaf, std::uint32_t size) const;
  WARPHEAP_COLD_FN lane_mask look_together(lane_mask group, std::uint32_t from, std::uint32_t size) const;
  WARPHEAP_COLD_FN bool find_in_window(std::uint32_t mine, std::uint32_t window, std::uint32_t looks,
                                       std::uint32_t& leaf) const;
  WARPHEAP_COLD_FN index_run blocks_from_leaf(std::uint32_t leaf, const blocks& wanted) const;
  WARPHEAP_COLD_FN bool begin_take_of(std::uint32_t leaf, std::uint64_t mask, std::uint64_t& before) const;
  WARPHEAP_COLD_FN void end_take_of(std::uint32_t leaf, std::uint64_t mask, std::uint64_t before,
                                    std::uint64_t rest) const;
  WARPHEAP_COLD_FN std::uint64_t share_of_blocks(lane_mask group, std::uint64_t begins, std::uint32_t most) const;
  WARPHEAP_COLD_FN std::uint64_t take_blocks_of(std::uint32_t leaf, std::uint64_t begins, std::uint32_t size) const;
  enum class block_found : std::uint32_t { none, lost, taken };  // lost: another thread took a part of it first
  WARPHEAP_COLD_FN block_found take_block_of(std::uint32_t leaf, std::uint32_t size, std::uint32_t mine,
                                             std::uint32_t& first) const;

  levels* upper_;
  std::byte* leaves_;
  groups* groups_;
  std::uint32_t leaf_stride_;
};

}  // namespace warpheap

#include <warpheap/structures/detail/bit_tree.hpp>
#include <warpheap/structures/detail/bit_tree_blocks.hpp>
#include <warpheap/structures/detail/bit_tree_groups.hpp>
#include <warpheap/structures/detail/bit_tree_neighbours.hpp>
#include <warpheap/structures/detail/bit_tree_runs.hpp>
