// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>
#include <warpheap/pool/stream_pool.hpp>

namespace warpheap {

// A span by all means that there are: from the common pool as it is, by growth, and from what streams have free. The
// pool grows without a lock of ours, since the driver takes its time for that.
//
// The span is what is free in one stretch, up to `span_bytes`, wherever the request fits best. So small requests take
// small holes whole, and large ones find the large.
//
// Invariant: a span is taken and given to its shard without letting go of `common_`, except for a capture. So whoever
// looks for free memory in all books, with the lock, sees all that there is.
template <stream_order Streams, segment_engine Engine>
void* basic_stream_pool<Streams, Engine>::obtain_span(host_lock& common, std::uint64_t bytes, std::uint64_t alignment,
                                                      std::uint64_t span_bytes) {
  const auto take = [&](std::uint64_t most) { return pool_.try_allocate_stretch(bytes, most, alignment); };
  const auto take_or_grow = [&](std::uint64_t most) -> void* {
    // not a spin: a pass follows one in which the pool had memory for the request, which another thread took
    while (true) {
      if (void* const span = take(most)) return span;
      common.unlock();
      const bool is_there = pool_.provide(bytes, alignment);
      common.lock();
      if (!is_there) return nullptr;
    }
  };
  if (void* const span = take_or_grow(span_bytes)) return span;
  if (gather_deferred()) {
    if (void* const span = take(bytes)) return span;
  }
  // The number is taken before the books are looked at, so a change meanwhile makes the next request look again.
  const std::uint64_t rounded = std::max(pool_.granule_bytes(), align_up(bytes, pool_.granule_bytes()));
  const refusal asked{changes(), rounded, alignment};
  if (bytes <= pool_.reserved_bytes() && !refused_.covers(asked)) {
    bool has_changed = false;
    constexpr int most_refusals = 4;
    // A part of a stretch may have no memory yet, and get none; then the next stretch is tried. The last pass takes all
    // that are left: a request that is made again would find them.
    const auto is_last = [&](int refusals) { return refusals + 1 == most_refusals; };
    for (int refusals = 0; refusals < most_refusals; ++refusals) {
      if (!gather_for(rounded, alignment, span_bytes, is_last(refusals))) break;
      has_changed = true;
      if (void* const span = take_or_grow(bytes)) return span;
    }
    // not a spin: a pass ends with a span, or another thread of the pool took one meanwhile, except for a few in a row.
    // In those the device refused what had been given back, since others use it, too.
    for (int refusals = 0; refusals < most_refusals;) {
      const std::uint64_t taken = pool_.allocations();
      if (!free_pieces_for(common, rounded, alignment)) break;
      has_changed = true;
      if (void* const span = take_or_grow(bytes)) return span;
      // Streams may have parts, smaller than a piece, of the addresses that the pieces are for.
      if (gather_for(rounded, alignment, span_bytes, is_last(refusals))) {
        if (void* const span = take_or_grow(bytes)) return span;
      }
      refusals = pool_.allocations() == taken ? refusals + 1 : 0;
    }
    // A pass that moved something failed by what the device has, and that may be more at the next request.
    if (!has_changed) refused_ = asked;
  }
  common.unlock();
  void* const span = pool_.allocate(bytes, alignment);  // or says why it fails
  common.lock();
  return span;
}

// Gives a span that was taken from the common pool to the stream, or to its part of a capture, and its first part to
// the caller. If it throws, the span is the common pool's again.
template <stream_order Streams, segment_engine Engine>
void* basic_stream_pool<Streams, Engine>::refill_or_return(stream on, void* begin, std::uint64_t bytes,
                                                           private_pool* of) {
  try {
    return refill(of == nullptr ? *find_or_make(streams_.key(on), on) : private_shard(*of, on), begin, bytes);
  } catch (...) {
    pool_.deallocate(begin);
    throw;
  }
}
template <stream_order Streams, segment_engine Engine>
void* basic_stream_pool<Streams, Engine>::refill(shard& own, void* begin, std::uint64_t bytes) {
  const std::uint64_t size = pool_.block_bytes(begin);
  const auto made = spans_.emplace(number(begin), span{size, &own}).first;
  try {
    if (own.of == nullptr) wait_for_marks(own);  // for a capture the host has waited
    const host_lock lock(own.mutex);
    // The request is the span's first part, so that it is served whatever the stream's other threads do meanwhile.
    const std::uint64_t granule = pool_.granule_bytes();
    const std::uint64_t part = std::max(granule, align_up(bytes, granule));
    const segment_handle block = own.book->adopt(number(begin), part, segment_state::live);
    try {
      if (part != size) own.book->adopt(number(begin) + part, size - part, segment_state::free);
    } catch (...) {
      own.book->drop(block);
      throw;
    }
    meter_.count_allocation(part);
  } catch (...) {
    spans_.erase(made);
    throw;
  }
  return begin;
}

// Free memory of the common pool was in use by streams that are marked; work of `own` must come after that.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::wait_for_marks(shard& own) {
  for (shard* each : all_shards()) {
    const host_lock lock(each->mutex);
    if (each == &own || !each->has_mark) continue;
    if (streams_.is_finished(*each->mark)) {
      each->has_mark = false;
    } else {
      streams_.wait(own.name, *each->mark);
      ++waits_;
    }
  }
  drop_reached_marks();
  for (const mark_pointer& each : left_marks_) {
    streams_.wait(own.name, *each);
    ++waits_;
  }
}

