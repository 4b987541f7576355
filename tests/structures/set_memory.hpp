// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of the bit tree share.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <support/masks.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test {

/// A leaf lies among other things of its owner.
struct leaf {
  std::uint64_t word;
  std::uint64_t others[2];
};

/// Whether a set counts the members of groups of leaves.
enum class set_kind { of_leaves, with_groups };
inline constexpr set_kind set_kinds[] = {set_kind::of_leaves, set_kind::with_groups};

/// Device memory of a set with members below `members`, and no more than that.
class set_memory {
 public:
  explicit set_memory(std::uint64_t members, set_kind kind = set_kind::of_leaves)
      : levels_(1), leaves_(divide_up(members, bit_tree::leaf_bits)), groups_(kind == set_kind::with_groups) {}
  bit_tree tree() const {
    return bit_tree{levels_.data(), reinterpret_cast<std::byte*>(leaves_.data()), sizeof(leaf),
                    groups_.size() == 0 ? nullptr : groups_.data()};
  }
  /// Expects that it has `count` members, that each group counts its own, and that nothing is written beside them.
  void expect_members(std::uint64_t count) const {
    const std::vector<leaf> all = leaves_.to_host();
    const std::vector<bit_tree_group> counted = groups();
    std::vector<std::uint64_t> found(divide_up(all.size(), 64));
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].others[0] | all[i].others[1], 0u);
      if (!counted.empty() && counted[i / 64].is_taken()) continue;
      found[i / 64] += static_cast<std::uint64_t>(popcount(all[i].word));
    }
    for (std::size_t i = 0; i < counted.size(); ++i) {
      EXPECT_EQ(counted[i].word, counted[i].is_taken() ? bit_tree_group::taken : found[i]) << "of group " << i;
    }
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), std::uint64_t{0}), count);
  }
  /// The groups that have leaves, in order; none of a set without groups.
  std::vector<bit_tree_group> groups() const {
    std::vector<bit_tree_group> found;
    for (const bit_tree::groups& each : groups_.to_host()) {
      for (std::size_t i = 0; i < divide_up(leaves_.size(), 64); ++i) found.push_back({each.word[i]});
    }
    return found;
  }

 private:
  device_array<bit_tree::levels> levels_;
  device_array<leaf> leaves_;
  device_array<bit_tree::groups> groups_;
};

/// Whether a run is `count` members from `first` on.
WARPHEAP_FN inline bool is(index_run run, std::uint64_t first, std::uint64_t count) {
  return run.count == count && (count == 0 || run.first == first);
}

struct insert_kernel {
  WARPHEAP_FN void operator()(bit_tree set, index_run run) const { set.add(run); }
};

}  // namespace warpheap::test
