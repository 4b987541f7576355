// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "curves.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <warpheap/platform.hpp>
#include <warpheap_fingerprint.hpp>

#include "../measure/samples.hpp"

namespace warpheap::bench {
namespace {

// Of all time at least this share is for points whose rows have no more: an even part each.
constexpr double for_small_points = 0.05;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string in_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

void print(json_object record) {
  record.add("backend", backend_name(this_backend));
  record.add("device", describe_machine().name).add("sources", sources_fingerprint);
  std::printf("%s\n", record.text().c_str());
  std::fflush(stdout);  // what has been measured is kept if the next point does not end
}

// How many threads do something in a run that is to take `seconds`; 0: there is no such run.
std::uint64_t asking(const curve& of, std::uint64_t threads, double expected, double seconds) {
  if (expected <= seconds) return threads;
  const auto affordable = static_cast<std::uint64_t>(static_cast<double>(threads) * seconds / expected);
  return affordable < of.fewest_asking ? 0 : affordable;
}

// One run if it should take no more than `for_one` seconds, and then up to `rounds` within `for_all`.
void measure_point(curve& of, std::uint64_t threads, double for_one, double for_all, int rounds) {
  json_object record = of.head;
  record.add("threads", threads);
  const double expected = of.times.of(threads) / 1e6;
  const std::uint64_t active = asking(of, threads, expected, for_one);
  if (active == 0) {
    record.add("status", "skipped");
    record.add("reason", "one run should take " + in_seconds(expected) + " and has " + in_seconds(for_one) +
                             "; give more --seconds");
    print(std::move(record));
    return;
  }
  const double begin = now();
  samples times;
  const course first = of.run(threads, active);
  course last = first;
  const double one = now() - begin;
  // The first run warms up, if there is time for another one.
  const bool warmed = 2 * one <= for_all;
  if (!warmed) times.add(first.time);
  while (warmed &&
         (times.count() == 0 || (times.count() < static_cast<std::size_t>(rounds) && now() - begin + one <= for_all))) {
    last = of.run(threads, active);
    times.add(last.time);
  }
  const double time = times.median();
  of.times.learn(threads, time * static_cast<double>(threads) / static_cast<double>(active));
  record.add("status", "ok").add("operations", last.operations).add(of.made, last.made);
  record.add("seconds", time / 1e6).add("rate", static_cast<double>(last.operations) / time * 1e6);
  record.add("warmed_up", warmed).add("time_us", *times.summary());
  record.add("timing_comparable", this_backend == backend::cuda);
  print(std::move(record));
}

}  // namespace

void measure(std::vector<curve> curves, double seconds, int rounds, std::uint64_t step) {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (const curve& each : curves) {
    least = std::min(least, each.least);
    most = std::max(most, each.most);
  }
  std::vector<std::uint64_t> rows;
  for (std::uint64_t threads = least; threads <= most; threads *= step) rows.push_back(threads);
  const double end = now() + seconds;
  const double for_small = for_small_points * seconds / static_cast<double>(rows.size() * curves.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::uint64_t threads = rows[row];
    std::vector<curve*> points;
    for (curve& each : curves) {
      if (each.least <= threads && threads <= each.most) points.push_back(&each);
    }
    // The cheapest first: what they leave is for those that need it.
    std::stable_sort(points.begin(), points.end(),
                     [=](const curve* a, const curve* b) { return a->times.of(threads) < b->times.of(threads); });
    const double begin = now();
    const double left = std::max(end - begin, 0.0);
    const row_share share = share_of_row(static_cast<int>(rows.size() - row));
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto part = [&](double of_left) {
        return (begin + left * of_left - now()) / static_cast<double>(points.size() - i);
      };
      const double for_one = std::max(part(share.once), 0.0);
      // A few runs more of a point that takes little of what is left are worth more than a row that may not come.
      measure_point(*points[i], threads, for_one, std::max({part(share.all), for_one / 8, for_small}), rounds);
    }
  }
}

}  // namespace warpheap::bench
