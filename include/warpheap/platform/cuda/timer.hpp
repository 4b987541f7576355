// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <warpheap/platform/cuda/error.hpp>

namespace warpheap::target {

class launch_clock {
 public:
  launch_clock() {
    cuda_must(cudaEventCreate(&begin_), "making an event");
    cuda_must(cudaEventCreate(&end_), "making an event");
  }
  ~launch_clock() {
    // A context that a failed kernel took down refuses; the events went with it.
    cuda_ignore(cudaEventDestroy(begin_));
    cuda_ignore(cudaEventDestroy(end_));
  }
  launch_clock(const launch_clock&) = delete;
  launch_clock& operator=(const launch_clock&) = delete;

  void start() { cuda_must(cudaEventRecord(begin_), "recording an event"); }
  double stop() {
    cuda_must(cudaEventRecord(end_), "recording an event");
    cuda_must(cudaEventSynchronize(end_), "running a kernel");
    float milliseconds = 0;
    cuda_must(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading events");
    return double{milliseconds} * 1000.0;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace warpheap::target
