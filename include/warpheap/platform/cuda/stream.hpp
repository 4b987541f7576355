// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>
#include <warpheap/platform/cuda/capture_mode.hpp>
#include <warpheap/platform/cuda/device_context.hpp>
#include <warpheap/platform/cuda/error.hpp>
#include <warpheap/platform/host_thread.hpp>

namespace warpheap::target {

using stream = cudaStream_t;

// Calls about events belong to no capture, so none of them may end one that another stream or thread is making.

// Made when it is first recorded, on the device that is current then.
class event {
 public:
  event() = default;
  ~event() {
    if (handle_ == nullptr) return;
    const relaxed_capture_mode mode;
    cuda_ignore(cudaEventDestroy(handle_));  // at the end of the process it may be gone
  }
  event(event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  event& operator=(event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  cudaEvent_t made() {
    if (handle_ == nullptr) {
      cuda_must(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming), "making an event");
    }
    return handle_;
  }
  cudaEvent_t get() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

inline bool stream_is_shared(stream which) {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
  if (which == nullptr) return false;
#endif
  return which != cudaStreamPerThread;
}

// A default stream is one of whichever device is current, so it is of each.
inline bool stream_is_of(stream which, const context& device) {
  if (which == nullptr || which == cudaStreamLegacy || which == cudaStreamPerThread) return true;
  if (device.handle == nullptr || driver().stream_context == nullptr) return true;
  CUcontext own = nullptr;
  driver_must(driver().stream_context(which, &own), "asking for the device of a stream");
  return own == device.handle;
}

inline std::uint64_t stream_key(stream which) {
  if (!stream_is_shared(which)) return host_thread_serial() | std::uint64_t{1} << 63;
  const auto key = reinterpret_cast<std::uintptr_t>(which);
  return key != 0 ? key : reinterpret_cast<std::uintptr_t>(cudaStreamLegacy);
}

inline bool stream_is_capturing(stream which) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t code = cudaStreamIsCapturing(which, &status);
  if (code == cudaErrorStreamCaptureImplicit) {  // the default stream cannot be asked while another one is captured
    static_cast<void>(cudaGetLastError());
    return true;
  }
  cuda_must(code, "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

inline std::uint64_t stream_capture_number(stream which) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  const cudaError_t code = cudaStreamGetCaptureInfo(which, &status, &number);
  if (code == cudaErrorStreamCaptureImplicit) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  cuda_must(code, "asking for the capture of a stream");
  return status == cudaStreamCaptureStatusNone ? 0 : number;
}

inline void record(event& mark, stream which) {
  const relaxed_capture_mode mode;
  cuda_must(cudaEventRecord(mark.made(), which), "recording an event");
}

inline void stream_wait(stream which, event& mark) {
  if (mark.get() == nullptr) return;
  const relaxed_capture_mode mode;
  cuda_must(cudaStreamWaitEvent(which, mark.get(), 0), "letting a stream wait for an event");
}

inline bool is_finished(event& mark) {
  if (mark.get() == nullptr) return true;
  const relaxed_capture_mode mode;
  const cudaError_t code = cudaEventQuery(mark.get());
  if (code == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // an answer, and not an error that a later call is to find
    return false;
  }
  cuda_must(code, "asking for an event");
  return true;
}

inline void synchronise(event& mark) {
  if (mark.get() == nullptr) return;
  const relaxed_capture_mode mode;
  cuda_must(cudaEventSynchronize(mark.get()), "waiting for an event");
}

}  // namespace warpheap::target
