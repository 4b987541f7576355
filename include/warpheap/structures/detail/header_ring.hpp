// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/header_ring.hpp>

namespace warpheap {

// Orders. A look acquires, so a walker that follows a link sees what was published before the link: the header there,
// or at least that an older header is no longer there. A lock acquires what the last owner of each part released.
// Before headers are published there is one release fence for all of them. A take is counted after the lock and before
// that fence, so a walker that saw a header of the take sees its count as well. Cursors are hints. `provers` is
// relaxed: it decides when threads go on, and a refusal is proved by `takes` alone.

// Cuts `units` units from `first` on out of the chunk from `at` to `next`, which the caller has locked. What is left
// before and after them is free again.
template <class Header, std::uint32_t Cursors>
WARPHEAP_FN void header_ring<Header, Cursors>::carve(std::uint32_t at, std::uint32_t next, std::uint32_t first,
                                                     std::uint32_t units) const {
  const std::uint32_t end = first + units;
  atomic_view{state_->takes}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  fence(memory_order::release, thread_scope::device);
  if (end != next) header(end).publish(ring_word::free | next);
  atomic_view{cursors().mine()}.store(end, memory_order::relaxed, thread_scope::device);
  // The block, and then what lies before it. A loop, so that the address of one header at a time takes registers.
  std::uint32_t from = first;
  std::uint32_t to = end;
  WARPHEAP_ROLLED
  for (int part = 0; part < 2; ++part) {
    if (from != to) header(from).publish((part == 0 ? ring_word::allocated : ring_word::free) | to);
    to = from;
    from = at;
  }
}

// Takes from the free chunk from `at` to `next` if `wanted` fits in it and in the free chunks after it. Returns the
// place, or `none`; `next` is then the end of what was visited. Adds `disturbed` to `doubt` if another thread had a
// part locked, and `barred` if `wanted` fits while a take proves a refusal.
template <class Header, std::uint32_t Cursors>
template <class Request>
WARPHEAP_FN std::uint32_t header_ring<Header, Cursors>::visit(std::uint32_t at, std::uint32_t& next,
                                                              const Request& wanted, std::uint32_t& doubt) const {
  std::uint32_t first = 0;
  if (!wanted.fits(at, next, first)) {
    // Lock nothing for nothing: walkers that find no room do not disturb each other.
    const std::uint32_t after = header(next).look();
    if ((after & ring_word::free) == 0) {
      if ((after & ring_word::allocated) == 0) doubt |= disturbed;
      return none;
    }
  }
  if (atomic_view{state_->provers}.load(memory_order::relaxed, thread_scope::device) != 0) {
    // Lock nothing, and look whether merged chunks would do. While no thread takes, what was free together stays free,
    // and this finds at least that much.
    WARPHEAP_ROLLED
    while (!wanted.fits(at, next, first)) {  // not a spin: the units from `at` to `next` get more each time
      const std::uint32_t after = header(next).look();
      if ((after & ring_word::free) == 0) {
        if ((after & ring_word::allocated) == 0) doubt |= disturbed;
        return none;
      }
      next = ring_word::next(after);
    }
    doubt |= barred;
    stop_point("header_ring.visit.barred");
    return none;
  }
  stop_point("header_ring.visit.looked");
  const std::uint32_t locked = header(at).try_lock(ring_word::free | next);
  if (locked == 0) {
    doubt |= disturbed;
    return none;
  }
  next = ring_word::next(locked);  // what was seen may have been split or merged since
  WARPHEAP_ROLLED
  while (!wanted.fits(at, next, first)) {  // not a spin: the chunk gets longer each time
    const std::uint32_t after = header(next).look();
    const std::uint32_t absorbed = (after & ring_word::free) != 0 ? header(next).try_lock(after) : 0;
    if (absorbed == 0) {
      if ((after & ring_word::allocated) == 0) doubt |= disturbed;
      fence(memory_order::release, thread_scope::device);
      header(at).publish(ring_word::free | next);
      return none;
    }
    stop_point("header_ring.visit.absorbed");
    // That header stays as it is, locked: nobody can lock it, and its link leads on.
    next = ring_word::next(absorbed);
  }
  carve(at, next, first, wanted.units);
  return first;
}

// Returns a place where a chunk begins, near that which `fraction` is of the ring, in units of 2^-32; or `none` if no
// chunk begins at the few places that it looks at.
//
// Chunks of an empty heap begin at multiples of their size, a power of two. So it looks at the multiple before that
// place of the least power of two that `wanted` fits in, and then at places with fewer low bits. Not down to the last
// bit: a large chunk begins there, which many threads would come to, and whose first units are soon a block. Never at
// 0: a walk that comes there has seen the end.
template <class Header, std::uint32_t Cursors>
WARPHEAP_FN std::uint32_t header_ring<Header, Cursors>::begin_near(std::uint32_t fraction, std::uint32_t wanted) const {
  constexpr int most_looks = 3;
  std::uint32_t at = split(std::uint64_t{fraction} * units()).high;
  at &= ~std::uint32_t{0} << highest_bit(2 * wanted - 1);
  WARPHEAP_ROLLED
  for (int looks = 0; at != 0 && looks < most_looks; ++looks) {
    if ((header(at).look() & (ring_word::free | ring_word::allocated)) != 0) return at;
    at &= at - 1;
  }
  return none;
}

template <class Header, std::uint32_t Cursors>
template <class Request>
WARPHEAP_FN std::uint32_t header_ring<Header, Cursors>::take(Request wanted) const {
  if (wanted.units > units()) return none;  // before it merges all that is free
  const atomic_view takes{state_->takes};
  std::uint32_t before = 0;
  // The first walk begins at a cursor and leaps, so it proves nothing.
  std::uint32_t doubt = disturbed + most_leaps * one_leap;
  std::uint32_t at = atomic_view{cursors().mine()}.load(memory_order::relaxed, thread_scope::device);
  WARPHEAP_ROLLED
  for (;;) {  // not a spin: a walk is made again only if another thread took, merged, locked or proved during it
    stop_point("header_ring.take.walking");
    const std::uint32_t seen = header(at).look();
    std::uint32_t next = ring_word::next(seen);
    if ((seen & ring_word::free) != 0) {
      const std::uint32_t place = visit(at, next, wanted, doubt);
      if (place != none) return place;
    } else if ((seen & ring_word::allocated) == 0) {
      doubt |= disturbed;
    }
    WARPHEAP_ROLLED
    while (doubt >= one_leap && next != 0) {  // not a spin: each turn is a leap less
      doubt -= one_leap;
      // All threads that found nothing here would meet again in the next chunk. Thread 0 goes there, and each other one
      // to a place of its own, and to another one with each leap.
      const auto index = static_cast<std::uint32_t>(grid_thread_index());
      const std::uint32_t number = index * most_leaps + doubt / one_leap;
      const std::uint32_t there = index == 0 ? next : begin_near((next + number) * leap, wanted.units);
      if (there == none) continue;
      next = there;
      break;
    }
    at = next;
    if (at != 0) continue;
    // The end. All that was seen comes before the count, and what the next walk sees comes after it.
    fence(memory_order::acquire, thread_scope::device);
    const std::uint32_t now = takes.load(memory_order::acquire, thread_scope::device);
    if (now != before) doubt |= disturbed;
    if ((doubt & proved) != 0 || (doubt & (disturbed | barred | proving)) == 0) return none;
    if ((doubt & (disturbed | proving)) == proving) {
      // This walk proved that there is no place, or that there was one. Others wait for the subtraction, lanes of this
      // warp as well, so another turn of the loop follows in any case: no reconvergence barrier comes before it. A take
      // that is refused makes that turn at the end of the ring.
      atomic_view{state_->provers}.fetch_sub(1, memory_order::relaxed, thread_scope::device);
      at = (doubt & barred) != 0 ? 0 : units();
      doubt = (doubt & barred) != 0 ? 0 : proved;
      continue;
    }
    backoff{}.pause();  // a short one: a walk is work
    before = now;
    if ((doubt & (disturbed | proving)) == disturbed) {
      // A take joins others that prove, so that they prove together and not one after the other. Not after its first
      // walk, which is always counted as disturbed.
      const atomic_view provers{state_->provers};
      doubt += one_walk;
      const bool joins = (doubt & walks) != one_walk && provers.load(memory_order::relaxed, thread_scope::device) != 0;
      if (joins || (doubt & walks) == most_walks * one_walk) {
        doubt = proving;
        provers.fetch_add(1, memory_order::relaxed, thread_scope::device);
        stop_point("header_ring.take.proving");
      }
    }
    doubt &= walks | proving;  // and no leap: from here on each chunk is seen
  }
}

template <class Header, std::uint32_t Cursors>
WARPHEAP_FN void header_ring<Header, Cursors>::give_and_connect(std::uint32_t place) const {
  std::uint32_t next = ring_word::next(header(place).look());
  const std::uint32_t after = header(next).look();
  if ((after & ring_word::free) != 0) {
    const std::uint32_t absorbed = header(next).try_lock(after);
    if (absorbed != 0) next = ring_word::next(absorbed);
  }
  fence(memory_order::release, thread_scope::device);
  header(place).publish(ring_word::free | next);
}

}  // namespace warpheap
