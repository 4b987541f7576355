// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <string>
#include <warpheap/platform/cuda/detail/driver.hpp>
#include <warpheap/platform/cuda/error.hpp>

// The runtime follows the driver's current context, so the driver's calls change the device for the runtime too. They
// are used because `cudaSetDevice` starts the device: going back by it to one that the process never used would take
// memory there.

namespace warpheap::target {

struct context {
  int device = -1;
  CUcontext handle = nullptr;
  unsigned long long id = 0;  // no other context of the process has it; 0 if the driver does not tell
  bool primary = false;       // the one that the runtime makes, and that `cudaDeviceReset` destroys
};

inline unsigned long long context_id(CUcontext handle) {
  unsigned long long id = 0;
  if (driver().context_id == nullptr || driver().context_id(handle, &id) != CUDA_SUCCESS) return 0;
  return id;
}

// The runtime's context of a device, which this starts.
inline CUcontext primary_context(int device) {
  CUcontext handle = nullptr;
  driver_must(driver().retain_primary(&handle, device), "starting a device");
  return handle;
}

inline int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  static_cast<void>(cudaGetLastError());  // a machine without a device is an answer, and no error of the program
  return 0;
}

inline context current_context() {
  cuda_must(cudaFree(nullptr), "starting the CUDA runtime");  // makes the context, if the thread has none
  context made;
  cuda_must(cudaGetDevice(&made.device), "finding a CUDA device");
  if (!driver().has_contexts()) return made;
  driver_must(driver().current_context(&made.handle), "asking for the current context");
  made.id = context_id(made.handle);
  made.primary = primary_context(made.device) == made.handle;
  static_cast<void>(driver().release_primary(made.device));  // the runtime keeps it
  return made;
}

// Started for the rest of the process, as `cudaSetDevice` does it.
inline context context_of(int device) {
  const int count = device_count();
  if (device < 0 || device >= count) {
    throw launch_failure("warpheap: there is no device " + std::to_string(device) + ": this machine has " +
                         std::to_string(count));
  }
  if (!driver().has_contexts()) throw launch_failure("warpheap: the driver is too old to choose a device: update it");
  const CUcontext handle = primary_context(device);
  return {device, handle, context_id(handle), true};
}

// A context whose device was reset is not asked: its handle may lead nowhere.
inline bool is_alive(const context& which) noexcept {
  if (which.device < 0) return false;
  if (!driver().has_contexts()) {
    int device = 0;
    return cudaGetDevice(&device) == cudaSuccess;
  }
  unsigned flags = 0;
  int active = 0;
  // Refused when the process ends.
  if (driver().primary_state(which.device, &flags, &active) != CUDA_SUCCESS) return false;
  if (!which.primary) return true;
  if (active == 0) return false;
  CUcontext now = nullptr;
  if (driver().retain_primary(&now, which.device) != CUDA_SUCCESS) return false;
  const unsigned long long id = context_id(now);
  const bool same = now == which.handle && (id == 0 || which.id == 0 || id == which.id);
  static_cast<void>(driver().release_primary(which.device));
  return same;
}

// True if the context is alive and the calling thread's. It takes two calls of the driver instead of the four of
// `is_alive`, since pools ask each time. A driver that tells no numbers of contexts leaves it open. Another thread may
// have destroyed the context that this thread has; the driver says so when it is asked for the number.
inline bool is_known_current(const context& which) noexcept {
  if (which.id == 0 || driver().current_context == nullptr) return false;
  CUcontext now = nullptr;
  return driver().current_context(&now) == CUDA_SUCCESS && now == which.handle && context_id(now) == which.id;
}

class context_scope {
 public:
  explicit context_scope(const context& wanted) noexcept : current_(is_known_current(wanted)) {
    if (current_) return;
    current_ = is_alive(wanted);
    if (!current_ || wanted.handle == nullptr) return;
    CUcontext before = nullptr;
    current_ = driver().current_context(&before) == CUDA_SUCCESS;
    if (!current_ || before == wanted.handle) return;
    current_ = pushed_ = driver().push_context(wanted.handle) == CUDA_SUCCESS;
  }
  ~context_scope() {
    CUcontext popped = nullptr;
    if (pushed_) static_cast<void>(driver().pop_context(&popped));
  }
  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;

  bool is_current() const { return current_; }

 private:
  bool current_;
  bool pushed_ = false;
};

[[noreturn]] inline void refuse_dead_context(int device) {
  throw launch_failure("warpheap: device " + std::to_string(device) +
                       " was reset, or lost by a failed kernel, since this memory was taken from it: make it anew");
}

}  // namespace warpheap::target
