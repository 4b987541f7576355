// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// A list of numbered nodes that any threads push to and that a thread takes whole. No single node is ever popped, so
/// no step depends on a node that may have come back meanwhile: there is no ABA.
///
/// A view: the owner provides the head, a word of device memory that is zero when the list is empty, and `Links`, by
/// whose `links(node)` a node has a word for its link, any contents. Nodes are numbers up to `last_node`. Lists may
/// share links: a node is in one list at a time. `Links` is trivially copyable.
///
/// A push is one exchange of the head and then one store to the link of its last node, so threads that meet at one list
/// need not repeat their work. Between the two the list is torn: the nodes pushed before hang on nothing. A thread that
/// walks the list waits there for the store.
///
/// Invariant: the head names the node pushed last, and the link of a node names the node pushed before it, or is
/// `unlinked` as long as the push of the node is between its exchange and its store; 0 ends both. A node belongs to who
/// pushes it up to the exchange, then to the list, and to the walker from the moment that `next` has left it.
///
/// `next` waits only for threads that are between two steps of a push; such a thread waits for nobody, and passes no
/// barrier there.
///
/// Memory order: what a thread did before it pushed a node happens before what the thread does that takes the list with
/// it. `walk` passes that on to all lanes of its group.
///
/// Use: lists of what a warp took (Widmer et al., Fast dynamic memory allocator for massively parallel architectures,
/// GPGPU-6, 2013).
template <class Links>
class push_stack {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< no node
  static constexpr std::uint32_t last_node = none - 2;      ///< the highest number of a node

  /// The list whose head is at `head`, of nodes that `links` finds the link of.
  WARPHEAP_FN push_stack(std::uint32_t* head, const Links& links) : head_(head), links_(links) {}

  /// Pushes a node for each lane of `group`: those of lower lanes are taken first. Collective; any lanes.
  WARPHEAP_FN void push(lane_mask group, std::uint32_t node) const;

  /// Makes the list empty and returns the node that was pushed last, `none` of an empty list. The caller owns all nodes
  /// that `next` finds from there on. One lane.
  WARPHEAP_FN std::uint32_t take_all() const;

  /// The node that was pushed before `node`, or `none`; `node` is from `take_all` or `next`. Waits for a push that has
  /// not linked it yet. From then on nobody but the caller uses the link of `node`. One lane, or several for the same
  /// node before one of them gives it away.
  WARPHEAP_FN std::uint32_t next(std::uint32_t node) const;

  /// Makes the list empty and calls `visit(lanes, node)` with its nodes, up to one for each lane of `group` at a time:
  /// `lanes` are those that have one, and they call together. A visit may give its node away. Returns how many nodes
  /// there were. Collective.
  template <class Visit>
  WARPHEAP_FN std::uint64_t walk(lane_mask group, Visit visit) const;

 private:
  // In a word: 0 for no node, else the node's number and 1.
  static constexpr std::uint32_t unlinked = none;
  WARPHEAP_FN atomic_view<std::uint32_t> link(std::uint32_t node) const { return atomic_view{links_(node)}; }

  std::uint32_t* head_;
  Links links_;
};

// Orders. The exchange of a push releases what all lanes of its group did, who pass a `sync` before, and that of
// `take_all` acquires it. All changes of the head are exchanges, so the one that takes the list acquires from each push
// since the list was taken before, not from the last alone. Links are relaxed: their values are nodes whose pushes were
// acquired with the head; and a walker leaves a node only after it read its link, so by coherence the store of the push
// comes before whatever the walker, or whom it gives the node to, writes there.

template <class Links>
WARPHEAP_FN void push_stack<Links>::push(lane_mask group, std::uint32_t node) const {
  using enum memory_order;
  using enum thread_scope;
  const int last = highest_bit(group);
  const lane_mask above = group & ~low_bits(lane_index() + 1);
  const std::uint32_t below = shuffle(group, node, above != 0 ? lowest_bit(above) : lane_index());
  const std::uint32_t bottom = shuffle(group, node, last);
  link(node).store(lane_index() == last ? unlinked : below + 1, relaxed, device);
  sync(group);  // the leader releases what all lanes did
  if (is_leader(group)) {
    const std::uint32_t before = atomic_view{*head_}.exchange(node + 1, acq_rel, device);
    stop_point("push_stack.push.torn");
    link(bottom).store(before, relaxed, device);
  }
}

template <class Links>
WARPHEAP_FN std::uint32_t push_stack<Links>::take_all() const {
  return atomic_view{*head_}.exchange(0, memory_order::acquire, thread_scope::device) - 1;
}

template <class Links>
WARPHEAP_FN std::uint32_t push_stack<Links>::next(std::uint32_t node) const {
  for (backoff wait;; wait.pause()) {  // for the store of a push that has exchanged the head
    const std::uint32_t word = link(node).load(memory_order::relaxed, thread_scope::device);
    if (word != unlinked) return word - 1;
  }
}

template <class Links>
template <class Visit>
WARPHEAP_FN std::uint64_t push_stack<Links>::walk(lane_mask group, Visit visit) const {
  std::uint32_t head = is_leader(group) ? take_all() : none;
  sync(group);  // what the leader acquired, all lanes did
  head = shuffle(group, head, leader(group));
  std::uint64_t count = 0;
  while (head != none) {  // not a spin: each turn visits a node
    // The leader alone follows the links, since a wait in each lane would be a wait of the whole group.
    std::uint32_t mine = none;
    std::uint32_t found = 0;
    for (lane_mask rest = group; rest != 0 && head != none; rest &= rest - 1) {
      const std::uint32_t after = is_leader(group) ? next(head) : none;
      if (lane_index() == lowest_bit(rest)) mine = head;
      head = shuffle(group, after, leader(group));
      ++found;
    }
    const lane_mask lanes = ballot(group, mine != none);
    if (mine != none) visit(lanes, mine);
    sync(group);
    count += found;
  }
  return count;
}

}  // namespace warpheap
