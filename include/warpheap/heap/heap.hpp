// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <warpheap/allocators.hpp>
#include <warpheap/floor.hpp>
#include <warpheap/heap/default_allocator.hpp>
#include <warpheap/heap/heap_ref.hpp>

namespace warpheap {

/// How a heap takes its memory.
struct heap_options {
  /// Bytes of addresses to reserve, as far as the heap can then grow; 0: as much as the device has memory.
  std::uint64_t reserve_bytes = 0;
  /// Take plain memory, as on a device that cannot map memory at fixed addresses. The heap then cannot grow.
  bool plain = false;
};

/// What a heap has taken and handed out, in bytes.
struct heap_statistics {
  std::uint64_t reserved_bytes;             ///< addresses that blocks can come to lie at
  std::uint64_t committed_bytes;            ///< memory behind them
  std::uint64_t metadata_bytes;             ///< memory for the design's own state, beside the blocks
  std::optional<std::uint64_t> live_bytes;  ///< handed out and not taken back; nothing if the design does not know
};

/// A heap in device memory, of the design `A`: it owns the memory, kernels use it through `ref()`.
///
/// Blocks outlive the kernels that made them, and the heap. All members are for the host. Those that change the heap,
/// and its end, wait for the launches before them and need that no kernel uses the heap meanwhile. Heaps are
/// independent of each other; one heap is not to be changed by two host threads at once.
template <device_allocator A = default_allocator>
class heap {
 public:
  /// A heap that hands out up to `bytes` bytes, the design's rounding included. Throws `launch_failure` (GPU) or a
  /// `std::system_error` (host) when the machine refuses the memory, and `std::invalid_argument` for 0 bytes.
  explicit heap(std::uint64_t bytes, heap_options options = {});
  ~heap();
  heap(heap&& other) noexcept = default;
  heap& operator=(heap&& other) noexcept;

  /// The handle for kernels.
  heap_ref<A> ref() const { return heap_ref<A>{allocator_}; }

  /// Takes back all blocks at once.
  void reset()
    requires(A::capabilities.reset);

  /// Makes the heap hand out up to `bytes` bytes, at the same addresses: blocks and handles stay valid. A smaller
  /// figure than now changes nothing. Throws `std::length_error` if the heap cannot grow so far, and as the
  /// constructor does; the heap is then as before.
  void grow(std::uint64_t bytes)
    requires(A::capabilities.grow);

  /// Bytes that the heap hands out when empty, the design's rounding included.
  std::uint64_t size() const { return arena_.bytes; }

  /// What the heap has taken and handed out.
  heap_statistics stats() const;

 private:
  void hide_blocks() const;
  void reveal_blocks() const;

  device_range blocks_;
  device_range metadata_;
  arena arena_{};
  A allocator_;
};

}  // namespace warpheap

#include <warpheap/heap/detail/heap.hpp>
