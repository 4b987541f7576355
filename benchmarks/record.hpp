// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "entry.hpp"
#include "json.hpp"
#include "options.hpp"

namespace warpheap::bench {

/// The version of the record's schema: `docs/records.md` describes it. Raise it when a field changes its meaning or
/// goes.
inline constexpr int record_schema = 2;

/// The machine that kernels run on, and what this program was built from.
json_object describe_driver();

/// What `size` is in a case.
enum class size_meaning {
  of_requests,  ///< the largest request, which a design has to serve
  of_input      ///< bytes of what the case works on
};

/// Runs what `options` ask for and returns the finished record. A kernel that fails makes it one of status `crashed`.
struct finished_record {
  json_object record;
  bool ok;
};
finished_record measure(const run_options& options, const allocator_entry& entry, size_meaning size);

}  // namespace warpheap::bench
