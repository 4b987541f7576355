// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/baselines/state_buddy.hpp>

namespace warpheap {

// A thread has a node *in hand* from the moment in which it makes it busy until it makes it available or gives it to
// the caller. Nobody else changes the state of a node in hand, but for `update`, which finds it busy and leaves it so.
//
// Invariant: what lies below a node that is available or in hand is busy, or will be when those who update there are
// done. So no page is in two blocks that are available or in hand.
//
// Invariant: available nodes of an order are at least the units that its semaphore has, and those that were granted and
// whose node is not found yet: a node becomes available before its unit is signalled, and a unit is taken before its
// node is made busy. So a thread that was granted a unit finds a node.
//
// Invariant: a partial node is marked `paired` if both of its children are available or one of them is so marked, but
// for updates that are under way. So pairs that could be merged are found from above.
//
// Invariant: a merge is counted as begun before it takes away what others may need, and as ended when its block is to
// be had. A producer is counted at each order below before it asks at the next one up. So who sees no merge under way,
// and looks at the orders from above, finds at one of them what is there and nobody is to get; `look_from` does.
//
// Orders. Making a node available releases what its last owners did, occupying it acquires that; both go through its
// word, and so does the lock of a parent under which buddies meet. Counts that one order's word must not overtake
// another's are parted by a fence, named where it stands.

WARPHEAP_FN inline atomic_view<std::uint32_t> state_buddy::word(node of) const {
  if (of.order <= layout::span_order) {
    const std::uint32_t depth = layout::span_order - of.order;
    return atomic_view{spans_[(of.index >> depth) - first_span_].nodes[(1u << depth) + (of.index & low_bits(depth))]};
  }
  return atomic_view{upper_->nodes[(1u << (layout::page_bits - of.order)) + of.index]};
}

// True for a node of pages that the system does not have, for which there may be no memory. It is as good as busy.
WARPHEAP_FN inline bool state_buddy::outside(node of) const {
  if (of.order > layout::span_order) return false;
  const std::uint32_t where = of.index >> (layout::span_order - of.order);
  return where < first_span_ ||
         where * span_pages >= atomic_view{upper_->end}.load(memory_order::relaxed, thread_scope::device);
}

WARPHEAP_FN inline std::uint32_t state_buddy::state_of(node of) const {
  if (outside(of)) return layout::busy;
  return word(of).load(memory_order::acquire, thread_scope::device) & ~layout::locked;
}

// Locks a node against other updates if it is not locked; `state` is its state then.
//
// Invariant: a holder waits for nothing but, in `occupy` and `show`, an update of another node, which waits for
// nothing. It unlocks in the same turn of a loop in which it locked, and lanes leave such a loop by a vote or with
// nothing to do after it: so no reconvergence barrier with lanes that want the lock is in between.
WARPHEAP_FN inline bool state_buddy::try_lock(node of, std::uint32_t& state) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits = word(of);
  state = bits.load(relaxed, device);
  return (state & layout::locked) == 0 && bits.compare_exchange(state, state | layout::locked, acquire, device);
}
WARPHEAP_FN inline void state_buddy::unlock(node of, std::uint32_t state) const {
  word(of).store(state, memory_order::release, thread_scope::device);
}

// Makes a node in hand available. Waits for an update that holds its lock.
WARPHEAP_FN inline void state_buddy::show(node of) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits = word(of);
  for (backoff wait;; wait.pause()) {
    std::uint32_t seen = bits.load(relaxed, device);
    if ((seen & layout::locked) == 0 && bits.compare_exchange(seen, layout::available, acq_rel, device)) return;
  }
}

// Takes an available node in hand; false if it is not available. Waits for the holder of its lock.
WARPHEAP_FN inline bool state_buddy::occupy(node of) const {
  using enum memory_order;
  using enum thread_scope;
  if (outside(of)) return false;
  for (backoff wait;; wait.pause()) {
    std::uint32_t seen = layout::available;
    if (word(of).compare_exchange(seen, layout::busy, acquire, device)) return true;
    if (seen != (layout::available | layout::locked)) return false;
  }
}

// What a node that is neither available nor in hand is, by its children.
WARPHEAP_FN inline std::uint32_t state_buddy::state_from_below(node of) const {
  const std::uint32_t left = state_of(of.child(0));
  const std::uint32_t right = state_of(of.child(1));
  if (left == layout::busy && right == layout::busy) return layout::busy;
  const bool pair = left == layout::available && right == layout::available;
  return layout::partial | (pair ? layout::paired : (left | right) & layout::paired);
}

