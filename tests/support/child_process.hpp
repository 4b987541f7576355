// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <support/scale.hpp>

namespace warpheap::test {

/// True if a process ended by itself and reported a fault, with a status of its own or of a sanitizer's choice. A crash
/// or a timeout is no report.
inline bool ended_with_findings(int status) { return WIFEXITED(status) && WEXITSTATUS(status) != 0; }

/// False where a tool sees the faults that a child plants and keeps its GPU context for minutes: on a GPU at the small
/// scale, which is that of compute-sanitizer.
inline bool children_can_fail_freely() {
  return this_backend == backend::host || scale_in_force() != work_scale::small;
}

/// Lets the child of a test start as a process of its own, since a CUDA context survives no fork.
inline void start_children_anew() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

}  // namespace warpheap::test

/// Expects that `statement`, in a child process of its own because it may break anything, ends the process and reports
/// a fault in one of `words`. A sanitizer may be the first to see the fault. Skips the test where children cannot fail
/// freely.
#define WARPHEAP_EXPECT_CAUGHT(statement, words)                                                              \
  do {                                                                                                        \
    if (!::warpheap::test::children_can_fail_freely()) {                                                      \
      GTEST_SKIP() << "faults are planted, which a memory checker would report";                              \
    }                                                                                                         \
    EXPECT_EXIT(statement, ::warpheap::test::ended_with_findings, words "|AddressSanitizer|ThreadSanitizer"); \
  } while (false)
