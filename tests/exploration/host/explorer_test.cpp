// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The explorer itself: it meets every outcome, and runs no schedule twice.

#include <gtest/gtest.h>

#include <exploration/host/litmus.hpp>
#include <set>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::explorer_test {
namespace {

using outcome = std::vector<word>;
using words_t = std::vector<word>;

// Explores with and without reduction: the final states are the same. Returns the result with reduction.
template <class Kernel>
exploration compare(unsigned lanes, Kernel kernel, std::set<outcome>& states) {
  exploration_options options;
  const exploration result = explore_words(
      lanes, kernel,
      [&](const words_t& words) {
        states.insert(words);
        return std::string{};
      },
      options);
  std::set<outcome> all;
  options.reduction = false;
  const exploration plain = explore_words(
      lanes, kernel,
      [&](const words_t& words) {
        all.insert(words);
        return std::string{};
      },
      options);
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(plain.failure, "");
  EXPECT_TRUE(result.complete);
  EXPECT_TRUE(plain.complete);
  EXPECT_EQ(states, all);
  EXPECT_LE(result.executions + result.redundant, plain.executions);
  return result;
}

// Store buffering: under sequential consistency three outcomes, and as many classes of schedules.
TEST(explorer, meets_the_outcomes_of_store_buffering) {
  std::set<outcome> states;
  const exploration result = compare(
      2,
      [](word* w, unsigned lane) {
        write(w[lane], 1);
        w[2 + lane] = read(w[1 - lane]);
      },
      states);
  EXPECT_EQ(states.size(), 3u);
  EXPECT_EQ(result.executions, 3u);
  EXPECT_EQ(result.redundant, 0u);
}

// n lanes that write one word: n! orders.
TEST(explorer, runs_each_order_of_writes_once) {
  for (unsigned lanes = 1, orders = 1; lanes <= 5; ++lanes, orders *= lanes) {
    const exploration result =
        explore_words(lanes, [](word* w, unsigned lane) { write(w[0], lane + 1); }, [](const words_t&) { return ""; });
    EXPECT_EQ(result.executions, orders);
    EXPECT_EQ(result.redundant, 0u);
  }
}

TEST(explorer, runs_independent_steps_in_one_order) {
  const exploration result = explore_words(
      3,
      [](word* w, unsigned lane) {
        for (word i = 0; i < 5; ++i) write(w[lane], i);
        read(w[3]);
      },
      [](const words_t&) { return ""; });
  EXPECT_EQ(result.executions, 1u);
}

// A writer and n - 1 readers: 2^(n-1) classes, the example of the paper on source sets.
TEST(explorer, readers_do_not_conflict) {
  for (unsigned lanes = 2, classes = 2; lanes <= 6; ++lanes, classes *= 2) {
    const exploration result = explore_words(
        lanes, [](word* w, unsigned lane) { lane == 0 ? write(w[0], 1) : void(read(w[0])); },
        [](const words_t&) { return ""; });
    EXPECT_EQ(result.executions, classes);
  }
}

TEST(explorer, a_failed_swap_only_reads) {
  const exploration result =
      explore_words(3, [](word* w, unsigned) { swap_if(w[0], 7, 8); }, [](const words_t&) { return ""; });
  EXPECT_EQ(result.executions, 1u);
}

// Kernels with many conflicts: the set of final states is the same as without reduction.
TEST(explorer, reduction_keeps_every_final_state) {
  std::set<outcome> states;
  compare(
      3,
      [](word* w, unsigned lane) {
        write(w[lane], 1);
        w[4 + lane] = read(w[(lane + 1) % 3]);
        w[8 + lane] = add(w[3], lane + 1);
      },
      states);
  states.clear();
  compare(
      2,
      [](word* w, unsigned lane) {
        for (int i = 0; i < 2; ++i) {
          const word seen = read(w[0]);
          if (swap_if(w[0], seen, 2 * seen + lane + 1)) add(w[1], read(w[2]));
          write(w[2], lane + 1);
        }
      },
      states);
  EXPECT_GT(states.size(), 10u);
  states.clear();
  compare(
      3,
      [](word* w, unsigned lane) {
        if (lane == 0) {
          write(w[0], 1);
          write(w[1], 1);
        } else if (lane == 1) {
          if (read(w[0]) == 1 && swap_if(w[1], 1, 2)) write(w[2], 1);
        } else {
          w[3] = read(w[2]);
          w[4] = read(w[1]);
        }
      },
      states);
}

// Kernels that wait, which the paper's reduction does not consider.
TEST(explorer, reduction_keeps_every_final_state_with_waits) {
  std::set<outcome> states;
  compare(
      2,
      [](word* w, unsigned lane) {
        if (lane == 0) {
          write(w[0], 1);
          write(w[0], 2);
        } else {
          backoff wait;
          while ((w[2] = read(w[0])) == 0) wait.pause();
        }
      },
      states);
  EXPECT_EQ(states.size(), 2u);
  states.clear();
  // Two writers of different words end one wait; which words the reader then sees depends on all orders.
  compare(
      3,
      [](word* w, unsigned lane) {
        if (lane < 2) {
          write(w[lane], 1);
        } else {
          backoff wait;
          while ((w[2] = read(w[0])) + (w[3] = read(w[1])) == 0) wait.pause();
          w[4] = read(w[0]) + 2 * read(w[1]);
        }
      },
      states);
  EXPECT_EQ(states.size(), 5u);
}

// Either of two writers ends a wait, also the one whose word the lane does not read again if the other was first.
TEST(explorer, each_change_that_can_end_a_wait_is_tried) {
  std::set<outcome> states;
  compare(
      3,
      [](word* w, unsigned lane) {
        if (lane != 0) return write(w[lane], 1);
        backoff wait;
        while ((w[4] = read(w[1])) == 0 && (w[5] = read(w[2])) == 0) {
          ++w[6];
          wait.pause();
        }
      },
      states);
  EXPECT_EQ(states.count({0, 1, 1, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}), 1u) << "a wait ended by the second writer";
  EXPECT_EQ(states.size(), 6u) << "each of both words after no, one and two pauses";
}

// Pauses that are a mere delay, with no look between them, hold nobody up.
TEST(explorer, a_delay_is_no_wait) {
  std::set<outcome> states;
  compare(
      2,
      [](word* w, unsigned lane) {
        if (lane == 0) return write(w[0], 1);
        read(w[1]);
        backoff wait;
        for (int i = 0; i < 3; ++i) wait.pause();
        w[2] = read(w[0]);
      },
      states);
  EXPECT_EQ(states.size(), 2u);
}

// A loop that makes a backoff for each look waits, too, and does not go on for ever.
TEST(explorer, a_backoff_for_each_look_waits) {
  expect_clean(explore_words(
      2,
      [](word* w, unsigned lane) {
        if (lane == 0) return write(w[0], 1);
        while (read(w[0]) == 0) backoff{}.pause();
      },
      [](const words_t&) { return ""; }));
}

}  // namespace
}  // namespace warpheap::test::explorer_test
