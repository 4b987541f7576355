// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <cstdint>
#include <cstdlib>
#include <nv/target>
#include <string>
#include <warpheap/platform/cuda/error.hpp>

namespace warpheap::target {

inline constexpr bool has_toolkit_heap = true;

// The toolkit's arithmetic wraps around for sizes near 2^64: it then grants a small block (seen with CUDA 13.0).
inline constexpr std::uint64_t toolkit_most_bytes = std::uint64_t{1} << 56;

WARPHEAP_FN inline void* toolkit_malloc(std::uint64_t bytes) {
  if (bytes > toolkit_most_bytes) return nullptr;
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return ::malloc(bytes);), (return std::malloc(bytes);))
}

WARPHEAP_FN inline void* toolkit_aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) {
  if (alignment > toolkit_most_bytes || bytes > toolkit_most_bytes) return nullptr;
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __nv_aligned_device_malloc(bytes, alignment);),
                    (return std::aligned_alloc(alignment, bytes);))
}

WARPHEAP_FN inline void toolkit_free(void* block) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (::free(block);), (std::free(block);))
}

inline std::uint64_t toolkit_heap_reserve(std::uint64_t bytes) {
  std::size_t limit = 0;
  cuda_must(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize), "reading the size of the toolkit's heap");
  if (limit >= bytes) return limit;
  const cudaError_t code = cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes);
  if (code == cudaErrorInvalidValue) {
    static_cast<void>(cudaGetLastError());  // the refusal leaves the context as it was
    throw launch_failure("warpheap: the toolkit's heap has " + std::to_string(limit) +
                         " bytes and can no longer grow to " + std::to_string(bytes) +
                         ": make the heap before the first kernel that uses it");
  }
  cuda_must(code, "setting the size of the toolkit's heap");
  return bytes;
}

}  // namespace warpheap::target
