// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <support/child_process.hpp>
#include <utility>

#include "json.hpp"
#include "options.hpp"

/// What the tests of the driver's cases share: a small run of a case, and what it says.
namespace warpheap::bench::test_of_cases {

/// A run of few threads in a small heap.
inline run_options small_run(const char* mode, std::uint64_t threads, std::uint64_t size, std::uint64_t heap_bytes,
                             std::uint64_t iterations) {
  run_options options;
  options.mode = mode;
  options.threads = threads;
  options.size = size;
  options.heap_bytes = heap_bytes;
  options.iterations = iterations;
  options.warmup = 1;
  // The policy of a GPU, where only some rounds are judged.
  options.verify = verify_policy::ends;
  return options;
}

/// Why a run was not ok, empty if it was, and its record.
struct outcome {
  std::string reason;
  std::string record;

  bool says(const std::string& text) const { return record.find(text) != std::string::npos; }
  /// The value of the first member `name` after the first `within`; -1 without it.
  double number(const std::string& within, const std::string& name) const {
    const std::size_t place = record.find("\"" + within + "\": {");
    const std::string member = "\"" + name + "\": ";
    const std::size_t at = place == std::string::npos ? place : record.find(member, place);
    return at == std::string::npos ? -1 : std::stod(record.substr(at + member.size()));
  }
  double median(const std::string& measure) const { return number(measure, "median"); }
};

template <class Case, class A>
outcome result_of(const run_options& options) {
  json_object record;
  std::string reason = Case::template run<A>(options, record);
  return {std::move(reason), record.text()};
}

/// Runs a case, prints why it is not ok and ends the process: with 0 if it is. One iteration after the warmup, since a
/// fault shows in each, and launches are dear on a GPU that other tests use, too.
template <class Case, class A>
[[noreturn]] void run_and_exit(run_options options) {
  options.iterations = 1;
  const outcome result = result_of<Case, A>(options);
  std::fprintf(stderr, "%s\n", result.reason.c_str());
  std::exit(result.reason.empty() ? 0 : 1);
}

/// For tests that run broken allocators in child processes.
class with_children : public testing::Test {
 protected:
  void SetUp() override { test::start_children_anew(); }
};

}  // namespace warpheap::bench::test_of_cases
