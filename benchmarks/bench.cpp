// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The benchmark driver: measures one case for one allocator and prints one JSON object. `warpheap survey` starts it
/// once for each case, so that a hang or a crash costs that case alone.

#include <cstdio>
#include <exception>
#include <string>
#include <warpheap/platform.hpp>

#include "cases.hpp"
#include "entry.hpp"
#include "options.hpp"
#include "record.hpp"

namespace warpheap::bench {
namespace {

void print_line(const std::string& text) { std::printf("%s\n", text.c_str()); }

int carry_out(const command& asked) {
  switch (asked.what) {
    case command::kind::help:
      std::fputs(help_text().c_str(), stdout);
      for_each_case([](auto tag) {
        using listed = typename decltype(tag)::type;
        std::printf("  %-18s  %s\n", listed::name, listed::summary);
      });
      return all_well;
    case command::kind::list:
      for (const allocator_entry& entry : all_entries()) print_line(describe(entry).text());
      return all_well;
    case command::kind::cases:
      for_each_case([](auto tag) { print_line(describe_case<typename decltype(tag)::type>().text()); });
      return all_well;
    case command::kind::machine:
    case command::kind::run: break;
  }
  if (!machine_available()) {
    std::fputs("warpheap_bench: no GPU answers; check nvidia-smi, or use warpheap_bench_host\n", stderr);
    return no_machine;
  }
  if (asked.what == command::kind::machine) {
    print_line(describe_driver().text());
    return all_well;
  }
  run_options run = asked.run;
  size_meaning size = size_meaning::of_requests;
  visit_case(run.case_name, [&](auto tag) {
    using chosen = typename decltype(tag)::type;
    run = with_mode<chosen>(run);
    if constexpr (requires { chosen::size_is_of_input; }) size = size_meaning::of_input;
  });
  const finished_record finished = measure(run, find_entry(run.allocator), size);
  print_line(finished.record.text());
  return finished.ok ? all_well : case_failed;
}

}  // namespace
}  // namespace warpheap::bench

int main(int count, char** words) {
  using namespace warpheap::bench;
  try {
    return carry_out(parse_command_line(count, words));
  } catch (const usage_error& problem) {
    std::fprintf(stderr, "warpheap_bench: %s\n", problem.what());
    return bad_usage;
  } catch (const std::exception& problem) {
    // What a case does not report itself, such as a heap that the machine refuses.
    std::fprintf(stderr, "warpheap_bench: %s\n", problem.what());
    return case_failed;
  }
}
