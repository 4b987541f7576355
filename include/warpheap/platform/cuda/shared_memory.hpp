// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <warpheap/platform/cuda/error.hpp>

namespace warpheap::target {

inline void* pinned_allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  cuda_must(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "allocating pinned host memory");
  return memory;
}
inline void pinned_release(void* memory) noexcept { cuda_ignore(cudaFreeHost(memory)); }

inline void* managed_allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  cuda_must(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), "allocating managed memory");
  return memory;
}
inline void managed_release(void* memory) noexcept { cuda_ignore(cudaFree(memory)); }

}  // namespace warpheap::target
