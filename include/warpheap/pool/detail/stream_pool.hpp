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
  const auto await = [&](const mark_pointer& each) {
    try {
      streams_.synchronise(*each);
    } catch (const std::exception&) {
    }
  };
  for (const mark_pointer& each : left_marks_) await(each);
  for (const auto& [name, kept] : captures_) {
    for (const mark_pointer& each : kept->last_uses) await(each);
  }
  // Of deferred blocks, and of live ones, whose users may be streams that the pool knows in no other way.
  for_each_uses(nullptr, [&](uses& each) {
    try {
      each.mark(streams_);
    } catch (const std::exception&) {
    }
    each.for_each_mark(await);
  });
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::refuse() {
  throw stream_refused(
      "warpheap: the stream is being captured into a graph, which would run when its addresses are others': allocate, "
      "deallocate and forget before or after the capture, or begin a capture of the pool for it");
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
  if (const auto capture = find_capture(on)) return allocate_private(*capture, on, bytes, alignment);
  refuse_capture(on);
  {
    const auto [found, lock] = own_shard(on);
    if (const segment_handle block = found->book->allocate(bytes, alignment); block != no_segment) {
      const segment_view made = found->book->at(block);
      meter_.count_allocation(made.bytes);
      return reinterpret_cast<void*>(made.begin);
    }
  }
  host_lock lock(common_);
  release_deferred();
  void* const span = obtain_span(lock, bytes, alignment, options_.span_bytes);
  return refill_or_return(on, span, bytes, nullptr);
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::deallocate(stream on, void* block) {
  if (block == nullptr) return;
  const std::shared_ptr<private_pool> capture = find_capture(on);
  const bool is_captured = streams_.is_capturing(on);
  if (!is_captured) {
    const auto [found, lock] = own_shard(on);
    const segment_handle handle = found->book->find(number(block));
    if (handle != no_segment && (found->notes.empty() || !found->notes.contains(number(block)))) {
      if (!found->is_shared) record_mark(*found);  // first, as it may throw
      meter_.count_deallocation(found->book->at(handle).bytes);
      found->book->deallocate(handle);
      return;
    }
  }
  const host_lock lock(common_);
  take_back(on, block, is_captured, capture.get());
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::forget(stream which) {
  const std::uint64_t key = streams_.key(which);
  const host_lock common(common_);
  const host_lock registry(registry_);
  const mark_pointer last = mark_uses_of(key, which);
  const auto settle = [&](uses& each) { each.settle(key, last); };
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) {
    if (last != nullptr) for_each_uses(nullptr, settle);
    return;
  }
  shard& gone = *known->second;
  refuse_capture(which);
  drop_reached_marks();
  left_marks_.reserve(left_marks_.size() + 1);
  const host_lock lock(gone.mutex);
  gather_locked(gone);
  if (gone.book->segments_in(segment_state::free) != 0) refuse();  // a capture began meanwhile
  orphan_blocks(gone);                                             // may throw; what follows does not
  if (last != nullptr) for_each_uses(&gone, settle);
  if (gone.has_mark) left_marks_.push_back(std::move(gone.mark));
  gone.has_mark = false;
  gone.mark.reset();
  gains_of_forgotten_ += gone.book->gains;
  gone.book.reset();
  gone.key.reset();
  by_key_.erase(known);
  spare_.push_back(&gone);
}

template <stream_order Streams, segment_engine Engine>
std::uint64_t basic_stream_pool<Streams, Engine>::trim(std::uint64_t keep_bytes) {
  host_lock lock(common_);
  gather_all();
  return trim_after_marks(lock, [&] { return keep_bytes; });
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
  now.captures = captures_.size();
  now.failures = common.failures;
  now.peak_committed_bytes = common.peak_committed_bytes;
  const usage_figures usage = meter_.figures();
  now.peak_live_bytes = usage.peak_live_bytes;
  now.peak_live_blocks = usage.peak_live_blocks;
  now.allocations = usage.allocations;
  now.allocated_bytes = usage.allocated_bytes;
  now.deallocations = usage.deallocations;
  now.deallocated_bytes = usage.deallocated_bytes;
  for (const deferred_block& each : deferred_) now.deferred_bytes += each.bytes;
  now.deferred_blocks = deferred_.size();
  std::vector<shard*> all = all_shards();
  now.streams = all.size();
  if (orphans_ != nullptr) all.push_back(orphans_.get());
  for (const shard* each : all) {
    const host_lock own(each->mutex);
    now.live_bytes += each->book->bytes_in(segment_state::live);
    now.live_blocks += each->book->segments_in(segment_state::live);
    now.stream_bytes += each->book->bytes_in(segment_state::free);
  }
  for (const auto& [name, kept] : captures_) {
    for (const auto& [key, each] : kept->shards) {
      now.live_bytes += each->book->bytes_in(segment_state::live);
      now.live_blocks += each->book->segments_in(segment_state::live);
      now.private_bytes += each->book->bytes_in(segment_state::free);
    }
  }
  return now;
}

template <stream_order Streams, segment_engine Engine>
std::uint64_t basic_stream_pool<Streams, Engine>::block_bytes(const void* block) const {
  const host_lock lock(common_);
  const auto after = spans_.upper_bound(number(block));
  if (after == spans_.begin()) return 0;
  const shard& owner = *std::prev(after)->second.owner;
  const host_lock own(owner.mutex);
  const segment_handle found = owner.book->find(number(block));
  return found == no_segment ? 0 : owner.book->at(found).bytes;
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::reset_peaks() {
  meter_.reset_peaks();
  pool_.reset_peaks();
}

}  // namespace warpheap
