// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace warpheap::test {

/// Blocks are ordinary device memory: the host copies from them and to them.
template <class A>
void host_can_copy_blocks(findings& found) {
  if constexpr (!A::capabilities.host_copy) {
    found.skip("host_copy");
  } else {
    trial<A> t{found, 4_MiB};
    const device_array<held_block> held(128);
    t.run(128, take_kernel{}, held.data(), std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{3000});
    for (std::uint64_t i = 0; i < held.size(); ++i) {
      const held_block each = held.at(i);
      if (each.block == nullptr) continue;
      std::vector<unsigned char> copy(each.bytes);
      device_copy(copy.data(), each.block, each.bytes);
      const payload contents{each.block, each.bytes, i};
      bool same = true;
      for (std::uint64_t at = 0; at < each.bytes; ++at) same = same && copy[at] == contents.expected(at);
      found.expect(same, "the host reads other bytes from block " + std::to_string(i) + " of " +
                             std::to_string(each.bytes) + " B than the kernel wrote");
      device_fill(each.block, 0, each.bytes);
      device_copy(each.block, copy.data(), each.bytes);
    }
    t.run(128, verify_kernel{}, static_cast<const held_block*>(held.data()), std::uint64_t{1}, std::uint64_t{0});
  }
}

}  // namespace warpheap::test
