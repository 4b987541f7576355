// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <string>
#include <warpheap/platform/schedule.hpp>

namespace warpheap::target {

// The driver's virtual memory calls, looked up at run time: a program that links none of the driver starts on a machine
// without one. Each is null if the driver lacks it.
struct driver_calls {
  decltype(&::cuDeviceGetAttribute) device_attribute = find<decltype(&::cuDeviceGetAttribute)>("cuDeviceGetAttribute");
  decltype(&::cuMemGetAllocationGranularity) granularity =
      find<decltype(&::cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity");
  decltype(&::cuMemAddressReserve) reserve = find<decltype(&::cuMemAddressReserve)>("cuMemAddressReserve");
  decltype(&::cuMemAddressFree) release_addresses = find<decltype(&::cuMemAddressFree)>("cuMemAddressFree");
  decltype(&::cuMemCreate) create = find<decltype(&::cuMemCreate)>("cuMemCreate");
  decltype(&::cuMemRelease) release = find<decltype(&::cuMemRelease)>("cuMemRelease");
  decltype(&::cuMemMap) map = find<decltype(&::cuMemMap)>("cuMemMap");
  decltype(&::cuMemUnmap) unmap = find<decltype(&::cuMemUnmap)>("cuMemUnmap");
  decltype(&::cuMemSetAccess) set_access = find<decltype(&::cuMemSetAccess)>("cuMemSetAccess");

  bool complete() const {
    return device_attribute && granularity && reserve && release_addresses && create && release && map && unmap &&
           set_access;
  }

 private:
  template <class Call>
  static Call find(const char* name) {
    constexpr unsigned first_version_with_all = 10020;  // CUDA 10.2
    void* call = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion(name, &call, first_version_with_all, cudaEnableDefault, &found) !=
            cudaSuccess ||
        found != cudaDriverEntryPointSuccess) {
      return nullptr;
    }
    return reinterpret_cast<Call>(call);
  }
};

inline const driver_calls& driver() {
  static const driver_calls calls;
  return calls;
}

// Throws launch_failure with the driver's number when `code` is an error.
inline void driver_must(CUresult code, const char* doing) {
  if (code == CUDA_SUCCESS) return;
  throw launch_failure(std::string{"warpheap: "} + doing + ": driver error " + std::to_string(code) +
                       (code == CUDA_ERROR_OUT_OF_MEMORY ? " (out of memory)" : ""));
}

}  // namespace warpheap::target
