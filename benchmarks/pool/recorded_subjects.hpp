// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What recordings are replayed on. Each subject takes the bytes that it may have at most, and serves
/// calls on numbered streams; `reserved_peak` tells the most bytes that it had from the device.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <warpheap/pool.hpp>

#include "subjects.hpp"

namespace warpheap::bench {

/// The stream pool over device memory that it takes as it needs it, in pieces of 2 MiB, as finely as devices map it. It
/// has twice as many addresses as memory, so that pieces can move before a request fails.
class recorded_stream_pool : public numbered_stream_pool {
 public:
  static constexpr bool has_budget = true;
  recorded_stream_pool(std::uint64_t most, int streams)
      : numbered_stream_pool(
            streams, std::make_unique<device_space>(2 * std::max(most, piece), range_options{.piece_bytes = piece}),
            {.pool = {.most_bytes = most}}) {}
  std::optional<std::uint64_t> reserved_peak() const { return pool().statistics().peak_committed_bytes; }
  void look() {}

 private:
  static constexpr std::uint64_t piece = std::uint64_t{2} << 20;
};

#if defined(__CUDACC__)

/// `cudaMalloc` and `cudaFree`, which know no budget. What they have is what is missing from the device's free
/// memory, so nobody else may use the device.
class recorded_cuda_malloc : public cuda_malloc_subject {
 public:
  static constexpr bool has_budget = false;
  recorded_cuda_malloc(std::uint64_t most, int streams)
      : cuda_malloc_subject(most, streams), free_before_(free_bytes()) {}
  std::optional<std::uint64_t> reserved_peak() const { return peak_; }
  void look() {
    const std::uint64_t now = free_bytes();
    if (now < free_before_) peak_ = std::max(peak_, free_before_ - now);
  }

 private:
  static std::uint64_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    target::cuda_must(cudaMemGetInfo(&free, &total), "asking for free memory");
    return free;
  }
  std::uint64_t free_before_;
  std::uint64_t peak_ = 0;
};

/// `cudaMallocFromPoolAsync` from a pool of its own that holds back `Keep` bytes at each synchronisation.
template <std::uint64_t Keep>
class recorded_cuda_malloc_async {
 public:
#if CUDART_VERSION >= 12020
  static constexpr bool has_budget = true;
#else
  static constexpr bool has_budget = false;
#endif
  recorded_cuda_malloc_async(std::uint64_t most, int streams) : streams_(streams) {
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.location.id = 0;
#if CUDART_VERSION >= 12020
    wanted.maxSize = most;
#endif
    target::cuda_must(cudaMemPoolCreate(&pool_, &wanted), "making a pool");
    std::uint64_t keep = Keep;
    target::cuda_must(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "keeping memory");
  }
  recorded_cuda_malloc_async(const recorded_cuda_malloc_async&) = delete;
  recorded_cuda_malloc_async& operator=(const recorded_cuda_malloc_async&) = delete;
  ~recorded_cuda_malloc_async() {
    static_cast<void>(cudaDeviceSynchronize());
    static_cast<void>(cudaMemPoolDestroy(pool_));
  }
  void* allocate(std::uint64_t bytes, int stream) {
    void* block = nullptr;
    if (cudaMallocFromPoolAsync(&block, bytes, pool_, streams_[stream]) == cudaSuccess) return block;
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  void deallocate(void* block, int stream) { target::cuda_must(cudaFreeAsync(block, streams_[stream]), "freeing"); }
  std::optional<std::uint64_t> reserved_peak() {
    std::uint64_t peak = 0;
    target::cuda_must(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemHigh, &peak), "asking the pool");
    return peak;
  }
  void look() {}

 private:
  bench_streams streams_;
  cudaMemPool_t pool_ = nullptr;
};

#else

/// The C library's `malloc`, which tells neither what it reserves nor knows a budget.
class recorded_malloc : public malloc_subject {
 public:
  static constexpr bool has_budget = false;
  recorded_malloc(std::uint64_t most, int streams) : malloc_subject(most, streams) {}
  std::optional<std::uint64_t> reserved_peak() const { return std::nullopt; }
  void look() {}
};

#endif

/// Calls `visit.operator()<Subject>(name)` for each subject.
template <class Visit>
void for_each_recorded_subject(Visit visit) {
  visit.template operator()<recorded_stream_pool>("stream_pool");
#if defined(__CUDACC__)
  visit.template operator()<recorded_cuda_malloc>("cuda_malloc");
  visit.template operator()<recorded_cuda_malloc_async<~std::uint64_t{0}>>("cuda_malloc_async");
  visit.template operator()<recorded_cuda_malloc_async<0>>("cuda_malloc_async_releasing");
#else
  visit.template operator()<recorded_malloc>("malloc");
#endif
}

}  // namespace warpheap::bench
