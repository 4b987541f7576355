// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator.hpp>
#include <warpheap/designs/random_walk/random_walk.hpp>
#include <warpheap/platform.hpp>

// The members for the host that copy or launch.

namespace warpheap {

// All that is known names lines by number, and the data move by whole lines.
template <std::uint32_t Stripes, std::uint32_t RandomSteps>
void basic_random_walk<Stripes, RandomSteps>::relocate(const arena& from, const arena& to) const {
  device_copy(to.metadata, from.metadata, metadata_bytes(from.bytes));
}

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
random_walk_statistics basic_random_walk<Stripes, RandomSteps>::statistics() const {
  random_walk_statistics found = tally_of<random_walk_statistics>(*this);
  found.line_bytes = line_word::line_bytes;
  found.page_bytes = line_word::page_bytes;
  return found;
}

}  // namespace warpheap
