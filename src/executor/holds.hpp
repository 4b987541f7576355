// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <warpheap/platform/host/detail/holds.hpp>

namespace warpheap::executor {

/// *lane*: the hold that keeps thread `thread` of the grid at the stop point `name`, or null. Counts the arrival.
hold* find_hold(const char* name, std::uint64_t thread);
/// *lane*: true if the held lane may go on.
bool is_over(const hold& which);
/// What the holds in force have to do with a launch in which nothing goes on; empty if none has.
std::string describe_holds();

}  // namespace warpheap::executor
