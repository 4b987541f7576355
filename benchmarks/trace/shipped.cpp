// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "shipped.hpp"

#include <filesystem>

namespace warpheap::bench {

trace trace_of(const run_options& options) {
  if (options.trace_file.empty()) return parse_trace(shipped_trace_text(options.mode));
  try {
    return read_trace(options.trace_file);
  } catch (const trace_error& problem) {
    throw usage_error("--trace: " + std::string{problem.what()});
  }
}

std::string mode_of_file(const run_options& options) {
  if (!options.mode.empty()) throw usage_error("--mode: names a shipped trace; leave it out with --trace");
  static_cast<void>(trace_of(options));
  std::string mode = "file:";
  return mode.append(std::filesystem::path{options.trace_file}.stem().string());
}

}  // namespace warpheap::bench
