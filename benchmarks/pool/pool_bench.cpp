// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Host-side allocation, measured: prints one JSON object a line. `sizes`, `fill` and `live` are
/// the experiments of Aknesil and Unat (2017). Times are nanoseconds a call, the median of
/// repetitions beside the least and the greatest. Calls are timed in batches, so that the clock is
/// not part of them, except in `fill`.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>
#include <warpheap/pool.hpp>

#include "churn.hpp"
#include "fill.hpp"
#include "live.hpp"
#include "recorded.hpp"
#include "replay.hpp"
#include "sizes.hpp"
#include "streams.hpp"
#include "subjects.hpp"

namespace warpheap::bench {
namespace {

// A whole number, and nothing but that: a sign would become a number near 2^64.
template <class Number>
Number whole(const std::string& option, const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) throw std::invalid_argument(option + " needs a whole number, not " + text);
  return number;
}

settings parse(int count, char** words) {
  settings with;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == count) throw std::invalid_argument(word + " needs a value");
      return words[++i];
    };
    if (word == "--case") {
      with.what = value();
    } else if (word == "--subject") {
      with.subject = value();
    } else if (word == "--log") {
      with.log = value();
    } else if (word == "--bytes") {
      with.bytes = whole<std::uint64_t>(word, value());
    } else if (word == "--repetitions") {
      with.repetitions = whole<int>(word, value());
    } else if (word == "--seconds") {
      with.seconds = std::stod(value());
    } else if (word == "--list") {
      with.lists = true;
    } else if (word == "--quick") {
      with.quick = true;
      with.repetitions = 1;
    } else {
      throw std::invalid_argument("there is no option " + word);
    }
  }
  const std::vector<std::string> known{"all", "sizes", "fill", "live", "churn", "streams", "replay", "recording"};
  if (std::find(known.begin(), known.end(), with.what) == known.end() || with.repetitions < 1) {
    throw std::invalid_argument("there is no such case, or no repetition");
  }
  if ((with.what == "replay" || with.what == "recording") && with.log.empty() && !with.lists) {
    throw std::invalid_argument("the case " + with.what + " needs --log FILE");
  }
  return with;
}

constexpr const char* usage =
    "warpheap_pool_bench [--case all|sizes|fill|live|churn|streams|replay|recording] [--subject all|NAME]\n"
    "                    [--bytes N] [--repetitions N] [--seconds N] [--log FILE] [--quick] [--list]\n"
    "  measures host-side allocation, and prints one JSON object a line; replay needs a log of logging_adaptor,\n"
    "  recording a trace of one process by warpheap run; all has no recording;\n"
    "  --seconds: a case that took so long begins no other repetition; --list: the case's subjects, one a line\n";

void list(const settings& with) {
  std::string names;
  const auto add = [&]<class Subject>(const char* name) { names.append(name).append("\n"); };
  if (with.what == "recording") {
    for_each_recorded_subject(add);
  } else {
    for_each_subject(add);
  }
  std::fputs(names.c_str(), stdout);
}

void run(const settings& with) {
  bool any = false;
  if (with.what == "recording") {
    for_each_recorded_subject([&]<class Subject>(const char* name) {
      if (with.subject != "all" && with.subject != name) return;
      any = true;
      measure_recording<Subject>(name, with);
    });
    if (!any) throw std::invalid_argument("there is no subject " + with.subject + " of recordings");
    return;
  }
  for_each_subject([&]<class Subject>(const char* name) {
    if (with.subject != "all" && with.subject != name) return;
    any = true;
    const auto wanted = [&](const char* what) { return with.what == "all" || with.what == what; };
    if (wanted("sizes")) measure_sizes<Subject>(name, with);
    if (wanted("fill")) measure_fill<Subject>(name, with);
    if (wanted("live")) measure_live<Subject>(name, with);
    if (wanted("churn")) measure_churn<Subject>(name, with);
    if (wanted("streams")) measure_streams<Subject>(name, with);
    if (!with.log.empty() && wanted("replay")) measure_replay<Subject>(name, with);
  });
  if (!any) throw std::invalid_argument("there is no subject " + with.subject);
}

}  // namespace
}  // namespace warpheap::bench

int main(int count, char** words) {
  using namespace warpheap;
  try {
    const bench::settings with = bench::parse(count, words);
    if (with.lists) {
      bench::list(with);
      return 0;
    }
    if (!machine_available()) {
      std::fputs("warpheap_pool_bench: no GPU answers; check nvidia-smi, or use warpheap_pool_bench_host\n", stderr);
      return 3;
    }
    bench::run(with);
    return 0;
  } catch (const std::invalid_argument& problem) {
    std::fprintf(stderr, "warpheap_pool_bench: %s\n%s", problem.what(), bench::usage);
    return 2;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "warpheap_pool_bench: %s\n", problem.what());
    return 1;
  }
}
