// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Records a shipped trace again: `warpheap_record_trace_host NAME FILE`. docs/traces.md tells when to.

#include <cstdio>
#include <exception>
#include <string_view>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

#include "programs/adjacency.hpp"
#include "programs/rewriting.hpp"

int main(int count, char** words) {
  using namespace warpheap;
  const std::string_view name = count == 3 ? words[1] : "";
  if (name != "adjacency" && name != "rewriting") {
    std::fputs("warpheap_record_trace: use it as: warpheap_record_trace adjacency|rewriting FILE\n", stderr);
    return 2;
  }
  try {
    const trace made =
        name == "adjacency" ? bench::record_adjacency<ouroboros_va_p>() : bench::record_rewriting<ouroboros_va_p>();
    const trace_figures figures = examine(made);
    write_trace(words[2], made);
    std::printf("%zu phases, %llu threads, %llu mallocs, %llu frees, %llu bytes at most at once, the largest of %llu\n",
                made.phases.size(), static_cast<unsigned long long>(figures.threads),
                static_cast<unsigned long long>(figures.mallocs), static_cast<unsigned long long>(figures.frees),
                static_cast<unsigned long long>(figures.peak_bytes),
                static_cast<unsigned long long>(figures.largest_bytes));
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "warpheap_record_trace: %s\n", problem.what());
    return 1;
  }
}
