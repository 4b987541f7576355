// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The benchmark driver: measures one case for one allocator and prints one JSON object. `warpheap survey` starts it
/// once for each case, so that a hang or a crash costs that case alone. Asked to serve, it measures case after case and
/// ends with the first that is not ok: what remains of such a case reaches no other.

#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>

#include "cases.hpp"
#include "entry.hpp"
#include "options.hpp"
#include "record.hpp"

namespace warpheap::bench {
namespace {

void print_line(const std::string& text) { std::printf("%s\n", text.c_str()); }

int measure_and_print(run_options run) {
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

// Carries out a line of stdin after the other, words between blanks, until one is not ok or no more come. The caller
// reads each record before it asks for the next.
int serve() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream stream{line};
    std::vector<std::string> words{"warpheap_bench"};
    for (std::string word; stream >> word;) words.push_back(word);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const command asked = parse_command_line(static_cast<int>(words.size()), pointers.data());
    if (asked.what != command::kind::run) throw usage_error("--serve: each line of stdin names a case");
    const int ended = measure_and_print(asked.run);
    std::fflush(stdout);
    if (ended != all_well) return ended;
  }
  return all_well;
}

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
    case command::kind::serve:
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
  return asked.what == command::kind::serve ? serve() : measure_and_print(asked.run);
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
