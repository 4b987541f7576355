// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Trees of bounding intervals, a tree for each thread, built by recursion with `malloc` for inner nodes and `new` for
// leaves: a program as CUDA users write it, which knows the toolkit alone.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr unsigned primitives = 24;  // of a tree
constexpr unsigned in_leaf = 3;

struct leaf {
  unsigned first, count;
};
struct inner {
  float low, high;
  inner* child[2];  // both null: a leaf
  leaf* held;
};

__host__ __device__ float position(unsigned tree, unsigned i) {
  const std::uint32_t mixed = (tree * 2654435761u + i * 40503u) * 2246822519u;
  return static_cast<float>(mixed >> 8) / (1 << 24) + static_cast<float>(i);
}

__device__ inner* build(unsigned tree, unsigned first, unsigned count, unsigned* refused) {
  auto* const made = static_cast<inner*>(malloc(sizeof(inner)));
  if (made == nullptr) {
    atomicAdd(refused, 1);
    return nullptr;
  }
  *made = {position(tree, first), position(tree, first + count - 1), {nullptr, nullptr}, nullptr};
  if (count <= in_leaf) {
    made->held = new leaf;
    if (made->held == nullptr) {
      atomicAdd(refused, 1);
    } else {
      *made->held = {first, count};
    }
    return made;
  }
  const unsigned half = count / 2;
  made->child[0] = build(tree, first, half, refused);
  made->child[1] = build(tree, first + half, count - half, refused);
  return made;
}

// Primitives of the tree that lie in [low, high].
__device__ unsigned query(const inner* at, unsigned tree, float low, float high) {
  if (at == nullptr || at->high < low || at->low > high) return 0;
  if (at->held != nullptr) {
    unsigned inside = 0;
    for (unsigned i = at->held->first; i < at->held->first + at->held->count; ++i) {
      const float x = position(tree, i);
      if (x >= low && x <= high) ++inside;
    }
    return inside;
  }
  return query(at->child[0], tree, low, high) + query(at->child[1], tree, low, high);
}

__device__ void end_tree(inner* at) {
  if (at == nullptr) return;
  end_tree(at->child[0]);
  end_tree(at->child[1]);
  delete at->held;
  free(at);
}

__global__ void build_all(inner** roots, unsigned count, unsigned* refused) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) roots[i] = build(i, 0, primitives, refused);
}

__global__ void query_all(inner** roots, unsigned count, unsigned* wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float low = 5.25f;
  const float high = 17.75f;
  unsigned expected = 0;
  for (unsigned j = 0; j < primitives; ++j) {
    const float x = position(i, j);
    if (x >= low && x <= high) ++expected;
  }
  if (query(roots[i], i, low, high) != expected) atomicAdd(wrong, 1);
  end_tree(roots[i]);
}

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}

}  // namespace

int main(int words, char** word) {
  const unsigned count = words > 1 ? static_cast<unsigned>(std::strtoul(word[1], nullptr, 10)) : 1u << 13;
  must(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{512} << 20), "a larger heap");
  must(cudaDeviceSetLimit(cudaLimitStackSize, 8192), "a larger stack");
  inner** roots = nullptr;
  unsigned* sums = nullptr;
  must(cudaMalloc(&roots, count * sizeof(inner*)), "the roots");
  must(cudaMalloc(&sums, 2 * sizeof(unsigned)), "the sums");
  cudaEvent_t begin;
  cudaEvent_t end;
  must(cudaEventCreate(&begin), "an event");
  must(cudaEventCreate(&end), "an event");
  float milliseconds = 0;
  for (int round = 0; round < 3; ++round) {  // the last one is told
    must(cudaMemset(sums, 0, 2 * sizeof(unsigned)), "the sums");
    must(cudaEventRecord(begin), "an event");
    build_all<<<(count + 127) / 128, 128>>>(roots, count, &sums[0]);
    query_all<<<(count + 127) / 128, 128>>>(roots, count, &sums[1]);
    must(cudaEventRecord(end), "an event");
    must(cudaDeviceSynchronize(), "the kernels");
    must(cudaEventElapsedTime(&milliseconds, begin, end), "the time");
    unsigned host[2] = {0, 0};
    must(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost), "the sums");
    if (host[0] != 0 || host[1] != 0) {
      std::printf("%u requests were refused, %u queries are wrong\n", host[0], host[1]);
      return 1;
    }
  }
  std::printf("bounding trees: %u built, asked and ended in %.3f ms\n", count, milliseconds);
  return 0;
}
