// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of the bit tree share.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <support/masks.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test {

/// A leaf lies among other things of its owner.
struct leaf {
  std::uint64_t word;
  std::uint64_t others[2];
};

/// Device memory of a set with members below `members`, and no more than that.
class set_memory {
 public:
  explicit set_memory(std::uint64_t members) : levels_(1), leaves_(divide_up(members, bit_tree::leaf_bits)) {}
  bit_tree tree() const { return bit_tree{levels_.data(), reinterpret_cast<std::byte*>(leaves_.data()), sizeof(leaf)}; }
  /// Expects [0, count) as its members, and nothing written beside them.
  void expect_members(std::uint64_t count) const {
    const std::vector<leaf> all = leaves_.to_host();
    std::uint64_t found = 0;
    for (const leaf& each : all) {
      found += static_cast<std::uint64_t>(popcount(each.word));
      EXPECT_EQ(each.others[0] | each.others[1], 0u);
    }
    EXPECT_EQ(found, count);
  }

 private:
  device_array<bit_tree::levels> levels_;
  device_array<leaf> leaves_;
};

/// Whether a run is `count` members from `first` on.
WARPHEAP_FN inline bool is(index_run run, std::uint64_t first, std::uint64_t count) {
  return run.count == count && (count == 0 || run.first == first);
}

struct insert_kernel {
  WARPHEAP_FN void operator()(bit_tree set, index_run run) const { set.add(run); }
};

}  // namespace warpheap::test
