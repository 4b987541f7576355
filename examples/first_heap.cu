// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The README's example, whole: a kernel of any shape takes the handle and allocates; a later kernel reads the blocks.

// [readme]
#include <warpheap.hpp>

__global__ void build(warpheap::heap_ref<> heap, int** rows, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  rows[i] = static_cast<int*>(heap.malloc((i % 7 + 1) * sizeof(int)));  // null when the heap is full, never a hang
  if (rows[i] != nullptr) rows[i][i % 7] = i;
}

int main() {
  warpheap::heap<> heap{64 << 20};  // 64 MiB; heap<warpheap::NAME> picks another design
  warpheap::device_array<int*> rows{100'000};
  build<<<400, 256>>>(heap.ref(), rows.data(), 100'000);
  // [readme]
  int last = 0;
  warpheap::device_copy(&last, rows.at(99'999) + 99'999 % 7, sizeof(last));  // blocks are ordinary device memory
  return last == 99'999 ? 0 : 1;
}
