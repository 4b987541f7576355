// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <cstdint>
#include <warpheap/platform/cuda/error.hpp>
#include <warpheap/platform/machine.hpp>

namespace warpheap::target {

template <class Description>
Description describe_machine() {
  int device = 0;
  cuda_must(cudaGetDevice(&device), "finding a CUDA device");
  cudaDeviceProp properties{};
  cuda_must(cudaGetDeviceProperties(&properties, device), "reading the properties of the CUDA device");
  return {properties.name, static_cast<std::uint32_t>(properties.multiProcessorCount), properties.totalGlobalMem,
          properties.major * 10 + properties.minor};
}

inline bool machine_available() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

}  // namespace warpheap::target
