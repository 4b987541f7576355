// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>
#include <warpheap/pool/pool.hpp>

namespace warpheap {

namespace pool_detail {

inline void require_power_of_two(std::uint64_t alignment) {
  if (!is_power_of_two(alignment)) {
    throw std::invalid_argument("warpheap: the alignment of a block must be a power of two");
  }
}

}  // namespace pool_detail

template <segment_engine Engine>
basic_pool<Engine>::basic_pool(std::unique_ptr<pool_space> space, pool_options options)
    : space_(std::move(space)),
      options_(options),
      engine_(is_power_of_two(options.granule_bytes) ? options.granule_bytes : 256) {
  if (space_ == nullptr) throw std::invalid_argument("warpheap: a pool needs a space: give it one that is not null");
  if (!is_power_of_two(options.granule_bytes) || options.granule_bytes < 16) {
    throw std::invalid_argument("warpheap: a pool's granule must be a power of two of at least 16 bytes");
  }
  if (space_->can_map() && space_->piece_bytes() % options.granule_bytes != 0) {
    throw std::invalid_argument("warpheap: a pool's granule must divide the piece of its space: choose a smaller one");
  }
  begin_ = align_up(base(), options.granule_bytes);
  end_ = align_down(base() + space_->bytes(), options.granule_bytes);
  if (begin_ >= end_) {
    begin_ = end_ = base();  // a range without a whole granule hands out nothing
    return;
  }
  if (space_->can_map() && begin_ != base()) {
    throw std::invalid_argument(
        "warpheap: a space that maps pieces must begin at a multiple of its pool's granule: choose a smaller granule "
        "or another address");
  }
  const segment_state state = space_->can_map() ? segment_state::absent : segment_state::free;
  const segment_handle whole = engine_.adopt(begin_, end_ - begin_, state);
  peak_committed_ = committed();
  if (!space_->can_map() || options.initial_bytes == 0) return;
  if (options.initial_bytes > space_->bytes()) {
    throw std::invalid_argument("warpheap: initial_bytes exceeds the space: give the pool a larger one");
  }
  if (divide_up(options.initial_bytes, space_->piece_bytes()) * space_->piece_bytes() > options.most_bytes) {
    throw std::invalid_argument("warpheap: initial_bytes exceeds most_bytes: let the pool have more");
  }
  host_lock lock(mutex_);
  commit({{whole, begin_, piece_above(begin_ + options.initial_bytes) - begin_}}, lock);
}

template <segment_engine Engine>
void* basic_pool<Engine>::take(std::uint64_t bytes, std::uint64_t alignment, bool may_grow, std::string& refusal,
                               host_lock& lock) {
  segment_handle block = engine_.allocate(bytes, alignment);
  if (block == no_segment && may_grow) block = grow(bytes, alignment, refusal, lock);
  return hand_out(block);
}

template <segment_engine Engine>
void* basic_pool<Engine>::hand_out(segment_handle block) {
  if (block == no_segment) return nullptr;
  ++allocations_;
  peak_ = std::max(peak_, engine_.bytes_in(segment_state::live));
  return reinterpret_cast<void*>(engine_.at(block).begin);
}

template <segment_engine Engine>
void* basic_pool<Engine>::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  pool_detail::require_power_of_two(alignment);
  host_lock lock(mutex_);
  std::string refusal;
  void* const block = take(bytes, alignment, true, refusal, lock);
  if (block == nullptr) fail(bytes, alignment, refusal);
  return block;
}

template <segment_engine Engine>
void* basic_pool<Engine>::try_allocate(std::uint64_t bytes, std::uint64_t alignment, bool may_grow) {
  pool_detail::require_power_of_two(alignment);
  host_lock lock(mutex_);
  std::string refusal;
  return take(bytes, alignment, may_grow, refusal, lock);
}

template <segment_engine Engine>
bool basic_pool<Engine>::provide(std::uint64_t bytes, std::uint64_t alignment) {
  pool_detail::require_power_of_two(alignment);
  host_lock lock(mutex_);
  std::string refusal;
  segment_handle block = engine_.allocate(bytes, alignment);
  if (block == no_segment) block = grow(bytes, alignment, refusal, lock);
  if (block == no_segment) return false;
  engine_.deallocate(block);  // under the same lock: nobody has seen it live
  return true;
}

template <segment_engine Engine>
void* basic_pool<Engine>::try_allocate_stretch(std::uint64_t bytes, std::uint64_t most, std::uint64_t alignment) {
  pool_detail::require_power_of_two(alignment);
  const host_lock lock(mutex_);
  return hand_out(engine_.allocate(bytes, alignment, most));
}

