// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/lane.hpp>
#else
#include <warpheap/platform/host/lane.hpp>
#endif

namespace warpheap {

/// Lanes of a warp: 32 on a GPU. The host executor can be built with 4 or 1 (CMake: `WARPHEAP_HOST_WARP_WIDTH`).
inline constexpr int warp_width = target::warp_width;

/// The caller's lane within its warp, 0 to `warp_width - 1`.
WARPHEAP_FN inline int lane_index() { return target::lane_index(); }
/// The caller's thread within its block, counted over all dimensions of the block.
WARPHEAP_FN inline std::uint32_t thread_index() { return target::thread_index(); }
/// Threads of the caller's block.
WARPHEAP_FN inline std::uint32_t block_threads() { return target::block_threads(); }
/// The caller's block within its grid, counted over all dimensions of the grid.
WARPHEAP_FN inline std::uint64_t block_index() { return target::block_index(); }
/// Blocks of the caller's grid.
WARPHEAP_FN inline std::uint64_t grid_blocks() { return target::grid_blocks(); }
/// The caller's thread within its grid.
WARPHEAP_FN inline std::uint64_t grid_thread_index() { return block_index() * block_threads() + thread_index(); }
/// The caller's warp within its grid, modulo 2^32. A block begins a warp, also where its size is no multiple of
/// `warp_width`.
WARPHEAP_FN inline std::uint32_t grid_warp_index() {
  const std::uint32_t warps = (block_threads() + warp_width - 1) / warp_width;
  return static_cast<std::uint32_t>(block_index()) * warps + thread_index() / warp_width;
}
/// A number that the caller's launch has in its process (on a GPU: in its context) and the launches shortly before and
/// after it have not. A hint, since launches of a captured graph may share one.
WARPHEAP_FN inline std::uint64_t launch_number() { return target::launch_number(); }
/// Threads of the caller's grid.
WARPHEAP_FN inline std::uint64_t grid_threads() { return grid_blocks() * block_threads(); }

}  // namespace warpheap
