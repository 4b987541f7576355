// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
// Functions for PyTorch's CUDAPluggableAllocator, which takes them by their names. It does not look whether a function
// of it returned null, so these throw PyTorch's own exception when there is no memory.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include <c10/util/Exception.h>

#include "message.hpp"
#include "pool_functions.hpp"

namespace {

using warpheap_torch::sentence;
using warpheap_torch::warn;

std::unique_ptr<warpheap_torch::pool_functions> functions;  // set once, before PyTorch has these functions

std::array<std::atomic<wh_pool*>, 128> pools{};  // those that blocks were taken from, by device

wh_pool* pool_of(int device) {
  TORCH_CHECK(device >= 0 && static_cast<std::size_t>(device) < pools.size(),
              sentence("warpheap: there is no GPU ", device).c_str());
  auto& slot = pools[static_cast<std::size_t>(device)];
  wh_pool* pool = slot.load(std::memory_order_acquire);
  if (pool == nullptr) {
    TORCH_CHECK(functions->of_device(device, &pool) == WH_POOL_OK, sentence("warpheap: ", functions->error()).c_str());
    slot.store(pool, std::memory_order_release);
  }
  return pool;
}

}  // namespace

#define WH_TORCH_API extern "C" __attribute__((visibility("default")))

/** Opens the library of pools. Returns null, or what went wrong. Called once, before all others. */
WH_TORCH_API const char* wh_torch_open(const char* library) {
  static std::string error;
  try {
    functions = std::make_unique<warpheap_torch::pool_functions>(library);
    return nullptr;
  } catch (const std::exception& failure) {
    error = failure.what();
    return error.c_str();
  }
}

/** A block for work on `stream`; null for 0 bytes. Throws `c10::OutOfMemoryError`, or `c10::Error` for what else is
 * refused, as a capture. */
WH_TORCH_API void* wh_torch_malloc(std::ptrdiff_t bytes, int device, void* stream) {
  if (bytes <= 0) {
    return nullptr;
  }
  void* block = nullptr;
  const auto status = functions->allocate(pool_of(device), static_cast<uint64_t>(bytes), 0, stream, &block);
  TORCH_CHECK_WITH(
      OutOfMemoryError, !warpheap_torch::pool_functions::lacks_memory(status),
      sentence("CUDA out of memory. Tried to allocate ", bytes, " bytes on GPU ", device, ": ", functions->error())
          .c_str());
  TORCH_CHECK(status == WH_POOL_OK, sentence("warpheap: ", functions->error()).c_str());
  return block;
}

/** Takes a block back. Destructors call this, so what fails is a warning. */
WH_TORCH_API void wh_torch_free(void* block, std::ptrdiff_t, int device, void* stream) {
  if (block != nullptr && functions->deallocate(pool_of(device), block, stream) != WH_POOL_OK) {
    warn(sentence("warpheap: a block was not taken back: ", functions->error()));
  }
}

/** Notes that work of `stream` uses the block; memory of others is ignored. */
WH_TORCH_API void wh_torch_record_stream(void* block, void* stream) {
  for (auto& slot : pools) {
    wh_pool* pool = slot.load(std::memory_order_acquire);
    if (pool != nullptr && functions->owns(pool, block) != 0) {
      TORCH_CHECK(functions->note_use(pool, block, stream) == WH_POOL_OK,
                  sentence("warpheap: ", functions->error()).c_str());
    }
  }
}

/** Gives memory without blocks back to the devices. */
WH_TORCH_API void wh_torch_empty_cache() {
  for (auto& slot : pools) {
    wh_pool* pool = slot.load(std::memory_order_acquire);
    if (pool != nullptr) {
      TORCH_CHECK(functions->trim(pool, 0, nullptr) == WH_POOL_OK, sentence("warpheap: ", functions->error()).c_str());
    }
  }
}
