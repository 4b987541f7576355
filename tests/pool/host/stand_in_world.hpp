// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "stand_in_cuda.hpp"

// What the libcuda of stand_in_driver.cpp knows: devices, contexts, streams, memory. Its functions change it, and so do
// the tests, by stand_in_cuda.hpp.

struct CUctx_st {
  int device;
};
struct CUstream_st {
  int device;
  std::uint64_t given = 0;
  std::uint64_t done = 0;
  std::uint64_t capture = 0;  // its number; 0: none
};
struct CUevent_st {
  CUstream stream = nullptr;
  std::uint64_t work = 0;
};

namespace warpheap::test::stand_in {
constexpr int devices = 2;
constexpr std::uint64_t granularity = std::uint64_t{2} << 20;

struct memory {
  int device;
  std::uint64_t bytes;
};

// A device, its primary context and its memory.
struct device_state {
  CUctx_st context;
  CUstream_st default_stream;
  bool is_active = false;        // the context is started, and was not reset since
  std::uint64_t context_id = 0;  // the number of the context, or of the last one
  std::uint64_t capacity = 0;    // bytes
  std::uint64_t taken = 0;
};

// All that the driver knows, under its lock.
struct world {
  std::mutex mutex;
  bool is_started = false;  // by cuInit
  std::array<device_state, devices> device{{{{0}, {0}}, {{1}, {1}}}};
  std::uint64_t last_context_id = 0;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  std::vector<wait> waits;
  std::uint64_t captures_begun = 0;

  std::map<std::uint64_t, memory> handles;  // physical memory by its handle
  std::map<CUdeviceptr, memory> blocks;     // of cuMemAlloc
  std::map<void*, std::uint64_t> pinned;
  std::map<CUdeviceptr, memory> ranges;  // reserved addresses
  std::uint64_t last_handle = 0;

  std::map<CUdeviceptr, std::uint64_t> opened;  // of other processes, and how often
  std::uint64_t events = 0;

  std::vector<std::pair<int, int>> peers;
  bool can_reach = true;
  std::map<std::string, unsigned> flags;  // of the last call of a function
  std::map<std::string, CUresult> failures;
  std::vector<std::string> calls;
};

// It has no end: what a process does last may ask the driver, too.
inline world& the() {
  static world& only = *new world;
  return only;
}

// The contexts of a thread, the current one last. It needs no destructor, for the reason above.
class context_stack {
 public:
  CUcontext& back() { return contexts_[depth_]; }
  void push_back(CUcontext context) { contexts_.at(++depth_) = context; }
  void pop_back() {
    if (depth_ != 0) return static_cast<void>(--depth_);
    contexts_[0] = nullptr;
  }

 private:
  std::array<CUcontext, 16> contexts_{};
  std::size_t depth_ = 0;
};

inline thread_local context_stack contexts;
inline thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// Holds the lock for a call, which may be told to fail, and which does so before cuInit.
class entered {
 public:
  explicit entered(const char* name) : lock_(the().mutex) {
    the().calls.emplace_back(name);
    if (!the().is_started && std::strcmp(name, "cuInit") != 0) fails_ = CUDA_ERROR_NOT_INITIALIZED;
    if (const auto found = the().failures.find(name); found != the().failures.end()) {
      fails_ = found->second;
      the().failures.erase(found);
    }
  }
  CUresult fails() const { return fails_; }

 private:
  std::lock_guard<std::mutex> lock_;
  CUresult fails_ = CUDA_SUCCESS;
};

inline device_state& of(int device) { return the().device.at(static_cast<std::size_t>(device)); }

inline bool is_alive(CUcontext context) { return of(context->device).is_active; }

// The device of the calling thread's context, or why the thread has no such device.
inline CUresult own_device(int& device) {
  if (!the().is_started) return CUDA_ERROR_NOT_INITIALIZED;
  if (contexts.back() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!is_alive(contexts.back())) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  device = contexts.back()->device;
  return CUDA_SUCCESS;
}

inline CUresult find_stream(CUstream& stream) {
  if (stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD) return CUDA_SUCCESS;
  int device = 0;
  const CUresult code = own_device(device);
  stream = &of(device).default_stream;
  return code;
}

inline bool is_any_captured() {
  return std::any_of(the().streams.begin(), the().streams.end(), [](const auto& each) { return each->capture != 0; });
}

inline CUresult take(int device, std::uint64_t bytes) {
  auto& taken = of(device).taken;
  const std::uint64_t limit = of(device).capacity;
  if (bytes > limit || taken > limit - bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  taken += bytes;
  return CUDA_SUCCESS;
}
inline void give(const memory& which) { of(which.device).taken -= which.bytes; }

// The primary context of a device, started.
inline CUcontext start_primary(int device) {
  device_state& own = of(device);
  if (!own.is_active) own.context_id = ++the().last_context_id;
  own.is_active = true;
  return &own.context;
}

}  // namespace warpheap::test::stand_in
