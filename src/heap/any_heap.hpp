// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/heap/heap.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <warpheap/allocator.hpp>
#include <warpheap/heap.hpp>

// What is known of a heap when its design is not: the opaque type of the C interface. Each design's heaps are compiled
// in a file of their own, which CMake makes from design.cpp.in.

namespace warpheap::interface {

/// How a heap is made, of whichever design.
struct make_options {
  std::uint64_t bytes;
  heap_options heap;
  bool is_checked;
};

/// Makes a heap of one design on the current device. Throws `not_supported` if the design cannot be checked.
using maker = std::unique_ptr<wh_heap> (*)(const make_options& options);

/// A design that heaps can have.
struct named_design {
  const char* name;
  maker make;
};

}  // namespace warpheap::interface

/// What the C interface calls, with the heap's device current. Members throw as those of `warpheap::heap` do, and
/// `not_supported` where the design has none.
struct wh_heap {
  wh_heap() = default;
  wh_heap(const wh_heap&) = delete;
  wh_heap& operator=(const wh_heap&) = delete;
  virtual ~wh_heap() = default;

  /// Where the handle lies in device memory.
  virtual std::uint64_t handle() const = 0;
  virtual void grow(std::uint64_t bytes) = 0;
  virtual std::int64_t relocate(std::uint64_t bytes) = 0;
  virtual void reset() = 0;
  virtual std::uint64_t trim() = 0;
  virtual void restore() = 0;
  virtual std::uint64_t size() const = 0;
  virtual warpheap::heap_statistics statistics() const = 0;
  virtual std::optional<warpheap::memory_fault> first_fault() const = 0;
  virtual void clear_fault() = 0;
  virtual void malloc(const unsigned long long* sizes, void** blocks, std::uint64_t count) = 0;
  virtual void free(void* const* blocks, std::uint64_t count) = 0;

  const char* design = nullptr;                                           ///< its name
  std::uint32_t flags = 0;                                                ///< as it was made
  warpheap::device_context device = warpheap::device_context::current();  ///< where it lives
};