template <segment_engine Engine>
void basic_pool<Engine>::deallocate(void* block) {
  if (block == nullptr) return;
  const host_lock lock(mutex_);
  engine_.deallocate(must_find(block));
  ++changes_;
}

template <segment_engine Engine>
void* basic_pool<Engine>::split(void* block, std::uint64_t bytes) {
  const host_lock lock(mutex_);
  const segment_view whole = engine_.at(must_find(block));
  if (bytes == 0 || bytes > whole.bytes - engine_.granule()) {
    throw std::invalid_argument("warpheap: both parts of a block that is split must have at least one granule");
  }
  const std::uint64_t first = align_up(bytes, engine_.granule());
  engine_.change(whole.handle, whole.begin + first, whole.bytes - first, segment_state::live);
  return static_cast<std::byte*>(block) + first;
}

template <segment_engine Engine>
std::uint64_t basic_pool<Engine>::block_bytes(const void* block) const {
  const host_lock lock(mutex_);
  const segment_handle found = engine_.find(number(block));
  return found == no_segment ? 0 : engine_.at(found).bytes;
}

template <segment_engine Engine>
std::uint64_t basic_pool<Engine>::release() {
  host_lock lock(mutex_);
  const host_lock space = lock_space(lock);
  if (!space) throw std::logic_error("warpheap: a space must not release the pool that it works for");
  const space_use use(space_user_);
  const std::uint64_t committed = engine_.bytes_in(segment_state::free) + engine_.bytes_in(segment_state::live);
  engine_.clear();
  ++changes_;
  peak_ = 0;
  if (begin_ == end_) return 0;
  const bool can_map = space_->can_map();
  engine_.adopt(begin_, end_ - begin_, can_map ? segment_state::absent : segment_state::free);
  if (!can_map) return 0;
  lock.unlock();
  try {
    const relaxed_capture_mode mode;
    space_->decommit(0, space_->bytes());
  } catch (...) {
    lock.lock();  // `use` ends under it
    throw;
  }
  lock.lock();
  return committed;
}

template <segment_engine Engine>
pool_statistics basic_pool<Engine>::statistics() const {
  const host_lock lock(mutex_);
  const std::uint64_t live = engine_.bytes_in(segment_state::live);
  const std::uint64_t free = engine_.bytes_in(segment_state::free);
  return {.reserved_bytes = end_ - begin_,
          .committed_bytes = live + free,
          .live_bytes = live,
          .peak_live_bytes = peak_,
          .live_blocks = engine_.segments_in(segment_state::live),
          .free_bytes = free,
          .free_segments = engine_.segments_in(segment_state::free),
          .largest_free_bytes = engine_.largest_free(),
          .allocations = allocations_,
          .failures = failures_,
          .host_bytes = engine_.bookkeeping_bytes(),
          .peak_committed_bytes = peak_committed_};
}

template <segment_engine Engine>
void basic_pool<Engine>::reset_peaks() {
  const host_lock lock(mutex_);
  peak_ = engine_.bytes_in(segment_state::live);
  peak_committed_ = committed();
}

template <segment_engine Engine>
segment_handle basic_pool<Engine>::must_find(const void* block) const {
  const segment_handle found = engine_.find(number(block));
  if (found != no_segment) return found;
  if (!contains(block)) {
    throw unknown_block("warpheap: the pointer lies outside this pool: take the block back where it was handed out");
  }
  throw unknown_block(
      "warpheap: no live block begins at the pointer: it was taken back before, or it points into a block");
}

template <segment_engine Engine>
void basic_pool<Engine>::fail(std::uint64_t bytes, std::uint64_t alignment, const std::string& refusal) {
  ++failures_;
  const std::uint64_t free = engine_.bytes_in(segment_state::free);
  const std::uint64_t absent = std::min(engine_.bytes_in(segment_state::absent), may_commit());
  std::string message = "warpheap: no memory for a block of " + std::to_string(bytes) + " bytes";
  if (alignment > engine_.granule()) message += " at a multiple of " + std::to_string(alignment);
  message += ": " + std::to_string(free) + " bytes are free, at most " + std::to_string(engine_.largest_free()) +
             " in one stretch, and the pool can grow by " + std::to_string(absent) + " more";
  message +=
      refusal.empty() ? "; take blocks back or make the pool over a larger space" : "; it could not grow: " + refusal;
  throw out_of_memory(bytes, message);
}

}  // namespace warpheap
