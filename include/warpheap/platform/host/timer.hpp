// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace warpheap::target {

class launch_clock {
 public:
  void start() { begin_ = std::chrono::steady_clock::now(); }
  double stop() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_;
};

// A launch has ended when it returns.
class launch_moments {
 public:
  void mark() { moments_.push_back(std::chrono::steady_clock::now()); }
  std::vector<double> take() {
    std::vector<double> stretches;
    for (std::size_t i = 1; i < moments_.size(); ++i) {
      stretches.push_back(std::chrono::duration<double, std::micro>(moments_[i] - moments_[i - 1]).count());
    }
    moments_.clear();
    return stretches;
  }

 private:
  std::vector<std::chrono::steady_clock::time_point> moments_;
};

}  // namespace warpheap::target
