// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/baselines/counting_semaphore.hpp>

namespace warpheap {

// Invariant: let physical be the units signalled, delivered and given back, less those granted and those that growers
// took; never negative. Then count = physical - requests that found too little and have not added theirs back. So a
// count that covers a request covers it with units that are there; and one from 0 on, below the request, shows that
// there are too few, or that others have them already.
// The mark `growing` is set by a compare-and-swap that finds it clear, and cleared by the one thread that set it.
//
// Orders: units are added with release and taken with acquire. All changes of the word are read-modify-writes, so each
// is in the release sequence of each addition before it: a grant sees what was done before any unit that it can have
// got. Undoing, looking and the mark of the empty parent hand over no unit and are relaxed.

WARPHEAP_FN inline counting_semaphore::word counting_semaphore::load() const {
  // A view has no const form; a load changes nothing.
  return {atomic_view{const_cast<std::uint64_t&>(bits_)}.load(memory_order::relaxed, thread_scope::device)};
}

WARPHEAP_FN inline void counting_semaphore::initialise(std::uint64_t units) {
  require(units <= capacity, "counting_semaphore: more units than its capacity");
  atomic_view{bits_}.store(word::units(units), memory_order::relaxed, thread_scope::device);
}

// Takes n units by an add, which is undone if there were fewer.
WARPHEAP_FN inline bool counting_semaphore::take(std::uint32_t n) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  const word before{bits.fetch_sub(word::units(n), acquire, device)};
  if (before.count() >= static_cast<std::int64_t>(n)) return true;
  bits.fetch_add(word::units(n), relaxed, device);
  return false;
}

// Goes on with a request that found too little. It only reads until there is enough, so that waiting threads leave the
// word to the one that grows it. It ends: below 0 a thread stands between two atomics; else either there is enough, or
// a thread grows it, or none does and the wait ends here.
WARPHEAP_FN inline counting_semaphore::answer counting_semaphore::await_units(std::uint32_t n, bool may_grow) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  for (backoff wait;; wait.pause()) {
    word seen = load();
    if (seen.count() >= static_cast<std::int64_t>(n)) {
      if (take(n)) return {outcome::granted, n};
      continue;
    }
    if (seen.count() < 0 || seen.growing()) continue;
    if (!may_grow || seen.parent_empty()) return {outcome::failed, 0};
    // Acquires the units that it takes along.
    if (bits.compare_exchange(seen.bits, word::growing_mark, acquire, device)) {
      return {outcome::grow, static_cast<std::uint32_t>(seen.count())};
    }
  }
}

WARPHEAP_FN inline counting_semaphore::answer counting_semaphore::wait(std::uint32_t n) {
  require(n != 0 && n <= largest_request, "counting_semaphore: ask for 1 to `largest_request` units");
  if (take(n)) return {outcome::granted, n};
  return await_units(n, true);
}

WARPHEAP_FN inline counting_semaphore::turn counting_semaphore::wait_together(std::uint32_t n) {
  require(n != 0 && n <= largest_request / static_cast<std::uint32_t>(warp_width),
          "counting_semaphore: the lanes of a warp ask together for 1 to `largest_request` units");
  const warp_request peers = warp_request::of_likely_amount(active_group(), this, n);
  const std::uint32_t wanted = peers.size() * n;
  answer got{};
  if (peers.leads()) got = wait(wanted);
  sync(peers.lanes);  // what the leader acquired, all did
  got.what = peers.from_leader(got.what);
  got.units = peers.from_leader(got.units);
  if (got.what != outcome::failed || wanted == n) return {got.what, peers.lanes, got.units, wanted};
  got = await_units(n, true);
  return {got.what, lane_bit(), got.units, n};
}

WARPHEAP_FN inline bool counting_semaphore::try_wait(std::uint32_t n) {
  require(n <= largest_request, "counting_semaphore: ask for `largest_request` units at most");
  for (backoff wait;; wait.pause()) {
    const word seen = load();
    if (seen.count() >= static_cast<std::int64_t>(n)) {
      if (take(n)) return true;
    } else if (seen.count() >= 0) {
      return false;
    }
  }
}

WARPHEAP_FN inline void counting_semaphore::signal(std::uint64_t n) {
  require(n <= capacity, "counting_semaphore: more units than its capacity");
  const word before{atomic_view{bits_}.fetch_add(word::units(n), memory_order::release, thread_scope::device)};
  require(before.count() + static_cast<std::int64_t>(n) <= static_cast<std::int64_t>(capacity),
          "counting_semaphore: more units than its capacity");
  if (n != 0 && before.parent_empty()) parent_refilled();
}

WARPHEAP_FN inline void counting_semaphore::deliver(std::uint64_t rest) {
  require(rest <= capacity, "counting_semaphore: more units than its capacity");
  const word before{atomic_view{bits_}.fetch_add(word::units(rest) - word::growing_mark, memory_order::release,
                                                 thread_scope::device)};
  require(before.growing(), "counting_semaphore: deliver what `wait` told you to grow");
}

WARPHEAP_FN inline void counting_semaphore::give_up(std::uint32_t units, cause why) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  // Before the growth ends, so that requests that look again know why.
  if (why == cause::parent_empty) bits.fetch_or(word::empty_mark, relaxed, device);
  // Releases the units that go back: their next owner hands on what came with them.
  const word before{bits.fetch_add(word::units(units) - word::growing_mark, release, device)};
  require(before.growing(), "counting_semaphore: give up what `wait` told you to grow");
}

WARPHEAP_FN inline counting_semaphore::turn counting_semaphore::give_up_together(turn failed, std::uint32_t n,
                                                                                 cause why) {
  if (is_leader(failed.group)) give_up(failed.units, why);
  sync(failed.group);  // none looks before the growth has ended, or it would wait for that with nothing to gain
  if (failed.wanted == n) return {outcome::failed, failed.group, 0, n};
  const answer got = await_units(n, false);
  return {got.what, lane_bit(), got.units, n};
}

WARPHEAP_FN inline void counting_semaphore::parent_refilled() {
  atomic_view{bits_}.fetch_and(~word::empty_mark, memory_order::relaxed, thread_scope::device);
}

WARPHEAP_FN inline counting_semaphore::counts counting_semaphore::count() const {
  const word now = load();
  return {now.count(), now.growing(), now.parent_empty()};
}

}  // namespace warpheap
