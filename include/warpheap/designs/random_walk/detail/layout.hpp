// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/detail/request.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// What `random_walk` keeps in memory:
///
///   metadata   control | a `line_word` for each line
template <std::uint32_t Stripes, std::uint32_t RandomSteps>
struct walk_layout {
  static constexpr std::uint32_t random_steps = RandomSteps;

  // Counts of some multiprocessors that only rise: runs that are taken, and these.
  struct alignas(128) tally : change_counter<std::uint64_t> {
    std::uint64_t returns;  // calls of `free` whose pages are free; growth counts as well
    std::uint64_t walks;    // only where random places must be the same each time: on the host
  };
  struct alignas(128) control {
    probe_space space{1};  // the lines; the size of the heap changes between launches only
    striped_change_counter<tally, Stripes> changes;
    std::uint64_t refusals[walk_request::indices];  // walk_quiescence
  };

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return sizeof(control) + bytes / line_word::line_bytes * sizeof(std::uint64_t);
  }
};

}  // namespace warpheap::detail
