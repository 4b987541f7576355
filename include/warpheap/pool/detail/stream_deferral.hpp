// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <utility>
#include <vector>
#include <warpheap/pool/stream_pool.hpp>

// Blocks that are taken back while work of other streams still uses them.
//
// Invariant: the memory of a deferred block is handed out only after each of its uses is over, or to work that waits
// for a mark of each. It is in no shard's book and in no span, so it is neither handed out nor taken back meanwhile.

namespace warpheap {

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::note_use(stream on, void* block) {
  if (block == nullptr) return;
  const std::uint64_t begin = number(block);
  const host_lock lock(common_);
  shard& owner = owner_of(block);
  const host_lock own(owner.mutex);
  if (owner.book->find(begin) == no_segment) {
    throw unknown_block(
        "warpheap: no live block begins at the pointer: it was taken back before, or it points into a block");
  }
  if (!streams_.is_shared(on)) refuse_capture(on);
  const auto [noted, is_new] = owner.notes.try_emplace(begin);
  try {
    noted->second.add(streams_, on);
  } catch (...) {
    if (is_new) owner.notes.erase(noted);
    throw;
  }
}

// Takes a block back that is not simply the stream's own.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::take_back(stream on, void* block, bool is_captured,
                                                   const private_pool* capture) {
  const std::uint64_t begin = number(block);
  shard& owner = owner_of(block);
  if (owner.of != nullptr) return take_back_private(owner, on, begin, is_captured, capture);
  if (is_captured && (capture == nullptr || !streams_.is_shared(on))) refuse();
  uses until;
  {
    const host_lock own(owner.mutex);
    if (const auto noted = owner.notes.find(begin); noted != owner.notes.end()) until = noted->second;
  }
  until.leave_out(streams_.key(on));
  if (until.empty() && !is_captured) return move_block(*find_or_make(streams_.key(on), on), block);
  // The stream itself counts as a use, since the memory leaves its order.
  until.add(streams_, on);
  until.mark(streams_);
  defer(owner, begin, std::move(until));
}

// Takes a live block out of its owner's book, to be free when its uses are over. If it throws, the block is live.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::defer(shard& owner, std::uint64_t begin, uses until) {
  deferred_block made;
  made.until = std::move(until);
  made.home = owner.of == nullptr ? nullptr : &owner;
  {
    const host_lock own(owner.mutex);
    const segment_handle handle = owner.book->find(begin);
    if (handle == no_segment) {
      throw unknown_block(
          "warpheap: no live block begins at the pointer: it was taken back before, or it points into a block");
    }
    made.bytes = owner.book->at(handle).bytes;
    const std::uint64_t end = begin + made.bytes;
    auto part = isolate(begin, made.bytes);
    made.parts.reserve(static_cast<std::size_t>(std::distance(part, spans_.lower_bound(end))));
    pool_detail::make_room(deferred_, 1);
    // What follows does not throw.
    owner.book->drop(handle);
    owner.notes.erase(begin);
    while (part != spans_.end() && part->first < end) made.parts.push_back(spans_.extract(part++));
    meter_.count_deallocation(made.bytes);
    deferred_.push_back(std::move(made));
  }
  drop_orphans_without_blocks();
}

// Gives on all deferred blocks whose uses are over.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::release_deferred() {
  for (std::size_t i = 0; i < deferred_.size();) {
    if (!deferred_[i].until.are_over(streams_) || !give_on(deferred_[i])) {
      ++i;
      continue;
    }
    if (i + 1 != deferred_.size()) std::swap(deferred_[i], deferred_.back());
    deferred_.pop_back();
  }
}

// Makes a deferred block free: in the book of its capture, or in the common pool. False if the host has no memory for
// the entry in the book; the block stays deferred then.
template <stream_order Streams, segment_engine Engine>
bool basic_stream_pool<Streams, Engine>::give_on(deferred_block& each) {
  if (each.home == nullptr) {
    for (auto& part : each.parts) pool_.deallocate(reinterpret_cast<void*>(part.key()));
    return true;
  }
  try {
    each.home->book->adopt(each.parts.front().key(), each.bytes, segment_state::free);
  } catch (const std::bad_alloc&) {
    return false;
  }
  for (auto& part : each.parts) {
    part.mapped().owner = each.home;
    spans_.insert(std::move(part));
  }
  return true;
}

// Gives deferred blocks to the common pool though their uses go on, where each has a mark: as the marks of forgotten
// streams, these are waited for by who takes the memory. Those of captures stay, since a graph could not wait.
template <stream_order Streams, segment_engine Engine>
bool basic_stream_pool<Streams, Engine>::gather_deferred() {
  const std::size_t before = deferred_.size();
  for (std::size_t i = 0; i < deferred_.size();) {
    deferred_block& each = deferred_[i];
    each.until.mark(streams_);
    if (each.home != nullptr || !each.until.are_marked()) {
      ++i;
      continue;
    }
    pool_detail::make_room(left_marks_, each.until.size());
    each.until.for_each_mark([&](const mark_pointer& mark) { left_marks_.push_back(mark); });
    give_on(each);
    if (i + 1 != deferred_.size()) std::swap(each, deferred_.back());
    deferred_.pop_back();
  }
  return deferred_.size() != before;
}

template <stream_order Streams, segment_engine Engine>
template <class Visit>
void basic_stream_pool<Streams, Engine>::for_each_uses(const shard* locked, Visit visit) {
  const auto visit_all = [&](shard& of) {
    const host_lock own = &of == locked ? host_lock() : host_lock(of.mutex);
    for (auto& [begin, noted] : of.notes) visit(noted);
  };
  for (const auto& [key, each] : by_key_) visit_all(*each);
  if (orphans_ != nullptr) visit_all(*orphans_);
  for (const auto& [name, kept] : captures_) {
    for (const auto& [key, each] : kept->shards) visit_all(*each);
  }
  for (deferred_block& each : deferred_) visit(each.until);
}

// A mark after all work of a stream that is to be forgotten, for the uses that name it; null if none does.
template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::mark_uses_of(std::uint64_t key, stream which) -> mark_pointer {
  bool is_mentioned = false;
  for_each_uses(nullptr, [&](const uses& each) { is_mentioned |= each.mentions(key); });
  if (!is_mentioned) return nullptr;
  refuse_capture(which);
  auto mark = std::make_shared<event>();
  streams_.record(*mark, which);
  return mark;
}

}  // namespace warpheap
