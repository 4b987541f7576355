// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <warpheap/platform.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// Splitting and merging, which all engines share. `Index` holds the records and finds them: by size, by address, and
// the neighbours of each. A record is `entered` in what finds segments of its state, and left out while it changes.
// Which state that is the compiler mostly knows, so handing out and taking back decide nothing that is certain.
template <class Index>
class segment_book {
 public:
  explicit segment_book(std::uint64_t granule) : granule_bits_(highest_bit(granule)), index_(highest_bit(granule)) {}

  segment_handle adopt(std::uint64_t begin, std::uint64_t bytes, segment_state state) {
    index_.reserve(1);
    const segment_handle made = index_.insert(begin, bytes, index_.predecessor(begin));
    return with_state(state, [&]<segment_state State>() { return enter_merged<State>(made); });
  }

  segment_handle allocate(std::uint64_t bytes, std::uint64_t alignment) {
    return allocate(bytes, alignment, [](std::uint64_t rounded, std::uint64_t) { return rounded; });
  }
  segment_handle allocate(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t most) {
    return allocate(bytes, alignment, [&](std::uint64_t rounded, std::uint64_t there) {
      return std::max(rounded, std::min(align_down(most, granule()), there));
    });
  }

  segment_handle deallocate(segment_handle handle) {
    // Makes no new segment, so it needs no memory and cannot fail.
    leave<segment_state::live>(handle);
    return enter_merged<segment_state::free>(handle);
  }

  segment_handle change(segment_handle handle, std::uint64_t begin, std::uint64_t bytes, segment_state state) {
    index_.reserve(2);
    return with_state(index_[handle].state, [&]<segment_state Old>() {
      return with_state(state, [&]<segment_state New>() { return change<Old, New>(handle, begin, bytes); });
    });
  }

  void drop(segment_handle handle) {
    with_state(index_[handle].state, [&]<segment_state State>() { leave<State>(handle); });
    index_.erase(handle);
  }

  void clear() {
    index_.clear();
    for (auto& total : totals_) total = {};
  }

  segment_handle find(std::uint64_t begin) const { return index_.find(begin); }
  segment_view at(segment_handle handle) const {
    const auto& record = index_[handle];
    return {handle, record.begin, record.bytes, record.state};
  }
  segment_handle before(segment_handle handle) const { return index_.before(handle); }
  segment_handle after(segment_handle handle) const { return index_.after(handle); }

  std::uint64_t granule() const { return std::uint64_t{1} << granule_bits_; }
  std::uint64_t bytes_in(segment_state state) const { return totals_[static_cast<int>(state)].bytes; }
  std::uint64_t segments_in(segment_state state) const { return totals_[static_cast<int>(state)].segments; }
  std::uint64_t largest_free() const { return index_.largest_free(); }
  std::uint64_t bookkeeping_bytes() const { return index_.bytes(); }

  template <class Visit>
  void for_each(Visit visit) const {
    for (segment_handle handle = 1; handle < index_.end(); ++handle) {
      if (index_[handle].state != segment_state::unused) visit(at(handle));
    }
  }
  template <class Visit>
  void for_each_free(std::uint64_t bytes, Visit visit) const {
    index_.for_each_free(bytes, [&](segment_handle handle) { visit(at(handle)); });
  }
  template <class Visit>
  void for_each_absent(Visit visit) const {
    index_.for_each_absent([&](segment_handle handle) { visit(at(handle)); });
  }

 private:
  struct total {
    std::uint64_t bytes = 0;
    std::uint64_t segments = 0;
  };
  // Calls `f` for a state that is known only now.
  template <class F>
  static auto with_state(segment_state state, F f) {
    switch (state) {
      case segment_state::free: return f.template operator()<segment_state::free>();
      case segment_state::live: return f.template operator()<segment_state::live>();
      default: return f.template operator()<segment_state::absent>();
    }
  }

  template <segment_state State>
  void enter(segment_handle handle) {
    auto& record = index_[handle];
    record.state = State;
    total& all = totals_[static_cast<int>(State)];
    all.bytes += record.bytes;
    ++all.segments;
    index_.template enter<State>(handle);
  }
  template <segment_state State>
  void leave(segment_handle handle) {
    total& all = totals_[static_cast<int>(State)];
    all.bytes -= index_[handle].bytes;
    --all.segments;
    index_.template leave<State>(handle);
  }

  // `size(rounded, there)` is how much of what is there from the block's begin on becomes the block.
  template <class Size>
  segment_handle allocate(std::uint64_t bytes, std::uint64_t alignment, Size size) {
    if (bytes > most_request || alignment > most_request) return no_segment;
    const std::uint64_t rounded = bytes == 0 ? granule() : align_up(bytes, granule());
    index_.reserve(2);
    const segment_handle found = index_.fit(rounded, alignment < granule() ? granule() : alignment);
    if (found == no_segment) return no_segment;
    const auto& record = index_[found];
    const std::uint64_t begin = align_up(record.begin, alignment);
    const std::uint64_t there = record.begin + record.bytes - begin;
    return change<segment_state::free, segment_state::live>(found, begin, size(rounded, there));
  }

  // As the public one; two more segments are reserved.
  template <segment_state Old, segment_state New>
  segment_handle change(segment_handle handle, std::uint64_t begin, std::uint64_t bytes) {
    auto& record = index_[handle];
    const std::uint64_t end = begin + bytes;
    const std::uint64_t old_end = record.begin + record.bytes;
    invariant(begin >= record.begin && end <= old_end && bytes != 0, "warpheap: a part lies outside its segment");
    leave<Old>(handle);  // nothing that follows takes memory, so `record` stays where it is
    segment_handle middle = handle;
    if (begin != record.begin) {  // the record stays with the front
      middle = index_.insert(begin, old_end - begin, handle);
      record.bytes = begin - record.begin;
      enter<Old>(handle);
    }
    if (end != old_end) {
      const segment_handle rest = index_.insert(end, old_end - end, middle);
      index_[middle].bytes = bytes;
      enter<Old>(rest);
    }
    return enter_merged<New>(middle);
  }

  // Enters a segment that was left out, together with neighbours of its state. The earlier record takes the later in,
  // so no record's place in the order of addresses changes.
  template <segment_state State>
  segment_handle enter_merged(segment_handle handle) {
    if constexpr (State != segment_state::live) {
      if (const segment_handle next = index_.after(handle); next != no_segment && index_[next].state == State) {
        leave<State>(next);
        absorb(handle, next);
      }
      if (const segment_handle last = index_.before(handle); last != no_segment && index_[last].state == State) {
        leave<State>(last);
        absorb(last, handle);
        handle = last;
      }
    }
    enter<State>(handle);
    return handle;
  }
  void absorb(segment_handle into, segment_handle next) {
    const std::uint64_t bytes = index_[next].bytes;
    index_.erase(next);
    index_[into].bytes += bytes;
  }

  int granule_bits_;
  total totals_[4];
  Index index_;
};

}  // namespace warpheap::pool_detail
