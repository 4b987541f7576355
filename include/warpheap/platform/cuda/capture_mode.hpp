// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace warpheap::target {

// Lets this thread make calls that could belong to a capture, while any stream is captured, and does not end that
// capture. If the runtime refuses, the calls themselves say why.
class relaxed_capture_mode {
 public:
  relaxed_capture_mode() noexcept : is_set_(exchange()) {}
  ~relaxed_capture_mode() {
    if (is_set_) exchange();
  }
  relaxed_capture_mode(const relaxed_capture_mode&) = delete;
  relaxed_capture_mode& operator=(const relaxed_capture_mode&) = delete;

 private:
  bool exchange() noexcept {
    if (cudaThreadExchangeStreamCaptureMode(&mode_) == cudaSuccess) return true;
    static_cast<void>(cudaGetLastError());
    return false;
  }
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then the mode before
  bool is_set_;
};

}  // namespace warpheap::target
