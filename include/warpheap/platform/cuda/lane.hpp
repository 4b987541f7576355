// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>
#include <warpheap/platform/lane.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap::target {

inline constexpr int warp_width = 32;

// A host thread that asks for its place in a grid has none: it answers as a grid of one thread.
WARPHEAP_FN inline int lane_index() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (unsigned lane; asm("mov.u32 %0, %%laneid;"
                                        : "=r"(lane));
                     return static_cast<int>(lane);),
                    (return 0;))
}

WARPHEAP_FN inline std::uint32_t thread_index() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);),
                    (return 0;))
}

WARPHEAP_FN inline std::uint32_t block_threads() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return blockDim.x * blockDim.y * blockDim.z;), (return 1;))
}

WARPHEAP_FN inline std::uint64_t block_index() {
  NV_IF_ELSE_TARGET(
      NV_IS_DEVICE,
      (return blockIdx.x + std::uint64_t{gridDim.x} * (blockIdx.y + std::uint64_t{gridDim.y} * blockIdx.z);),
      (return 0;))
}

WARPHEAP_FN inline std::uint64_t grid_blocks() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;), (return 1;))
}

WARPHEAP_FN inline std::uint64_t launch_number() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (std::uint64_t grid; asm("mov.u64 %0, %%gridid;"
                                             : "=l"(grid));
                     return grid;),
                    (return 0;))
}

}  // namespace warpheap::target
