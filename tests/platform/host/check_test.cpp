// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A check that fails in a kernel fails the launch with its message and place, and the next launch works; outside a
// kernel it ends the process. Host only: on a GPU it traps, and the context is lost.

#include <gtest/gtest.h>

#include <cstdint>
#include <platform/host/launch_outcome.hpp>
#include <stdexcept>
#include <string>
#include <warpheap/platform.hpp>

namespace warpheap::check_test {
namespace {

using test::contains;
using test::failure_of;

struct check_thread {
  void operator()(std::uint32_t bad, std::uint32_t* ran) const {
    require(grid_thread_index() != bad, "this thread is bad");
    atomic_view{*ran}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

TEST(check, fails_the_launch_with_message_and_place) {
  for (const unsigned workers : {1u, 2u}) {
    schedule plan;
    plan.workers = workers;
    const scoped_schedule guard{plan};
    device_array<std::uint32_t> ran(1);
    const std::string text = failure_of([&] { launch(grid_shape{4, 64}, check_thread{}, 100u, ran.data()); });
    EXPECT_TRUE(contains(text, "this thread is bad at "));
    EXPECT_TRUE(contains(text, "check_test.cpp:"));
    EXPECT_TRUE(contains(text, "(block 1, thread 36 (warp " + std::to_string(36 / warp_width) + ", lane " +
                                   std::to_string(36 % warp_width) + "))"));
    EXPECT_TRUE(contains(text, "failed"));
    EXPECT_TRUE(contains(text, "replay: WARPHEAP_SCHEDULE=round_robin WARPHEAP_SEED=1"));
    ran.clear();
    launch(grid_shape{4, 64}, check_thread{}, 1000u, ran.data());
    EXPECT_EQ(ran.at(0), 256u) << "the launch after a failed one";
  }
}

// Asks for a bit that the word lacks. A GPU answers 31 and the host 32, so a mask of all bits below it differs.
struct ask_for_missing_bit {
  void operator()(lane_mask word, bool as_mask) const {
    const int count = popcount(word);
    require(nth_set_bit(word, count - 1) == highest_bit(word), "the last bit is there");
    require(as_mask ? lowest_set_bits(word, count) == word : nth_set_bit(word, count) != 0, "not reached");
  }
};

TEST(check, a_bit_that_the_word_lacks_fails_the_launch) {
  for (const lane_mask word : {0x80000000u, 0xffffffffu, 0x00f00210u}) {
    for (const bool as_mask : {false, true}) {
      EXPECT_TRUE(contains(failure_of([&] { launch(grid_shape{1, 1}, ask_for_missing_bit{}, word, as_mask); }),
                           "nth_set_bit: the word has no set bit of this rank"));
    }
  }
}

struct throw_in_kernel {
  void operator()(bool standard) const {
    if (lane_index() != 0) return;
    if (standard) throw std::runtime_error("no such thing on a GPU");
    throw 7;
  }
};

TEST(check, an_exception_fails_the_launch) {
  EXPECT_TRUE(contains(failure_of([] { launch(grid_shape{1, 32}, throw_in_kernel{}, true); }),
                       "an exception left the kernel: no such thing on a GPU (block 0, thread 0"));
  EXPECT_TRUE(contains(failure_of([] { launch(grid_shape{1, 32}, throw_in_kernel{}, false); }),
                       "an exception left the kernel: something that is no std::exception"));
}

struct launch_again {
  void operator()() const { launch(grid_shape{1, 1}, launch_again{}); }
};

TEST(check, a_kernel_cannot_launch) {
  EXPECT_TRUE(contains(failure_of([] { launch(grid_shape{1, 1}, launch_again{}); }), "a kernel cannot launch another"));
}

struct shuffle_from_outside {
  void operator()() const {
    if (lane_index() == 0) shuffle(1, 5, 1);
  }
};

TEST(check, a_shuffle_from_outside_the_group_fails) {
  EXPECT_TRUE(contains(failure_of([] { launch(grid_shape{1, 2}, shuffle_from_outside{}); }),
                       "shuffle: the source lane is not in the group"));
}

using check_deathtest = testing::Test;

TEST(check_deathtest, outside_a_kernel_the_process_ends) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(require(false, "nobody is here"), "warpheap: nobody is here \\(.*check_test.cpp");
  EXPECT_DEATH(ballot(1, true), "a collective was called outside a kernel: start the code with launch");
}

TEST(check, invariants_hold_in_checked_builds_only) {
  struct break_invariant {
    void operator()() const { invariant(false, "our own mistake"); }
  };
  if (checked_build) {
    EXPECT_TRUE(contains(failure_of([] { launch(grid_shape{1, 1}, break_invariant{}); }), "our own mistake"));
  } else {
    launch(grid_shape{1, 1}, break_invariant{});
  }
}

}  // namespace
}  // namespace warpheap::check_test
