// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Random small programs: the reduced exploration reaches the same set of final states as the one of all schedules, and
// deadlocks if and only if that does.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/litmus.hpp>
#include <set>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::random_programs_test {
namespace {

constexpr unsigned most_lanes = 3;
constexpr unsigned most_steps = 4;
constexpr unsigned objects = 3;

enum class action : std::uint8_t { load, store, add, swap, wait_for_one, wait_for_any };

struct instruction {
  action what;
  word object;
  word value;
};

// What each lane does; what it reads goes into a word of its own, so that the final state tells it.
struct program {
  instruction of[most_lanes][most_steps];
  unsigned steps;

  void operator()(word* w, unsigned lane) const {
    word read_so_far = 0;
    for (unsigned i = 0; i < steps; ++i) read_so_far = read_so_far * 11 + 1 + step(w, of[lane][i]);
    w[8 + lane] = read_so_far;
  }
  static word step(word* w, const instruction& next) {
    switch (next.what) {
      case action::load: return read(w[next.object]);
      case action::store: write(w[next.object], next.value); return 0;
      case action::add: return test::add(w[next.object], next.value);
      case action::swap: return swap_if(w[next.object], next.value - 1, next.value) ? 1 : 0;
      case action::wait_for_one: return wait_for(w[next.object], w[next.object]);
      case action::wait_for_any: return wait_for(w[next.object], w[(next.object + 1) % objects]);
    }
    return 0;
  }
  static word wait_for(word& first, word& second) {
    for (backoff wait;; wait.pause()) {
      const word seen = read(first) + 5 * read(second);
      if (seen != 0) return seen;
    }
  }
};

program make_program(std::uint64_t seed, unsigned lanes, unsigned steps) {
  program made{};
  made.steps = steps;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    random_stream random(seed, lane);
    for (unsigned i = 0; i < steps; ++i) {
      // A seventh of the later steps waits.
      const auto drawn = static_cast<unsigned>(random.below(i == 0 ? 12 : 14));
      const auto what = static_cast<action>(drawn < 12 ? drawn / 3 : drawn - 8);
      made.of[lane][i] = {what, static_cast<word>(random.below(objects)), static_cast<word>(1 + random.below(2))};
    }
  }
  return made;
}

using states = std::set<std::vector<word>>;

exploration reach(unsigned lanes, const program& which, bool reduction, states& reached) {
  exploration_options options;
  options.reduction = reduction;
  options.most_executions = 30'000;
  return explore_words(
      lanes, which,
      [&](const std::vector<word>& words) {
        reached.insert(words);
        return std::string{};
      },
      options);
}

void compare(unsigned lanes, unsigned steps, std::uint64_t programs) {
  std::uint64_t deadlocks = 0;
  std::uint64_t skipped = 0;  // programs with too many schedules to run all of them
  std::uint64_t reduced_executions = 0;
  std::uint64_t all_executions = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const program which = make_program(seed * 977 + lanes, lanes, steps);
    states reduced;
    states all;
    const exploration with = reach(lanes, which, true, reduced);
    const exploration without = reach(lanes, which, false, all);
    reduced_executions += with.executions + with.redundant;
    all_executions += without.executions;
    if (without.complete || !without.failure.empty()) {
      ASSERT_EQ(with.failure.empty(), without.failure.empty()) << "seed " << seed << "\n" << without.failure;
    }
    if (!with.failure.empty()) {
      ++deadlocks;
      continue;
    }
    ASSERT_TRUE(with.complete) << "seed " << seed;
    if (!without.complete) {
      ++skipped;
      continue;
    }
    ASSERT_EQ(reduced, all) << "seed " << seed;
  }
  EXPECT_LT(deadlocks + skipped, programs / 2) << "most programs should end";
  EXPECT_LT(reduced_executions, all_executions / 4);
}

TEST(random_programs, of_two_lanes_reach_the_same_states) { compare(2, 4, scaled(400, 0)); }
TEST(random_programs, of_three_lanes_reach_the_same_states) { compare(3, 3, scaled(80, 0)); }

}  // namespace
}  // namespace warpheap::test::random_programs_test
