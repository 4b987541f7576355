// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What judges the blocks of many rounds at once finds each fault that it is there to find, and nothing in sound blocks;
// and the figures of a heap that fills up are what they are said to be.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>
#include <warpheap/platform.hpp>

#include "measure/exhaustion.hpp"
#include "measure/extent.hpp"
#include "measure/holdings.hpp"
#include "measure/placement.hpp"
#include "measure/requests.hpp"

namespace warpheap::bench::holdings_test {
namespace {

constexpr request_stream alike{4, 24, 1, request_mode::thread};

run_options random_sizes() {
  run_options run;
  run.mode = asks_for_mixed_sizes.name;
  run.threads = 50;
  run.size = 4096;
  return run;
}

TEST(stream, draws_what_the_rounds_of_other_cases_draw) {
  const run_options run = random_sizes();
  const request_stream all = request_stream::of(run);
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < run.threads; ++i) {
      EXPECT_EQ(all.round(round).bytes(i), requests::of_round(run, round).bytes(i));
      EXPECT_EQ(all.bytes(round * run.threads + i), all.round(round).bytes(i));
    }
  }
}

TEST(stream, spends_no_more_than_there_is) {
  std::uint64_t left = 71;
  EXPECT_EQ(requests_within(alike.round(0), left), 2u);
  EXPECT_EQ(left, 71u - 48u);
  left = 96;
  EXPECT_EQ(requests_within(alike.round(0), left), 4u);
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(requests_within(alike.round(0), left), 0u);
}

TEST(exhaustion, is_less_than_a_hundredth) {
  EXPECT_TRUE(shows_exhaustion(0, 1));
  EXPECT_FALSE(shows_exhaustion(1, 33)) << "of few requests one is enough";
  EXPECT_TRUE(shows_exhaustion(9, 1000));
  EXPECT_FALSE(shows_exhaustion(10, 1000));
}

TEST(exhaustion, shares_out_the_time_of_the_kernel_in_which_the_last_tenth_begins) {
  EXPECT_EQ(last_tenth({}), 0);
  EXPECT_DOUBLE_EQ(last_tenth({{50, 100}}), 5);
  EXPECT_DOUBLE_EQ(last_tenth({{50, 95}, {7, 5}}), 7 + 50.0 * 5 / 95);
  EXPECT_DOUBLE_EQ(last_tenth({{50, 90}, {7, 10}}), 7);
  EXPECT_DOUBLE_EQ(last_tenth({{50, 80}, {8, 20}}), 4);
}

TEST(exhaustion, compares_the_last_tenth_with_the_first) {
  EXPECT_EQ(slowdown({}), std::nullopt);
  EXPECT_EQ(slowdown({3}), std::nullopt);
  EXPECT_EQ(slowdown({2, 5}), 2.5);
  std::vector<double> values(30, 1);
  values[1] = 100;  // an outlier among the first three
  std::fill(values.end() - 3, values.end(), 4);
  EXPECT_EQ(slowdown(values), 4);
}

TEST(exhaustion, stops_when_the_time_is_over) {
  run_options run;
  EXPECT_FALSE(time_budget{run}.spent()) << "there is no limit";
  run.soft_limit = 1000;
  EXPECT_FALSE(time_budget{run}.spent());
  run.soft_limit = 1e-9;
  const time_budget tiny{run};
  while (!tiny.spent()) {
  }
}

TEST(extent, reaches_from_the_lowest_to_the_end_of_the_highest) {
  extent seen;
  EXPECT_EQ(seen.bytes(), 0u);
  const auto at = [](std::uint64_t address) { return std::bit_cast<void*>(address); };
  seen.cover(alike.round(0), {at(0x2000), nullptr, at(0x1000), at(0x1800)});
  EXPECT_EQ(seen.bytes(), 0x1000u + 24u);
  seen.cover(alike.round(0), {at(0x2001), nullptr, nullptr, nullptr});
  EXPECT_EQ(seen.bytes(), 0x1001u + 24u);
}

TEST(placement, takes_new_places_without_gaps_and_each_old_one_once) {
  for (const std::uint64_t used : {1u, 5u, 20u, 100u}) {
    for (const std::uint64_t count : {1u, 2u, 7u, 40u}) {
      const std::uint64_t exchanges = std::min(count / 2, used);
      const placement where{used, exchanges, {free_order::shuffled, used, 7}};
      std::vector<std::uint64_t> taken(used + count);
      std::uint64_t given = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        EXPECT_EQ(where.gives_back(i), where.place(i) < used);
        given += where.gives_back(i);
        ++taken.at(where.place(i));
      }
      EXPECT_EQ(given, exchanges);
      EXPECT_LE(*std::max_element(taken.begin(), taken.end()), 1u);
      for (std::uint64_t place = used; place < used + count - exchanges; ++place) EXPECT_EQ(taken[place], 1u);
    }
  }
}

// Blocks are places in `memory`; the allocator is whoever writes the test.
class holdings_test : public testing::Test {
 protected:
  static constexpr std::uint64_t unit = 16;

  void* at(std::uint64_t offset) const { return memory.data() + offset; }

  // A round whose requests get these blocks.
  holdings::amount round(std::vector<void*> got, std::uint64_t exchanges = 0) {
    where = held.plan(rounds, exchanges);
    held.give_back(where);
    for (std::uint64_t i = 0; i < got.size(); ++i) device_copy(held.blocks() + where.place(i), &got[i], sizeof(void*));
    return held.take(where, rounds++, got.size());
  }

  void judge() {
    held.judge_overlap();
    held.fill_all();
    held.judge_contents();
  }

