// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What many figures are counted in gives the percentiles that sorting them would.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "measure/distribution.hpp"
#include "measure/findings.hpp"
#include "measure/requests.hpp"
#include "measure/samples.hpp"

namespace warpheap::bench::distribution_test {
namespace {

std::vector<float> numbers(int from, int upto) {
  std::vector<float> result;
  for (int i = upto; i >= from; --i) result.push_back(static_cast<float>(i));
  return result;
}

TEST(distribution, of_nothing_has_no_summary) { EXPECT_FALSE(distribution{}.summary().has_value()); }

TEST(distribution, of_whole_numbers_is_exact) {
  distribution figures;
  figures.add_round(numbers(1, 4000));
  EXPECT_EQ(figures.summary()->text(),
            R"({"median": 2000.5, "median_low": null, "median_high": null, "p95": 3800, "p99": 3960, "p999": 3996, )"
            R"("min": 1, "max": 4000, "mean": 2000.5, "count": 4000})");
}

TEST(distribution, is_that_of_all_rounds) {
  distribution together;
  distribution apart;
  together.add_round(numbers(0, 2999));
  for (int round = 0; round < 6; ++round) apart.add_round(numbers(round * 500, round * 500 + 499));
  const std::string same =
      R"("p95": 2849, "p99": 2969, "p999": 2996, "min": 0, "max": 2999, "mean": 1499.5, "count": 3000})";
  EXPECT_EQ(together.summary()->text(), R"({"median": 1499.5, "median_low": null, "median_high": null, )" + same);
  EXPECT_EQ(apart.summary()->text(), R"({"median": 1499.5, "median_low": 249.5, "median_high": 2749.5, )" + same)
      << "the interval is that of the rounds";
}

TEST(distribution, knows_the_median_of_each_round) {
  distribution figures;
  figures.add_round({5, 1, 3});
  figures.add_round({4, 1, 2, 9});
  figures.add_round({7});
  EXPECT_EQ(figures.round_medians().values(), (std::vector<double>{3, 3, 7}));
}

TEST(distribution, has_its_median_within_the_interval) {
  // Ten rounds of one figure, and a large one whose figures are the median of all.
  distribution figures;
  for (int i = 0; i < 10; ++i) figures.add_round({1});
  figures.add_round(std::vector<float>(100, 50));
  const std::string text = figures.summary()->text();
  EXPECT_NE(text.find("\"median\": 50, \"median_low\": 1, \"median_high\": 50,"), std::string::npos) << text;
}

TEST(distribution, is_precise_for_large_figures) {
  distribution figures;
  samples exact;
  std::vector<float> values;
  for (std::uint64_t i = 0; i < 10001; ++i) {
    values.push_back(static_cast<float>(mix(i) % 1'000'000'000'000));
    exact.add(values.back());
  }
  figures.add_round(values);
  const auto figure = [&](const char* name) {
    const std::string text = figures.summary()->text();
    return std::stod(text.substr(text.find(name) + std::string{name}.size()));
  };
  EXPECT_LE(figure(R"("median": )"), exact.median());
  EXPECT_GE(figure(R"("median": )"), exact.median() * 0.9995);
  EXPECT_EQ(figures.round_medians().median(), exact.median()) << "a round is looked at before it is counted";
}

TEST(distribution, is_a_measure) {
  distribution figures;
  figures.add_round({2});
  findings found;
  found.add("malloc", cycles, figures.summary());
  found.add("free", cycles, distribution{}.summary());
  json_object record;
  found.report(record);
  EXPECT_NE(
      record.text().find(
          R"("max": 2, "mean": 2, "count": 1, "unit": "cycles", "better": "lower", "timing": true}, "free": null})"),
      std::string::npos)
      << record.text();
}

}  // namespace
}  // namespace warpheap::bench::distribution_test
