// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/pool/detail/block_map.hpp>
#include <warpheap/pool/detail/record_table.hpp>
#include <warpheap/pool/detail/size_bins.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// Two of them fill a cache line, so a block that is taken back is found, and its neighbours looked at, in few lines.
struct chained_record {
  std::uint64_t begin = 0;
  std::uint64_t bytes : 62 = 0;  // no segment has more: `segment_book` refuses what does not fit
  segment_state state : 2 = segment_state::unused;
  segment_handle before = no_segment;  // neighbours in the order of addresses
  segment_handle after = no_segment;
  segment_handle previous = no_segment;  // in the list of the size, or of absent segments
  segment_handle next = no_segment;      // there, or in the chain of the map of live ones

  segment_handle& link() { return next; }
};
static_assert(sizeof(chained_record) == 32);

// Lists by size for free segments, a list of absent ones, a map of live ones, and links between neighbours.
class segregated_index {
 public:
  explicit segregated_index(int granule_bits) : granule_bits_(granule_bits), live_(records_, granule_bits) {}
  segregated_index(const segregated_index&) = delete;
  segregated_index& operator=(const segregated_index&) = delete;

  chained_record& operator[](segment_handle handle) { return records_[handle]; }
  const chained_record& operator[](segment_handle handle) const { return records_[handle]; }

  void reserve(std::uint32_t segments) {
    records_.reserve(segments);
    live_.reserve(segments + 1);  // the segment that is split may be the one that becomes live
  }

  // The record that a new one at `begin` may follow: the last of one chain, if it ends no later. Addresses that are
  // taken in one after another, upwards, so lie in one chain.
  segment_handle predecessor(std::uint64_t begin) const {
    return last_ != no_segment && records_[last_].begin + records_[last_].bytes <= begin ? last_ : no_segment;
  }

  // A record that follows `before`, or begins a chain of its own if that is no segment.
  segment_handle insert(std::uint64_t begin, std::uint64_t bytes, segment_handle before) {
    const segment_handle made = records_.take();
    chained_record& record = records_[made];
    record.begin = begin;
    record.bytes = bytes;
    if (before == last_) last_ = made;
    if (before == no_segment) return made;
    record.before = before;
    record.after = records_[before].after;
    records_[before].after = made;
    if (record.after != no_segment) records_[record.after].before = made;
    return made;
  }

  // Two segments that this one lay between are neighbours afterwards only if one of them has taken it in.
  void erase(segment_handle handle) {
    const chained_record& record = records_[handle];
    if (record.before != no_segment) records_[record.before].after = record.after;
    if (record.after != no_segment) records_[record.after].before = record.before;
    if (handle == last_) last_ = record.before;
    records_.give_back(handle);
  }

  template <segment_state State>
  void enter(segment_handle handle) {
    if constexpr (State == segment_state::free) {
      const std::uint32_t bin = size_bins::of(records_[handle].bytes >> granule_bits_);
      push(bins_.head(bin), handle);
      bins_.mark(bin);
    } else if constexpr (State == segment_state::live) {
      live_.insert(handle);
    } else {
      push(absent_, handle);
    }
  }
  template <segment_state State>
  void leave(segment_handle handle) {
    if constexpr (State == segment_state::free) {
      const std::uint32_t bin = size_bins::of(records_[handle].bytes >> granule_bits_);
      unlink(bins_.head(bin), handle);
      if (bins_.head(bin) == no_segment) bins_.unmark(bin);
    } else if constexpr (State == segment_state::live) {
      live_.erase(handle);
    } else {
      unlink(absent_, handle);
    }
  }

  segment_handle find(std::uint64_t begin) const { return live_.find(begin); }
  segment_handle before(segment_handle handle) const {
    const segment_handle found = records_[handle].before;
    return touches(found, handle) ? found : no_segment;
  }
  segment_handle after(segment_handle handle) const {
    const segment_handle found = records_[handle].after;
    return touches(handle, found) ? found : no_segment;
  }

