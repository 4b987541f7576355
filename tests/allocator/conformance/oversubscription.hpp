// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/divergence.hpp>
#include <cstdint>

namespace warpheap::test {

struct one_block_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap) const {
    use_one(heap, 8 + grid_thread_index() % 25);
  }
};

/// A grid of many more blocks than the machine holds at once ends, and each of its threads is served: nothing waits for
/// a thread that has not started.
template <class A>
void grids_may_exceed_the_machine(findings& found) {
  under_schedules(found, [&](std::uint64_t) {
    trial<A> t{found, this_backend == backend::host ? 8_MiB : 64_MiB};
    t.run(scaled_for<A>(8192, 1'000'000), one_block_kernel{});
  });
}

}  // namespace warpheap::test
