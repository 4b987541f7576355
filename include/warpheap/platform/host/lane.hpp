// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/executor.hpp>
#include <warpheap/platform/lane.hpp>

namespace warpheap::target {

inline constexpr int warp_width = executor::warp_width;

inline int lane_index() { return executor::place().lane; }
inline std::uint32_t thread_index() { return executor::place().thread; }
inline std::uint32_t block_threads() { return executor::place().block_threads; }
inline std::uint64_t block_index() { return executor::place().block; }
inline std::uint64_t grid_blocks() { return executor::place().grid_blocks; }
inline std::uint64_t launch_number() { return executor::launch_number(); }

}  // namespace warpheap::target