  segment_handle fit(std::uint64_t bytes, std::uint64_t alignment) const {
    const std::uint64_t size = bytes >> granule_bits_;
    const std::uint64_t enough = size + (alignment >> granule_bits_) - 1;  // holds the request wherever it begins
    // What lies in the list of that size may be large enough: the first few are tried, so the time stays constant.
    const std::uint32_t own = size_bins::of(enough);
    const std::uint32_t above = size_bins::above(enough);
    if (own != above) {
      if (const segment_handle found = best_of(own, tries, bytes, alignment)) return found;
    }
    if (const std::uint32_t bin = bins_.occupied(above); bin != size_bins::none) return bins_.head(bin);
    // Nothing is certain to do. Before the request fails, all that might is looked at.
    for (std::uint32_t bin = bins_.occupied(size_bins::of(size)); bin < above; bin = bins_.occupied(bin + 1)) {
      if (const segment_handle found = best_of(bin, ~0u, bytes, alignment)) return found;
    }
    return no_segment;
  }

  std::uint64_t largest_free() const {
    std::uint64_t largest = 0;
    if (const std::uint32_t bin = bins_.last(); bin != size_bins::none) {
      for (segment_handle at = bins_.head(bin); at != no_segment; at = records_[at].next) {
        if (records_[at].bytes > largest) largest = records_[at].bytes;
      }
    }
    return largest;
  }

  template <class Visit>
  void for_each_free(std::uint64_t bytes, Visit visit) const {
    std::uint32_t bin = bins_.occupied(size_bins::of(bytes >> granule_bits_));
    for (; bin != size_bins::none; bin = bins_.occupied(bin + 1)) {
      for (segment_handle at = bins_.head(bin); at != no_segment; at = records_[at].next) {
        if (records_[at].bytes >= bytes) visit(at);
      }
    }
  }
  template <class Visit>
  void for_each_absent(Visit visit) const {
    for (segment_handle at = absent_; at != no_segment; at = records_[at].next) visit(at);
  }

  segment_handle end() const { return records_.end(); }
  std::uint64_t bytes() const { return records_.touched_bytes() + live_.bytes() + sizeof *this; }
  void clear() {
    live_.clear();  // first, as it may throw
    records_.clear();
    bins_.clear();
    absent_ = no_segment;
    last_ = no_segment;
  }

 private:
  static constexpr std::uint32_t tries = 4;

  bool touches(segment_handle first, segment_handle second) const {
    return first != no_segment && second != no_segment &&
           records_[first].begin + records_[first].bytes == records_[second].begin;
  }
  bool holds(const chained_record& record, std::uint64_t bytes, std::uint64_t alignment) const {
    const std::uint64_t skipped = align_up(record.begin, alignment) - record.begin;
    return skipped <= record.bytes && record.bytes - skipped >= bytes;
  }
  // The smallest of the first `limit` segments of a list that can hold the request.
  segment_handle best_of(std::uint32_t bin, std::uint32_t limit, std::uint64_t bytes, std::uint64_t alignment) const {
    segment_handle best = no_segment;
    for (segment_handle at = bins_.head(bin); at != no_segment && limit != 0; at = records_[at].next, --limit) {
      if (holds(records_[at], bytes, alignment) && (best == no_segment || records_[at].bytes < records_[best].bytes)) {
        best = at;
        if (records_[at].bytes == bytes) break;
      }
    }
    return best;
  }

  void push(segment_handle& head, segment_handle handle) {
    chained_record& record = records_[handle];
    record.previous = no_segment;
    record.next = head;
    if (head != no_segment) records_[head].previous = handle;
    head = handle;
  }
  void unlink(segment_handle& head, segment_handle handle) {
    const chained_record& record = records_[handle];
    if (record.previous != no_segment) {
      records_[record.previous].next = record.next;
    } else {
      head = record.next;
    }
    if (record.next != no_segment) records_[record.next].previous = record.previous;
  }

  int granule_bits_;
  segment_handle absent_ = no_segment;
  segment_handle last_ = no_segment;  // no record follows it; none when the chain that it ended is gone
  record_table<chained_record> records_;
  block_map<record_table<chained_record>> live_;
  size_bins bins_;
};

}  // namespace warpheap::pool_detail
