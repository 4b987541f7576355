// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/platform/annotation.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/toolkit_heap.hpp>
#else
#include <warpheap/platform/host/toolkit_heap.hpp>
#endif

namespace warpheap {

/// True if kernels have a `malloc` of the toolkit's own.
inline constexpr bool has_toolkit_heap = target::has_toolkit_heap;

/// The toolkit's own heap: one for each CUDA context. Null when it is full.
WARPHEAP_FN inline void* toolkit_malloc(std::uint64_t bytes) { return target::toolkit_malloc(bytes); }
/// A block of the toolkit's heap, aligned to a power of two; null when it has none.
WARPHEAP_FN inline void* toolkit_aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) {
  return target::toolkit_aligned_malloc(alignment, bytes);
}
/// Takes back what either gave; null is ignored.
WARPHEAP_FN inline void toolkit_free(void* block) { target::toolkit_free(block); }

/// Makes the toolkit's heap at least `bytes` large, and returns its size in bytes. It can be set only before the first
/// kernel that uses it; a later call that asks for more throws `launch_failure`. Host side only.
inline std::uint64_t toolkit_heap_reserve(std::uint64_t bytes) { return target::toolkit_heap_reserve(bytes); }

}  // namespace warpheap
