// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>
#include <warpheap/heap/heap.hpp>

// Memory that no block lies in goes back to the machine, in pieces of the range. The design knows units, the range knows
// pieces, and neither has to fit the other: all free units are withdrawn for a moment, and those that touch no piece that
// is given back return at once.

namespace warpheap {
namespace detail {

struct coalesce_heap {
  template <class A>
  WARPHEAP_FN void operator()(A allocator) const {
    allocator.coalesce();
  }
};

struct withdraw_units {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, std::uint64_t* units) const {
    allocator.withdraw(units);
  }
};

struct restore_units {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, const std::uint64_t* units) const {
    allocator.restore(units);
  }
};

}  // namespace detail

// Takes all free units out of the heap; a bit for each.
template <device_allocator A>
std::vector<std::uint64_t> heap<A>::withdraw() const {
  const std::uint64_t units = divide_up(arena_.bytes, A::capabilities.trim_bytes);
  const device_array<std::uint64_t> taken(divide_up(units, 64));
  launch(detail::upkeep_grid(), detail::withdraw_units{}, allocator_, taken.data());
  std::vector<std::uint64_t> result(taken.size());
  device_copy(result.data(), taken.data(), result.size() * sizeof(std::uint64_t));
  return result;
}

template <device_allocator A>
void heap<A>::put_back(const std::vector<std::uint64_t>& units) const {
  const device_array<std::uint64_t> given(units.size());
  device_copy(given.data(), units.data(), units.size() * sizeof(std::uint64_t));
  launch(detail::upkeep_grid(), detail::restore_units{}, allocator_, given.data());
  synchronise();
}

// After a reset, by which all units came back, those that have no memory too.
template <device_allocator A>
void heap<A>::withdraw_again() const {
  if (trimmed_.empty()) return;
  std::vector<std::uint64_t> others = withdraw();
  for (std::uint64_t i = 0; i < trimmed_.size(); ++i) others[i] &= ~trimmed_[i];
  put_back(others);
}

template <device_allocator A>
std::uint64_t heap<A>::trim()
  requires(A::capabilities.trim_bytes != 0)
{
  synchronise();
  if (!blocks_.can_map()) return 0;
  launch({1, 256}, detail::coalesce_heap{}, allocator_);
  std::vector<std::uint64_t> free = withdraw();
  trimmed_.resize(free.size());
  for (std::uint64_t i = 0; i < free.size(); ++i) free[i] |= trimmed_[i];
  const auto is_free = [&free](std::uint64_t unit) { return (free[unit / 64] >> unit % 64 & 1) != 0; };

  // In bytes of the range: where the arena lies, and its first unit. What is in front of that, or behind the last one, is
  // part of no block.
  const auto begin = static_cast<std::uint64_t>(arena_.data - blocks_.data());
  const std::uint64_t end = begin + arena_.bytes;
  const std::uint64_t first = begin + allocator_.trim_begin();
  constexpr std::uint64_t unit_bytes = A::capabilities.trim_bytes;
  const std::uint64_t units = end < first ? 0 : (end - first) / unit_bytes;
  const std::uint64_t piece = blocks_.piece_bytes();
  std::uint64_t given_back = 0;
  std::vector<std::uint64_t> stays(free.size());
  for (std::uint64_t at = align_up(begin, piece); at + piece <= end; at += piece) {
    const std::uint64_t from = at < first ? 0 : (at - first) / unit_bytes;
    const std::uint64_t to = at + piece < first ? 0 : std::min(divide_up(at + piece - first, unit_bytes), units);
    std::uint64_t unit = from;
    while (unit < to && is_free(unit)) ++unit;
    if (unit < to) continue;
    given_back += blocks_.decommit(at, piece);
    for (unit = from; unit < to; ++unit) stays[unit / 64] |= std::uint64_t{1} << unit % 64;
  }
  for (std::uint64_t i = 0; i < free.size(); ++i) free[i] &= ~stays[i];
  put_back(free);
  trimmed_ = stays;
  return given_back;
}

template <device_allocator A>
void heap<A>::restore()
  requires(A::capabilities.trim_bytes != 0)
{
  if (trimmed_.empty()) return;
  synchronise();
  blocks_.commit(static_cast<std::uint64_t>(arena_.data - blocks_.data()), arena_.bytes);
  trimmed_.resize(divide_up(divide_up(arena_.bytes, A::capabilities.trim_bytes), 64));  // the heap may have grown
  put_back(trimmed_);
  trimmed_.clear();
}

}  // namespace warpheap
