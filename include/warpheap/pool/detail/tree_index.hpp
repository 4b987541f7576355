// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/pool/detail/balanced_tree.hpp>
#include <warpheap/pool/detail/record_table.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

struct treed_record {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  tree_links by_address;
  tree_links by_size;  // of a free segment; an absent one keeps its neighbours in the list of those here
  segment_state state = segment_state::unused;
  bool red_by_address = false;
  bool red_by_size = false;

  segment_handle& link() { return by_size.parent; }
};
static_assert(sizeof(treed_record) == 48);

struct address_order {
  template <class Record>
  static auto& links(Record& record) {
    return record.by_address;
  }
  static bool red(const treed_record& record) { return record.red_by_address; }
  static void paint(treed_record& record, bool red) { record.red_by_address = red; }
  static bool less(const treed_record& a, const treed_record& b) { return a.begin < b.begin; }
};

// Among equal sizes the lowest address comes first, so that the order is one.
struct size_order {
  template <class Record>
  static auto& links(Record& record) {
    return record.by_size;
  }
  static bool red(const treed_record& record) { return record.red_by_size; }
  static void paint(treed_record& record, bool red) { record.red_by_size = red; }
  static bool less(const treed_record& a, const treed_record& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.begin < b.begin;
  }
};

// The two trees of the paper: all segments by address, free ones by size.
class tree_index {
 public:
  explicit tree_index(int) : by_address_(records_), by_size_(records_) {}
  tree_index(const tree_index&) = delete;
  tree_index& operator=(const tree_index&) = delete;

  treed_record& operator[](segment_handle handle) { return records_[handle]; }
  const treed_record& operator[](segment_handle handle) const { return records_[handle]; }

  void reserve(std::uint32_t segments) { records_.reserve(segments); }

  segment_handle predecessor(std::uint64_t) const { return no_segment; }
  segment_handle insert(std::uint64_t begin, std::uint64_t bytes, segment_handle) {
    const segment_handle made = records_.take();
    records_[made].begin = begin;
    records_[made].bytes = bytes;
    by_address_.insert(made);
    return made;
  }
  void erase(segment_handle handle) {
    by_address_.erase(handle);
    records_.give_back(handle);
  }

  template <segment_state State>
  void enter(segment_handle handle) {
    if constexpr (State == segment_state::free) {
      by_size_.insert(handle);
    } else if constexpr (State == segment_state::absent) {
      treed_record& record = records_[handle];
      record.by_size.child[0] = no_segment;
      record.by_size.child[1] = absent_;
      if (absent_ != no_segment) records_[absent_].by_size.child[0] = handle;
      absent_ = handle;
    }
  }
  template <segment_state State>
  void leave(segment_handle handle) {
    if constexpr (State == segment_state::free) {
      by_size_.erase(handle);
    } else if constexpr (State == segment_state::absent) {
      const auto [previous, next] = records_[handle].by_size.child;
      (previous != no_segment ? records_[previous].by_size.child[1] : absent_) = next;
      if (next != no_segment) records_[next].by_size.child[0] = previous;
    }
  }

  segment_handle find(std::uint64_t begin) const {
    const segment_handle found = by_address_.first_not([&](const treed_record& each) { return each.begin < begin; });
    const bool is_it =
        found != no_segment && records_[found].begin == begin && records_[found].state == segment_state::live;
    return is_it ? found : no_segment;
  }
  segment_handle before(segment_handle handle) const {
    const segment_handle found = by_address_.beside(handle, 0);
    return touches(found, handle) ? found : no_segment;
  }
  segment_handle after(segment_handle handle) const {
    const segment_handle found = by_address_.beside(handle, 1);
    return touches(handle, found) ? found : no_segment;
  }

  // The smallest that can hold the request. With an alignment above the granule the walk upwards ends no later than at
  // a segment that holds the request wherever it begins.
  segment_handle fit(std::uint64_t bytes, std::uint64_t alignment) const {
    segment_handle at = by_size_.first_not([&](const treed_record& each) { return each.bytes < bytes; });
    for (; at != no_segment; at = by_size_.beside(at, 1)) {
      const treed_record& record = records_[at];
      const std::uint64_t skipped = align_up(record.begin, alignment) - record.begin;
      if (skipped <= record.bytes && record.bytes - skipped >= bytes) return at;
    }
    return no_segment;
  }

  std::uint64_t largest_free() const {
    const segment_handle last = by_size_.end_of(by_size_.root(), 1);
    return last == no_segment ? 0 : records_[last].bytes;
  }
  template <class Visit>
  void for_each_free(std::uint64_t bytes, Visit visit) const {
    segment_handle at = by_size_.first_not([&](const treed_record& each) { return each.bytes < bytes; });
    for (; at != no_segment; at = by_size_.beside(at, 1)) visit(at);
  }
  template <class Visit>
  void for_each_absent(Visit visit) const {
    for (segment_handle at = absent_; at != no_segment; at = records_[at].by_size.child[1]) visit(at);
  }

  segment_handle end() const { return records_.end(); }
  std::uint64_t bytes() const { return records_.touched_bytes() + sizeof *this; }
  void clear() {
    records_.clear();
    by_address_.clear();
    by_size_.clear();
    absent_ = no_segment;
  }

 private:
  bool touches(segment_handle first, segment_handle second) const {
    return first != no_segment && second != no_segment &&
           records_[first].begin + records_[first].bytes == records_[second].begin;
  }

  record_table<treed_record> records_;
  balanced_tree<record_table<treed_record>, address_order> by_address_;
  balanced_tree<record_table<treed_record>, size_order> by_size_;
  segment_handle absent_ = no_segment;
};

}  // namespace warpheap::pool_detail
