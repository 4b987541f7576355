// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/heap/heap_ref.hpp>
#include <warpheap/heap/relocation.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// How a heap takes its memory.
struct heap_options {
  /// Bytes of addresses to reserve, as far as the heap can then grow; 0: as much as the device has memory, or less
  /// where the process has fewer addresses left or may use fewer (`ulimit -v`). `heap::statistics` tells how many it
  /// got.
  std::uint64_t reserve_bytes = 0;
  /// Take plain memory, as on a device that cannot map memory at fixed addresses. The heap then cannot grow. A small
  /// heap takes less of a GPU so, since memory is mapped in pieces of 2 MiB, for blocks and for metadata.
  bool plain = false;
  /// Raise the device's limit for the stack of a thread by what a call of the heap needs (`stack_bytes` of the design's
  /// capabilities), so that kernels with recursion, virtual functions or function pointers can call it, too. The
  /// compiler counts the stack of all other kernels. 1,024 bytes take 277 MB of an H100.
  bool raise_stack_limit = true;
};

/// What a heap has taken and handed out, in bytes.
struct heap_statistics {
  std::uint64_t reserved_bytes;             ///< addresses that blocks can come to lie at
  std::uint64_t committed_bytes;            ///< memory at such addresses
  std::uint64_t metadata_bytes;             ///< memory for the design's own state, beside the blocks
  std::optional<std::uint64_t> live_bytes;  ///< handed out and not taken back; nothing if the design does not know
};

namespace detail {

// Waits for all launches and copies before it: unmapping memory does not wait for work that still uses it. A launch
// that failed is reported where the program waits for it, and its context can do nothing more, so the failure is
// dropped here.
inline void await_launches() noexcept {
  try {
    synchronise();
  } catch (const launch_failure&) {
  }
}

// As the last member of a class: waits for the launches before the other members end.
struct awaits_launches_first {
  awaits_launches_first() = default;
  awaits_launches_first(awaits_launches_first&&) noexcept {}
  ~awaits_launches_first() { await_launches(); }
};

}  // namespace detail

/// Thrown for a heap of fewer bytes than its design needs to serve one block. The message names both numbers.
class heap_too_small : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A heap in device memory, of the design `A`: it owns the memory, kernels use it through `ref()`.
///
/// Blocks outlive the kernels that made them, and end with the heap. All members are for the host. Those that change
/// the heap, and its end, wait for the launches before them and need that no kernel uses the heap meanwhile. Heaps are
/// independent of each other; one heap is not to be changed by two host threads at once.
///
/// A heap is of the device that was current when it was made. Its members use that device, whichever is current, and
/// leave the current one as it was. After `cudaDeviceReset` they throw `launch_failure`, and the end of the heap does
/// nothing.
template <device_allocator A = default_allocator>
class heap {
 public:
  /// A heap whose blocks lie in `bytes` bytes, what the design rounds included. Raises the limit for a thread's stack,
  /// unless `heap_options::raise_stack_limit` is false. Throws `launch_failure` (GPU) or a
  /// `std::system_error` (host) when the machine refuses the memory, `std::length_error` for a size or reservation
  /// above `most_bytes` (2^63), `std::invalid_argument` for 0 bytes, and `heap_too_small`, which derives from that, for
  /// fewer bytes than the design needs to serve a block.
  explicit heap(std::uint64_t bytes, heap_options options = {});
  ~heap();
  heap(heap&& other) noexcept = default;
  heap& operator=(heap&& other) noexcept;

  /// The handle for kernels.
  heap_ref<A> ref() const { return heap_ref<A>{allocator_}; }

  /// The device that the heap is of.
  const device_context& device() const { return device_; }

  /// Takes back all blocks at once. What `trim` gave back stays so. Throws as the constructor does when the heap is
  /// trimmed and the machine refuses memory for the work; the heap is then as before.
  void reset()
    requires(A::capabilities.reset);

  /// Makes the heap hand out up to `bytes` bytes, at the same addresses: blocks and handles stay valid. A smaller
  /// figure than now changes nothing. Throws `std::length_error` if the heap cannot grow so far, and as the
  /// constructor does; the heap is then as before.
  void grow(std::uint64_t bytes)
    requires(A::capabilities.grow);

