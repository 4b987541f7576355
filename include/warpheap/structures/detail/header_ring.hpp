// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/header_ring.hpp>

namespace warpheap {

// Orders. A look acquires, so a walker that follows a link sees what was published before the link: the header there,
// or at least that an older header is no longer there. A lock acquires what the last owner of each part released. Before
// headers are published there is one release fence for all of them. A take is counted after the lock and before that
// fence, so a lap that saw a header of the take counts the take as well. Cursors are hints: relaxed in quick steps.

// Cuts `units` units from `first` on out of the chunk from `at` to `next`, which the caller has locked. What is left
// before and after them is free again.
template <class Header, std::uint32_t Cursors>
WARPHEAP_FN void header_ring<Header, Cursors>::carve(std::uint32_t at, std::uint32_t next, std::uint32_t first,
                                                     std::uint32_t units) const {
  cursor& mine = cursors().mine();
  const std::uint32_t end = first + units;
  atomic_view{mine.takes}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  fence(memory_order::release, thread_scope::device);
  if (end != next) header(end).publish(ring_word::free | next);
  header(first).publish(ring_word::allocated | end);
  if (first != at) header(at).publish(ring_word::free | first);
  atomic_view{mine.at}.store(end, after_release_fence, thread_scope::device);
}

template <class Header, std::uint32_t Cursors>
WARPHEAP_FN std::uint32_t header_ring<Header, Cursors>::take(std::uint32_t units) const {
  const ring_request wanted = ring_request::of(units);
  std::uint32_t at = atomic_view{cursors().mine().at}.load(memory_order::relaxed, thread_scope::device);
  WARPHEAP_ROLLED
  for (std::uint32_t left = quick_steps; left != 0; --left) {  // not a spin: another header each time
    const std::uint32_t seen = header(at).look();
    std::uint32_t first = 0;
    if ((seen & ring_word::free) != 0 && wanted.fits(at, ring_word::next(seen), first)) {
      stop_point("header_ring.take.looked");
      const std::uint32_t locked = header(at).try_lock(seen);
      if (locked != 0) {
        // What is locked may be smaller or larger than what was seen.
        if (wanted.fits(at, ring_word::next(locked), first)) {
          carve(at, ring_word::next(locked), first, units);
          return first;
        }
        fence(memory_order::release, thread_scope::device);
        header(at).publish(locked);
      }
    }
    at = ring_word::next(seen);  // from the end to the first chunk
  }
  return lean_call([ring = *this, units] { return ring.search(ring_request::of(units)); });
}

// Takes from the free chunk from `at` to `next` if `wanted` fits in it and in the free chunks after it. Returns the
// place, or `none`; `next` is then the end of what was visited. Sets `disturbed` if another thread had a part locked.
template <class Header, std::uint32_t Cursors>
WARPHEAP_FN std::uint32_t header_ring<Header, Cursors>::visit(std::uint32_t at, std::uint32_t& next,
                                                              const ring_request& wanted, bool& disturbed) const {
  std::uint32_t first = 0;
  if (!wanted.fits(at, next, first)) {
    // Lock nothing for nothing: searches that find no room do not disturb each other.
    const std::uint32_t after = header(next).look();
    if ((after & ring_word::free) == 0) {
      disturbed = disturbed || (after & ring_word::allocated) == 0;
      return none;
    }
  }
  const std::uint32_t locked = header(at).try_lock(ring_word::free | next);
  if (locked == 0) {
    disturbed = true;
    return none;
  }
  next = ring_word::next(locked);
  WARPHEAP_ROLLED
  while (!wanted.fits(at, next, first)) {  // not a spin: the chunk gets longer each time
    stop_point("header_ring.visit.growing");
    const std::uint32_t after = header(next).look();
    const std::uint32_t absorbed = (after & ring_word::free) != 0 ? header(next).try_lock(after) : 0;
    if (absorbed == 0) {
      disturbed = disturbed || (after & ring_word::allocated) == 0;
      fence(memory_order::release, thread_scope::device);
      header(at).publish(ring_word::free | next);
      return none;
    }
    // That header stays as it is, locked: nobody can lock it, and its link leads on.
    next = ring_word::next(absorbed);
  }
  carve(at, next, first, wanted.units);
  return first;
}

// Visits each chunk once, from the cursor on and around. Returns the place, or `none`. If the header at the cursor is
// not that of a chunk, the lap begins at the first chunk, whose header is never absorbed.
template <class Header, std::uint32_t Cursors>
WARPHEAP_FN std::uint32_t header_ring<Header, Cursors>::lap(const ring_request& wanted, bool& disturbed) const {
  std::uint32_t start = atomic_view{cursors().mine().at}.load(memory_order::acquire, thread_scope::device);
  if ((header(start).look() & (ring_word::free | ring_word::allocated)) == 0) start = 0;
  std::uint32_t at = start;
  WARPHEAP_ROLLED
  for (bool around = false; !around || at < start;) {  // not a spin: links lead forward, and around once
    const std::uint32_t seen = header(at).look();
    std::uint32_t next = ring_word::next(seen);
    if ((seen & ring_word::free) != 0) {
      const std::uint32_t place = visit(at, next, wanted, disturbed);
      if (place != none) return place;
    } else if ((seen & ring_word::allocated) == 0) {
      disturbed = true;
    }
    at = next;
    if (at == 0) {
      if (around) break;
      around = true;
    }
  }
  return none;
}

// The takes of all cursors, modulo 2^32.
template <class Header, std::uint32_t Cursors>
WARPHEAP_FN std::uint32_t header_ring<Header, Cursors>::takes() const {
  std::uint32_t sum = 0;
  WARPHEAP_ROLLED
  for (std::uint32_t i = 0; i < Cursors; ++i) {
    sum += atomic_view{state_->cursors[i].value.takes}.load(before_acquire_fence, thread_scope::device);
  }
  return sum;
}

template <class Header, std::uint32_t Cursors>
WARPHEAP_FN std::uint32_t header_ring<Header, Cursors>::search(ring_request wanted) const {
  if (wanted.units > units()) return none;
  backoff wait;
  WARPHEAP_ROLLED
  for (std::uint32_t left = retry_limits::disturbed;;) {
    const std::uint32_t before = takes();
    fence(memory_order::acquire, thread_scope::device);  // the lap comes after the count
    bool disturbed = false;
    const std::uint32_t place = lap(wanted, disturbed);
    if (place != none) return place;
    fence(memory_order::acquire, thread_scope::device);  // and before this one
    const bool taken = takes() != before;
    if (!disturbed && !taken) return none;
    const std::uint32_t price = disturbed ? 1 : retry_limits::disturbed / retry_limits::taken;
    if (left <= price) return none;
    left -= price;
    wait.pause();
    wait.end();  // a lap is work
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
  stop_point("header_ring.give.absorbed");
  fence(memory_order::release, thread_scope::device);
  header(place).publish(ring_word::free | next);
}

}  // namespace warpheap
