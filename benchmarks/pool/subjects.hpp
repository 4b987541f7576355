// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the pool's benchmark measures: our pools, and what they are compared with. Each is used
/// through two functions.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <warpheap/pool.hpp>

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#endif

namespace warpheap::bench {

/// A pool over device memory, all of it taken when it is made, as in the paper.
template <class Engine>
class pool_subject {
 public:
  static constexpr bool is_slow = false;
  explicit pool_subject(std::uint64_t bytes, int = 1)
      : pool_(std::make_unique<device_space>(bytes), {.initial_bytes = bytes}) {}
  void* allocate(std::uint64_t bytes, int) { return pool_.try_allocate(bytes); }
  void deallocate(void* block, int) { pool_.deallocate(block); }
  std::uint64_t host_bytes() const { return pool_.statistics().host_bytes; }

 private:
  basic_pool<Engine> pool_;
};

/// Streams of their own for threads.
class bench_streams {
 public:
  explicit bench_streams(int count) {
    for (int i = 0; i < count && i < most; ++i) {
#if defined(__CUDACC__)
      target::cuda_must(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking), "making a stream");
#else
      streams_[i] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(i + 1) * 64);
#endif
    }
  }
  device_streams::stream operator[](int i) const { return streams_[i]; }

 private:
  static constexpr int most = 64;
  device_streams::stream streams_[most] = {};
};

/// A pool in stream order with streams that are numbered from 0; a request that it cannot serve gives null.
class numbered_stream_pool {
 public:
  numbered_stream_pool(int streams, std::unique_ptr<device_space> space, const stream_pool_options& options = {})
      : streams_(streams), pool_(std::move(space), options) {}
  void* allocate(std::uint64_t bytes, int stream) {
    try {
      return pool_.allocate(streams_[stream], bytes);
    } catch (const out_of_memory&) {
      return nullptr;
    }
  }
  void deallocate(void* block, int stream) { pool_.deallocate(streams_[stream], block); }
  const stream_pool& pool() const { return pool_; }

 private:
  bench_streams streams_;
  stream_pool pool_;
};

/// The pool in stream order, each thread on a stream of its own.
class stream_pool_subject : public numbered_stream_pool {
 public:
  static constexpr bool is_slow = false;
  explicit stream_pool_subject(std::uint64_t bytes, int threads = 1)
      : numbered_stream_pool(threads, std::make_unique<device_space>(bytes), {.pool = {.initial_bytes = bytes}}) {}
  std::uint64_t host_bytes() const { return 0; }
};

#if defined(__CUDACC__)

/// `cudaMalloc` and `cudaFree`.
class cuda_malloc_subject {
 public:
  static constexpr bool is_slow = true;
  explicit cuda_malloc_subject(std::uint64_t, int = 1) {}
  void* allocate(std::uint64_t bytes, int) {
    void* block = nullptr;
    if (cudaMalloc(&block, bytes) == cudaSuccess) return block;
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  void deallocate(void* block, int) { target::cuda_must(cudaFree(block), "freeing"); }
  std::uint64_t host_bytes() const { return 0; }
};

/// `cudaMallocAsync` and `cudaFreeAsync` from the device's own pool, which keeps what it has.
class cuda_malloc_async_subject {
 public:
  static constexpr bool is_slow = true;
  explicit cuda_malloc_async_subject(std::uint64_t, int threads = 1) : streams_(threads) {
    cudaMemPool_t pool = nullptr;
    target::cuda_must(cudaDeviceGetDefaultMemPool(&pool, 0), "finding the device's pool");
    std::uint64_t keep = ~std::uint64_t{0};
    target::cuda_must(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "keeping memory");
  }
  void* allocate(std::uint64_t bytes, int thread) {
    void* block = nullptr;
    if (cudaMallocAsync(&block, bytes, streams_[thread]) == cudaSuccess) return block;
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  void deallocate(void* block, int thread) { target::cuda_must(cudaFreeAsync(block, streams_[thread]), "freeing"); }
  std::uint64_t host_bytes() const { return 0; }

 private:
  bench_streams streams_;
};

#else

/// The C library's `malloc`, which is not for device memory but is what its users know.
class malloc_subject {
 public:
  static constexpr bool is_slow = false;
  explicit malloc_subject(std::uint64_t, int = 1) {}
  void* allocate(std::uint64_t bytes, int) { return std::malloc(bytes); }
  void deallocate(void* block, int) { std::free(block); }
  std::uint64_t host_bytes() const { return 0; }
};

#endif

/// Calls `visit.operator()<Subject>(name)` for each subject; one that `is_slow` is not asked for millions of blocks.
template <class Visit>
void for_each_subject(Visit visit) {
  visit.template operator()<pool_subject<segregated_fit>>("pool");
  visit.template operator()<pool_subject<tree_fit>>("tree_pool");
  visit.template operator()<stream_pool_subject>("stream_pool");
#if defined(__CUDACC__)
  visit.template operator()<cuda_malloc_subject>("cuda_malloc");
  visit.template operator()<cuda_malloc_async_subject>("cuda_malloc_async");
#else
  visit.template operator()<malloc_subject>("malloc");
#endif
}

}  // namespace warpheap::bench
