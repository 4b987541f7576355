// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "../json.hpp"
#include "findings.hpp"

namespace warpheap::bench {

inline constexpr const char* lacks_individual_free = "the design has no individual free";
inline constexpr const char* needs_whole_warps =
    "the design needs all lanes of a warp together; here each thread calls for itself";

/// Writes the findings of a case that did not run, and returns `reason`, why the design cannot serve it.
inline std::string not_served(json_object& record, const char* reason) {
  findings{}.report(record);
  return reason;
}

}  // namespace warpheap::bench
