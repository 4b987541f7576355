// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Each thread fills a growing array of its own, as std::vector does it, by `new[]` and `delete[]`, and hands it to
// another kernel: a program as CUDA users write it, which knows the toolkit alone.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

template <class T>
class device_vector {
 public:
  device_vector() = default;
  device_vector(const device_vector&) = delete;
  device_vector& operator=(const device_vector&) = delete;
  __device__ ~device_vector() { delete[] data_; }

  __device__ bool push_back(const T& value) {
    if (size_ == capacity_ && !grow()) return false;
    data_[size_++] = value;
    return true;
  }
  __device__ unsigned size() const { return size_; }
  const __device__ T& operator[](unsigned i) const { return data_[i]; }

 private:
  __device__ bool grow() {
    const unsigned capacity = capacity_ == 0 ? 4 : 2 * capacity_;
    T* const larger = new T[capacity];
    if (larger == nullptr) return false;
    for (unsigned i = 0; i < size_; ++i) larger[i] = data_[i];
    delete[] data_;
    data_ = larger;
    capacity_ = capacity;
    return true;
  }

  T* data_ = nullptr;
  unsigned size_ = 0;
  unsigned capacity_ = 0;
};

using numbers = device_vector<std::uint32_t>;

__global__ void divisors(numbers** all, unsigned count, unsigned* refused) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  void* const place = malloc(sizeof(numbers));
  all[i] = static_cast<numbers*>(place);
  if (place == nullptr) {
    atomicAdd(refused, 1);
    return;
  }
  new (place) numbers;
  for (unsigned d = 1; d <= 64; ++d) {
    if ((i + 1) % d == 0 && !all[i]->push_back(d)) atomicAdd(refused, 1);
  }
}

__global__ void check(numbers** all, unsigned count, unsigned* wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || all[i] == nullptr) return;
  unsigned at = 0;
  bool fails = false;
  for (unsigned d = 1; d <= 64; ++d) {
    if ((i + 1) % d != 0) continue;
    fails = fails || at == all[i]->size() || (*all[i])[at] != d;
    ++at;
  }
  if (fails || at != all[i]->size()) atomicAdd(wrong, 1);
  all[i]->~numbers();
  free(all[i]);
}

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}

}  // namespace

int main(int words, char** word) {
  const unsigned count = words > 1 ? static_cast<unsigned>(std::strtoul(word[1], nullptr, 10)) : 1u << 15;
  must(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{512} << 20), "a larger heap");
  numbers** all = nullptr;
  unsigned* sums = nullptr;
  must(cudaMalloc(&all, count * sizeof(numbers*)), "the vectors");
  must(cudaMalloc(&sums, 2 * sizeof(unsigned)), "the sums");
  cudaEvent_t begin;
  cudaEvent_t end;
  must(cudaEventCreate(&begin), "an event");
  must(cudaEventCreate(&end), "an event");
  float milliseconds = 0;
  for (int round = 0; round < 3; ++round) {  // the last one is told
    must(cudaMemset(sums, 0, 2 * sizeof(unsigned)), "the sums");
    must(cudaEventRecord(begin), "an event");
    divisors<<<(count + 127) / 128, 128>>>(all, count, &sums[0]);
    check<<<(count + 127) / 128, 128>>>(all, count, &sums[1]);
    must(cudaEventRecord(end), "an event");
    must(cudaDeviceSynchronize(), "the kernels");
    must(cudaEventElapsedTime(&milliseconds, begin, end), "the time");
    unsigned host[2] = {0, 0};
    must(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost), "the sums");
    if (host[0] != 0 || host[1] != 0) {
      std::printf("%u requests were refused, %u vectors are wrong\n", host[0], host[1]);
      return 1;
    }
  }
  std::printf("device vectors: %u grown, read and deleted in %.3f ms\n", count, milliseconds);
  return 0;
}
