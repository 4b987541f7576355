// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A count of units under every schedule of two or three threads.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test::unit_count_exploration_test {
namespace {

class count_memory {
 public:
  count_memory() : memory_(sizeof(std::uint64_t)) { memory_.freeze(); }
  std::uint64_t& word() const { return *reinterpret_cast<std::uint64_t*>(memory_.data()); }
  const snapshot& memory() const { return memory_; }

 private:
  snapshot memory_;
};

// Lane i wants i + 1 units; there are `initial`. Nobody adds any, so all are claimed, or all got what they want.
struct claim_some {
  std::uint64_t* word;
  std::uint64_t initial;
  void operator()(std::uint64_t* out, unsigned lane) const { out[lane] = unit_count{*word, initial}.claim(lane + 1); }
};

TEST(explored_unit_count, all_units_are_claimed) {
  for (const std::uint64_t initial : {0u, 1u, 2u, 3u}) {
    const count_memory memory;
    expect_all_clean(explore_snapshot(
        memory.memory(), 2, claim_some{&memory.word(), initial},
        [&](const results& out) -> std::string {
          if (out[0] > 1 || out[1] > 2) return "more than it wanted";
          if (out[0] + out[1] != initial) return "refused with units left";
          return memory.word() == std::uint64_t{0} - (initial << 24) ? "" : "the word is wrong";
        },
        all_schedules()));
  }
}

// Lane 0 wants two of one unit, and lane 1 adds one. Lane 1 may be refused only if lane 0 has got both; so it may not
// be refused first and served then.
struct add_and_claim {
  std::uint64_t* word;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const unit_count count{*word, 1};
    if (lane == 0) {
      out[0] = count.claim(2);
      return;
    }
    count.add(1);
    out[1] = count.claim(1);
    out[2] = count.claim(1);
  }
};

TEST(explored_unit_count, a_refusal_is_true) {
  const count_memory memory;
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, add_and_claim{&memory.word()},
      [](const results& out) -> std::string {
        if (out[0] + out[1] + out[2] != 2) return "a unit is lost, or was claimed twice";
        return out[1] == 1 || out[0] == 2 ? "" : "refused with a unit left";
      },
      all_schedules()));
}

// Three lanes want the only unit.
struct claim_one {
  std::uint64_t* word;
  void operator()(std::uint64_t* out, unsigned lane) const { out[lane] = unit_count{*word, 1}.claim(1); }
};

TEST(explored_unit_count, one_of_three_gets_the_only_unit) {
  const count_memory memory;
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, claim_one{&memory.word()},
      [](const results& out) -> std::string { return out[0] + out[1] + out[2] == 1 ? "" : "not exactly one"; },
      few_switches(4)));
}

}  // namespace
}  // namespace warpheap::test::unit_count_exploration_test
