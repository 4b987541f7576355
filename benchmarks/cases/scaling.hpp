// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "throughput.hpp"

namespace warpheap::bench {

/// As `throughput`, for numbers of threads from one up: a case of its own, since it asks where a design begins to
/// suffer from contention and where the start of a kernel hides everything else (Winter et al., PPoPP 2021, Figure 10).
struct scaling {
  static constexpr const char* name = "scaling";
  static constexpr const char* summary = "throughput against the number of threads, from one up";
  static constexpr case_mode modes[] = {asks_by_thread, asks_by_warp};
  static constexpr const char* axes[] = {"threads", "size"};

  /// As `throughput::run`.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return throughput::run<A>(options, record);
  }
};

}  // namespace warpheap::bench
