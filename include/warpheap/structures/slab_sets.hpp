// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/bit_tree.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// Up to eight sets in the order in which they are to be searched.
struct set_order {
  std::uint64_t sets;   ///< a byte for each, the first lowest
  std::uint32_t count;  ///< how many

  /// The order that names `set...`, each below 256.
  template <class... Set>
  WARPHEAP_FN static constexpr set_order of(Set... set) {
    static_assert(sizeof...(Set) <= 8, "set_order: eight sets at most");
    set_order order{0, 0};
    ((order.sets |= std::uint64_t{static_cast<std::uint8_t>(set)} << 8 * order.count++), ...);
    return order;
  }
  /// The set at `index`.
  WARPHEAP_FN constexpr std::uint32_t at(std::uint32_t index) const {
    return static_cast<std::uint32_t>(sets >> 8 * index & 0xff);
  }
};

/// Sets of slabs by their fill: one `bit_tree` for each set, and one more set, `rest()`, for slabs that nobody is to
/// find. Threads change the fill of a slab elsewhere, in a word of it; this keeps the slab in the set that belongs to
/// its word, and hands out slabs of a set.
///
/// `where(slab)`, which callers pass, reads the slab's word by an atomic load and returns the set that it belongs to,
/// `rest()` included. All callers pass the same function. A thread whose change of the word moves `where` from one set
/// to another calls `moved` after it, with the former set.
///
/// Invariant: a slab is in one set, or in the hands of one thread: the one that made it and has not `put` it, the one
/// that picked it, or one that is just moving it. A bit that is set stands for the slab itself: who clears it has it.
///
/// Invariant: when all calls have returned, each slab that no thread holds is in the set that `where` tells. A thread
/// that sets a bit looks at `where` again, and takes the slab back if that has changed. A thread that changes the word
/// looks for the slab in the former set. Both changes of that bit are read-modify-writes with acquire and release, so
/// the later sees the earlier: either the latter thread finds the slab, or the former sees the new word.
///
/// Invariant: a slab is put into a set that `where` told while the slab was in the hands of the thread that puts it. So
/// where only a thread that holds a slab of some set changes its word to another set, as with free slabs, no slab is
/// found in that set whose word is another.
///
/// Zero bytes are sets without slabs. No thread waits for another one.
class slab_sets {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< no slab
  static constexpr std::uint32_t most_sets = 255;           ///< without `rest()`
  /// A slab that the caller holds, and the set that it was in.
  struct picked {
    std::uint32_t slab;  ///< `none` if nothing was found
    std::uint32_t set;   ///< unspecified then
  };

  /// Bytes of memory for `sets` sets of slabs with numbers below `slabs`. What fewer slabs need is the beginning of it.
  WARPHEAP_FN static constexpr std::uint64_t bytes(std::uint32_t sets, std::uint64_t slabs) {
    return sizeof(control) + sets * sizeof(bit_tree::levels) +
           divide_up(slabs, bit_tree::leaf_bits) * (sets + 1) * sizeof(std::uint64_t);
  }

  /// The sets [0, sets) of slabs with numbers below `slabs`, whose state is at `memory`, aligned to 128 bytes. With a
  /// smaller number than there are slabs, `find` and `pick` only spread less well, but `search` misses the others.
  WARPHEAP_FN slab_sets(std::byte* memory, std::uint32_t sets, std::uint32_t slabs)
      : memory_(memory), sets_(sets), slabs_(slabs) {}

  /// The set of slabs that nobody is to find: its number, after those of the others.
  WARPHEAP_FN std::uint32_t rest() const { return sets_; }

  /// Puts a slab that the caller holds into the set where it belongs. One lane.
  template <class Where>
  WARPHEAP_FN void put(std::uint32_t slab, Where where) const {
    begin_move();
    settle(slab, where);
    end_move();
  }

  /// After a change of the slab's word that moved `where` away from `from`: brings the slab to the set where it belongs
  /// now. If another thread holds it, that thread does so. True if the slab was in `from`. One lane.
  template <class Where>
  WARPHEAP_FN bool moved(std::uint32_t slab, std::uint32_t from, Where where) const {
    return transfer(slab, from, [] {}, where);
  }

  /// Takes this slab out of `set` if it is there, calls `change()`, which may change the slab and its word, and puts
  /// the slab where it belongs then. A search with a snapshot knows that the slab was on its way. True if it was there.
  /// One lane.
  template <class Change, class Where>
  WARPHEAP_FN bool transfer(std::uint32_t slab, std::uint32_t set, Change change, Where where) const {
    begin_move();
    const bool taken = take(slab, set);
    if (taken) {
      change();
      settle(slab, where);
    }
    end_move();
    return taken;
  }

  /// Puts new slabs into `set`, which is where they belong and not `rest()`: those of `mask`, from slab
  /// `bit_tree::leaf_bits * leaf` on. No thread changes their words meanwhile. One lane.
  WARPHEAP_FN void add(std::uint32_t leaf, std::uint64_t mask, std::uint32_t set) const { tree(set).add(leaf, mask); }

