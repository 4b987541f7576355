// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/executor.hpp>

namespace warpheap::target {

inline std::uint32_t multiprocessor_index() { return executor::processor(); }
inline std::uint64_t cycle_count() { return executor::nanoseconds(); }

}  // namespace warpheap::target
