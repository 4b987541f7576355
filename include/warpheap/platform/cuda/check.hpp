// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>
#if !defined(__CUDACC_RTC__)
#include <cstdio>
#include <cstdlib>
#endif
#include <warpheap/platform/check.hpp>
#include <warpheap/platform/lane.hpp>

namespace warpheap::target {

[[noreturn]] WARPHEAP_FN inline void check_failed(const char* message, call_site site) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (printf("warpheap: %s (%s:%u, block %llu, thread %u)\n", message, site.file, site.line,
                            static_cast<unsigned long long>(block_index()), thread_index());
                     __trap();),
                    (std::fprintf(stderr, "warpheap: %s (%s:%u)\n", message, site.file, site.line); std::abort();))
}

}  // namespace warpheap::target
