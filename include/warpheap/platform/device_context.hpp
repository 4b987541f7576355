// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <warpheap/platform/annotation.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/device_context.hpp>
#else
#include <warpheap/platform/host/device_context.hpp>
#endif

namespace warpheap {

/// Number of devices that kernels can run on; 0 without a device or without a driver. The host backend has one.
inline int device_count() { return target::device_count(); }

/// A device as the process uses it at one time: from its first use until it is reset, or the process ends. What owns
/// memory of a device keeps one of these, and makes it current for each of its calls by a `scoped_device`.
class device_context {
 public:
  /// Names no device.
  device_context() = default;
  /// The device that is current for the calling thread; starts it if need be. Throws `launch_failure` if the machine
  /// has no device.
  static device_context current() { return device_context{target::current_context()}; }
  /// The device with the number `device`; starts it if need be. Throws `launch_failure` if there is no such device.
  static device_context of(int device) { return device_context{target::context_of(device)}; }

  /// Number of the device, from 0 on; -1 if it names none.
  int device() const { return context_.device; }
  /// True as long as the device has what was made on it. False after `cudaDeviceReset`, at the end of the process, and
  /// if it names no device.
  bool is_alive() const noexcept { return target::is_alive(context_); }

 private:
  friend class scoped_device;
  friend class device_streams;
  explicit device_context(const target::context& made) : context_(made) {}

  target::context context_;
};

/// Makes a device the current one of the calling thread until the guard is destroyed. The device that was current then
/// is so again; it is not started by that. Guards of a thread end in reverse order.
class scoped_device {
 public:
  /// Makes the device of `context` current. Throws `launch_failure` if it was reset meanwhile.
  explicit scoped_device(const device_context& context) : scope_(context.context_) {
    if (!scope_.is_current()) target::refuse_dead_context(context.device());
  }
  /// Makes the device current, or leaves the current one if it was reset meanwhile: for destructors.
  scoped_device(const device_context& context, std::nothrow_t) noexcept : scope_(context.context_) {}
  scoped_device(const scoped_device&) = delete;
  scoped_device& operator=(const scoped_device&) = delete;

  /// True if the device is current; false if it was reset, or the process ends, and nothing of it can be used.
  bool is_current() const { return scope_.is_current(); }

 private:
  target::context_scope scope_;
};

}  // namespace warpheap
