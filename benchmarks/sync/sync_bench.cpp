// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Two experiments of Gelado & Garland (PPoPP 2019) with what threads wait with: prints one JSON object a line. Case
/// `semaphores` is their Figure 5, `delegation` their Figure 6. Times are those of a kernel, its start included; on the
/// host backend they mean nothing. It ends within about `--seconds`, whatever the machine.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>

#include "../json.hpp"
#include "curves.hpp"
#include "delegation.hpp"
#include "semaphores.hpp"

namespace warpheap::bench {
namespace {

// Of the time for both experiments.
constexpr double share_of_semaphores = 0.6;

constexpr std::uint64_t batches[] = {32, 512, 4096};
constexpr std::uint64_t ratios[] = {1, 4, 16, 64};
// A list that is longer takes longer to walk than all that is measured here.
constexpr std::uint64_t most_elements = 1 << 14;

constexpr const char* help_text =
    "warpheap_sync_bench: measures semaphores and read-copy-update, and prints one JSON object for each point.\n"
    "\n"
    "  --case NAME      semaphores, delegation or all (all)\n"
    "  --seconds N      time for all points, about (60); a point that would take too long is recorded as skipped\n"
    "  --threads N      threads of a point at most, 64 or more (1048576; with --quick 512)\n"
    "  --quick          a few points, once each\n"
    "\n"
    "Exit codes: 0 all well, 1 a wrong command line, no machine, or a failure.\n";

struct settings {
  bool helps = false;
  std::string what = "all";
  bool quick = false;
  double seconds = 60;
  std::uint64_t threads = std::uint64_t{1} << 20;

  bool wants(const char* name) const { return what == "all" || what == name; }
  int rounds() const { return quick ? 1 : 30; }
  std::uint64_t step() const { return quick ? 8 : 2; }
};

// So many threads are on the machine at once, at most.
std::uint64_t resident_threads() { return std::uint64_t{2048} * describe_machine().multiprocessors; }

template <class Semaphore>
curve of_semaphore(const settings& asked, const char* subject, std::uint64_t batch) {
  const std::uint64_t resident = resident_threads();
  return {std::move(json_object{}.add("case", "semaphores").add("subject", subject).add("batch", batch)), "batches", 1,
          asked.threads,
          // As many at once as with all threads; only fewer of those that come after.
          resident,
          [=](std::uint64_t threads, std::uint64_t asking) { return take_units<Semaphore>(threads, asking, batch); },
          forecast{resident}};
}

void run_semaphores(const settings& asked, double seconds) {
  std::vector<curve> curves;
  for (const std::uint64_t batch : batches) {
    curves.push_back(of_semaphore<counting_semaphore>(asked, "counting", batch));
    curves.push_back(of_semaphore<bulk_semaphore>(asked, "bulk", batch));
  }
  measure(std::move(curves), seconds, asked.rounds(), asked.step());
}

void run_delegation(const settings& asked, double seconds) {
  std::vector<curve> curves;
  for (const std::uint64_t ratio : ratios) {
    for (const bool delegates : {false, true}) {
      auto head = std::move(json_object{}
                                .add("case", "delegation")
                                .add("subject", delegates ? "delegating" : "classical")
                                .add("readers_per_writer", ratio));
      curves.push_back({std::move(head), "removals", 64, std::min(asked.threads, most_elements * ratio),
                        // The elements of the list are those that all threads look for.
                        ~std::uint64_t{0},
                        [=](std::uint64_t threads, std::uint64_t) { return take_out(threads, ratio, delegates); },
                        // A thread that starts late, since the machine was full, may be a reader
                        // for whom each writer waits.
                        forecast{~std::uint64_t{0}}});
    }
  }
  measure(std::move(curves), seconds, asked.rounds(), asked.step());
}

settings parse(int count, char** words) {
  settings asked;
  bool limited = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == count) throw std::invalid_argument(word + " needs a value; see --help");
      return words[++i];
    };
    if (word == "--help") {
      asked.helps = true;
    } else if (word == "--quick") {
      asked.quick = true;
    } else if (word == "--case") {
      asked.what = value();
    } else if (word == "--seconds") {
      asked.seconds = std::strtod(value().c_str(), nullptr);
      if (!(asked.seconds > 0)) throw std::invalid_argument("--seconds: a number above 0");
    } else if (word == "--threads") {
      asked.threads = std::strtoull(value().c_str(), nullptr, 10);
      limited = true;
      if (asked.threads < 64) throw std::invalid_argument("--threads: 64 or more");
    } else {
      throw std::invalid_argument("there is no option " + word + "; see --help");
    }
  }
  if (asked.what != "all" && !asked.wants("semaphores") && !asked.wants("delegation")) {
    throw std::invalid_argument("--case " + asked.what + ": use semaphores, delegation or all");
  }
  if (asked.quick && !limited) asked.threads = 512;
  return asked;
}

}  // namespace
}  // namespace warpheap::bench

int main(int count, char** words) {
  using namespace warpheap::bench;
  try {
    const settings asked = parse(count, words);
    if (asked.helps) {
      std::fputs(help_text, stdout);
      return 0;
    }
    if (!warpheap::machine_available()) throw std::runtime_error("no GPU answers; check nvidia-smi");
    const double first = asked.what == "all" ? share_of_semaphores * asked.seconds : asked.seconds;
    if (asked.wants("semaphores")) run_semaphores(asked, first);
    if (asked.wants("delegation")) run_delegation(asked, asked.what == "all" ? asked.seconds - first : asked.seconds);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "warpheap_sync_bench: %s\n", problem.what());
    return 1;
  }
}