// Brings a node up to date whose child changed, and so on up. A thread that changes a node comes here for its parent
// afterwards, so the last one finds all changes. A node that is available hides what is below it; one in hand has only
// busy nodes below.
WARPHEAP_FN inline void state_buddy::update(node of) const {
  for (backoff wait; of.order <= layout::page_bits;) {
    std::uint32_t before = 0;
    if (try_lock(of, before)) {
      wait.end();
      std::uint32_t after = before;
      if (before != layout::available) after = state_from_below(of);
      unlock(of, after);
      if (after == before) return;
      of = of.parent();
    } else {
      wait.pause();
    }
  }
}

// The order of the smallest block in which all pages lie.
WARPHEAP_FN inline std::uint32_t state_buddy::top() const {
  const std::uint32_t last = atomic_view{upper_->end}.load(memory_order::relaxed, thread_scope::device) - 1;
  return last == 0 ? 0 : static_cast<std::uint32_t>(highest_bit(last)) + 1;
}

// Of the nodes above `index` of `order`, up to the highest order `most`, those that are not above the one before.
WARPHEAP_FN inline std::uint32_t state_buddy::first_new(std::uint32_t order, std::uint32_t index, std::uint32_t most) {
  const std::uint32_t above = index == 0 ? most : order + static_cast<std::uint32_t>(lowest_bit(index));
  return above < most ? above : most;
}

// True if a node above that of `order` at `index`, up to order `upto`, is not marked with `mark`, so that there is
// nothing of the kind below it; moves `index` to the next node.
WARPHEAP_FN inline bool state_buddy::skip(std::uint32_t order, std::uint32_t& index, std::uint32_t upto,
                                          std::uint32_t mark) const {
  for (std::uint32_t above = upto; above > order; --above) {
    const std::uint32_t shift = above - order;
    if ((state_of({above, index >> shift}) & mark) != 0) continue;
    index = ((index >> shift) + 1) << shift;
    return true;
  }
  return false;
}

// Finds an available node and takes it in hand. For who was granted a unit of that order, so there is one, though who
// made it available may still be busy with showing it.
WARPHEAP_FN inline auto state_buddy::find(std::uint32_t order) const -> node {
  using enum memory_order;
  using enum thread_scope;
  // Scattered, so that threads do not meet at the first node.
  const std::uint64_t scatter = grid_thread_index() * 0x9e37'79b9'7f4a'7c15u;
  for (;;) {
    // Each time anew: the unit may be of pages that were added since.
    const std::uint32_t last = atomic_view{upper_->end}.load(relaxed, device) - 1;
    const std::uint32_t most = top();
    std::uint32_t end = (last >> order) + 1;
    const auto start = static_cast<std::uint32_t>((scatter >> 32) % end);
    std::uint32_t from = start;
    for (int half = 0; half < 2; ++half) {
      for (std::uint32_t upto = most; from < end; upto = first_new(order, from, most)) {  // not a spin: to later nodes
        if (skip(order, from, upto, layout::partial)) continue;
        const node here{order, from++};
        if (state_of(here) == layout::available && occupy(here)) {
          update(here.parent());
          return here;
        }
      }
      from = 0;
      end = start;
    }
    backoff{}.pause();  // a wait of its own each time, since a search is work
  }
}

// Halves a node in hand: returns one half in hand, the other is available.
WARPHEAP_FN inline auto state_buddy::split(node whole) const -> node {
  show(whole.child(1));
  update(whole);
  return whole.child(0);
}

// For who holds the lock of the parent of a node in hand: takes its buddy in hand, too, so that their parent is; false
// if that cannot be.
WARPHEAP_FN inline bool state_buddy::join(node freed) const {
  bulk_semaphore& blocks = upper_->blocks[freed.order];
  // Its unit may be promised to a thread, which may find this block or another one. By addition, since many may come at
  // once; whom that keeps from a unit for a moment leaves a pair to a sweep, or sees that a merge is under way.
  if (state_of(freed.buddy()) != layout::available || !blocks.try_take(1)) return false;
  if (occupy(freed.buddy())) return true;
  require(blocks.signal(1), "state_buddy: more blocks than it can count");
  return false;
}

// From here to `end_merge` blocks that others may need are in hand. The fence releases the count with each change that
// follows.
WARPHEAP_FN inline void state_buddy::begin_merge() const {
  upper_->merges.begin();
  fence(memory_order::release, thread_scope::device);
}
WARPHEAP_FN inline void state_buddy::end_merge() const { upper_->merges.end(); }

