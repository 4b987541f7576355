// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "executor/launch_state.hpp"
#include "executor/records.hpp"

namespace warpheap::executor {

/// The words in which a failed launch is reported. Nothing in them depends on addresses or time, so a schedule that
/// replays gives the same text.

/// What the lane did wrong, and where.
std::string describe_fault(const lane& culprit);
/// That no lane of the block can run.
std::string describe_deadlock(const block& stuck);
/// That all lanes only waited.
std::string describe_stall(const schedule& plan);
/// That the lane does not come to a point where it could be switched.
std::string describe_stuck(const schedule& plan, const lane& stuck);
/// Where each lane under way stands: a line for each group of warps that stand alike.
std::string describe_lanes(const worker& where);
/// The whole report: the reason, the schedule, how to replay it, and `lanes`.
std::string describe_failure(const launch_state& launch, const std::string& reason, const std::string& lanes);

}  // namespace warpheap::executor
