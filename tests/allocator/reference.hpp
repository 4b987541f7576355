// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/allocator.hpp>

namespace warpheap::test {

/// A lock that lanes wait for with backoff. `Unlock` is `release` for all but the test of tests.
///
/// Invariant: the word is 1 while one lane is between the exchange that found 0 and its store of 0.
template <memory_order Unlock = memory_order::release>
class spin_lock {
 public:
  /// Runs `body()` with the lock. One lane of those that call together tries at a time, and the others stand in a
  /// barrier. So a warp loads the word as one thread does, and no holder waits for a lane of its own warp.
  template <class Body>
  WARPHEAP_FN void hold(Body body) {
    const lane_mask together = active_group();
    for (lane_mask left = together; left != 0; left &= left - 1) {
      if (lane_index() == lowest_bit(left)) {
        const atomic_view held{held_};
        for (backoff wait; !try_acquire(held); wait.pause()) {
        }
        body();
        held.store(0, Unlock, thread_scope::device);
      }
      sync(together);
    }
  }

 private:
  WARPHEAP_FN static bool try_acquire(const atomic_view<std::uint32_t>& held) {
    return held.load(memory_order::relaxed, thread_scope::device) == 0 &&
           held.exchange(1, memory_order::acquire, thread_scope::device) == 0;
  }

  std::uint32_t held_;
};

/// The plainest allocator that keeps every promise: a row of runs of granules under one lock, first fit.
///
/// It is slow on purpose of clarity, and serves to test the heap's paths that few designs use, and the conformance
/// suite itself: the suite must pass it, and must catch each way in which tests/allocator/mutants.hpp breaks it.
///
/// Invariant: the cells of the granules at which runs begin hold the runs' lengths, which tile the arena; the lowest
/// bit tells whether the run is a block. Other cells mean nothing. Neighbouring free runs are joined when a search
/// meets them. A block's own cell is written under the lock, before the block is handed out and after it came back.
template <memory_order Unlock = memory_order::release>
class locked_list {
 public:
  static constexpr const char* name = "locked_list";
  static constexpr std::uint64_t work_divisor = 256;  // one lock for the whole GPU, and a search from end to end
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return sizeof(control) + bytes / granule * sizeof(cell);
  }

  explicit locked_list(const arena& from)
      : data_(from.data),
        control_(reinterpret_cast<control*>(from.metadata)),
        cells_(reinterpret_cast<cell*>(from.metadata + sizeof(control))),
        initial_bytes_(from.bytes) {}

  WARPHEAP_FN void initialise() const { grow(initial_bytes_); }

  WARPHEAP_FN void grow(std::uint64_t bytes) const {
    if (grid_thread_index() != 0) return;
    const std::uint64_t granules = bytes / granule;
    if (granules == control_->granules) return;
    cells_[control_->granules] = free_run(granules - control_->granules);
    control_->granules = granules;
  }

  void relocate(const arena& from, const arena& to) const {
    device_copy(to.metadata, from.metadata, metadata_bytes(from.bytes));
  }

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return aligned_malloc(granule, bytes); }

  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
    if (bytes > largest || alignment > largest) return nullptr;
    std::uint64_t at = none;
    control_->lock.hold([&] { at = take(alignment < granule ? 1 : alignment / granule, divide_up(bytes, granule)); });
    return at == none ? nullptr : data_ + at * granule;
  }

  WARPHEAP_FN void free(void* block) const {
    control_->lock.hold([&] {
      cell& run = cells_[index(block)];
      control_->live -= length(run);
      run = free_run(length(run));
      if (index(block) < control_->lowest) control_->lowest = index(block);
    });
  }

  WARPHEAP_FN std::uint64_t usable_size(const void* block) const { return length(cells_[index(block)]) * granule; }

  WARPHEAP_FN void count(allocator_counts& counts) const {
    if (grid_thread_index() == 0) counts.live_bytes = control_->live * granule;
  }

  WARPHEAP_FN block_location locate(const void* pointer) const {
    const std::uint64_t offset = reinterpret_cast<std::uint64_t>(pointer) - reinterpret_cast<std::uint64_t>(data_);
    if (offset / granule >= control_->granules) return block_location::outside;
    std::uint64_t at = 0;
    bool live = false;
    control_->lock.hold([&] {
      while (at + length(cells_[at]) <= offset / granule) at += length(cells_[at]);
      live = is_block(cells_[at]);
    });
    if (!live) return block_location::free;
    return offset == at * granule ? block_location::block : block_location::inside;
  }

 private:
  using cell = std::uint32_t;
  struct control {
    spin_lock<Unlock> lock;
    std::uint64_t granules;  // of the arena
    std::uint64_t live;      // granules in blocks
    std::uint64_t lowest;    // start of a run below which all granules are in blocks
    std::uint64_t unused[28];
  };
  static_assert(sizeof(control) == 256);

  static constexpr std::uint64_t granule = capabilities.alignment;
  static constexpr std::uint64_t largest = std::uint64_t{1} << 40;
  static constexpr std::uint64_t none = unlimited;

  WARPHEAP_FN static cell free_run(std::uint64_t granules) { return static_cast<cell>(granules << 1); }
  WARPHEAP_FN static cell block_run(std::uint64_t granules) { return static_cast<cell>(granules << 1 | 1); }
  WARPHEAP_FN static std::uint64_t length(cell run) { return run >> 1; }
  WARPHEAP_FN static bool is_block(cell run) { return (run & 1) != 0; }
  WARPHEAP_FN std::uint64_t index(const void* block) const {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - data_) / granule;
  }

  // Cuts `count` granules, aligned to `alignment` granules, out of a free run; `none` if no run has them. Under the
  // lock.
  WARPHEAP_FN std::uint64_t take(std::uint64_t alignment, std::uint64_t count) const {
    control& c = *control_;
    if (count > c.granules - c.live) return none;
    // Alignment is one of addresses: the arena itself may be aligned less.
    const std::uint64_t base = reinterpret_cast<std::uint64_t>(data_) / granule;
    for (std::uint64_t at = c.lowest; at < c.granules; at += length(cells_[at])) {
      if (is_block(cells_[at])) continue;
      const std::uint64_t end = at + joined(at);
      const std::uint64_t first = align_up(base + at, alignment) - base;
      if (first + count > end) continue;
      if (first != at) cells_[at] = free_run(first - at);
      if (first + count != end) cells_[first + count] = free_run(end - first - count);
      cells_[first] = block_run(count);
      c.live += count;
      if (first == c.lowest) c.lowest = first + count;
      return first;
    }
    return none;
  }

  // Joins the free run at `at` with the free runs that follow it; returns its length in granules.
  WARPHEAP_FN std::uint64_t joined(std::uint64_t at) const {
    std::uint64_t run = length(cells_[at]);
    while (at + run < control_->granules && !is_block(cells_[at + run])) run += length(cells_[at + run]);
    cells_[at] = free_run(run);
    return run;
  }

  std::byte* data_;
  control* control_;
  cell* cells_;
  std::uint64_t initial_bytes_;
};

static_assert(device_allocator<locked_list<>>);

}  // namespace warpheap::test