// Makes a node in hand available, merged with what can be had. While a merge is counted.
//
// Buddies that come back together meet under the lock of their parent. The first has signalled its unit when it lets go
// of that, so the second gets it, unless it is promised to somebody.
//
// The lanes that came together leave together, by a vote: so a lane that has the lock lets it go before any of them
// waits at a reconvergence barrier.
WARPHEAP_FN inline void state_buddy::put_merged(node freed) const {
  const lane_mask together = active_group();
  bool done = false;
  for (backoff wait;; wait.pause()) {
    const node above = freed.parent();
    std::uint32_t before = 0;
    if (!done && try_lock(above, before)) {
      wait.end();
      if (freed.order != largest_order && join(freed)) {
        unlock(above, layout::busy);
        freed = above;
      } else {
        show(freed);
        require(upper_->blocks[freed.order].signal(1), "state_buddy: more blocks than it can count");
        const std::uint32_t after = state_from_below(above);
        unlock(above, after);
        if (after != before) update(above.parent());
        done = true;
      }
    }
    if (all(together, done)) return;
  }
}
WARPHEAP_FN inline void state_buddy::put(node freed) const {
  begin_merge();
  put_merged(freed);
  end_merge();
}

// Merges a node that was seen to be available with its buddy, if it is to be had.
WARPHEAP_FN inline void state_buddy::merge(node half) const {
  bulk_semaphore& blocks = upper_->blocks[half.order];
  begin_merge();
  if (blocks.try_wait(1)) {
    if (occupy(half)) {
      put_merged(half);
    } else {
      require(blocks.signal(1), "state_buddy: more blocks than it can count");
    }
  }
  end_merge();
}

// Merges buddies of orders below `below` that are both available, where their units are not promised to others. One
// thread at a time; who finds another at it waits for that one's end, and knows by the count of merges whether
// something changed. Were each to go through the tree by itself, one after the other, those who are to be refused would
// wait for as many searches as they are.
//
// The lanes that came together meet in a ballot before each pause. So a lane that sweeps ends that before any of them
// pauses, and before any of them leaves and waits at a reconvergence barrier; a lane in the ballot holds no node and no
// unit.
WARPHEAP_FN inline void state_buddy::sweep(std::uint32_t below) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t most = top();
  if ((state_of({most, 0}) & layout::paired) == 0) return;
  lane_mask together = active_group();
  const atomic_view sweeping{upper_->sweeping};
  // Acquires what the sweeper before merged, and releases what this one merges.
  bool done = sweeping.exchange(1, acquire, device) == 0;
  if (done) {
    merge_pairs(below, most);
    sweeping.store(0, release, device);
  }
  for (backoff wait;; wait.pause()) {
    together = ballot(together, !done);
    if (done) return;
    done = sweeping.load(acquire, device) == 0;  // acquires what the other thread merged
  }
}

// The merges of a sweep. One lane, which has `sweeping`; `most` is `top()`.
WARPHEAP_FN inline void state_buddy::merge_pairs(std::uint32_t below, std::uint32_t most) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t last = atomic_view{upper_->end}.load(relaxed, device) - 1;
  for (std::uint32_t order = 1; order <= below; ++order) {
    std::uint32_t upto = most;
    for (std::uint32_t index = 0; index <= last >> order;
         upto = first_new(order, index, most)) {  // not a spin: goes on
      if (skip(order, index, upto, layout::paired)) continue;
      const node above{order, index++};
      const node half = above.child(0);
      const bool pair = state_of(half) == layout::available && state_of(half.buddy()) == layout::available;
      if (pair && upper_->blocks[half.order].count().available > 0) merge(half);
    }
  }
}

// Whether a block of `order`, or one to halve for it, is there and nobody is to get it, or is being made. If it is a
// larger one, those who lack one of `order` may become producers again. From above, since blocks go down the orders:
// a thread that took one asked at all orders below before, so what it makes of it is seen there.
WARPHEAP_FN inline state_buddy::prospect state_buddy::look_from(std::uint32_t order) const {
  const std::uint32_t most = top();
  bool expected = false;
  for (std::uint32_t at = most + 1; at-- > order;) {
    const bulk_semaphore::counts there = upper_->blocks[at].count();
    fence(memory_order::acquire, thread_scope::device);  // what is seen here is seen of those below
    expected |= there.available + static_cast<std::int64_t>(2 * there.expected) > 0;
    if (there.available <= 0) continue;
    while (at-- > order) upper_->blocks[at].parent_refilled();  // not a spin: one order down each turn
    return prospect::there;
  }
  return expected ? prospect::expected : prospect::none;
}

