// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A hash table with chains, whose nodes are made by `new` in a kernel and ended by `delete` in another: a program as
// CUDA users write it, which knows the toolkit alone.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct node {
  std::uint32_t key;
  std::uint32_t value;
  node* next;
};

__host__ __device__ std::uint32_t hash(std::uint32_t key) {
  key ^= key >> 16;
  key *= 0x7feb352du;
  key ^= key >> 15;
  key *= 0x846ca68bu;
  return key ^ key >> 16;
}

__global__ void insert(node** buckets, std::uint32_t mask, std::uint32_t count, unsigned* refused) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  node* const made = new node;  // without a constructor, which would write to null when the heap is full
  if (made == nullptr) {
    atomicAdd(refused, 1);
    return;
  }
  made->key = i;
  made->value = hash(~i);
  auto* const bucket = reinterpret_cast<unsigned long long*>(&buckets[hash(i) & mask]);
  unsigned long long first = *bucket;
  for (;;) {
    made->next = reinterpret_cast<node*>(first);
    __threadfence();
    const unsigned long long before = atomicCAS(bucket, first, reinterpret_cast<unsigned long long>(made));
    if (before == first) return;
    first = before;
  }
}

__global__ void look_up(node* const* buckets, std::uint32_t mask, std::uint32_t count, unsigned* found) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const node* at = buckets[hash(i) & mask];
  while (at != nullptr && at->key != i) at = at->next;
  if (at != nullptr && at->value == hash(~i)) atomicAdd(found, 1);
}

__global__ void clear(node** buckets, std::uint32_t mask) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > mask) return;
  for (node* at = buckets[i]; at != nullptr;) {
    node* const after = at->next;
    delete at;
    at = after;
  }
  buckets[i] = nullptr;
}

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}

}  // namespace

int main(int words, char** word) {
  const std::uint32_t count = words > 1 ? static_cast<std::uint32_t>(std::strtoul(word[1], nullptr, 10)) : 1u << 17;
  constexpr std::uint32_t buckets = 1u << 16;
  must(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{512} << 20), "a larger heap");
  node** table = nullptr;
  unsigned* sums = nullptr;
  must(cudaMalloc(&table, buckets * sizeof(node*)), "the table");
  must(cudaMalloc(&sums, 2 * sizeof(unsigned)), "the sums");
  must(cudaMemset(table, 0, buckets * sizeof(node*)), "the table");
  cudaEvent_t begin;
  cudaEvent_t end;
  must(cudaEventCreate(&begin), "an event");
  must(cudaEventCreate(&end), "an event");
  unsigned host[2] = {0, 0};
  float milliseconds = 0;
  for (int round = 0; round < 3; ++round) {  // the last one is told
    must(cudaMemset(sums, 0, 2 * sizeof(unsigned)), "the sums");
    must(cudaEventRecord(begin), "an event");
    insert<<<(count + 255) / 256, 256>>>(table, buckets - 1, count, &sums[0]);
    look_up<<<(count + 255) / 256, 256>>>(table, buckets - 1, count, &sums[1]);
    clear<<<buckets / 256, 256>>>(table, buckets - 1);
    must(cudaEventRecord(end), "an event");
    must(cudaDeviceSynchronize(), "the kernels");
    must(cudaEventElapsedTime(&milliseconds, begin, end), "the time");
    must(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost), "the sums");
    if (host[0] != 0 || host[1] != count) {
      std::printf("%u of %u keys were found, %u refused\n", host[1], count, host[0]);
      return 1;
    }
  }
  std::printf("hash table: %u nodes made, found and deleted in %.3f ms\n", count, milliseconds);
  return 0;
}
