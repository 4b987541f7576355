// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>
#if !defined(__CUDACC_RTC__)
#include <ctime>
#endif
#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap::target {

WARPHEAP_FN inline std::uint32_t multiprocessor_index() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (unsigned index; asm volatile("mov.u32 %0, %%smid;"
                                                  : "=r"(index));
                     return index;),
                    (return 0;))
}

WARPHEAP_FN inline std::uint64_t cycle_count() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return static_cast<std::uint64_t>(clock64());),
                    (return static_cast<std::uint64_t>(std::clock());))
}

}  // namespace warpheap::target
