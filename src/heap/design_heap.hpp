// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "../interface/arrays.hpp"
#include "any_heap.hpp"

namespace warpheap::interface {

/// A heap of the design `A`, and its handle in device memory.
template <class A>
class design_heap final : public wh_heap {
  static_assert(!A::capabilities.needs_full_warp, "design_heap: the last warp of a batch is not full");
  static_assert(std::is_trivially_copyable_v<heap_ref<A>>, "design_heap: the handle is copied bit by bit");

 public:
  explicit design_heap(const make_options& options) : heap_(options.bytes, options.heap), handle_(sizeof(heap_ref<A>)) {
    write_handle();
  }

  std::uint64_t handle() const override { return reinterpret_cast<std::uintptr_t>(handle_.data()); }

  void grow(std::uint64_t bytes) override {
    if constexpr (A::capabilities.grow) {
      heap_.grow(bytes);
    } else {
      refuse("grow");
    }
  }
  std::int64_t relocate(std::uint64_t bytes) override {
    if constexpr (A::capabilities.relocate) {
      const relocation moved = heap_.relocate(bytes);
      write_handle();
      return moved.distance;
    } else {
      refuse("be moved");
    }
  }
  void reset() override {
    if constexpr (A::capabilities.reset) {
      heap_.reset();
    } else {
      refuse("be reset");
    }
  }
  std::uint64_t trim() override {
    if constexpr (A::capabilities.trim_bytes != 0) {
      return heap_.trim();
    } else {
      refuse("be trimmed");
    }
  }
  void restore() override {
    if constexpr (A::capabilities.trim_bytes != 0) {
      heap_.restore();
    } else {
      refuse("be trimmed, so there is nothing to restore");
    }
  }
  std::uint64_t size() const override { return heap_.size(); }
  heap_statistics statistics() const override { return heap_.statistics(); }
  std::optional<memory_fault> first_fault() const override {
    if constexpr (records_faults<A>) {
      return heap_.first_fault();
    } else {
      throw not_supported("the heap records no faults: make it with WH_HEAP_CHECKED");
    }
  }
  void clear_fault() override {
    if constexpr (records_faults<A>) {
      heap_.clear_fault();
    } else {
      throw not_supported("the heap records no faults: make it with WH_HEAP_CHECKED");
    }
  }
  void malloc(const unsigned long long* sizes, void** blocks, std::uint64_t count) override {
    launch(grid_for(count), malloc_each<A>{heap_.ref(), sizes, blocks, count});
  }
  void free(void* const* blocks, std::uint64_t count) override {
    if constexpr (A::capabilities.individual_free) {
      launch(grid_for(count), free_each<A>{heap_.ref(), blocks, count});
    } else {
      refuse("take single blocks back: reset it");
    }
  }

 private:
  // The place stays, so what kernels were given leads to the heap after it moved, too.
  void write_handle() {
    const heap_ref<A> now = heap_.ref();
    device_copy(handle_.data(), &now, sizeof(now));
  }

  [[noreturn]] void refuse(const char* what) const {
    throw not_supported("a heap of the design '" + std::string(design) + "' cannot " + what);
  }

  heap<A> heap_;
  device_array<std::byte> handle_;
};

/// Makes a heap of the design `A`, or of `checked<A>`.
template <class A>
std::unique_ptr<wh_heap> make_heap(const make_options& options) {
  if (!options.is_checked) return std::make_unique<design_heap<A>>(options);
  if constexpr (locates_blocks<A>) {
    return std::make_unique<design_heap<checked<A>>>(options);
  } else {
    throw not_supported(
        "a heap of this design cannot be checked, since it does not know its blocks: "
        "take the default design, or none that is checked");
  }
}

}  // namespace warpheap::interface
