// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "../options.hpp"
#include "findings.hpp"
#include "pacing.hpp"
#include "samples.hpp"

namespace warpheap::bench {

/// What a round is for.
struct round_kind {
  bool timed;   ///< its figures count
  bool judged;  ///< its blocks are looked at one by one
};

/// Calls `round(round_kind)` for the warm-ups, for the timed rounds that `pacing` asks for, and for a last one that is
/// judged and not timed. Which others are judged is up to `options.verify`. A fault or a failure in `found` ends it.
template <class Round>
void run_rounds(const run_options& options, const findings& found, std::vector<const samples*> watched, Round&& round) {
  const bool always = options.verify == verify_policy::all;
  pacing pace{options, std::move(watched)};
  while (found.flawless() && pace.next()) round(round_kind{.timed = pace.timed(), .judged = always || pace.first()});
  if (found.flawless() && !always) round(round_kind{.timed = false, .judged = true});
}

}  // namespace warpheap::bench
