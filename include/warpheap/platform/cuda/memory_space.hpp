// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <string>
#include <warpheap/platform/cuda/detail/driver.hpp>
#include <warpheap/platform/cuda/device_context.hpp>
#include <warpheap/platform/cuda/error.hpp>
#include <warpheap/platform/memory_place.hpp>

namespace warpheap::target {

// The physical memory of one piece of a range.
struct mapping {
  CUmemGenericAllocationHandle handle = 0;
};

inline int current_device() {
  int device = 0;
  cuda_must(cudaGetDevice(&device), "finding a CUDA device");
  return device;
}

// The host's memory that is nearest to the device; a driver before CUDA 12.2 cannot map it.
inline CUmemLocation location_of(memory_place place) {
  CUmemLocation where{};
  where.type = CU_MEM_LOCATION_TYPE_DEVICE;
  where.id = current_device();
#if CUDA_VERSION >= 12020
  if (place == memory_place::pinned) {
    int node = -1;
    driver_must(driver().device_attribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, where.id),
                "asking which memory of the host is near the device");
    where.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    where.id = node < 0 ? 0 : node;
  }
#endif
  return where;
}

inline CUmemAllocationProp memory_properties(memory_place place) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location_of(place);
  return properties;
}

inline bool device_says(CUdevice_attribute what) {
  int answer = 0;
  return driver().device_attribute(&answer, what, current_device()) == CUDA_SUCCESS && answer != 0;
}

inline bool can_map(memory_place place) {
  if (place == memory_place::device) return device_says(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
#if CUDA_VERSION >= 12020
  return device_says(CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
#else
  return false;
#endif
}

// The unit of mapping in bytes, a power of two; 0 if this machine cannot map such memory at fixed addresses.
inline std::uint64_t mapping_granularity(memory_place place) {
  cuda_must(cudaFree(nullptr), "starting the CUDA runtime");  // the driver's calls below need the context it makes
  if (!driver().complete() || !can_map(place)) return 0;
  const CUmemAllocationProp properties = memory_properties(place);
  std::size_t granularity = 0;
  driver_must(driver().granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
              "asking for the granularity of memory");
  return granularity;
}

// What a processor with 48 bits of address has for a process.
inline std::uint64_t address_limit() { return std::uint64_t{1} << 47; }

inline void* reserve_addresses(std::uint64_t bytes, std::uint64_t alignment) {
  CUdeviceptr address = 0;
  driver_must(driver().reserve(&address, bytes, alignment, 0, 0), "reserving device addresses");
  return reinterpret_cast<void*>(address);
}

inline void release_addresses(void* address, std::uint64_t bytes) noexcept {
  driver().release_addresses(reinterpret_cast<CUdeviceptr>(address), bytes);
}

inline mapping map(void* address, std::uint64_t bytes, memory_place place) {
  const CUmemAllocationProp properties = memory_properties(place);
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  mapping made;
  driver_must(driver().create(&made.handle, bytes, &properties, 0), "taking memory");
  CUresult result = driver().map(at, bytes, 0, made.handle, 0);
  if (result == CUDA_SUCCESS) {
    // The device reaches either kind, the host only its own.
    CUmemAccessDesc access[2] = {};
    access[0].location = location_of(memory_place::device);
    access[1].location = properties.location;
    for (CUmemAccessDesc& each : access) each.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    result = driver().set_access(at, bytes, access, place == memory_place::pinned ? 2 : 1);
    if (result != CUDA_SUCCESS) driver().unmap(at, bytes);
  }
  if (result != CUDA_SUCCESS) driver().release(made.handle);
  driver_must(result, "mapping memory");
  return made;
}

inline void unmap(void* address, std::uint64_t bytes, mapping& memory) noexcept {
  driver().unmap(reinterpret_cast<CUdeviceptr>(address), bytes);
  driver().release(memory.handle);
}

inline void require_peer(int owner, int peer) {
  const int count = device_count();
  if (peer < 0 || peer >= count) {
    throw launch_failure("warpheap: there is no device " + std::to_string(peer) + ": this machine has " +
                         std::to_string(count));
  }
  int reaches = 1;
  if (peer != owner) cuda_must(cudaDeviceCanAccessPeer(&reaches, peer, owner), "asking which devices reach each other");
  if (reaches == 0) {
    throw launch_failure("warpheap: device " + std::to_string(peer) + " cannot reach the memory of device " +
                         std::to_string(owner) + " on this machine: copy by way of the host");
  }
}

inline CUresult set_peer_access(void* address, std::uint64_t bytes, int peer, CUmemAccess_flags how) {
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = peer;
  access.flags = how;
  return driver().set_access(reinterpret_cast<CUdeviceptr>(address), bytes, &access, 1);
}
// Mapped memory.
inline void grant_peer(void* address, std::uint64_t bytes, int peer) {
  driver_must(set_peer_access(address, bytes, peer, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
              "letting another device reach memory");
}
inline void revoke_peer(void* address, std::uint64_t bytes, int peer) noexcept {
  static_cast<void>(set_peer_access(address, bytes, peer, CU_MEM_ACCESS_FLAGS_PROT_NONE));
}
// All of the owner's memory that is not mapped, which the runtime does not tell apart.
inline void grant_peer_all(int owner, int peer) {
  const context_scope own(context_of(peer));
  if (!own.is_current()) refuse_dead_context(peer);
  const cudaError_t code = cudaDeviceEnablePeerAccess(owner, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
    return;
  }
  cuda_must(code, "letting another device reach memory");
}

inline void* device_allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  cuda_must(cudaMalloc(&memory, bytes), "allocating device memory");
  return memory;
}
inline void device_release(void* memory) noexcept { cuda_ignore(cudaFree(memory)); }

inline void device_fill(void* destination, unsigned char value, std::uint64_t bytes) {
  cuda_must(cudaMemsetAsync(destination, value, bytes, cudaStreamLegacy), "filling device memory");
}
inline void device_fill_now(void* destination, unsigned char value, std::uint64_t bytes) {
  device_fill(destination, value, bytes);
  cuda_must(cudaStreamSynchronize(cudaStreamLegacy), "filling device memory");
}
inline void device_copy(void* destination, const void* source, std::uint64_t bytes) {
  cuda_must(cudaMemcpy(destination, source, bytes, cudaMemcpyDefault), "copying device memory");
}
inline void device_snapshot(void* destination, const void* source, std::uint64_t bytes) {
  device_copy(destination, source, bytes);
}

}  // namespace warpheap::target
