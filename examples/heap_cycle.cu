// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Each thread takes a block of 16 bytes from a heap that the kernel is given, writes to it and gives it back. What
// `dropin/malloc_cycle.cu` costs beside this is the price of the drop-in.

#include <algorithm>
#include <cstdio>
#include <warpheap.hpp>

__global__ void cycle(warpheap::heap_ref<> heap, unsigned count, unsigned* refused) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned* const block = static_cast<unsigned*>(heap.malloc(16));
  if (block == nullptr) {
    atomicAdd(refused, 1);
    return;
  }
  *static_cast<volatile unsigned*>(block) = i;
  heap.free(block);
}

int main() {
  constexpr unsigned count = 1u << 20;
  constexpr int rounds = 7;
  warpheap::heap<> heap{std::uint64_t{512} << 20};
  warpheap::device_array<unsigned> refused{1};
  cudaEvent_t begin;
  cudaEvent_t end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float times[rounds];
  for (int round = -2; round < rounds; ++round) {  // the first two warm up
    cudaEventRecord(begin);
    cycle<<<count / 256, 256>>>(heap.ref(), count, refused.data());
    cudaEventRecord(end);
    if (const cudaError_t error = cudaEventSynchronize(end); error != cudaSuccess) {
      std::printf("the kernel: %s\n", cudaGetErrorString(error));
      return 1;
    }
    if (round >= 0) cudaEventElapsedTime(&times[round], begin, end);
  }
  const unsigned lost = refused.at(0);
  std::sort(times, times + rounds);
  std::printf("%u mallocs and frees of 16 B in %.1f us, %u refused\n", count, 1000 * times[rounds / 2], lost);
  return lost == 0 ? 0 : 1;
}
