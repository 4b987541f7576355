// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

// What decides how many slabs a class is given: contention, the course of a grid, and demand.

namespace warpheap {

constexpr std::uint64_t threads_at_once = std::uint64_t{1} << 18;  // about as many as a large GPU runs at once
// True if the caller is among the first `threads_at_once` threads of its grid, which begin with it: blocks begin in the
// order of their numbers.
WARPHEAP_FN inline bool runs_from_the_start() { return grid_warp_index() < threads_at_once / warp_width; }
// Whether only a part of the threads of the caller's grid runs at once.
WARPHEAP_FN inline bool has_more_threads_than_run() { return grid_threads() > threads_at_once; }

// The launch in which a warp last came the cold way, and what it did there: whether it drew tickets before a probe,
// whether it looked how much of its class is free (a look for room), and whether it did so twice. 0: it never came. A
// contention record only decides how much a class grows ahead of need, and whether a warp may draw before it probes. So
// it may be wrong: warps of a small heap share one, and launch numbers wrap around.
struct slab_contention {
  static constexpr std::uint32_t again_bit = 1;
  static constexpr std::uint32_t looked_bit = 2;
  static constexpr std::uint32_t drew_bit = 4;
  static constexpr int launch_shift = 3;
  std::uint32_t value;

  // Whether the warp came in this launch.
  WARPHEAP_FN bool came_now() const { return value != 0 && ((value ^ now()) >> launch_shift) == 0; }
  // Whether the warp looked for room in this launch, and whether it did so twice: such a warp mallocs and frees by
  // turns.
  WARPHEAP_FN bool looked_now() const { return came_now() && (value & looked_bit) != 0; }
  WARPHEAP_FN bool looked_again() const { return came_now() && (value & again_bit) != 0; }
  // After one more look for room.
  WARPHEAP_FN slab_contention after_look() const { return {present() | looked_bit | (looked_now() ? again_bit : 0)}; }
  // After a draw before a look.
  WARPHEAP_FN slab_contention after_draw() const { return {present() | drew_bit}; }

 private:
  WARPHEAP_FN static std::uint32_t now() { return static_cast<std::uint32_t>(launch_number() << launch_shift); }
  // What it did in this launch.
  WARPHEAP_FN std::uint32_t present() const { return came_now() ? value : now(); }
};

// How far a grid has come: the launch (bits 32 to 63), and how many of its blocks have begun at least (bits 0 to 31).
struct slab_front {
  std::uint64_t value;

  // The front when block `block` of a launch is known to have begun, and with it all blocks below.
  WARPHEAP_FN slab_front with(std::uint32_t launch, std::uint32_t block) const {
    const std::uint64_t begun = block + 1;
    return {this->launch() == launch && blocks() >= begun ? value : std::uint64_t{launch} << 32 | begun};
  }
  WARPHEAP_FN std::uint32_t launch() const { return static_cast<std::uint32_t>(value >> 32); }
  WARPHEAP_FN std::uint32_t blocks() const { return static_cast<std::uint32_t>(value); }
};

// What all threads of a grid will want, of which some have begun, if each of the others wants as much as one of these.
struct slab_forecast {
  std::uint64_t begun;    // threads, at least one
  std::uint64_t threads;  // of the grid

  // How many slabs of `blocks` blocks all threads will want together, where those that have begun wanted `slabs`. These
  // count as a block a thread at most, since a class may have been given more than was asked for.
  WARPHEAP_FN std::uint64_t slabs(std::uint64_t slabs, std::uint32_t blocks) const {
    const std::uint64_t most = begun / blocks + 1;
    const std::uint64_t used = slabs < most ? slabs : most;
    return used + used * (threads - begun) / begun;
  }
};

// The demand of a class: blocks that waiting threads want of it (bits 0 to 31), and how often a lock holder took all of
// that (bits 32 to 63). By the latter a thread that stops waiting sees whether its own part is still in there.
//
// Waiting threads change it by additions alone: where a class begins, or a heap is full, all warps may come and go at
// once, and of many compare-and-swaps all but one fail.
struct slab_demand {
  std::uint64_t value;

  WARPHEAP_FN std::int32_t blocks() const { return static_cast<std::int32_t>(value); }
  // How often it was taken, modulo 2^32. A waiting lane compares it with what it was: each time takes the heap's lock
  // and an extension, so it is not taken 2^32 times within one wait; and a part that is left over only makes a class
  // larger. A sum of changes to both is one change to the word, so blocks below zero have borrowed from here.
  WARPHEAP_FN std::uint32_t times() const {
    return static_cast<std::uint32_t>((value - static_cast<std::uint64_t>(std::int64_t{blocks()})) >> 32);
  }
  WARPHEAP_FN std::uint64_t taken() const { return std::uint64_t{times() + 1} << 32; }
};

}  // namespace warpheap
