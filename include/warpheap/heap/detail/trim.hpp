// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>
#include <warpheap/heap/heap.hpp>

// Memory that no block lies in goes back to the machine, in pieces of the range. The design knows units, the range
// knows pieces, and neither has to fit the other: all free units are withdrawn for a moment, and those that touch no
// piece that is given back return at once.

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

// All or nothing: what can be refused, which is memory for the bits of units, is taken before the first change. From
// the moment when units are withdrawn until they are put back nothing is allocated.

// Room for a bit for each unit, for the host and for the device.
template <device_allocator A>
heap<A>::unit_bits::unit_bits(std::uint64_t bytes)
    : here(divide_up(divide_up(bytes, A::capabilities.trim_bytes), 64)), there(here.size()) {}

// Takes all free units out of the heap; a bit for each.
template <device_allocator A>
void heap<A>::withdraw(unit_bits& units) const {
  launch(detail::upkeep_grid(), detail::withdraw_units{}, allocator_, units.there.data());
  device_copy(units.here.data(), units.there.data(), units.here.size() * sizeof(std::uint64_t));
}

template <device_allocator A>
void heap<A>::put_back(const A& into, const unit_bits& units) {
  device_copy(units.there.data(), units.here.data(), units.here.size() * sizeof(std::uint64_t));
  launch(detail::upkeep_grid(), detail::restore_units{}, into, static_cast<const std::uint64_t*>(units.there.data()));
  synchronise();
}

// After a reset, by which all units came back, those that have no memory too.
template <device_allocator A>
void heap<A>::withdraw_again(unit_bits& units) const {
  withdraw(units);
  for (std::uint64_t i = 0; i < trimmed_.size(); ++i) units.here[i] &= ~trimmed_[i];
  put_back(allocator_, units);
}

template <device_allocator A>
std::uint64_t heap<A>::trim()
  requires(A::capabilities.trim_bytes != 0)
{
  const scoped_device own{device_};
  synchronise();
  if (!blocks_.can_map()) return 0;
  unit_bits taken{arena_.bytes};
  std::vector<std::uint64_t> stays(taken.here.size());
  trimmed_.resize(taken.here.size());  // the heap may have grown
  launch(coalesces_in_parallel<A> ? detail::upkeep_grid() : grid_shape{1, 256}, detail::coalesce_heap{}, allocator_);
  withdraw(taken);
  std::vector<std::uint64_t>& free = taken.here;
  for (std::uint64_t i = 0; i < free.size(); ++i) free[i] |= trimmed_[i];
  const auto is_free = [&free](std::uint64_t unit) { return (free[unit / 64] >> unit % 64 & 1) != 0; };

  // In bytes of the range: where the arena lies, and its first unit. What is before that, or after the last one,
  // is part of no block.
  const auto begin = static_cast<std::uint64_t>(arena_.data - blocks_.data());
  const std::uint64_t end = begin + arena_.bytes;
  const std::uint64_t first = begin + allocator_.trim_begin();
  constexpr std::uint64_t unit_bytes = A::capabilities.trim_bytes;
  const std::uint64_t units = end < first ? 0 : (end - first) / unit_bytes;
  const std::uint64_t piece = blocks_.piece_bytes();
  std::uint64_t given_back = 0;
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
  trimmed_.swap(stays);
  put_back(allocator_, taken);
  return given_back;
}

template <device_allocator A>
void heap<A>::restore()
  requires(A::capabilities.trim_bytes != 0)
{
  if (trimmed_.empty()) return;
  const scoped_device own{device_};
  synchronise();
  unit_bits given{arena_.bytes};
  std::copy(trimmed_.begin(), trimmed_.end(), given.here.begin());
  blocks_.commit(static_cast<std::uint64_t>(arena_.data - blocks_.data()), arena_.bytes);
  put_back(allocator_, given);
  trimmed_.clear();
}

// Bytes of the arena up to which memory may be missing that growth makes part of a block: those of whole units. What is
// beyond them is part of no block until the heap grows, so `trim` gives it back.
template <device_allocator A>
std::uint64_t heap<A>::whole_units() const {
  if constexpr (A::capabilities.trim_bytes == 0) {
    return arena_.bytes;
  } else {
    const std::uint64_t lead = std::min(allocator_.trim_begin(), arena_.bytes);
    return lead + align_down(arena_.bytes - lead, A::capabilities.trim_bytes);
  }
}

// Copies what blocks can lie in to the place at `to`. Of units that were trimmed there is nothing to copy.
template <device_allocator A>
void heap<A>::copy_data(std::byte* to) const {
  if constexpr (A::capabilities.trim_bytes == 0) {
    device_copy(to, arena_.data, arena_.bytes);
  } else {
    if (trimmed_.empty()) return device_copy(to, arena_.data, arena_.bytes);
    constexpr std::uint64_t unit_bytes = A::capabilities.trim_bytes;
    const std::uint64_t lead = std::min(allocator_.trim_begin(), arena_.bytes);
    const std::uint64_t units = (arena_.bytes - lead) / unit_bytes;
    const auto is_trimmed = [this](std::uint64_t unit) {
      return unit / 64 < trimmed_.size() && (trimmed_[unit / 64] >> unit % 64 & 1) != 0;
    };
    for (std::uint64_t unit = 0, end = 0; unit < units; unit = end) {
      for (end = unit + 1; end < units && is_trimmed(end) == is_trimmed(unit);) ++end;
      const std::uint64_t at = lead + unit * unit_bytes;
      if (!is_trimmed(unit)) device_copy(to + at, arena_.data + at, (end - unit) * unit_bytes);
    }
  }
}

}  // namespace warpheap
