// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>
#include <warpheap/pool/stream_pool.hpp>

namespace warpheap {

template <stream_order Streams, segment_engine Engine>
basic_stream_pool<Streams, Engine>::basic_stream_pool(std::unique_ptr<pool_space> space, stream_pool_options options,
                                                      Streams streams)
    : streams_(std::move(streams)), options_(options), pool_(std::move(space), options.pool) {}

template <stream_order Streams, segment_engine Engine>
basic_stream_pool<Streams, Engine>::~basic_stream_pool() {
  for (shard* each : all_shards()) {
    try {
      // A mark in a captured stream would become a part of the graph, and is never reached.
      if (each->is_shared && !streams_.is_capturing(each->name)) record_mark(*each);
      if (each->mark) streams_.synchronise(*each->mark);
    } catch (const std::exception&) {
      // The runtime is gone, or the stream: nothing runs there any more.
    }
  }
  for (const mark_pointer& each : left_marks_) {
    try {
      streams_.synchronise(*each);
    } catch (const std::exception&) {
    }
  }
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::refuse() {
  throw stream_refused(
      "warpheap: the stream is being captured into a graph, which would run when its addresses are others': allocate, "
      "deallocate and forget before or after the capture");
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::refuse_capture(stream which) {
  if (streams_.is_capturing(which)) refuse();
}

// The shard of a stream, locked. Each thread remembers a few, so the registry is seldom asked; a shard that was
// forgotten and given to another stream is known by its key.
template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::own_shard(stream which) -> std::pair<shard*, host_lock> {
  struct memory {
    std::uint64_t pool = 0;
    std::uint64_t key = 0;
    shard* found = nullptr;
  };
  constexpr std::uint64_t remembered = 8;
  thread_local memory recent[remembered];

  const std::uint64_t key = streams_.key(which);
  memory& seen = recent[(key >> 4 ^ key ^ serial_) % remembered];
  // not a spin: a shard is found at once unless its stream is forgotten meanwhile
  while (true) {
    if (seen.pool != serial_ || seen.key != key) seen = {serial_, key, find_or_make(key, which)};
    host_lock lock(seen.found->mutex);
    if (seen.found->key == key) return {seen.found, std::move(lock)};
    seen = {};
  }
}

template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::find_or_make(std::uint64_t key, stream which) -> shard* {
  const host_lock lock(registry_);
  if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second;
  const bool is_shared = streams_.is_shared(which);
  if (spare_.empty()) {
    shards_.reserve(shards_.size() + 1);
    spare_.reserve(shards_.size() + 1);
    auto made = std::make_unique<shard>(which, pool_.granule_bytes());
    made->key = key;
    made->is_shared = is_shared;
    by_key_.emplace(key, made.get());
    shards_.push_back(std::move(made));
    return shards_.back().get();
  }
  shard* const again = spare_.back();
  auto book = shard::make_book(pool_.granule_bytes());
  by_key_.emplace(key, again);
  spare_.pop_back();
  const host_lock own(again->mutex);  // a thread that remembers it may look at it
  again->key = key;
  again->name = which;
  again->book = std::move(book);
  again->is_shared = is_shared;
  again->moved = 0;
  return again;
}

// Of all streams that are not forgotten. They stay theirs as long as `common_` is held.
template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::all_shards() const -> std::vector<shard*> {
  const host_lock lock(registry_);
  std::vector<shard*> all;
  all.reserve(by_key_.size());
  for (const auto& [key, each] : by_key_) all.push_back(each);
  return all;
}

template <stream_order Streams, segment_engine Engine>
void* basic_stream_pool<Streams, Engine>::allocate(stream on, std::uint64_t bytes, std::uint64_t alignment) {
  pool_detail::require_power_of_two(alignment);
  refuse_capture(on);
  {
    const auto [found, lock] = own_shard(on);
    if (const segment_handle block = found->book->allocate(bytes, alignment); block != no_segment) {
      return reinterpret_cast<void*>(found->book->at(block).begin);
    }
  }
  // The pool grows without a lock of ours, since the driver takes its time for that.
  host_lock lock(common_);
  if (void* const span = take_span(bytes, alignment)) return refill(on, span, bytes);
  lock.unlock();
  void* span = grow_span(bytes, alignment);
  lock.lock();
  if (span == nullptr) {
    if (bytes <= pool_.reserved_bytes()) gather_all();
    span = pool_.try_allocate(bytes, alignment, false);
  }
  if (span == nullptr) {
    lock.unlock();
    span = pool_.allocate(bytes, alignment);
    lock.lock();
  }
  return refill(on, span, bytes);
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::deallocate(stream on, void* block) {
  if (block == nullptr) return;
  refuse_capture(on);
  {
    const auto [found, lock] = own_shard(on);
    if (const segment_handle handle = found->book->find(number(block)); handle != no_segment) {
      if (!found->is_shared) record_mark(*found);  // first, as it may throw
      found->book->deallocate(handle);
      return;
    }
  }
  const host_lock lock(common_);
  move_block(*find_or_make(streams_.key(on), on), block);
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::forget(stream which) {
  const std::uint64_t key = streams_.key(which);
  const host_lock common(common_);
  const host_lock registry(registry_);
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return;
  shard& gone = *known->second;
  refuse_capture(which);
  drop_reached_marks();
  left_marks_.reserve(left_marks_.size() + 1);
  const host_lock lock(gone.mutex);
  gather_locked(gone);
  if (gone.book->segments_in(segment_state::free) != 0) refuse();  // a capture began meanwhile
  orphan_blocks(gone);                                             // may throw; what follows does not
  if (gone.has_mark) left_marks_.push_back(std::move(gone.mark));
  gone.has_mark = false;
  gone.mark.reset();
  gone.book.reset();
  gone.key.reset();
  by_key_.erase(known);
  spare_.push_back(&gone);
}

template <stream_order Streams, segment_engine Engine>
std::uint64_t basic_stream_pool<Streams, Engine>::trim() {
  struct awaited {
    shard* of;  // null for a forgotten stream
    mark_pointer mark;
  };
  // Others may put memory together while the marks are awaited, after marks of its own.
  constexpr int passes = 4;
  for (int pass = 0; pass < passes; ++pass) {
    host_lock lock(common_);
    if (pass == 0) gather_all();
    std::vector<awaited> unreached;
    for (shard* each : all_shards()) {
      const host_lock own(each->mutex);
      if (each->has_mark && streams_.is_finished(*each->mark)) each->has_mark = false;
      if (each->has_mark) unreached.push_back({each, each->mark});
    }
    drop_reached_marks();
    for (const mark_pointer& each : left_marks_) unreached.push_back({nullptr, each});
    if (unreached.empty()) return pool_.trim();
    lock.unlock();
    for (const awaited& each : unreached) streams_.synchronise(*each.mark);
    for (awaited& each : unreached) {
      // Under the lock under which a mark that is not shared any more is recorded again.
      const host_lock own = each.of == nullptr ? host_lock() : host_lock(each.of->mutex);
      each.mark.reset();
    }
  }
  return 0;
}

template <stream_order Streams, segment_engine Engine>
stream_pool_statistics basic_stream_pool<Streams, Engine>::statistics() const {
  const host_lock lock(common_);
  const pool_statistics common = pool_.statistics();
  stream_pool_statistics now{};
  now.reserved_bytes = common.reserved_bytes;
  now.committed_bytes = common.committed_bytes;
  now.common_bytes = common.free_bytes;
  now.gatherings = gatherings_;
  now.waits = waits_;
  std::vector<shard*> all = all_shards();
  now.streams = all.size();
  if (orphans_ != nullptr) all.push_back(orphans_.get());
  for (const shard* each : all) {
    const host_lock own(each->mutex);
    now.live_bytes += each->book->bytes_in(segment_state::live);
    now.live_blocks += each->book->segments_in(segment_state::live);
    now.stream_bytes += each->book->bytes_in(segment_state::free);
  }
  return now;
}

}  // namespace warpheap
