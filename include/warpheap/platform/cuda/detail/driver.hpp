// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <string>
#include <warpheap/platform/schedule.hpp>

namespace warpheap::target {

// The driver's calls for virtual memory and contexts, looked up at run time: a program that links none of the driver
// starts on a machine without one. Each is null if the driver lacks it.
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

  decltype(&::cuCtxGetCurrent) current_context = find<decltype(&::cuCtxGetCurrent)>("cuCtxGetCurrent");
  decltype(&::cuCtxPushCurrent) push_context = find<decltype(&::cuCtxPushCurrent)>("cuCtxPushCurrent");
  decltype(&::cuCtxPopCurrent) pop_context = find<decltype(&::cuCtxPopCurrent)>("cuCtxPopCurrent");
  decltype(&::cuDevicePrimaryCtxRetain) retain_primary =
      find<decltype(&::cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  decltype(&::cuDevicePrimaryCtxRelease) release_primary =
      find<decltype(&::cuDevicePrimaryCtxRelease)>("cuDevicePrimaryCtxRelease", 11000);
  decltype(&::cuDevicePrimaryCtxGetState) primary_state =
      find<decltype(&::cuDevicePrimaryCtxGetState)>("cuDevicePrimaryCtxGetState");
  decltype(&::cuStreamGetCtx) stream_context = find<decltype(&::cuStreamGetCtx)>("cuStreamGetCtx");
  decltype(&::cuCtxGetId) context_id = find<decltype(&::cuCtxGetId)>("cuCtxGetId", 12000);

  bool complete() const {
    return device_attribute && granularity && reserve && release_addresses && create && release && map && unmap &&
           set_access;
  }
  bool has_contexts() const {
    return current_context && push_context && pop_context && retain_primary && release_primary && primary_state;
  }

 private:
  // `version` is the first one of CUDA that has the call as its header declares it.
  template <class Call>
  static Call find(const char* name, unsigned version = 10020) {
    void* call = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion(name, &call, version, cudaEnableDefault, &found) != cudaSuccess ||
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
