// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace warpheap::target {

#if defined(__SANITIZE_ADDRESS__)
inline void shadow_unpoison(void* block, std::uint64_t bytes) { __asan_unpoison_memory_region(block, bytes); }
inline void shadow_poison(void* block, std::uint64_t bytes) { __asan_poison_memory_region(block, bytes); }
#else
inline void shadow_unpoison(void*, std::uint64_t) {}
inline void shadow_poison(void*, std::uint64_t) {}
#endif

}  // namespace warpheap::target