// The marks that are shown, as far as work has not come to them.
template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::unreached_marks() -> std::vector<awaited> {
  std::vector<awaited> unreached;
  for (shard* each : all_shards()) {
    const host_lock own(each->mutex);
    if (each->has_mark && streams_.is_finished(*each->mark)) each->has_mark = false;
    if (each->has_mark) unreached.push_back({each, each->mark});
  }
  drop_reached_marks();
  for (const mark_pointer& each : left_marks_) unreached.push_back({nullptr, each});
  return unreached;
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::await(std::vector<awaited>& unreached) {
  const auto let_go = [&] {
    for (awaited& each : unreached) {
      // Under the lock under which a mark that is not shared any more is recorded again.
      const host_lock own = each.of == nullptr ? host_lock() : host_lock(each.of->mutex);
      each.mark.reset();
    }
  };
  try {
    for (const awaited& each : unreached) streams_.synchronise(*each.mark);
  } catch (...) {
    let_go();
    throw;
  }
  let_go();
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::drop_reached_marks() {
  for (std::size_t i = 0; i < left_marks_.size();) {
    if (!streams_.is_finished(*left_marks_[i])) {
      ++i;
      continue;
    }
    left_marks_[i].swap(left_marks_.back());
    left_marks_.pop_back();
  }
}

// Moves the shard's mark after all work of its stream so far. If it throws, the mark is where it was.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::record_mark(shard& of) {
  if (of.mark != nullptr && of.mark.use_count() == 1) {
    streams_.record(*of.mark, of.name);
    return;
  }
  auto fresh = std::make_shared<event>();
  streams_.record(*fresh, of.name);
  of.mark = std::move(fresh);
}

// Moves the blocks of a stream that is forgotten, and has nothing free, to the book of those that have none. If it
// throws, nothing has changed.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::orphan_blocks(shard& of) {
  if (of.book->segments_in(segment_state::live) == 0) return;
  std::vector<segment_view> blocks;
  blocks.reserve(of.book->segments_in(segment_state::live));
  of.book->for_each([&](const segment_view& each) { blocks.push_back(each); });
  if (orphans_ == nullptr) orphans_ = std::make_unique<shard>(of.name, pool_.granule_bytes());
  engine_of_its_own& book = *orphans_->book;
  const host_lock lock(orphans_->mutex);
  std::vector<segment_handle> adopted;
  try {
    adopted.reserve(blocks.size());
    orphans_->notes.reserve(orphans_->notes.size() + of.notes.size());  // `merge` loses a note where it fails
    for (const segment_view& each : blocks) adopted.push_back(book.adopt(each.begin, each.bytes, segment_state::live));
  } catch (...) {
    for (const segment_handle each : adopted) book.drop(each);
    throw;
  }
  orphans_->notes.merge(of.notes);
  for (const segment_view& each : blocks) {
    auto part = std::prev(spans_.upper_bound(each.begin));
    for (; part != spans_.end() && part->first < each.begin + each.bytes; ++part) part->second.owner = orphans_.get();
  }
}

// The shard whose span the address lies in.
template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::owner_of(const void* block) const -> shard& {
  const std::uint64_t begin = number(block);
  const auto holder = spans_.upper_bound(begin);
  if (holder == spans_.begin() || begin - std::prev(holder)->first >= std::prev(holder)->second.bytes) {
    throw unknown_block(
        pool_.contains(block)
            ? "warpheap: no live block begins at the pointer: it was taken back before"
            : "warpheap: the pointer lies outside this pool: take the block back where it was handed out");
  }
  return *std::prev(holder)->second.owner;
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::drop_orphans_without_blocks() {
  if (orphans_ != nullptr && orphans_->book->segments_in(segment_state::live) == 0) orphans_.reset();
}

// Takes a block back that another stream's book has, by moving it to the book of this one.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::move_block(shard& own, void* block) {
  const std::uint64_t begin = number(block);
  shard& other = owner_of(block);
  {
    // Always in the same order, though a thread that holds two holds `common_` too.
    const bool own_first = std::less<shard*>{}(&own, &other);
    const host_lock first((own_first ? own : other).mutex);
    const host_lock second = &own == &other ? host_lock() : host_lock((own_first ? other : own).mutex);
    const segment_handle handle = other.book->find(begin);
    if (handle == no_segment) {
      throw unknown_block(
          "warpheap: no live block begins at the pointer: it was taken back before, or it points into a block");
    }
    if (!own.is_shared) record_mark(own);  // before the block is taken back, as it may throw
    const std::uint64_t bytes = other.book->at(handle).bytes;
    if (&other == &own) {  // it was moved here since the caller looked
      meter_.count_deallocation(bytes);
      own.book->deallocate(handle);
      own.notes.erase(begin);
      return;
    }
    auto part = isolate(begin, bytes);
    own.book->adopt(begin, bytes, segment_state::free);
    other.book->drop(handle);
    other.notes.erase(begin);
    for (; part != spans_.end() && part->first < begin + bytes; ++part) part->second.owner = &own;
    own.moved += bytes;
    meter_.count_deallocation(bytes);
  }
  drop_orphans_without_blocks();
  if (own.moved <= options_.span_bytes) return;
  // Blocks that come from elsewhere would pile up here while their streams take new memory.
  try {
    gather(own);
  } catch (const std::exception&) {
    // The block is taken back, so the caller must not hear of this. What was not gathered stays with the stream, and is
    // gathered when memory is short.
  }
}

}  // namespace warpheap
