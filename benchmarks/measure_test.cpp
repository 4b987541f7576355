// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What the driver judges blocks by finds each fault that it is there to find, and nothing in sound blocks.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>

#include "json.hpp"
#include "measure/findings.hpp"
#include "measure/oracle.hpp"
#include "measure/pacing.hpp"
#include "measure/payload.hpp"
#include "measure/requests.hpp"
#include "measure/samples.hpp"

namespace warpheap::bench::measure_test {
namespace {

requests same_size(std::uint64_t count, std::uint64_t size) { return {count, size, 1, request_mode::thread}; }

std::vector<void*> at(std::initializer_list<std::uint64_t> addresses) {
  std::vector<void*> blocks;
  for (const std::uint64_t address : addresses) blocks.push_back(std::bit_cast<void*>(address));
  return blocks;
}

TEST(oracle, finds_nothing_in_sound_blocks_in_any_order) {
  const address_findings found = judge_addresses(same_size(4, 100), at({0x1000, 0x2000, 0x1070, 0}), 16);
  EXPECT_EQ(found.fault, "");
  EXPECT_EQ(found.granted, 3u);
  EXPECT_EQ(found.requested_bytes, 300u);
  EXPECT_EQ(found.span_bytes, 0x1000u + 100u);
  EXPECT_EQ(count_null(at({0x1000, 0, 0})), 2u);
}

TEST(oracle, blocks_may_touch) { EXPECT_EQ(judge_addresses(same_size(2, 16), at({0x1000, 0x1010}), 16).fault, ""); }

TEST(oracle, finds_one_shared_byte) {
  EXPECT_EQ(judge_addresses(same_size(2, 17), at({0x1000, 0x1010}), 16).fault,
            "request 1 (0x1010, 17 bytes) overlaps request 0 (0x1000, 17 bytes)");
}

TEST(oracle, finds_a_block_handed_out_twice) {
  EXPECT_NE(judge_addresses(same_size(3, 16), at({0x1000, 0x2000, 0x1000}), 16).fault, "");
}

TEST(oracle, finds_blocks_inside_a_larger_one) {
  // Sizes that differ: look for a salt whose first block is large and whose others are small.
  requests asked{3, 4096, 0, request_mode::mixed};
  while (asked.bytes(0) < 2048 || asked.bytes(1) > 512 || asked.bytes(2) > 512) ++asked.salt;
  EXPECT_EQ(judge_addresses(asked, at({0x10000, 0x20000, 0x30000}), 16).fault, "");
  const address_findings found = judge_addresses(asked, at({0x10000, 0x10200, 0x10600}), 16);
  EXPECT_NE(found.fault, "");
  EXPECT_EQ(found.span_bytes, asked.bytes(0)) << "the small ones end before the large one";
}

TEST(oracle, finds_misalignment) {
  EXPECT_EQ(judge_addresses(same_size(2, 16), at({0x1000, 0x2008}), 16).fault,
            "request 1 (0x2008, 16 bytes) is not aligned to 16 bytes");
}

class payload : public testing::TestWithParam<request_mode> {
 protected:
  // Blocks lie `stride` bytes apart; returns how many were found damaged after `spoil` bytes were changed at an offset.
  static std::uint64_t damaged(std::uint64_t stride, std::optional<std::uint64_t> spoil) {
    const requests asked{100, 37, 5, GetParam()};
    device_array<unsigned char> memory(100 * 64);
    std::vector<void*> blocks;
    for (std::uint64_t i = 0; i < asked.count; ++i) blocks.push_back(memory.data() + i * stride);
    blocks[7] = nullptr;
    const device_array<void*> places(blocks);
    device_array<std::uint64_t> found(1);
    launch(asked.grid(), fill_payload{}, asked, static_cast<void* const*>(places.data()));
    if (spoil) {
      const auto changed = static_cast<unsigned char>(memory.at(*spoil) ^ 1u);
      device_copy(memory.data() + *spoil, &changed, 1);
    }
    launch(asked.grid(), check_payload{}, asked, static_cast<void* const*>(places.data()), found.data());
    return found.at(0);
  }
};

TEST_P(payload, is_kept_by_sound_blocks) { EXPECT_EQ(damaged(64, std::nullopt), 0u); }

TEST_P(payload, shows_one_changed_bit) {
  const requests asked{100, 37, 5, GetParam()};
  EXPECT_EQ(damaged(64, 64 * 20), 1u);
  EXPECT_EQ(damaged(64, 64 * 20 + asked.bytes(20) - 1), 1u) << "the last byte of a block is checked";
  EXPECT_EQ(damaged(64, 64 * 20 + asked.bytes(20)), 0u) << "the byte behind a block is not";
}

TEST_P(payload, shows_blocks_that_share_bytes) { EXPECT_GT(damaged(4, std::nullopt), 0u); }

INSTANTIATE_TEST_SUITE_P(modes, payload,
                         testing::Values(request_mode::thread, request_mode::warp, request_mode::mixed));

TEST(request, random_sizes_are_multiples_of_four_within_the_bound) {
  const requests asked{10000, 37, 5, request_mode::mixed};
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < asked.count; ++i) {
    EXPECT_EQ(asked.bytes(i) % 4, 0u);
    least = std::min(least, asked.bytes(i));
    most = std::max(most, asked.bytes(i));
  }
  EXPECT_EQ(least, 4u);
  EXPECT_EQ(most, 36u);
}

TEST(request, rounds_and_seeds_draw_other_sizes) {
  run_options run;
  run.mode = asks_for_mixed_sizes.name;
  run.size = 4096;
  const auto sizes = [&](std::uint64_t seed, std::uint64_t round) {
    run.seed = seed;
    std::vector<std::uint64_t> drawn;
    for (std::uint64_t i = 0; i < 100; ++i) drawn.push_back(requests::of_round(run, round).bytes(i));
    return drawn;
  };
  EXPECT_EQ(sizes(1, 0), sizes(1, 0));
  EXPECT_NE(sizes(1, 0), sizes(1, 1));
  EXPECT_NE(sizes(1, 0), sizes(2, 0));
}

samples of(std::initializer_list<double> values) {
  samples result;
  for (const double value : values) result.add(value);
  return result;
}

TEST(summary, of_samples) {
  EXPECT_FALSE(samples{}.summary().has_value());
  EXPECT_EQ(
      of({4}).summary()->text(),
      R"({"median": 4, "median_low": null, "median_high": null, "p95": 4, "p99": 4, "min": 4, "max": 4, "mean": 4, )"
      R"("count": 1})");
  EXPECT_EQ(of({4, 1, 10, 2}).summary()->text(),
            R"({"median": 3, "median_low": null, "median_high": null, "p95": 10, "p99": 10, "min": 1, "max": 10, )"
            R"("mean": 4.25, "count": 4})");
}

TEST(confidence, takes_six_samples) {
  EXPECT_FALSE(of({1, 2, 3, 4, 5}).confidence().has_value());
  EXPECT_EQ(of({6, 5, 4, 3, 2, 1}).confidence(), (std::pair{1.0, 6.0}));
}

// The ranks that tables of the sign test give.
TEST(confidence, leaves_out_what_the_binomial_allows) {
  const auto ranks = [](int count) {
    samples each;
    for (int i = count; i > 0; --i) each.add(i);
    return *each.confidence();
  };
  EXPECT_EQ(ranks(10), (std::pair{2.0, 9.0}));
  EXPECT_EQ(ranks(20), (std::pair{6.0, 15.0}));
  EXPECT_EQ(ranks(100), (std::pair{40.0, 61.0}));
  // Beyond a thousand an approximation takes over: it agrees with the exact ranks 469 and 532 of a thousand.
  EXPECT_EQ(ranks(1000), (std::pair{469.0, 532.0}));
  EXPECT_NEAR(ranks(1001).first, 469, 1.5);
}

class pacing_test : public testing::Test {
 protected:
  // Runs all rounds; each timed one adds the next of `values`. Returns how many were timed.
  std::uint64_t timed_rounds(const std::vector<double>& values) {
    samples times;
    rounds = 0;
    pacing pace{run, {&times, &no_times}};
    while (pace.next()) {
      ++rounds;
      EXPECT_EQ(pace.first(), rounds == 1);
      if (pace.timed()) times.add(values[times.count() % values.size()]);
    }
    return times.count();
  }

