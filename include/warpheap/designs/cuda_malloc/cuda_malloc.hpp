// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/allocator.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// The CUDA toolkit's own `malloc` and `free`, to compare with.
///
/// There is one such heap for each context, whose size can be set only before the first kernel that uses it; several
/// `heap<cuda_malloc>` share it. The host cannot copy its blocks, reset it or look into it. It does not promise
/// that room is enough: results/essays/cuda_malloc_refusals.md tells what was seen, and that the cause is not known.
class cuda_malloc {
 public:
  static constexpr const char* name = "cuda_malloc";
  static constexpr allocator_capabilities capabilities{.individual_free = true, .refuses_only_when_full = false};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t) { return 0; }

  explicit cuda_malloc(const arena&) {}

  WARPHEAP_FN void initialise() const {}

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return toolkit_malloc(bytes); }
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
    return alignment <= capabilities.alignment ? toolkit_malloc(bytes) : toolkit_aligned_malloc(alignment, bytes);
  }
  WARPHEAP_FN void free(void* block) const { toolkit_free(block); }
};

static_assert(device_allocator<cuda_malloc>);

}  // namespace warpheap
