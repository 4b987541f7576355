// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface: one environment for the process, made and ended under a lock.

#include <warpheap/pool/mam.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <warpheap/pool.hpp>

namespace {

using warpheap::basic_pool;
using warpheap::host_lock;
using warpheap::tree_fit;

struct environment {
  std::unique_ptr<basic_pool<tree_fit>> chunk;
  std::uint64_t live_blocks = 0;
  bool ends_by_itself = false;
};

warpheap::host_mutex mutex;

// Never destroyed at exit: device memory goes with the process, and the runtime may have ended before.
environment& the_environment() {
  static auto* const only = new environment;
  return *only;
}

// Takes the chunk as one piece. Null when the device refuses.
std::unique_ptr<basic_pool<tree_fit>> take_chunk(std::uint64_t bytes) {
  // More than any machine has, and a size that could no longer be rounded up.
  if (bytes > std::uint64_t{1} << 56) return nullptr;
  try {
    auto space = std::make_unique<warpheap::device_space>(bytes, warpheap::range_options{bytes, false});
    const std::uint64_t all = space->bytes();
    return std::make_unique<basic_pool<tree_fit>>(std::move(space), warpheap::pool_options{.initial_bytes = all});
  } catch (const std::exception&) {
    return nullptr;
  }
}

MAM_Error become(std::unique_ptr<basic_pool<tree_fit>> chunk, bool ends_by_itself) {
  if (chunk == nullptr) return MAM_ERROR_MEMORY_ALLOCATION;
  the_environment() = {std::move(chunk), 0, ends_by_itself};
  return MAM_SUCCESS;
}

MAM_Error create(std::uint64_t bytes) {
  if (the_environment().chunk != nullptr) return MAM_ERROR_ALREADY_CREATED;
  if (!warpheap::machine_available()) return MAM_ERROR_NO_DEVICE;
  return become(take_chunk(bytes), false);
}

MAM_Error create_largest(bool ends_by_itself) {
  if (the_environment().chunk != nullptr) return MAM_ERROR_ALREADY_CREATED;
  if (!warpheap::machine_available()) return MAM_ERROR_NO_DEVICE;
  std::unique_ptr<basic_pool<tree_fit>> chunk;
  constexpr std::uint64_t least = 4096;
  for (std::uint64_t bytes = warpheap::describe_machine().memory_bytes; chunk == nullptr && bytes >= least;
       bytes -= bytes / 16) {
    chunk = take_chunk(bytes);
  }
  return become(std::move(chunk), ends_by_itself);
}

// Runs `call` under the lock; nothing that is thrown leaves for C.
template <class Call>
MAM_Error guarded(Call call) noexcept {
  try {
    const host_lock lock(mutex);
    return call(the_environment());
  } catch (const warpheap::unknown_block&) {
    return MAM_ERROR_INVALID_DEVICE_POINTER;
  } catch (const std::exception&) {
    return MAM_ERROR_MEMORY_ALLOCATION;
  }
}

}  // namespace

extern "C" {

MAM_Error MAM_Create(size_t bytes) {
  if (bytes == 0) return MAM_ERROR_INVALID_VALUE;
  return guarded([&](environment&) { return create(bytes); });
}

MAM_Error MAM_Create_auto(void) {
  return guarded([](environment&) { return create_largest(false); });
}

MAM_Error MAM_Destroy(void) {
  return guarded([](environment& now) {
    if (now.chunk == nullptr) return MAM_ERROR_NOT_CREATED;
    now = {};
    return MAM_SUCCESS;
  });
}

MAM_Error MAM_CudaMalloc(void** block, size_t bytes) {
  if (block == nullptr || bytes == 0) return MAM_ERROR_INVALID_VALUE;
  return guarded([&](environment& now) {
    if (now.chunk == nullptr) {
      if (const MAM_Error error = create_largest(true); error != MAM_SUCCESS) return error;
    }
    try {
      *block = now.chunk->allocate(bytes);
    } catch (...) {
      if (now.ends_by_itself && now.live_blocks == 0) now = {};
      throw;
    }
    ++now.live_blocks;
    return MAM_SUCCESS;
  });
}

MAM_Error MAM_CudaFree(void* block) {
  if (block == nullptr) return MAM_SUCCESS;
  return guarded([&](environment& now) {
    if (now.chunk == nullptr) return MAM_ERROR_NOT_CREATED;
    now.chunk->deallocate(block);
    --now.live_blocks;
    if (now.ends_by_itself && now.live_blocks == 0) now = {};
    return MAM_SUCCESS;
  });
}

const char* MAM_GetErrorString(MAM_Error error) {
  switch (error) {
    case MAM_SUCCESS: return "no error";
    case MAM_ERROR_INVALID_VALUE: return "an argument is null or 0: give a place for the pointer and a size above 0";
    case MAM_ERROR_MEMORY_ALLOCATION:
      return "out of memory: no free segment of the chunk, or no memory of the device, is large enough; free blocks or "
             "make the environment with a larger chunk";
    case MAM_ERROR_NOT_CREATED:
      return "there is no environment: call MAM_Create, MAM_Create_auto or MAM_CudaMalloc first";
    case MAM_ERROR_INVALID_DEVICE_POINTER:
      return "no block of the environment begins at the pointer: it was freed before, or MAM_CudaMalloc never gave it";
    case MAM_ERROR_NO_DEVICE: return "no device answers: check the driver and CUDA_VISIBLE_DEVICES";
    case MAM_ERROR_ALREADY_CREATED: return "there is an environment already: call MAM_Destroy before making another";
  }
  return "not a number of MAM_Error";
}

}  // extern "C"
