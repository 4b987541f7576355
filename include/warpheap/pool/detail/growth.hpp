// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/pool/pool.hpp>

namespace warpheap {

template <segment_engine Engine>
std::uint64_t basic_pool<Engine>::piece_above(std::uint64_t address) const {
  const std::uint64_t piece = space_->piece_bytes();
  const std::uint64_t above = divide_up(address - base(), piece) * piece;
  return above < end_ - base() ? base() + above : end_;
}
template <segment_engine Engine>
std::uint64_t basic_pool<Engine>::piece_below(std::uint64_t address) const {
  if (address >= end_) return end_;
  const std::uint64_t piece = space_->piece_bytes();
  return base() + (address - base()) / piece * piece;
}

// Where a block of that alignment begins, from `address` on; the end of the range if no address is left.
template <segment_engine Engine>
std::uint64_t basic_pool<Engine>::aligned_begin(std::uint64_t address, std::uint64_t alignment) const {
  const std::uint64_t begin = align_up(address, alignment);
  return begin < address ? end_ : begin;
}

// The end of what is committed from `from` on for a block that ends at `wanted`, if the segment reaches that far.
template <segment_engine Engine>
std::uint64_t basic_pool<Engine>::growth_end(std::uint64_t from, std::uint64_t wanted, std::uint64_t growth) const {
  return std::max(piece_above(wanted), piece_above(from + std::min(growth, end_ - from)));
}

// Finds what must be committed so that a stretch which begins at the absent segment `first`, or at the free segment
// before it, holds the request. Free and absent segments in a row count as one, so holes that `trim` left are filled.
template <segment_engine Engine>
bool basic_pool<Engine>::cover(segment_handle first, std::uint64_t bytes, std::uint64_t alignment, std::uint64_t growth,
                               std::vector<missing_part>& parts) const {
  parts.clear();
  std::uint64_t begin = engine_.at(first).begin;
  if (const segment_handle last = engine_.before(first);
      last != no_segment && engine_.at(last).state == segment_state::free) {
    begin = engine_.at(last).begin;
  }
  begin = aligned_begin(begin, alignment);
  if (begin >= end_ || bytes > end_ - begin) return false;
  const std::uint64_t wanted = begin + bytes;
  for (segment_handle at = first; at != no_segment; at = engine_.after(at)) {
    const segment_view each = engine_.at(at);
    if (each.state == segment_state::live) return false;
    const std::uint64_t end = each.begin + each.bytes;
    // What lies before an aligned begin needs no memory.
    if (const std::uint64_t from = std::max(each.begin, piece_below(begin));
        each.state == segment_state::absent && from < end) {
      parts.push_back({at, from, std::min(end, growth_end(from, wanted, growth)) - from});
    }
    if (end >= wanted) return true;
  }
  return false;
}

// Fills `row` with the free and absent segments that lie in a row, if `first` is the first absent one there; else
// leaves it empty. Neighbours of one state are one segment, so two steps back tell.
template <segment_engine Engine>
void basic_pool<Engine>::fill_row(segment_handle first, std::vector<row_part>& row) const {
  row.clear();
  const auto is = [&](segment_handle at, segment_state state) {
    return at != no_segment && engine_.at(at).state == state;
  };
  segment_handle at = first;
  if (const segment_handle last = engine_.before(first); is(last, segment_state::free)) {
    if (is(engine_.before(last), segment_state::absent)) return;
    at = last;
  }
  std::uint64_t absent = 0;
  for (; at != no_segment && !is(at, segment_state::live); at = engine_.after(at)) {
    row.push_back({engine_.at(at), absent});
    if (row.back().where.state == segment_state::absent) absent += row.back().where.bytes;
  }
}

// Calls `visit(handle, cost)` for each absent segment of a row from which `cover` can hold the request; `cost` is what
// it would commit. From one absent segment to the next, what must be covered begins and ends no lower. So two marks
// that only rise see the whole row in one walk.
template <segment_engine Engine>
template <class Visit>
void basic_pool<Engine>::for_each_cost(const std::vector<row_part>& row, std::uint64_t bytes, std::uint64_t alignment,
                                       std::uint64_t growth, Visit visit) const {
  const auto end_of = [&](std::size_t i) { return row[i].where.begin + row[i].where.bytes; };
  // Bytes of the row that have no memory and lie before an address in its part `i`.
  const auto absent_below = [&](std::size_t i, std::uint64_t address) {
    const segment_view& part = row[i].where;
    return row[i].absent_before + (part.state == segment_state::absent ? address - part.begin : 0);
  };
  std::size_t low = 0;   // the part in which what must be covered begins
  std::size_t high = 0;  // the part in which the block ends
  for (std::size_t i = 0; i < row.size(); ++i) {
    const segment_view& first = row[i].where;
    if (first.state != segment_state::absent) continue;
    const bool has_free = i != 0 && row[i - 1].where.state == segment_state::free;
    const std::uint64_t begin = aligned_begin(has_free ? row[i - 1].where.begin : first.begin, alignment);
    if (begin >= end_ || bytes > end_ - begin) return;
    const std::uint64_t wanted = begin + bytes;
    high = std::max(high, i);
    while (high != row.size() && end_of(high) < wanted) ++high;
    if (high == row.size()) return;
    const std::uint64_t from = std::max(first.begin, piece_below(begin));
    while (end_of(low) <= from) ++low;  // ends at `high`, which ends after `from`
    const std::uint64_t last = std::max(row[high].where.begin, from);
    const std::uint64_t end = std::min(end_of(high), growth_end(last, wanted, growth));
    visit(first.handle, absent_below(high, end) - absent_below(low, std::max(row[low].where.begin, from)));
  }
}

// Of all absent segments, the one from which the least must be committed; of equal ones, the engine's first. Takes time
// with the number of segments in rows of free and absent ones, and with the sorting of equal ones.
template <segment_engine Engine>
bool basic_pool<Engine>::plan_growth(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t growth,
                                     std::vector<missing_part>& parts) const {
  std::uint64_t least = ~std::uint64_t{0};
  std::vector<segment_handle> cheapest;
  std::vector<row_part> row;
  engine_.for_each_absent([&](const segment_view& each) {
    fill_row(each.handle, row);
    for_each_cost(row, bytes, alignment, growth, [&](segment_handle first, std::uint64_t cost) {
      if (cost > least) return;
      if (cost < least) cheapest.clear();
      least = cost;
      cheapest.push_back(first);
    });
  });
  if (cheapest.empty()) return false;
  segment_handle chosen = cheapest.front();
  if (cheapest.size() > 1) {
    std::sort(cheapest.begin(), cheapest.end());
    chosen = no_segment;
    engine_.for_each_absent([&](const segment_view& each) {
      if (chosen != no_segment || !std::binary_search(cheapest.begin(), cheapest.end(), each.handle)) return;
      chosen = each.handle;
    });
  }
  return cover(chosen, bytes, alignment, growth, parts);
}

template <segment_engine Engine>
void basic_pool<Engine>::commit(const std::vector<missing_part>& parts, host_lock& lock) {
  for (const missing_part& part : parts) {
    lock.unlock();
    try {
      const relaxed_capture_mode mode;
      space_->commit(part.begin - base(), part.bytes);
    } catch (...) {
      lock.lock();
      throw;
    }
    lock.lock();
    engine_.change(part.handle, part.begin, part.bytes, segment_state::free);
    ++changes_;
    peak_committed_ = std::max(peak_committed_, committed());
  }
}

// Takes the space's lock, which comes first, and then `mutex_` again. Empty if the space works for this thread.
template <segment_engine Engine>
host_lock basic_pool<Engine>::lock_space(host_lock& lock) {
  if (space_user_ == host_thread_serial()) return {};
  lock.unlock();
  host_lock space(space_mutex_);
  lock.lock();
  return space;
}

// What the space refuses is tried again with no more than the request needs, and then left.
template <segment_engine Engine>
segment_handle basic_pool<Engine>::grow(std::uint64_t bytes, std::uint64_t alignment, std::string& refusal,
                                        host_lock& lock) {
  const std::uint64_t granule = engine_.granule();
  const std::uint64_t rounded = bytes == 0 ? granule : divide_up(bytes, granule) * granule;
  // What no engine hands out, whatever is committed.
  if (rounded < bytes || bytes > most_request || alignment > most_request) return no_segment;
  alignment = std::max(alignment, granule);
  const host_lock space = lock_space(lock);
  if (!space) {
    refusal = "its space is at work for this thread already";
    return no_segment;
  }
  const space_use use(space_user_);
  std::vector<missing_part> parts;
  for (const std::uint64_t growth : {options_.growth_bytes, std::uint64_t{0}}) {
    try {
      // not a spin: each pass commits memory, until there is no more to commit
      while (true) {
        // Others may have grown the pool or taken what is free since the last look.
        const segment_handle block = engine_.allocate(bytes, alignment);
        if (block != no_segment) return block;
        if (!plan_growth(rounded, alignment, growth, parts)) return no_segment;
        std::uint64_t more = 0;
        for (const missing_part& part : parts) more += part.bytes;
        if (more > may_commit()) {
          refusal = "most_bytes is " + std::to_string(options_.most_bytes) + ": raise that limit, or take blocks back";
          break;
        }
        commit(parts, lock);
      }
    } catch (const std::exception& error) {
      refusal = error.what();
    }
  }
  return no_segment;
}

template <segment_engine Engine>
std::uint64_t basic_pool<Engine>::trim(std::uint64_t keep_bytes) {
  host_lock lock(mutex_);
  if (!space_->can_map()) return 0;
  const host_lock space = lock_space(lock);
  if (!space) return 0;
  const space_use use(space_user_);
  std::vector<missing_part> idle;
  std::uint64_t left = committed() - std::min(committed(), keep_bytes);
  engine_.for_each_free(engine_.granule(), [&](const segment_view& each) {
    const std::uint64_t whole = bytes_in_pieces(each.begin, each.bytes);
    const std::uint64_t end = piece_below(each.begin + each.bytes);
    const std::uint64_t begin = whole > left ? piece_above(end - left) : end - whole;
    if (begin >= end) return;
    idle.push_back({each.handle, begin, end - begin});
    left -= end - begin;
  });
  // All are absent in the book before the first is given back, since blocks are handed out while the space works. What
  // the space then fails to give back is committed again by the pool's growth, so nothing is lost.
  std::size_t absent = 0;
  ++changes_;
  try {
    for (; absent < idle.size(); ++absent) {
      engine_.change(idle[absent].handle, idle[absent].begin, idle[absent].bytes, segment_state::absent);
    }
  } catch (const std::bad_alloc&) {
    idle.resize(absent);  // the book has no memory for more
  }
  lock.unlock();
  std::uint64_t given_back = 0;
  try {
    const relaxed_capture_mode mode;
    for (const missing_part& part : idle) {
      space_->decommit(part.begin - base(), part.bytes);
      given_back += part.bytes;
    }
  } catch (...) {
    lock.lock();  // `use` ends under it
    throw;
  }
  lock.lock();
  return given_back;
}

template <segment_engine Engine>
void basic_pool<Engine>::limit(std::uint64_t most_bytes) {
  if (!space_->can_map()) {
    throw std::invalid_argument("warpheap: this pool has all its memory from the start: make it over a smaller space");
  }
  const host_lock lock(mutex_);
  options_.most_bytes = most_bytes;
  ++changes_;
}

template <segment_engine Engine>
void basic_pool<Engine>::allow_peer(int device) {
  host_lock lock(mutex_);
  const host_lock space = lock_space(lock);
  if (!space) throw std::logic_error("warpheap: a space must not change the pool that it works for");
  const space_use use(space_user_);
  lock.unlock();
  try {
    const relaxed_capture_mode mode;
    space_->allow_peer(device);
  } catch (...) {
    lock.lock();  // `use` ends under it
    throw;
  }
  lock.lock();
}

}  // namespace warpheap
