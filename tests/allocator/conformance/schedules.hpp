// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <support/findings.hpp>
#include <support/schedules.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// Runs `body(seed)` under each of `test_schedules` and says in the findings which one found them. The first that finds
/// something is the last: a heap that broke once has little more to tell.
template <class Body>
void under_schedules(findings& found, Body body) {
  for (const schedule& plan : test_schedules(2)) {
    const scoped_schedule guard{plan};
    found.under(describe(plan));
    body(plan.seed);
    if (!found.empty()) break;
  }
  found.under("");
}

}  // namespace warpheap::test