  /// Takes a slab of the first set of `order` that has one; the caller holds it until it calls `put`. Threads with
  /// different seeds begin at different slabs. `none` means that each of the sets was empty at one moment of the call,
  /// but for slabs that others held. The slab's word may belong to another set by now. Collective over `group`, which
  /// gets one slab.
  WARPHEAP_COLD_FN picked pick(lane_mask group, set_order order, std::uint32_t seed) const;

  /// Takes this slab out of `set`, if it is there; the caller holds it then. True if so. One lane.
  WARPHEAP_FN bool take(std::uint32_t slab, std::uint32_t set) const;

  /// A slab that seems to be in `set`, which is not `rest()`, and stays there; `none` if none is found. A hint. Threads
  /// with different seeds find different slabs. One lane.
  WARPHEAP_COLD_FN std::uint32_t find(std::uint32_t set, std::uint32_t seed) const;

  /// A slab of `set`, which is not `rest()`, in the leaf of slab `from` or the next one, cyclic, that has any: in the
  /// leaf, the first from the place of `from` in its own leaf on, cyclic. So threads that begin at different slabs of a
  /// leaf find different ones in whichever leaf they meet. The slab stays there. `none` means that no slab of the set
  /// was found in a look at each leaf; it is certain if the sets were quiescent meanwhile. One lane.
  WARPHEAP_COLD_FN std::uint32_t search(std::uint32_t set, std::uint32_t from) const;

  /// A slab of `set`, which is not `rest()`, in the leaf of slab `from`: the first from `from` on, cyclic in the leaf;
  /// `none` if that leaf has none. A hint, by one look. One lane.
  WARPHEAP_FN std::uint32_t search_leaf(std::uint32_t set, std::uint32_t from) const;

  /// True if `slab` is in `set`. A hint.
  WARPHEAP_FN bool contains(std::uint32_t slab, std::uint32_t set) const;

  /// Threads count the slabs that they move, beginning and end. A search that finds nothing knows by this whether it
  /// can have missed a slab that was on its way from one set to another. (A slab that was picked counts as its
  /// picker's.)
  using quiescence_snapshot = change_counter<std::uint32_t>::snapshot;
  /// Before the search. Acquires.
  WARPHEAP_FN quiescence_snapshot begin_snapshot() const;
  /// After it: true if no slab was being moved at any moment of the search.
  WARPHEAP_FN bool was_quiescent(quiescence_snapshot before) const;

 private:
  struct alignas(128) stripe : change_counter<std::uint32_t> {};
  struct control {
    striped_change_counter<stripe, 8> moves;
  };

  WARPHEAP_FN control& shared() const { return *reinterpret_cast<control*>(memory_); }
  // The leaves of all sets lie side by side, so that more slabs need more memory at the end alone.
  WARPHEAP_FN std::uint64_t* leaves() const {
    return reinterpret_cast<std::uint64_t*>(memory_ + sizeof(control) + sets_ * sizeof(bit_tree::levels));
  }
  WARPHEAP_FN std::uint32_t stride() const { return (sets_ + 1) * static_cast<std::uint32_t>(sizeof(std::uint64_t)); }
  WARPHEAP_FN bit_tree tree(std::uint32_t set) const {
    auto* const levels = reinterpret_cast<bit_tree::levels*>(memory_ + sizeof(control)) + set;
    return {levels, reinterpret_cast<std::byte*>(leaves() + set), stride()};
  }
  WARPHEAP_FN atomic_view<std::uint64_t> rest_word(std::uint32_t slab) const {
    return atomic_view{leaves()[std::uint64_t{slab / bit_tree::leaf_bits} * (sets_ + 1) + sets_]};
  }
  WARPHEAP_FN static std::uint64_t bit_of(std::uint32_t slab) { return std::uint64_t{1} << slab % bit_tree::leaf_bits; }
  WARPHEAP_FN void begin_move() const;
  WARPHEAP_FN void end_move() const;
  template <class Where>
  WARPHEAP_FN void settle(std::uint32_t slab, Where where) const;
  WARPHEAP_FN void insert(std::uint32_t slab, std::uint32_t set) const;
  WARPHEAP_FN static std::uint32_t first_in_leaf(const bit_tree& members, std::uint32_t leaf, std::uint32_t bit);
  WARPHEAP_FN std::uint32_t search_leaves(const bit_tree& members, std::uint32_t first, std::uint32_t end,
                                          std::uint32_t bit) const;
  WARPHEAP_COLD_FN std::uint32_t pick_from(std::uint32_t set, std::uint32_t seed) const;

  std::byte* memory_;
  std::uint32_t sets_;
  std::uint32_t slabs_;
};

}  // namespace warpheap

#include <warpheap/structures/detail/slab_sets.hpp>
