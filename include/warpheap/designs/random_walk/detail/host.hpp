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

namespace detail {

struct tally_random_walk {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, random_walk_statistics* sums) const {
    allocator.tally(*sums);
  }
};

}  // namespace detail

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
random_walk_statistics basic_random_walk<Stripes, RandomSteps>::statistics() const {
  const device_array<random_walk_statistics> sums(1);
  launch({describe_machine().multiprocessors * std::uint64_t{4}, 256}, detail::tally_random_walk{}, *this, sums.data());
  random_walk_statistics found = sums.at(0);
  found.line_bytes = line_word::line_bytes;
  found.page_bytes = line_word::page_bytes;
  return found;
}

}  // namespace warpheap
