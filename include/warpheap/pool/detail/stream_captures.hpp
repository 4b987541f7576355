// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>
#include <warpheap/pool/stream_pool.hpp>

// Memory of captures.
//
// Invariant: from the moment at which a capture takes memory until it is released, no work but the capture's can be
// handed that memory, and no stream waits for anything before it uses it: a graph that is captured could wait for
// nothing outside. So the host waits for all marks that are shown when the memory is taken. Within the capture, memory
// that a stream frees goes to the same stream, as outside.

namespace warpheap {

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::begin_capture(capture_name name, std::function<bool(stream)> belongs) {
  if (!belongs) throw std::invalid_argument("warpheap: a capture needs a rule for what belongs to it");
  open(name, std::move(belongs));
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::begin_capture(capture_name name, stream captured) {
  // Where the asking thread names a stream of its own by `captured`, only the key tells that it is another one. Such a
  // thread compares with the number that was seen last.
  const std::uint64_t key = streams_.key(captured);
  std::uint64_t seen = streams_.capture_number(captured);
  open(name, [this, captured, key, seen](stream which) mutable {
    if (streams_.key(captured) == key) seen = streams_.capture_number(captured);
    if (streams_.key(which) == key) return true;
    const std::uint64_t number = streams_.capture_number(which);
    return number != 0 && number == seen;
  });
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::open(capture_name name, std::function<bool(stream)> belongs) {
  const host_lock lock(common_);
  const host_lock begun(begun_mutex_);
  begun_.reserve(begun_.size() + 1);
  const auto known = captures_.find(name);
  if (known != captures_.end() && known->second->is_open) {
    throw std::invalid_argument("warpheap: a capture of that name was begun and not ended: end it first");
  }
  std::shared_ptr<private_pool> of;
  if (known != captures_.end()) {
    of = known->second;
  } else {
    of = std::make_shared<private_pool>();
    captures_.emplace(name, of);
  }
  of->is_open = true;
  ++of->begun;
  begun_.push_back({std::move(of), std::move(belongs)});
  begun_count_.set(begun_.size());
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::end_capture(capture_name name) {
  const host_lock lock(common_);
  const auto known = captures_.find(name);
  if (known == captures_.end() || !known->second->is_open) {
    throw std::invalid_argument("warpheap: no capture of that name was begun, or it was ended before");
  }
  known->second->is_open = false;
  const host_lock begun(begun_mutex_);
  std::erase_if(begun_, [&](const open_capture& each) { return each.of == known->second; });
  begun_count_.set(begun_.size());
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::release_capture(capture_name name, stream after) {
  const host_lock lock(common_);
  const auto known = captures_.find(name);
  if (known == captures_.end()) throw std::invalid_argument("warpheap: no memory is kept for a capture of that name");
  private_pool& of = *known->second;
  if (of.begun > 1) {  // one that is open is the last, and has more to come
    refuse_capture(after);
    keep_last_use(of, after);
    --of.begun;
    return;
  }
  if (of.is_open) throw std::invalid_argument("warpheap: the capture was not ended: end it before it is released");
  refuse_capture(after);
  drop_reached_marks();
  pool_detail::make_room(left_marks_, of.last_uses.size() + 1);
  auto mark = std::make_shared<event>();
  streams_.record(*mark, after);
  // Before any of the memory is free.
  left_marks_.push_back(std::move(mark));
  for (mark_pointer& each : of.last_uses) left_marks_.push_back(std::move(each));
  of.last_uses.clear();
  for (deferred_block& each : deferred_) {
    if (each.home != nullptr && each.home->of == &of) each.home = nullptr;
  }
  // A shard that is done leaves at once, so that a call after one that threw goes on where that stopped.
  while (!of.shards.empty()) {
    shard& each = *of.shards.begin()->second;
    {
      const host_lock own(each.mutex);
      std::vector<segment_view> idle;
      each.book->for_each_free(pool_.granule_bytes(), [&](const segment_view& part) { idle.push_back(part); });
      hand_over(each, idle);
      orphan_blocks(each);
    }
    of.shards.erase(of.shards.begin());
  }
  of.begun = 0;
  captures_.erase(known);
}

template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::find_capture(stream which) -> std::shared_ptr<private_pool> {
  if (begun_count_.value() == 0) return nullptr;
  const host_lock lock(begun_mutex_);
  for (const open_capture& each : begun_) {
    if (each.belongs(which)) return each.of;
  }
  return nullptr;
}

template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::private_shard(private_pool& of, stream on) -> shard& {
  if (of.begun == 0) refuse();  // another thread released it since the caller looked
  const auto [at, is_new] = of.shards.try_emplace(streams_.key(on));
  if (is_new) {
    try {
      at->second = std::make_unique<shard>(on, pool_.granule_bytes());
    } catch (...) {
      of.shards.erase(at);
      throw;
    }
    at->second->of = &of;
  }
  return *at->second;
}

template <stream_order Streams, segment_engine Engine>
void* basic_stream_pool<Streams, Engine>::allocate_private(private_pool& of, stream on, std::uint64_t bytes,
                                                           std::uint64_t alignment) {
  host_lock lock(common_);
  release_deferred();
  {
    auto& book = *private_shard(of, on).book;
    if (const segment_handle block = book.allocate(bytes, alignment); block != no_segment) {
      meter_.count_allocation(book.at(block).bytes);
      return reinterpret_cast<void*>(book.at(block).begin);
    }
  }
  void* const span = obtain_span(lock, bytes, alignment, options_.capture_span_bytes);
  try {
    await_all_marks(lock);
  } catch (...) {
    pool_.deallocate(span);
    throw;
  }
  return refill_or_return(on, span, bytes, &of);
}

// Waits, without the lock, for all marks that are shown now. What was free before is then used by no work any more.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::await_all_marks(host_lock& common) {
  std::vector<awaited> unreached = unreached_marks();
  common.unlock();
  try {
    await(unreached);
  } catch (...) {
    common.lock();
    throw;
  }
  common.lock();
}

// Marks the work of a stream so far as what the release of the capture comes after. If it throws, nothing has changed.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::keep_last_use(private_pool& of, stream which) {
  auto& marks = of.last_uses;
  std::erase_if(marks, [&](const mark_pointer& each) { return streams_.is_finished(*each); });
  pool_detail::make_room(marks, 1);
  auto mark = std::make_shared<event>();
  streams_.record(*mark, which);
  marks.push_back(std::move(mark));
}

// Gives a block back to its capture. Work that is in no graph may have used it; what takes the capture's memory after
// the release waits for that work, too.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::take_back_private(shard& owner, stream on, std::uint64_t begin,
                                                           bool is_captured, const private_pool* capture) {
  const segment_handle handle = owner.book->find(begin);
  if (handle == no_segment) {
    throw unknown_block(
        "warpheap: no live block begins at the pointer: it was taken back before, or it points into a block");
  }
  const std::uint64_t bytes = owner.book->at(handle).bytes;
  if (!is_captured) keep_last_use(*owner.of, on);
  if (const auto noted = owner.notes.find(begin); noted != owner.notes.end()) {
    uses until = noted->second;
    until.leave_out(streams_.key(on));
    until.mark(streams_);
    if (!until.empty()) return defer(owner, begin, std::move(until));
  }
  shard& home = capture == owner.of ? private_shard(*owner.of, on) : owner;
  if (&home == &owner) {
    owner.book->deallocate(handle);
  } else {
    auto part = isolate(begin, bytes);
    home.book->adopt(begin, bytes, segment_state::free);
    owner.book->drop(handle);
    for (; part != spans_.end() && part->first < begin + bytes; ++part) part->second.owner = &home;
  }
  owner.notes.erase(begin);
  meter_.count_deallocation(bytes);
}

}  // namespace warpheap
