// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/schedule.hpp>

namespace warpheap::target {

inline constexpr bool has_toolkit_heap = false;

// Without a toolkit the heap has no bytes: it is always full, and cannot be made larger.
inline void* toolkit_malloc(std::uint64_t) { return nullptr; }
inline void* toolkit_aligned_malloc(std::uint64_t, std::uint64_t) { return nullptr; }
inline void toolkit_free(void*) {}
[[noreturn]] inline std::uint64_t toolkit_heap_reserve(std::uint64_t) {
  throw launch_failure("warpheap: a host build has no CUDA toolkit heap: choose another allocator");
}

}  // namespace warpheap::target
