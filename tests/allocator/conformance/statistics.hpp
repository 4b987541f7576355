// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>

namespace warpheap::test {

/// The figures of `statistics` agree with each other, and live bytes rise and fall with what is handed out.
template <class A>
void statistics_agree(findings& found) {
  constexpr std::uint64_t each = 2;
  const std::uint64_t threads = grid_shape::covering(scaled_for<A>(512, 1 << 14), 128).blocks * 128;
  trial<A> t{found, this_backend == backend::host ? 4_MiB : 128_MiB};
  const heap_statistics empty = t.heap().statistics();
  found.expect(empty.committed_bytes >= t.heap().size() && empty.reserved_bytes >= empty.committed_bytes,
               "a heap of " + std::to_string(t.heap().size()) + " B says that it committed " +
                   std::to_string(empty.committed_bytes) + " B and reserved " + std::to_string(empty.reserved_bytes));
  found.expect(empty.metadata_bytes >= A::metadata_bytes(t.heap().size()),
               "metadata is smaller than the design's need");
  found.expect(empty.live_bytes.has_value() == A::capabilities.counts_live,
               "live bytes are told without counts_live, or not told with it");
  if constexpr (A::capabilities.counts_live) {
    found.expect(empty.live_bytes == 0u, "a new heap says that it has live bytes");
    const device_array<held_block> held(threads * each);
    t.run(threads, take_kernel{}, held.data(), each, std::uint64_t{1}, std::uint64_t{200});
    std::uint64_t asked = 0;
    for (const held_block& one : held.to_host()) asked += one.bytes;
    const std::uint64_t full = *t.heap().statistics().live_bytes;
    found.expect(full >= asked && full <= t.heap().size(), std::to_string(asked) + " B were asked for in a heap of " +
                                                               std::to_string(t.heap().size()) + " B, and " +
                                                               std::to_string(full) + " B are said to be live");
    t.run(threads, give_kernel{}, static_cast<const held_block*>(held.data()), each, std::uint64_t{0});
    const std::uint64_t left = *t.heap().statistics().live_bytes;
    found.expect(left == (A::capabilities.individual_free ? 0 : full),
                 "after all frees " + std::to_string(left) + " B are said to be live");
  }
}

}  // namespace warpheap::test
