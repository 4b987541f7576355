// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warpheap::target {

// The executor's fibers have stacks of a size that no kernel comes near.
inline void reserve_call_stack(std::uint64_t) {}

}  // namespace warpheap::target
