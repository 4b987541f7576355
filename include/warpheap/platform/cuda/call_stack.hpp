// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <warpheap/platform/cuda/error.hpp>
#include <warpheap/platform/host_mutex.hpp>

namespace warpheap::target {

#if defined(__CUDACC_DEBUG__)
// Without optimisation each variable has a place on the stack: 3,100 to 3,300 bytes where it is 900 to 1,000 with it.
inline constexpr std::uint64_t call_stack_factor = 4;
#else
inline constexpr std::uint64_t call_stack_factor = 1;
#endif

// The limit of a device as this process left it.
struct call_stack_limit {
  std::size_t limit = 0;  // bytes a thread; 0 before the first call
  std::size_t own = 0;    // bytes of it that the program set itself; `reserve_call_stack` added the others
};

inline void reserve_call_stack(std::uint64_t bytes) {
  static host_mutex mutex;
  static std::unordered_map<int, call_stack_limit> devices;
  bytes *= call_stack_factor;
  int device = 0;
  cuda_must(cudaGetDevice(&device), "finding a CUDA device");
  const host_lock lock{mutex};
  call_stack_limit& known = devices[device];
  std::size_t limit = 0;
  cuda_must(cudaDeviceGetLimit(&limit, cudaLimitStackSize), "reading the limit of a thread's stack");
  if (limit != known.limit) known = {limit, limit};  // the program has set it since
  if (limit >= known.own + bytes) return;
  cuda_must(cudaDeviceSetLimit(cudaLimitStackSize, known.own + bytes), "raising the limit of a thread's stack");
  cuda_must(cudaDeviceGetLimit(&known.limit, cudaLimitStackSize), "reading the limit of a thread's stack");
}

}  // namespace warpheap::target
