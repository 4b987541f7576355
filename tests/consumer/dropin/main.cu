// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Lists that one kernel makes by `new` and `malloc`, and another one adds up and takes apart. Nothing here is of
// warpheap.
#include <cstdio>
#include <cstdlib>

struct item {
  int value;
  item* next;
};

__global__ void make_lists(item** lists, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  auto* const last = static_cast<item*>(malloc(sizeof(item)));
  if (last != nullptr) *last = item{i, nullptr};
  lists[i] = new item{1, last};
}

__global__ void add_and_free(item** lists, int count, unsigned long long* sum) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  item* const first = lists[i];
  item* const last = first->next;
  if (last == nullptr) return;
  atomicAdd(sum, static_cast<unsigned long long>(first->value + last->value));
  free(last);
  delete first;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("consumer: there is no GPU to run on");
    return 0;
  }
  constexpr int count = 1000;
  item** lists = nullptr;
  unsigned long long* sum = nullptr;
  if (cudaMallocManaged(&lists, count * sizeof(item*)) != cudaSuccess) return 1;
  if (cudaMallocManaged(&sum, sizeof(*sum)) != cudaSuccess) return 1;
  *sum = 0;
  make_lists<<<(count + 127) / 128, 128>>>(lists, count);
  add_and_free<<<(count + 127) / 128, 128>>>(lists, count, sum);
  const cudaError_t error = cudaDeviceSynchronize();
  const unsigned long long expected = count * (count + 1ULL) / 2;
  if (error == cudaSuccess && *sum == expected) return 0;
  std::fprintf(stderr, "consumer: %s, the sum is %llu, not %llu\n", cudaGetErrorString(error), *sum, expected);
  return 1;
}
