// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <getopt.h>

#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>
#include <warpheap/platform.hpp>

namespace warpheap::bench {
namespace {

constexpr std::array<std::pair<std::string_view, verify_policy>, 2> policies{
    {{"ends", verify_policy::ends}, {"all", verify_policy::all}}};

template <class Table>
auto chosen(const Table& table, std::string_view option, std::string_view text) {
  unknown_name unknown{option, text};
  for (const auto& [name, value] : table) {
    if (name == text) return value;
    unknown.add(name);
  }
  unknown.fail();
}

std::uint64_t whole_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    throw usage_error("--" + std::string{option} + ": use a whole number from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", not '" + std::string{text} + "'");
  }
  return value;
}

double real_number(std::string_view option, std::string_view text, const char* what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0)) {
    throw usage_error("--" + std::string{option} + ": use " + what + ", not '" + std::string{text} + "'");
  }
  return value;
}

enum option_id : int {
  help,
  list,
  cases,
  machine,
  serve,
  case_name,
  allocator,
  mode,
  threads,
  size,
  heap,
  iterations,
  most_iterations,
  precision,
  warmup,
  seed,
  soft_limit,
  trace_file,
  verify
};

constexpr option long_options[] = {{"help", no_argument, nullptr, help},
                                   {"list", no_argument, nullptr, list},
                                   {"cases", no_argument, nullptr, cases},
                                   {"machine", no_argument, nullptr, machine},
                                   {"serve", no_argument, nullptr, serve},
                                   {"case", required_argument, nullptr, case_name},
                                   {"allocator", required_argument, nullptr, allocator},
                                   {"mode", required_argument, nullptr, mode},
                                   {"threads", required_argument, nullptr, threads},
                                   {"size", required_argument, nullptr, size},
                                   {"heap-bytes", required_argument, nullptr, heap},
                                   {"iterations", required_argument, nullptr, iterations},
                                   {"most-iterations", required_argument, nullptr, most_iterations},
                                   {"precision", required_argument, nullptr, precision},
                                   {"warmup", required_argument, nullptr, warmup},
                                   {"seed", required_argument, nullptr, seed},
                                   {"soft-limit", required_argument, nullptr, soft_limit},
                                   {"trace", required_argument, nullptr, trace_file},
                                   {"verify", required_argument, nullptr, verify},
                                   {nullptr, 0, nullptr, 0}};

}  // namespace

void unknown_name::fail() const {
  std::string message = "--";
  message.append(option_).append(": '").append(given_).append("' is unknown here; use one of: ").append(right_);
  throw usage_error(message);
}

command parse_command_line(int count, char** words) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  // 2^31 - 1 blocks are a CUDA grid's limit; in mode warp a thread that asks is a whole warp of one.
  constexpr std::uint64_t most_threads = std::uint64_t{1} << 32;
  command result;
  run_options& run = result.run;
  run.verify = this_backend == backend::host ? verify_policy::all : verify_policy::ends;
  opterr = 0;
  optind = 0;  // a process that serves reads many command lines; 0 makes getopt forget the last one
  for (int id; (id = getopt_long(count, words, "", long_options, nullptr)) != -1;) {
    const std::string_view text = optarg == nullptr ? "" : optarg;
    const std::string_view name = id >= 0 && id <= verify ? long_options[id].name : "";
    switch (id) {
      case help: result.what = command::kind::help; break;
      case list: result.what = command::kind::list; break;
      case cases: result.what = command::kind::cases; break;
      case machine: result.what = command::kind::machine; break;
      case serve: result.what = command::kind::serve; break;
      case case_name: run.case_name = text; break;
      case allocator: run.allocator = text; break;
      case mode: run.mode = text; break;
      case threads: run.threads = whole_number(name, text, 1, most_threads); break;
      case size: run.size = whole_number(name, text, 1, any); break;
      case heap: run.heap_bytes = whole_number(name, text, 1, any); break;
      case iterations: run.iterations = whole_number(name, text, 1, 1'000'000); break;
      case most_iterations: run.most_iterations = whole_number(name, text, 1, 1'000'000); break;
      case precision: run.precision = real_number(name, text, "a share such as 0.02"); break;
      case warmup: run.warmup = whole_number(name, text, 1, 1'000'000); break;
      case seed: run.seed = whole_number(name, text, 0, any); break;
      case soft_limit: run.soft_limit = real_number(name, text, "a number of seconds"); break;
      case trace_file: run.trace_file = text; break;
      case verify: run.verify = chosen(policies, name, text); break;
      default:
        throw usage_error("'" + std::string{words[optind - 1]} + "' is no option or lacks its value; see --help");
    }
  }
  if (optind < count) throw usage_error("'" + std::string{words[optind]} + "' is not expected here; see --help");
  if (run.mode == "mixed" && run.size < 4) throw usage_error("--size: use at least 4 with --mode mixed");
  return result;
}

std::string help_text() {
  return "Measures one case for one allocator and prints one JSON object, or lists what there is.\n"
         "\n"
         "  --list              one line for each allocator: its name and what it can do\n"
         "  --cases             one line for each case: its name, its modes, and which of the axes below matter\n"
         "  --machine           the machine that kernels run on\n"
         "  --serve             read the words of a case from each line of stdin, and print its object\n"
         "  --case NAME         what to measure (throughput)\n"
         "  --allocator NAME    what to measure it for\n"
         "  --mode MODE         one of the case's modes (its first)\n"
         "  --threads N         threads that ask (1024)\n"
         "  --size S            bytes; the upper bound in mode mixed (16)\n"
         "  --heap-bytes B      bytes of heap (67108864)\n"
         "  --iterations I      timed rounds at least (6)\n"
         "  --most-iterations M go on, up to this many, until the medians are known to the precision (I)\n"
         "  --precision P       half the confidence interval of a median, as a share of it (0.02)\n"
         "  --warmup W          rounds before them, 1 or more (2)\n"
         "  --seed N            what random sizes are drawn from (1)\n"
         "  --soft-limit S      start no further round after S seconds, once one was timed (0: no limit)\n"
         "  --trace FILE        what case trace replays, in place of a shipped trace (docs/traces.md)\n"
         "  --verify WHICH      ends: check a round before and one after the timed ones; all: check every round\n"
         "\n"
         "Exit codes: 0 all well, 1 a case that is not ok, 2 wrong command line, 3 no machine.\n"
         "\n"
         "Cases:\n";
}

}  // namespace warpheap::bench
