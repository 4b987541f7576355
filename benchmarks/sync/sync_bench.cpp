// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Two experiments of Gelado & Garland (PPoPP 2019) with what threads wait with: prints one JSON object a line. Case
/// `semaphores` is their Figure 5, `delegation` their Figure 6. Times are those of a kernel in microseconds, its start
/// included; on the host backend they mean nothing. With `--seconds` a curve ends where a point takes more than its share.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>
#include <warpheap/floor.hpp>
#include <warpheap_fingerprint.hpp>

#include "../json.hpp"
#include "../measure/samples.hpp"
#include "delegation.hpp"
#include "semaphores.hpp"

namespace warpheap::bench {
namespace {

struct settings {
  std::string what = "all";
  bool quick = false;
  double seconds = 0;  // for all; 0: as long as it takes

  int rounds() const { return quick ? 1 : 10; }
  // What one point may take: there are about a hundred and fifty.
  double point_us() const { return seconds == 0 ? 1e12 : seconds * 1e6 / 150; }
};

// Runs `once`, first for warmth, as often as it is asked for and time allows, and prints its times. True if the next point
// of the curve, with twice the work, may be run, too.
bool report(const settings& asked, json_object record, std::uint64_t operations, const std::function<double()>& once) {
  samples times;
  double left = asked.point_us() - once();
  for (int round = 0; round < asked.rounds() && (round == 0 || left > 0); ++round) {
    const double time = once();
    left -= time;
    times.add(time);
  }
  record.add("operations", operations).add("rate", static_cast<double>(operations) / times.median() * 1e6);
  record.add("time_us", *times.summary()).add("timing_comparable", this_backend == backend::cuda);
  record.add("device", describe_machine().name).add("sources", sources_fingerprint);
  std::printf("%s\n", record.text().c_str());
  std::fflush(stdout);
  return times.median() < asked.point_us();
}

void run_semaphores(const settings& asked) {
  const std::uint64_t most = asked.quick ? 1 << 9 : std::uint64_t{1} << 20;
  for (const std::uint64_t batch : {std::uint64_t{32}, std::uint64_t{512}, std::uint64_t{4096}}) {
    bool counting = true;
    bool bulk = true;
    for (std::uint64_t threads = 1; threads <= most; threads *= asked.quick ? 8 : 2) {
      const auto record = [&](const char* subject) {
        return json_object{}
            .add("case", "semaphores")
            .add("subject", subject)
            .add("batch", batch)
            .add("threads", threads);
      };
      if (counting) {
        counting = report(asked, record("counting"), threads,
                          [=] { return time_of_units<counting_semaphore>(threads, batch); });
      }
      if (bulk) {
        bulk = report(asked, record("bulk"), threads, [=] { return time_of_units<bulk_semaphore>(threads, batch); });
      }
    }
  }
}

void run_delegation(const settings& asked) {
  const std::uint64_t most = asked.quick ? 1 << 7 : std::uint64_t{1} << 14;
  for (const std::uint64_t ratio : {1, 4, 16, 64}) {
    bool goes_on[] = {true, true};
    for (std::uint64_t threads = 64; threads <= most; threads *= 2) {
      for (const bool delegates : {false, true}) {
        if (!goes_on[delegates]) continue;
        const auto record = json_object{}
                                .add("case", "delegation")
                                .add("subject", delegates ? "delegating" : "classical")
                                .add("readers_per_writer", ratio)
                                .add("threads", threads);
        goes_on[delegates] =
            report(asked, record, threads, [=] { return time_of_removals(threads, ratio, delegates); });
      }
    }
  }
}

settings parse(int count, char** words) {
  settings asked;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--quick") {
      asked.quick = true;
    } else if (word == "--case" && i + 1 < count) {
      asked.what = words[++i];
    } else if (word == "--seconds" && i + 1 < count) {
      asked.seconds = std::strtod(words[++i], nullptr);
      if (asked.seconds <= 0) throw std::invalid_argument("--seconds: a number above 0");
    } else {
      throw std::invalid_argument(
          "use --case semaphores, delegation or all, --quick for a small run, and --seconds N to end curves that take "
          "too "
          "long");
    }
  }
  if (asked.what != "all" && asked.what != "semaphores" && asked.what != "delegation") {
    throw std::invalid_argument("--case " + asked.what + ": use semaphores, delegation or all");
  }
  return asked;
}

}  // namespace
}  // namespace warpheap::bench

int main(int count, char** words) {
  using namespace warpheap::bench;
  try {
    const settings asked = parse(count, words);
    if (!warpheap::machine_available()) throw std::runtime_error("no GPU answers; check nvidia-smi");
    if (asked.what != "delegation") run_semaphores(asked);
    if (asked.what != "semaphores") run_delegation(asked);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "warpheap_sync_bench: %s\n", problem.what());
    return 1;
  }
}
