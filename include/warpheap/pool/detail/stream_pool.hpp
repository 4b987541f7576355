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
  for (const auto& each : shards_) {
    try {
      if (each->key && each->is_shared) streams_.record(each->mark, each->name);
      streams_.synchronise(each->mark);
    } catch (const std::exception&) {
      // The runtime is gone, or the stream: nothing runs there any more.
    }
  }
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::refuse_capture(stream which) {
  if (streams_.is_capturing(which)) {
    throw stream_refused(
        "warpheap: the stream is being captured into a graph, which would run when its addresses are others': allocate "
        "and deallocate before or after the capture");
  }
}

// The shard of a stream, locked. Each thread remembers a few, so the registry is seldom asked; a shard that was forgotten
// and given to another stream is known by its key.
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
  shards_.reserve(shards_.size() + 1);
  auto made = std::make_unique<shard>(key, which, pool_.granule_bytes());
  made->is_shared = streams_.is_shared(which);
  by_key_.emplace(key, made.get());
  shards_.push_back(std::move(made));
  return shards_.back().get();
}

template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::all_shards() const -> std::vector<shard*> {
  const host_lock lock(registry_);
  std::vector<shard*> all;
  for (const auto& each : shards_) all.push_back(each.get());
  return all;
}

template <stream_order Streams, segment_engine Engine>
void* basic_stream_pool<Streams, Engine>::allocate(stream on, std::uint64_t bytes, std::uint64_t alignment) {
  pool_detail::require_power_of_two(alignment);
  refuse_capture(on);
  shard* own = nullptr;
  {
    const auto [found, lock] = own_shard(on);
    if (const segment_handle block = found->book.allocate(bytes, alignment); block != no_segment) {
      return reinterpret_cast<void*>(found->book.at(block).begin);
    }
    own = found;
  }
  const host_lock lock(common_);
  return refill(*own, bytes, alignment);
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::deallocate(stream on, void* block) {
  if (block == nullptr) return;
  refuse_capture(on);
  shard* own = nullptr;
  {
    const auto [found, lock] = own_shard(on);
    if (const segment_handle handle = found->book.find(number(block)); handle != no_segment) {
      if (!found->is_shared) streams_.record(found->mark, on);  // first, as it may throw
      found->book.deallocate(handle);
      return;
    }
    own = found;
  }
  const host_lock lock(common_);
  if (!own->is_shared) streams_.record(own->mark, on);
  move_block(*own, block);
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::forget(stream which) {
  const std::uint64_t key = streams_.key(which);
  const host_lock common(common_);
  shard* gone = nullptr;
  {
    const host_lock lock(registry_);
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return;
    gone = known->second;
  }
  gather(*gone);
  const host_lock registry(registry_);
  const host_lock lock(gone->mutex);
  gone->key.reset();
  by_key_.erase(key);
}

template <stream_order Streams, segment_engine Engine>
std::uint64_t basic_stream_pool<Streams, Engine>::trim() {
  const host_lock lock(common_);
  gather_all();
  for (shard* each : all_shards()) {
    const host_lock own(each->mutex);
    if (each->has_mark) streams_.synchronise(each->mark);
    each->has_mark = false;
  }
  return pool_.trim();
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
  for (const shard* each : all_shards()) {
    const host_lock own(each->mutex);
    now.live_bytes += each->book.bytes_in(segment_state::live);
    now.live_blocks += each->book.segments_in(segment_state::live);
    now.stream_bytes += each->book.bytes_in(segment_state::free);
    now.streams += each->key.has_value();
  }
  return now;
}

}  // namespace warpheap
