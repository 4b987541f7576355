// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <warpheap/platform/schedule.hpp>

namespace warpheap::target {

// The host is the only device, and stays.
struct context {
  int device = -1;
};

class context_scope {
 public:
  explicit context_scope(const context& wanted) noexcept : current_(wanted.device == 0) {}
  bool is_current() const { return current_; }

 private:
  bool current_;
};

inline int device_count() { return 1; }
inline context current_context() { return {0}; }
inline context context_of(int device) {
  if (device != 0) {
    throw launch_failure("warpheap: there is no device " + std::to_string(device) + ": the host backend has device 0");
  }
  return {0};
}
inline bool is_alive(const context& which) noexcept { return which.device == 0; }

[[noreturn]] inline void refuse_dead_context(int) {
  throw launch_failure("warpheap: no device was named: take device_context::current()");
}

}  // namespace warpheap::target
