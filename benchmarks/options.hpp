// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpheap::bench {

/// What the process ends with. `docs/survey.md` documents them.
enum exit_code : int {
  all_well = 0,     ///< the answer or a record of status `ok` was printed
  case_failed = 1,  ///< a record of status `failed` or `crashed` was printed, or stderr says why no record was printed
  bad_usage = 2,    ///< the command line is wrong; stderr says what would be right
  no_machine = 3    ///< there is no machine to run kernels on
};

/// A command line that cannot be carried out. The message says what would be right.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A name that is not in a list. Collects the right ones and says so.
class unknown_name {
 public:
  /// `given` was the value of `option`.
  unknown_name(std::string_view option, std::string_view given) : option_(option), given_(given) {}
  /// Adds a right name.
  void add(std::string_view right) {
    if (!right_.empty()) right_.append(", ");
    right_.append(right);
  }
  /// Throws the usage error.
  [[noreturn]] void fail() const;

 private:
  std::string option_;
  std::string given_;
  std::string right_;
};

/// A way in which a case runs. Each case lists its own.
struct case_mode {
  const char* name;
  const char* summary;
};

/// Which rounds are checked block by block. Null results are counted in every round.
enum class verify_policy {
  ends,  ///< the first warm-up and one round after the timed ones, so that no check stands between timed rounds
  all    ///< every round; checks between malloc and free then leave caches cold
};

/// One run of the driver, as the command line asks for it.
struct run_options {
  std::string case_name = "throughput";
  std::string allocator;
  std::string mode;              ///< one of the case's; empty: its first
  std::uint64_t threads = 1024;  ///< threads that ask: the lanes that stand by in mode `warp` are not counted
  std::uint64_t size = 16;       ///< bytes; the upper bound in mode `mixed`
  std::uint64_t heap_bytes = std::uint64_t{64} << 20;
  std::uint64_t iterations = 6;       ///< timed rounds at least
  std::uint64_t most_iterations = 0;  ///< further rounds until the medians are known well enough; 0: none
  double precision = 0.02;            ///< how well: half the confidence interval, as a share of the median
  std::uint64_t warmup = 2;           ///< rounds before them, at least one of which is run and checked
  std::uint64_t seed = 1;
  double soft_limit = 0;  ///< seconds after which no further round starts, once one was timed; 0: none
  verify_policy verify = verify_policy::ends;
  std::string trace_file;  ///< what case `trace` replays; empty: the shipped trace that the mode names
};

/// What the command line asks for.
struct command {
  enum class kind { help, list, cases, machine, serve, run };
  kind what = kind::run;
  run_options run;
};

/// Reads the command line. Throws `usage_error`.
command parse_command_line(int count, char** words);

/// The text of `--help`. It ends with a heading, below which the caller prints a list of the cases.
std::string help_text();

}  // namespace warpheap::bench
