// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <support/watched_heap.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// The kernels' side of `block_list`.
struct block_list_view {
  void** blocks;
  std::uint64_t* count;
  std::uint64_t capacity;

  /// Adds a block. False if there are more than the heap can have.
  WARPHEAP_FN bool push(void* block) const {
    const std::uint64_t index = atomic_view{*count}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    if (index >= capacity) return false;
    blocks[index] = block;
    return true;
  }
  WARPHEAP_FN std::uint64_t size() const {
    const std::uint64_t pushed = atomic_view{*count}.load(memory_order::relaxed, thread_scope::device);
    return pushed < capacity ? pushed : capacity;
  }
};

/// Blocks that outlive the launch that took them.
class block_list {
 public:
  explicit block_list(std::uint64_t capacity) : blocks_(capacity), count_(1) {}

  block_list_view view() const { return {blocks_.data(), count_.data(), blocks_.size()}; }
  std::uint64_t size() const { return count_.at(0) < blocks_.size() ? count_.at(0) : blocks_.size(); }
  void* at(std::uint64_t index) const { return blocks_.at(index); }
  void clear() { count_.clear(); }

 private:
  device_array<void*> blocks_;
  device_array<std::uint64_t> count_;
};

/// Each thread takes blocks of `bytes` until it gets none.
struct fill_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t bytes) const {
    for (void* block = heap.malloc(bytes); block != nullptr; block = heap.malloc(bytes)) {
      if (!heap.log.expect(list.push(block), problem::granted, bytes, block)) return;
    }
  }
};

/// Threads free the blocks of a list, each one by another thread than took it.
struct free_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t bytes) const {
    const std::uint64_t count = list.size();
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      heap.free(list.blocks[(i + count / 2) % count], bytes);
    }
  }
};

}  // namespace warpheap::test
