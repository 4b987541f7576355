// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/call_site.hpp>
#include <warpheap/platform/host/detail/holds.hpp>

namespace warpheap::target {

inline void stop_point(const char* name, call_site site) {
  if (__atomic_load_n(&executor::holds_in_force, __ATOMIC_RELAXED) != 0) [[unlikely]] {
    executor::stop_point(name, site);
  }
}

}  // namespace warpheap::target
