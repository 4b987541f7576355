// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>
#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/device_context.hpp>
#include <warpheap/platform/memory_place.hpp>
#include <warpheap/platform/size_limit.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/memory_space.hpp>
#else
#include <warpheap/platform/host/memory_space.hpp>
#endif

namespace warpheap {

/// True if this machine can give device memory to parts of a reserved range. Throws when there is no device.
inline bool device_can_map() { return target::mapping_granularity(memory_place::device) != 0; }

/// Bytes of addresses that the process may use for device memory, those in use included, as far as that is known: the
/// host backend's limit is that of the process (`ulimit -v`).
inline std::uint64_t address_limit() { return target::address_limit(); }

/// How a `device_range` takes memory.
struct range_options {
  /// Memory is mapped and given back in pieces of this many bytes, rounded up to the machine's granularity. Large
  /// pieces map faster, small ones can be given back more finely.
  std::uint64_t piece_bytes = std::uint64_t{256} << 20;
  /// Take plain memory, all at once, as on a machine that cannot map memory at fixed addresses.
  bool plain = false;
  /// The owner of the memory.
  memory_place place = memory_place::device;
};

/// A range of device addresses, reserved once, of which parts have memory: the device's, or pinned memory
/// of the host that the device reaches.
///
/// On a GPU the driver's virtual memory calls serve it; on the host `mmap`. Where neither works, or `plain` asks for
/// it, the whole range is one plain allocation and `can_map` is false: everything is committed and stays so. The bytes
/// are device memory like any other: kernels and copies use them. The range is of the device that was current when it
/// was made, and its members use that one, whichever is current. Host side only; not thread-safe.
class device_range {
 public:
  device_range() = default;
  /// Reserves `bytes`, rounded up to pieces. Nothing is committed unless memory is plain. Throws `launch_failure`
  /// (GPU) or `std::system_error` (host) when the machine refuses, and `std::length_error` for more than `most_bytes`.
  explicit device_range(std::uint64_t bytes, range_options options = {});
  ~device_range();
  device_range(device_range&& other) noexcept { swap(other); }
  device_range& operator=(device_range&& other) noexcept {
    swap(other);
    return *this;
  }
  /// Exchanges the two ranges.
  void swap(device_range& other) noexcept;

  /// Gives memory to each piece that touches `[offset, offset + bytes)`; pieces that have it already keep it, with
  /// their contents. New memory has any contents. All or nothing: a refused call throws and changes nothing. No kernel
  /// need be idle.
  void commit(std::uint64_t offset, std::uint64_t bytes);
  /// Gives back the memory of each piece that lies within `[offset, offset + bytes)`. No kernel may use them. Returns
  /// the bytes given back; 0 if the range cannot map.
  std::uint64_t decommit(std::uint64_t offset, std::uint64_t bytes);

  /// Lets another device reach the range: the memory that it has, and what it gets later. The range's own device does
  /// so already. Throws `launch_failure` if there is no such device or it cannot reach the memory, and has changed
  /// nothing.
  void allow_peer(int device);

  /// The device that the range is of; none for a range of no bytes.
  const device_context& context() const { return context_; }
  std::byte* data() const { return data_; }                     ///< start of the range, aligned to at least 4 KiB
  std::uint64_t reserved_bytes() const { return reserved_; }    ///< size of the range
  std::uint64_t committed_bytes() const { return committed_; }  ///< bytes that have memory
  std::uint64_t piece_bytes() const { return piece_; }          ///< unit of commit and decommit
  bool can_map() const { return mapped_; }                      ///< true if parts can be committed and given back

 private:
  std::byte* data_ = nullptr;
  void* plain_ = nullptr;  // the allocation that holds the range, if it is plain
  std::uint64_t reserved_ = 0;
  std::uint64_t committed_ = 0;
  std::uint64_t piece_ = 0;
  bool mapped_ = false;
  memory_place place_ = memory_place::device;
  device_context context_;
  std::vector<int> peers_;                           // other devices that reach the pieces
  std::map<std::uint64_t, target::mapping> pieces_;  // offset of each committed piece and its memory
};

/// Writes `bytes` bytes of `value` to device memory. Ordered as a launch is.
inline void device_fill(void* destination, unsigned char value, std::uint64_t bytes) {
  target::device_fill(destination, value, bytes);
}
/// As `device_fill`, and waits until the bytes are written, and all launches before. What gives mapped memory back does
/// not wait for a fill that is still to run.
inline void device_fill_now(void* destination, unsigned char value, std::uint64_t bytes) {
  target::device_fill_now(destination, value, bytes);
}
/// Copies `bytes` bytes between any two of host and device memory and waits until it is done, and all launches before.
inline void device_copy(void* destination, const void* source, std::uint64_t bytes) {
  target::device_copy(destination, source, bytes);
}
/// Copies `bytes` bytes of device memory to the host, as `device_copy` does, while kernels may be changing them. Each
/// aligned word of 8 bytes is one that was there, but words may be of different moments: check them before use.
inline void device_snapshot(void* destination, const void* source, std::uint64_t bytes) {
  target::device_snapshot(destination, source, bytes);
}
/// Device memory of its own, 256-byte aligned, on the current device. `device_release` takes it back. Throws
/// `launch_failure` (GPU) or `std::system_error` (host) when the machine refuses the memory.
inline void* device_allocate(std::uint64_t bytes) { return target::device_allocate(bytes); }
/// Takes back what `device_allocate` gave; null is ignored.
inline void device_release(void* memory) noexcept { target::device_release(memory); }

}  // namespace warpheap

#include <warpheap/platform/detail/device_range.hpp>
