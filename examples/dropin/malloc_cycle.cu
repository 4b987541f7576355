// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Each thread takes a block of 16 bytes by `malloc`, writes to it and gives it back: what the calls cost, and nothing
// else. `../heap_cycle.cu` is the same program for a heap that the kernel is given.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

__global__ void cycle(unsigned count, unsigned* refused) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned* const block = static_cast<unsigned*>(malloc(16));
  if (block == nullptr) {
    atomicAdd(refused, 1);
    return;
  }
  *static_cast<volatile unsigned*>(block) = i;
  free(block);
}

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}

}  // namespace

int main() {
  constexpr unsigned count = 1u << 20;
  constexpr int rounds = 7;
  must(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{512} << 20), "a larger heap");
  unsigned* refused = nullptr;
  must(cudaMalloc(&refused, sizeof(unsigned)), "the count");
  must(cudaMemset(refused, 0, sizeof(unsigned)), "the count");
  cudaEvent_t begin;
  cudaEvent_t end;
  must(cudaEventCreate(&begin), "an event");
  must(cudaEventCreate(&end), "an event");
  float times[rounds];
  for (int round = -2; round < rounds; ++round) {  // the first two warm up
    must(cudaEventRecord(begin), "an event");
    cycle<<<count / 256, 256>>>(count, refused);
    must(cudaEventRecord(end), "an event");
    must(cudaEventSynchronize(end), "the kernel");
    if (round >= 0) must(cudaEventElapsedTime(&times[round], begin, end), "the time");
  }
  unsigned host = 0;
  must(cudaMemcpy(&host, refused, sizeof(host), cudaMemcpyDeviceToHost), "the count");
  std::sort(times, times + rounds);
  std::printf("%u mallocs and frees of 16 B in %.1f us, %u refused\n", count, 1000 * times[rounds / 2], host);
  return host == 0 ? 0 : 1;
}
