// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <warpheap/platform/cuda/error.hpp>

namespace warpheap::target {

struct exported {
  void* data = nullptr;
};

inline std::array<unsigned char, 16> identity_of_device(int device) {
  cudaDeviceProp properties;
  cuda_must(cudaGetDeviceProperties(&properties, device), "asking for the identity of a device");
  std::array<unsigned char, 16> identity;
  static_assert(sizeof(properties.uuid.bytes) == sizeof(identity));
  std::memcpy(identity.data(), properties.uuid.bytes, sizeof(identity));
  return identity;
}

inline exported make_exported(std::uint64_t bytes) {
  exported made;
  cuda_must(cudaMalloc(&made.data, bytes), "allocating device memory for other processes");
  return made;
}
inline void release_exported(exported& memory, std::uint64_t) noexcept { cuda_ignore(cudaFree(memory.data)); }

inline std::array<unsigned char, 64> handle_of(const exported& memory, std::uint64_t) {
  cudaIpcMemHandle_t found;
  cuda_must(cudaIpcGetMemHandle(&found, memory.data), "naming device memory for other processes");
  std::array<unsigned char, 64> handle;
  static_assert(sizeof(found) == sizeof(handle));
  std::memcpy(handle.data(), &found, sizeof(handle));
  return handle;
}

inline void* map_exported(const std::array<unsigned char, 64>& handle, std::uint64_t) {
  cudaIpcMemHandle_t given;
  std::memcpy(&given, handle.data(), sizeof(given));
  void* data = nullptr;
  cuda_must(cudaIpcOpenMemHandle(&data, given, cudaIpcMemLazyEnablePeerAccess),
            "mapping device memory of another process, which must not have ended or given it back");
  return data;
}
inline void unmap_exported(void* data, std::uint64_t) noexcept { cuda_ignore(cudaIpcCloseMemHandle(data)); }

}  // namespace warpheap::target
