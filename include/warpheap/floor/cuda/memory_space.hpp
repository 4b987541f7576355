// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <warpheap/floor/cuda/detail/driver.hpp>
#include <warpheap/floor/cuda/error.hpp>

namespace warpheap::target {

// The physical memory behind one piece of a range.
struct mapping {
  CUmemGenericAllocationHandle handle = 0;
};

inline CUmemAllocationProp device_memory_properties() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  cuda_must(cudaGetDevice(&properties.location.id), "finding a CUDA device");
  return properties;
}

// The unit of mapping in bytes, a power of two; 0 if this machine cannot map memory at fixed addresses.
inline std::uint64_t mapping_granularity() {
  cuda_must(cudaFree(nullptr), "starting the CUDA runtime");  // the driver's calls below need the context it makes
  if (!driver().complete()) return 0;
  const CUmemAllocationProp properties = device_memory_properties();
  int supported = 0;
  if (driver().device_attribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                properties.location.id) != CUDA_SUCCESS ||
      supported == 0) {
    return 0;
  }
  std::size_t granularity = 0;
  driver_must(driver().granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
              "asking for the granularity of device memory");
  return granularity;
}

inline void* reserve_addresses(std::uint64_t bytes, std::uint64_t alignment) {
  CUdeviceptr address = 0;
  driver_must(driver().reserve(&address, bytes, alignment, 0, 0), "reserving device addresses");
  return reinterpret_cast<void*>(address);
}

inline void release_addresses(void* address, std::uint64_t bytes) noexcept {
  driver().release_addresses(reinterpret_cast<CUdeviceptr>(address), bytes);
}

inline mapping map(void* address, std::uint64_t bytes) {
  const CUmemAllocationProp properties = device_memory_properties();
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  mapping made;
  driver_must(driver().create(&made.handle, bytes, &properties, 0), "taking device memory");
  CUresult result = driver().map(at, bytes, 0, made.handle, 0);
  if (result == CUDA_SUCCESS) {
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    result = driver().set_access(at, bytes, &access, 1);
    if (result != CUDA_SUCCESS) driver().unmap(at, bytes);
  }
  if (result != CUDA_SUCCESS) driver().release(made.handle);
  driver_must(result, "mapping device memory");
  return made;
}

inline void unmap(void* address, std::uint64_t bytes, mapping& memory) noexcept {
  driver().unmap(reinterpret_cast<CUdeviceptr>(address), bytes);
  driver().release(memory.handle);
}

inline void* device_allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  cuda_must(cudaMalloc(&memory, bytes), "allocating device memory");
  return memory;
}
// A context that is being torn down refuses; there is nothing left to lose then.
inline void device_release(void* memory) noexcept { static_cast<void>(cudaFree(memory)); }

inline void device_fill(void* destination, unsigned char value, std::uint64_t bytes) {
  cuda_must(cudaMemsetAsync(destination, value, bytes, cudaStreamLegacy), "filling device memory");
}
inline void device_copy(void* destination, const void* source, std::uint64_t bytes) {
  cuda_must(cudaMemcpy(destination, source, bytes, cudaMemcpyDefault), "copying device memory");
}

}  // namespace warpheap::target
