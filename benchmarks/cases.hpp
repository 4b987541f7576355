// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/throughput.hpp"

namespace warpheap::bench {

/// Carries a case's type as a value.
template <class Case>
struct case_tag {
  using type = Case;
};

/// Calls `visit(case_tag<C>{})` for each case, in the survey's order. A case is a type with `name`, `summary` and
/// `run<A>(options, record)`, as `throughput` has them: a new one is a file in `cases/` and a line here.
template <class Visitor>
void for_each_case(Visitor&& visit) {
  visit(case_tag<throughput>{});
}

}  // namespace warpheap::bench