  run_options run;
  samples no_times;
  std::uint64_t rounds = 0;
};

TEST_F(pacing_test, runs_what_it_is_asked_for) {
  run.warmup = 3;
  run.iterations = 7;
  EXPECT_EQ(timed_rounds({1, 100}), 7u);
  EXPECT_EQ(rounds, 10u);
}

TEST_F(pacing_test, goes_on_until_the_median_is_known) {
  run.iterations = 4;
  run.most_iterations = 50;
  EXPECT_EQ(timed_rounds({100, 101}), 6u) << "fewer have no interval";
  EXPECT_EQ(timed_rounds({100, 100, 100, 100, 100, 200}), 9u)
      << "the first count that one outlier of six is left out of";
  EXPECT_EQ(timed_rounds({100, 200}), 50u) << "these never agree";
}

TEST_F(pacing_test, stops_when_the_time_is_over) {
  run.iterations = run.warmup = 1'000'000;
  run.soft_limit = 1e-9;
  EXPECT_EQ(timed_rounds({1}), 1u);
  EXPECT_EQ(rounds, 2u) << "one round of each kind is run whatever it takes";
}

TEST(finding, a_case_that_is_not_flawless_has_no_measures) {
  findings found;
  found.requests = 3;
  found.rounds_judged = 1;
  found.add("malloc", microseconds, of({2}));
  found.add("free", microseconds, samples{});
  found.add_series("range", space_ratio, {1, 1.5});
  json_object sound;
  found.report(sound);
  EXPECT_EQ(
      sound.text(),
      R"({"failures": 0, "refused": 0, "requests": 3, "verified": true, "rounds": 0, "rounds_judged": 1, "measures": )"
      R"({"malloc": {"median": 2, "median_low": null, "median_high": null, "p95": 2, "p99": 2, "min": 2, "max": 2, )"
      R"("mean": 2, "count": 1, "unit": "us", "better": "lower", "timing": true}, "free": null}, "memory": null, )"
      R"("series": {"range": {"unit": "ratio", "timing": false, "values": [1, 1.5]}}})");
  found.failures = 1;
  json_object refused;
  found.report(refused);
  EXPECT_EQ(
      refused.text(),
      R"({"failures": 1, "refused": 0, "requests": 3, "verified": true, "rounds": 0, "rounds_judged": 1, "measures": )"
      R"({}, "memory": null})");
}

TEST(json, escapes_what_it_must) {
  const std::string text = json_object{}
                               .add("a\"b", "line\nwith \\ and \x01")
                               .add("flag", true)
                               .add("no number", std::numeric_limits<double>::infinity())
                               .add("none", std::optional<std::uint64_t>{})
                               .add("large", std::numeric_limits<std::uint64_t>::max())
                               .text();
  EXPECT_EQ(text,
            "{\"a\\\"b\": \"line\\nwith \\\\ and \\u0001\", \"flag\": true, \"no number\": null, \"none\": null, "
            "\"large\": 18446744073709551615}");
}

}  // namespace
}  // namespace warpheap::bench::measure_test