  /// Moves the heap to a place of `bytes` bytes, at least its present size, and makes it hand out that many: for plain
  /// memory, and for a heap that reserved too few addresses, which cannot `grow`. All blocks keep their contents and
  /// move by the distance that is returned. Pointers to them, and handles, are to be replaced: those from before lead
  /// nowhere. Memory stays plain, or mapped with new addresses to grow into.
  ///
  /// Needs the memory of both places for a moment. At the new place there is all memory, whatever `trim` gave back at
  /// the old one. Throws `std::length_error` if `bytes` is less than the heap has, `std::invalid_argument` if the
  /// alignment is no power of two, and as the constructor does when the machine refuses the memory; the heap and its
  /// blocks are then as they were.
  relocation relocate(std::uint64_t bytes, relocation_options options = {})
    requires(A::capabilities.relocate);

  /// Gives memory that no block lies in back to the machine; returns how many bytes. Only whole pieces can be given
  /// back: a 32nd to a 16th of the heap each, at most 256 MiB, and on a GPU at least 2 MiB. So it may be less than is
  /// free, and it is 0 if memory is plain. Blocks and handles stay valid. The heap has that much less to hand out until
  /// `restore` or `relocate`. Throws as the constructor does when the machine refuses memory for its own work; the heap
  /// is then as before.
  std::uint64_t trim()
    requires(A::capabilities.trim_bytes != 0);

  /// Takes all memory again that `trim` gave back. Throws as the constructor does when the machine refuses it; the heap
  /// is then as before.
  void restore()
    requires(A::capabilities.trim_bytes != 0);

  /// Bytes in which blocks lie: what was asked for when the heap was made, grew or moved. A design cuts them into whole
  /// units, chunks or pages, so what is left over at the ends, and the rounding of each block, is never handed out; the
  /// designs tell the size of a unit.
  std::uint64_t size() const { return arena_.bytes; }

  /// What the heap has taken and handed out. Kernels may use the heap meanwhile: live bytes are then a guess between 0
  /// and `size()`, since the heap's parts are counted at different moments. Exact when none does.
  heap_statistics statistics() const;

  /// The design's own figures, where it has some, such as `ouroboros_statistics`. Kernels may use the heap meanwhile:
  /// the figures are then of different moments, and their sums need not agree. Exact when none does.
  auto allocator_statistics() const
    requires(reports_statistics<A>)
  {
    const scoped_device own{device_};
    return allocator_.statistics();
  }

  /// The first fault in the use of the heap that was found since it was made, reset, or its fault was cleared; nothing
  /// if the use was right. Waits for the launches before. `describe` makes a sentence of it.
  std::optional<memory_fault> first_fault() const
    requires(records_faults<A>)
  {
    const scoped_device own{device_};
    return allocator_.first_fault();
  }

  /// Forgets the first fault, so that the next one is kept.
  void clear_fault()
    requires(records_faults<A>)
  {
    const scoped_device own{device_};
    synchronise();
    allocator_.clear_fault();
  }

 private:
  // The memory of a heap; of the metadata, all bytes are zero.
  struct ranges {
    device_range blocks;
    device_range metadata;
    warpheap::arena arena;
    detail::awaits_launches_first settled = {};  // the fill of `metadata` may still run when an error ends this
  };
  static ranges take_ranges(std::uint64_t bytes, heap_options options, std::uint64_t phase, std::uint64_t alignment);
  static ranges reserve_ranges(std::uint64_t bytes, heap_options options, std::uint64_t phase, std::uint64_t alignment);
  static device_range reserve(std::uint64_t bytes, std::uint64_t heap_bytes, range_options options);

  // A bit for each unit of the design, on the host and on the device.
  struct unit_bits {
    explicit unit_bits(std::uint64_t bytes);
    std::vector<std::uint64_t> here;
    device_array<std::uint64_t> there;
  };
  void withdraw(unit_bits& units) const;
  static void put_back(const A& into, const unit_bits& units);
  void withdraw_again(unit_bits& units) const;
  std::uint64_t whole_units() const;
  void copy_data(std::byte* to) const;
  void hide_blocks() const;
  void reveal_blocks() const;

  device_context device_;
  device_range blocks_;
  device_range metadata_;
  arena arena_{};
  A allocator_;
  std::vector<std::uint64_t>
      trimmed_;  // a bit for each unit that was withdrawn because memory it touches was given back
};

}  // namespace warpheap

// Members start kernels. Where the compiler makes none, they are those of a file of the program that has
// `template class warpheap::heap<DESIGN>;`.
#if WARPHEAP_COMPILES_KERNELS
#include <warpheap/heap/detail/heap.hpp>
#include <warpheap/heap/detail/trim.hpp>
#endif
