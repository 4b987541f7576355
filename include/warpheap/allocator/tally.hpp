// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/sums.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {
namespace detail {

// A kernel's arguments cannot be private types, so this is no member of a design.
struct tally_kernel {
  template <class A, class Sums>
  WARPHEAP_FN void operator()(A allocator, Sums* sums) const {
    allocator.tally(*sums);
  }
};

}  // namespace detail

/// What the threads of a grid add up in `allocator.tally(sums)`: the sums begin at zero. `Sums` is trivially copyable;
/// `tally` adds with `add_to_sum` and divides the heap by `grid_thread_index()` among `grid_threads()`.
///
/// The host calls and waits for the grid. The sums are exact while no other kernel uses the heap; the design says
/// at its `tally` what they may be otherwise. Throws what `device_array` and `launch` throw; nothing has changed then.
template <class Sums, class A>
Sums tally_of(const A& allocator) {
  const device_array<Sums> sums(1);
  launch({describe_machine().multiprocessors * std::uint64_t{4}, 256}, detail::tally_kernel{}, allocator, sums.data());
  return sums.at(0);
}

}  // namespace warpheap
