// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/backoff.hpp>
#include <warpheap/platform/executor.hpp>

namespace warpheap::target {

struct backoff_state {
  bool waiting = false;

  backoff_state() = default;
  explicit backoff_state(unsigned) {}  // a pause is a turn of the others, however many that are

  void pause(call_site site) {
    waiting = true;
    executor::wait(site);
  }
  void end() {
    if (waiting) executor::end_wait();
    waiting = false;
  }
};

}  // namespace warpheap::target