  void flip(std::uint64_t offset) {
    const auto changed = static_cast<unsigned char>(memory.at(offset) ^ 1u);
    device_copy(memory.data() + offset, &changed, 1);
  }

  device_array<unsigned char> memory{4096};
  holdings held{alike, unit, 4096, 0};
  placement where{0, 0, {free_order::as_allocated, 1, 0}};
  std::uint64_t rounds = 0;
};

TEST_F(holdings_test, finds_nothing_in_sound_blocks) {
  const holdings::amount got = round({at(64), at(0), nullptr, at(128)});
  EXPECT_EQ(got.blocks, 3u);
  EXPECT_EQ(got.bytes, 72u);
  round({at(32), at(96), at(4000 / 16 * 16), nullptr});
  judge();
  EXPECT_EQ(held.fault(), "");
  EXPECT_EQ(held.places(), 8u);
  EXPECT_EQ(held.held().blocks, 6u);
  EXPECT_EQ(held.held().bytes, 6u * 24u);
  EXPECT_EQ(held.span_bytes(), 4000u + 24u);
}

TEST_F(holdings_test, finds_one_shared_unit_between_rounds) {
  round({at(64), at(0), at(320), at(128)});
  round({at(32), at(112), at(400), at(512)});  // 112 to 135 and 128 to 151
  judge();
  EXPECT_NE(held.fault().find("1 of 8 blocks overlap another one"), std::string::npos) << held.fault();
}

TEST_F(holdings_test, finds_a_block_that_was_handed_out_twice) {
  round({at(64), at(0), at(320), at(128)});
  round({nullptr, nullptr, nullptr, at(320)});
  judge();
  EXPECT_NE(held.fault().find("overlap another one"), std::string::npos) << held.fault();
}

TEST_F(holdings_test, finds_misaligned_blocks) {
  round({at(64), at(8), at(320), at(128)});
  EXPECT_NE(held.fault().find("1 of 4 blocks are not aligned to 16 bytes, such as that of request 1 of round 0"),
            std::string::npos)
      << held.fault();
}

TEST_F(holdings_test, finds_blocks_that_lie_too_far_away_and_writes_to_none) {
  round({at(64), std::bit_cast<void*>(std::uint64_t{0x10}), at(320), at(128)});
  EXPECT_NE(held.fault().find("bytes apart"), std::string::npos) << held.fault();
  judge();
  EXPECT_EQ(memory.at(64), 0);
}

TEST_F(holdings_test, finds_one_changed_byte) {
  for (const std::uint64_t byte : {0u, 23u}) {
    round({at(64), at(0), at(320), at(128)});
    held.fill_all();
    flip(320 + byte);
    held.judge_contents();
    EXPECT_NE(held.fault().find("1 of 4 blocks lost what was written to them"), std::string::npos) << held.fault();
    held = holdings{alike, unit, 4096, 0};
    rounds = 0;
  }
  round({at(64), at(0), at(320), at(128)});
  held.fill_all();
  flip(320 + 24);
  held.judge_contents();
  EXPECT_EQ(held.fault(), "") << "the byte behind a block is not its own";
}

TEST_F(holdings_test, tells_blocks_of_two_rounds_apart) {
  // Filled one after the other: in one kernel these writes would be a race.
  round({at(64), at(0), at(320), at(128)});
  held.fill(where, 4);
  round({at(64), at(0), at(320), at(128)});
  held.fill(where, 4);
  held.judge_contents();
  EXPECT_NE(held.fault().find("lost what was written to them"), std::string::npos) << held.fault();
}

TEST_F(holdings_test, checks_blocks_that_are_given_back) {
  round({at(64), at(0), at(320), at(128)});
  held.fill(where, 4);
  EXPECT_EQ(round({at(512), at(544), at(576), at(608)}, 2).blocks, 4u);
  held.fill(where, 4);
  EXPECT_EQ(held.fault(), "");
  EXPECT_EQ(held.held().blocks, 6u);
  EXPECT_EQ(held.held().bytes, 6u * 24u);
  EXPECT_EQ(held.places(), 6u);
  for (const std::uint64_t begin : {64u, 0u, 320u, 128u, 512u, 544u, 576u, 608u}) flip(begin);
  held.give_back(held.plan(rounds, 2));
  EXPECT_NE(held.fault().find("2 of 2 blocks lost what was written to them while they were held"), std::string::npos)
      << held.fault();
}

TEST_F(holdings_test, knows_the_size_of_each_block) {
  run_options run = random_sizes();
  run.threads = 4;
  run.size = 256;
  const request_stream asked = request_stream::of(run);
  // Blocks of two rounds, packed: each begins where the one before ends, rounded up to the unit.
  const auto packed = [&](std::uint64_t shorter) {
    holdings packed_blocks{asked, unit, 4096, 0};
    std::uint64_t end = 0;
    for (std::uint64_t number = 0; number < 2; ++number) {
      const placement to = packed_blocks.plan(number);
      for (std::uint64_t i = 0; i < asked.count; ++i) {
        void* const block = at(end);
        device_copy(packed_blocks.blocks() + to.place(i), &block, sizeof(void*));
        end += align_up(asked.round(number).bytes(i), unit) - (number * asked.count + i == 5 ? shorter : 0);
      }
      packed_blocks.take(to, number, asked.count);
    }
    packed_blocks.judge_overlap();
    return packed_blocks.fault();
  };
  EXPECT_EQ(packed(0), "");
  EXPECT_NE(packed(unit), "");
}

}  // namespace
}  // namespace warpheap::bench::holdings_test
