// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>
#include <nv/target>
#include <warpheap/platform/cuda/error.hpp>
#include <warpheap/platform/lane.hpp>
#include <warpheap/platform/launch.hpp>

namespace warpheap::target {

#if WARPHEAP_COMPILES_KERNELS

// What a grid of one dimension has for the others, so that the compiler need not multiply by it wherever a thread asks
// for its place.
__device__ inline void assume_one_dimension() {
  NV_IF_TARGET(NV_IS_DEVICE,
               (__builtin_assume(threadIdx.y == 0); __builtin_assume(threadIdx.z == 0);
                __builtin_assume(blockDim.y == 1); __builtin_assume(blockDim.z == 1); __builtin_assume(blockIdx.y == 0);
                __builtin_assume(blockIdx.z == 0); __builtin_assume(gridDim.y == 1); __builtin_assume(gridDim.z == 1);))
}

template <class Body, class... Arguments>
__global__ void kernel(Body body, Arguments... arguments) {
  assume_one_dimension();
  body(arguments...);
}

// The compiler keeps to so many registers that a block of `Body::largest_block` threads fits.
template <class Body, class... Arguments>
__global__ void __launch_bounds__(Body::largest_block) kernel_of_large_blocks(Body body, Arguments... arguments) {
  assume_one_dimension();
  body(arguments...);
}

template <class Shared, class Body, class... Arguments>
__global__ void kernel_with_shared(Body body, Arguments... arguments) {
  assume_one_dimension();
  __shared__ alignas(alignof(Shared) < 4 ? 4 : alignof(Shared)) unsigned storage[(sizeof(Shared) + 3) / 4];
  for (unsigned i = thread_index(); i < (sizeof(Shared) + 3) / 4; i += block_threads()) storage[i] = 0;
  __syncthreads();
  body(reinterpret_cast<Shared&>(storage), arguments...);
}

template <class Body, class... Arguments>
void launch(grid_shape shape, Body body, Arguments... arguments) {
  const auto blocks = static_cast<unsigned>(shape.blocks);
  if constexpr (detail::says_largest_block<Body>) {
    kernel_of_large_blocks<<<blocks, shape.threads>>>(body, arguments...);
  } else {
    kernel<<<blocks, shape.threads>>>(body, arguments...);
  }
  cuda_must(cudaGetLastError(), "launching a kernel");
}

template <class Shared, class Body, class... Arguments>
void launch_with_shared(grid_shape shape, Body body, Arguments... arguments) {
  kernel_with_shared<Shared><<<static_cast<unsigned>(shape.blocks), shape.threads>>>(body, arguments...);
  cuda_must(cudaGetLastError(), "launching a kernel");
}

#else

// An error where a call is compiled, and none in an inline function that the file does not call.
[[gnu::error("warpheap: this file starts a kernel, so nvcc has to compile it")]] void cannot_launch();

template <class Body, class... Arguments>
void launch(grid_shape, Body, Arguments...) {
  cannot_launch();
}

template <class Shared, class Body, class... Arguments>
void launch_with_shared(grid_shape, Body, Arguments...) {
  cannot_launch();
}

#endif

inline void synchronise() { cuda_must(cudaDeviceSynchronize(), "running a kernel"); }

}  // namespace warpheap::target
