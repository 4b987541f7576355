// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace warpheap::target {

class launch_clock {
 public:
  void start() { begin_ = std::chrono::steady_clock::now(); }
  double stop() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace warpheap::target
