// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <cstddef>
#include <vector>
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

// Events are kept for the next marks.
class launch_moments {
 public:
  launch_moments() = default;
  ~launch_moments() {
    for (const cudaEvent_t each : events_) cuda_ignore(cudaEventDestroy(each));
  }
  launch_moments(const launch_moments&) = delete;
  launch_moments& operator=(const launch_moments&) = delete;

  void mark() {
    if (used_ == events_.size()) {
      events_.reserve(used_ + 1);
      cudaEvent_t made = nullptr;
      cuda_must(cudaEventCreate(&made), "making an event");
      events_.push_back(made);
    }
    cuda_must(cudaEventRecord(events_[used_]), "recording an event");
    ++used_;
  }
  std::vector<double> take() {
    std::vector<double> stretches;
    if (used_ != 0) cuda_must(cudaEventSynchronize(events_[used_ - 1]), "running a kernel");
    for (std::size_t i = 1; i < used_; ++i) {
      float milliseconds = 0;
      cuda_must(cudaEventElapsedTime(&milliseconds, events_[i - 1], events_[i]), "reading events");
      stretches.push_back(double{milliseconds} * 1000.0);
    }
    used_ = 0;
    return stretches;
  }

 private:
  std::vector<cudaEvent_t> events_;
  std::size_t used_ = 0;
};

}  // namespace warpheap::target
