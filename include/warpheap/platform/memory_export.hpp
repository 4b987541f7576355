// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/device_context.hpp>
#include <warpheap/platform/memory_space.hpp>
#include <warpheap/platform/size_limit.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/memory_export.hpp>
#else
#include <warpheap/platform/host/memory_export.hpp>
#endif

namespace warpheap {

/// Names device memory of one process for others of the same machine, as bytes that can be sent to them.
using memory_handle = std::array<unsigned char, 64>;
/// Names a device alike in all processes of a machine, whatever number each gives it.
using device_identity = std::array<unsigned char, 16>;

/// The identity of the device with that number. Throws `launch_failure` if no device has it.
inline device_identity identity_of_device(int device) { return target::identity_of_device(device); }

/// The system's number of this process.
inline std::uint64_t process_number() { return static_cast<std::uint64_t>(::getpid()); }

/// Device memory that other processes can map: on a GPU of `cudaMalloc`, on the host a file in memory. It is of the
/// device that was current when it was made. Not thread-safe, except `handle`.
class exported_memory {
 public:
  /// Takes at least `bytes` bytes, rounded up so that nothing else of the process lies in what is exported. The start
  /// is aligned to 256 bytes. Throws `launch_failure` (GPU) or `std::system_error` (host) when the machine refuses, and
  /// `std::length_error` for more than `most_bytes`.
  explicit exported_memory(std::uint64_t bytes)
      : context_(device_context::current()),
        bytes_(align_up(require_size(bytes == 0 ? 1 : bytes, "exported memory"), unit_bytes)),
        memory_(target::make_exported(bytes_)) {}
  ~exported_memory() {
    const scoped_device own{context_, std::nothrow};
    if (own.is_current()) target::release_exported(memory_, bytes_);  // else it went with the device
  }
  exported_memory(const exported_memory&) = delete;
  exported_memory& operator=(const exported_memory&) = delete;

  /// Lets another device of this process reach the memory. Throws as `device_range::allow_peer` does.
  void allow_peer(int device) {
    const scoped_device own{context_};
    target::require_peer(context_.device(), device);
    if (device != context_.device()) target::grant_peer_all(context_.device(), device);
  }

  std::byte* data() const { return static_cast<std::byte*>(memory_.data); }  ///< start of the memory
  std::uint64_t bytes() const { return bytes_; }                             ///< size of the memory
  const device_context& context() const { return context_; }                 ///< the device that it is of
  /// The handle by which another process maps it, as long as this object is there. Throws as the constructor does.
  memory_handle handle() const {
    const scoped_device own{context_};
    return target::handle_of(memory_, bytes_);
  }

 private:
  // CUDA puts small allocations together in blocks of this size, and a handle shows the whole block.
  static constexpr std::uint64_t unit_bytes = std::uint64_t{2} << 20;

  device_context context_;
  std::uint64_t bytes_;
  target::exported memory_;
};

/// Memory of another process, mapped into this one from its construction to its end, on the device that was current
/// then. Not thread-safe.
class imported_memory {
 public:
  /// Maps the memory; `bytes` is its size. Throws `launch_failure` (GPU) or `std::system_error` (host) when the machine
  /// refuses: the other process has ended or given the memory back, or the device cannot reach it.
  imported_memory(const memory_handle& handle, std::uint64_t bytes)
      : context_(device_context::current()), bytes_(bytes), data_(target::map_exported(handle, bytes)) {}
  ~imported_memory() {
    const scoped_device own{context_, std::nothrow};
    if (own.is_current()) target::unmap_exported(data_, bytes_);
  }
  imported_memory(const imported_memory&) = delete;
  imported_memory& operator=(const imported_memory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }  ///< where it lies in this process
  std::uint64_t bytes() const { return bytes_; }                      ///< its size

 private:
  device_context context_;
  std::uint64_t bytes_;
  void* data_;
};

}  // namespace warpheap