// After a pass in vain: true if there is something now, false if there was nothing at one moment of the call.
//
// A thread that only looks is not seen by others. Were it to ask again as long as another seems to make a block, then
// of many that ask in vain each would take the others for such makers, and none would ever be refused. So threads that
// were here before wait until each first request has got something or nothing, and are then refused together.
WARPHEAP_FN inline bool state_buddy::wait_for_more(std::uint32_t order) const {
  using enum memory_order;
  using enum thread_scope;
  for (backoff wait{1u << 12};; wait.pause()) {
    const auto before = upper_->merges.quiescence();
    if (order != 0) sweep(order);
    const prospect seen = look_from(order);
    if (seen == prospect::there) return true;
    if (seen == prospect::none && upper_->merges.was_quiescent(before)) return false;
  }
}

// One pass: up the orders until a block is granted or the orders end, and down again. At each order below the one that
// it has reached, the pass is to produce a batch of two, or to say that there is nothing to make one of.
//
// Invariant: a lane comes to the loop's condition only if it waits itself, or owes nothing any more. So lanes that wait
// keep no lane of their warp from what it owes.
WARPHEAP_FN inline std::uint32_t state_buddy::try_take(std::uint32_t order) const {
  using enum bulk_semaphore::standing;
  const std::uint32_t most = top();
  if (order > most) return none;
  std::uint32_t at = order;
  bool up = true;
  bool have = false;
  node found{order, 0};
  lane_mask group = active_group();
  bulk_semaphore::request mine = upper_->blocks[at].ask(1, 2);
  do {
    while (mine.what() != waits) {  // not a spin: each turn goes one order up or down
      if (mine.what() == granted && !have) {
        found = find(at);
        have = true;
      }
      if (up && mine.what() == produces && at != most) {
        // A thread that sees what is taken above sees what is expected here.
        fence(memory_order::release, thread_scope::device);
        mine = upper_->blocks[++at].ask(1, 2);
        continue;
      }
      // At the highest order there is nothing above to make a batch of.
      const bool owes = up && mine.what() == produces;
      up = false;
      if (!owes) {
        if (at == order) break;
        --at;
        mine = bulk_semaphore::producer_of(1, 2);
      }
      if (have) {
        found = split(found);
        require(upper_->blocks[at].deliver(mine), "state_buddy: more blocks than it can count");
      } else {
        upper_->blocks[at].give_up(mine, bulk_semaphore::production::parent_empty);
      }
    }
  } while (upper_->blocks[at].waits(mine, group));
  return have ? found.index << order : none;
}

WARPHEAP_FN inline std::uint32_t state_buddy::take(std::uint32_t order, retry_limit most) const {
  using enum memory_order;
  using enum thread_scope;
  if (order > largest_order || atomic_view{upper_->end}.load(relaxed, device) == 0) return none;
  for (;;) {  // not a spin: each turn is a pass, and one in vain waits
    const std::uint32_t page = try_take(order);
    if (page != none || !wait_for_more(order)) return page;
    if (most.searches != retry_limit::endless && --most.searches == 0) return none;
  }
}

WARPHEAP_FN inline void state_buddy::give(std::uint32_t page, std::uint32_t order) const {
  require(order <= largest_order && page < most_pages && (page & ((1u << order) - 1)) == 0,
          "state_buddy: a block of an order begins at a multiple of its size");
  put({order, page >> order});
}

WARPHEAP_FN inline void state_buddy::add(std::uint32_t first, std::uint32_t count) const {
  require(first <= most_pages && count <= most_pages - first, "state_buddy: more pages than it can have");
  atomic_view{upper_->end}.fetch_max(first + count, memory_order::relaxed, thread_scope::device);
  detail::for_each_aligned_block(first, count, largest_order,
                                 [this](std::uint32_t page, std::uint32_t order) { give(page, order); });
}

WARPHEAP_FN inline std::uint64_t state_buddy::free_pages(std::uint32_t pages) const {
  std::uint64_t sum = 0;
  for (std::uint32_t order = 0; order <= largest_order; ++order) {
    for (std::uint32_t index = 0; index <= (pages - 1) >> order;) {  // not a spin: each turn goes on to later nodes
      if (skip(order, index, layout::page_bits, layout::partial)) continue;
      if (state_of({order, index}) == layout::available) sum += std::uint64_t{1} << order;
      ++index;
    }
  }
  return sum;
}

}  // namespace warpheap
