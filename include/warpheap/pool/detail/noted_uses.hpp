// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>
#include <warpheap/pool/stream_order.hpp>

namespace warpheap::pool_detail {

// Makes the next `more` calls of `push_back` succeed, and any number of them cost constant time each, which `reserve`
// for one at a time would not. Throws std::bad_alloc and changes nothing.
template <class T>
void make_room(std::vector<T>& in, std::size_t more) {
  if (in.capacity() - in.size() < more) in.reserve(std::max(in.size() + more, 2 * in.capacity()));
}

// Streams whose work uses one block, and the marks after which that work is done. A use without a mark is of a stream
// that may still be given work for the block, or that is being captured. Not thread-safe.
//
// Invariant: each stream has at most one use without a mark. A use with a mark stays until the mark is reached, also
// when a later stream has the name of its stream.
template <stream_order Streams>
class noted_uses {
 public:
  using stream = typename Streams::stream;
  using mark_pointer = std::shared_ptr<typename Streams::event>;

  // Notes a stream. A stream that only the calling thread can name is marked at once, since no other thread can do it
  // later; its key is that of no other stream ever, so a later mark of it stands for an earlier one. Throws what the
  // streams throw, and has noted nothing then.
  void add(Streams& streams, stream which) {
    const std::uint64_t key = streams.key(which);
    const bool is_shared = streams.is_shared(which);
    if (is_shared && mentions(key)) return;
    uses_.reserve(uses_.size() + 1);
    mark_pointer mark = is_shared ? nullptr : record(streams, which);
    if (!is_shared) std::erase_if(uses_, [&](const use& each) { return each.key == key; });
    uses_.push_back({key, which, std::move(mark)});
  }
  // Leaves the stream's use out unless it is marked.
  void leave_out(std::uint64_t key) {
    std::erase_if(uses_, [&](const use& each) { return each.mark == nullptr && each.key == key; });
  }
  // True if the stream has a use without a mark.
  bool mentions(std::uint64_t key) const {
    return std::any_of(uses_.begin(), uses_.end(),
                       [&](const use& each) { return each.mark == nullptr && each.key == key; });
  }
  // Gives the stream's use a mark that was recorded on the stream.
  void settle(std::uint64_t key, const mark_pointer& mark) noexcept {
    for (use& each : uses_) {
      if (each.mark == nullptr && each.key == key) each.mark = mark;
    }
  }
  // Records a mark for each use that has none, after all work of its stream so far; those of captured streams stay
  // without. If it throws, some have marks.
  void mark(Streams& streams) {
    for (use& each : uses_) {
      if (each.mark == nullptr && !streams.is_capturing(each.name)) each.mark = record(streams, each.name);
    }
  }
  // True if all marks are reached; uses whose mark is reached are dropped, and what can be marked is marked first.
  bool are_over(Streams& streams) {
    mark(streams);
    for (std::size_t i = 0; i < uses_.size();) {
      if (uses_[i].mark == nullptr || !streams.is_finished(*uses_[i].mark)) {
        ++i;
        continue;
      }
      std::swap(uses_[i], uses_.back());
      uses_.pop_back();
    }
    return uses_.empty();
  }
  // True if each use has a mark.
  bool are_marked() const {
    return std::none_of(uses_.begin(), uses_.end(), [](const use& each) { return each.mark == nullptr; });
  }
  bool empty() const { return uses_.empty(); }
  std::size_t size() const { return uses_.size(); }
  // Calls `visit(mark)` for each mark.
  template <class Visit>
  void for_each_mark(Visit visit) const {
    for (const use& each : uses_) {
      if (each.mark != nullptr) visit(each.mark);
    }
  }

 private:
  struct use {
    std::uint64_t key;
    stream name;
    mark_pointer mark;
  };
  static mark_pointer record(Streams& streams, stream which) {
    auto made = std::make_shared<typename Streams::event>();
    streams.record(*made, which);
    return made;
  }

  std::vector<use> uses_;
};

}  // namespace warpheap::pool_detail
