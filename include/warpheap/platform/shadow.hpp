// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/shadow.hpp>
#else
#include <warpheap/platform/host/shadow.hpp>
#endif

namespace warpheap {

/// Tells a memory checker that `[block, block + bytes)` may be used. AddressSanitizer on the host; no GPU checker takes
/// such notes from a kernel.
WARPHEAP_FN inline void shadow_unpoison(void* block, std::uint64_t bytes) { target::shadow_unpoison(block, bytes); }

/// Tells a memory checker that `[block, block + bytes)` must not be used, as for a freed block. The ends that share a
/// granule of 8 bytes with a neighbour stay usable.
WARPHEAP_FN inline void shadow_poison(void* block, std::uint64_t bytes) { target::shadow_poison(block, bytes); }

}  // namespace warpheap
