// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>
#include <warpheap/platform/backoff.hpp>
#include <warpheap/platform/lane.hpp>

namespace warpheap::target {

struct backoff_state {
  unsigned longest = 1024;
  unsigned nanoseconds = 8;

  backoff_state() = default;
  WARPHEAP_FN explicit backoff_state(unsigned most) : longest(most) {}

  WARPHEAP_FN void pause(call_site) {
    // Lanes that failed together would otherwise look again together.
    NV_IF_TARGET(NV_IS_DEVICE, (__nanosleep(nanoseconds + static_cast<unsigned>(lane_index()));))
    if (nanoseconds < longest) nanoseconds *= 2;
  }
  // The hardware keeps no record of waiting threads.
  WARPHEAP_FN void end() {}
};

}  // namespace warpheap::target
