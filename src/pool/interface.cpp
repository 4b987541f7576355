// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface of pools in stream order: arguments are checked here, and nothing that is thrown leaves for C, as
// ../interface/guard.hpp sees to.

// Only what the header declares is seen from outside; pool.map keeps in what standard headers mark as visible.
#pragma GCC visibility push(default)
#include <warpheap/pool/pool.h>
#pragma GCC visibility pop

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool.hpp>

#include "../interface/guard.hpp"
#include "../interface/structures.hpp"
#include "pool_watch.hpp"

struct wh_pool {
  warpheap::device_context device;
  bool is_common;                                          // one of `wh_pool_of_device`
  const warpheap::shared_space* shared;                    // the pool's space, if it is one
  std::unique_ptr<warpheap::interface::pool_watch> watch;  // null if the process publishes nothing
  warpheap::stream_pool pool;
};

namespace {

using warpheap::device_context;
using warpheap::device_streams;
using warpheap::scoped_device;
namespace interface = warpheap::interface;
using interface::require;
using interface::tell;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint32_t known_flags = WH_POOL_PLAIN | WH_POOL_SHARED;

template <class Call>
wh_pool_status guarded(Call call) noexcept {
  return static_cast<wh_pool_status>(interface::guarded([&] {
    try {
      call();
    } catch (const warpheap::out_of_memory& error) {
      throw interface::no_memory(error.what());
    } catch (const warpheap::stream_refused& error) {
      throw interface::not_supported(error.what());
    }
  }));
}

// Runs `call(pool)` on the pool's device.
template <class Pool, class Call>
wh_pool_status on(Pool* pool, Call call) noexcept {
  return guarded([&] {
    require(pool != nullptr, "the pool is null: make one with wh_pool_make, or take that of wh_pool_of_device");
    const scoped_device own{pool->device};
    interface::watched_call watched{pool->watch.get(), pool->pool};
    call(pool->pool);
    watched.done();
  });
}

// Runs `call(pool, stream)` on the pool's device, of which the stream must be.
template <class Call>
wh_pool_status on_stream(wh_pool* pool, void* stream, Call call) noexcept {
  return on(pool, [&](warpheap::stream_pool& now) {
    const auto which = static_cast<device_streams::stream>(stream);
    device_streams::require_on(which, pool->device);
    call(now, which);
  });
}

std::unique_ptr<wh_pool> make(const wh_pool_options& asked, const device_context& device, bool is_common) {
  const scoped_device own{device};
  const bool shared = (asked.flags & WH_POOL_SHARED) != 0;
  const bool plain = shared || (asked.flags & WH_POOL_PLAIN) != 0;
  std::uint64_t reserved = asked.reserve_bytes;
  if (reserved == 0) {
    require(!plain, "a pool of plain memory takes all of it at once: set reserve_bytes");
    // Twice the memory, so that pieces of it can move when no stretch is long enough. Other pools and heaps of the
    // process need addresses, too.
    reserved = std::min(2 * warpheap::describe_machine().memory_bytes, warpheap::address_limit() / 4);
  }
  warpheap::stream_pool_options how;
  how.counts_usage = true;
  how.pool.initial_bytes = asked.initial_bytes;
  if (asked.span_bytes != 0) how.span_bytes = asked.span_bytes;
  how.capture_span_bytes = std::min(how.capture_span_bytes, how.span_bytes);
  warpheap::range_options memory;
  memory.piece_bytes = asked.piece_bytes != 0 ? asked.piece_bytes : 32 * mebibyte;
  memory.plain = plain;
  std::unique_ptr<warpheap::pool_space> space;
  const warpheap::shared_space* exportable = nullptr;
  if (shared) {
    auto made = std::make_unique<warpheap::shared_space>(reserved);
    exportable = made.get();
    space = std::move(made);
  } else {
    space = std::make_unique<warpheap::device_space>(reserved, memory);
  }
  std::unique_ptr<interface::pool_watch> watch;
  if (board_is_wanted()) {
    watch = std::make_unique<interface::pool_watch>(device.device(), is_common);
    how.observer = watch.get();
    space = std::make_unique<interface::watched_space>(std::move(space), *watch);
  }
  auto made = std::unique_ptr<wh_pool>(
      new wh_pool{device, is_common, exportable, std::move(watch), warpheap::stream_pool(std::move(space), how)});
  if (made->watch != nullptr) made->watch->memory_changed(made->pool);
  return made;
}

// A machine that has no device at all says why: the driver may be missing, or older than the runtime.
device_context find_device(int device) {
  if (!interface::device_answers()) return device_context::current();
  return device_context::of(device);
}

// The pools that the process has in common. They are never ended: what they serve may end later than any static object
// of ours.
struct common_pools {
  warpheap::host_mutex mutex;
  std::map<int, std::unique_ptr<wh_pool>> pools;
};

wh_pool& common_pool(int device) {
  static auto& common = *new common_pools;
  const warpheap::host_lock lock(common.mutex);
  const auto known = common.pools.find(device);
  if (known != common.pools.end()) return *known->second;
  wh_pool_options defaults{};
  auto made = make(defaults, find_device(device), true);
  return *common.pools.emplace(device, std::move(made)).first->second;
}

// What the process has mapped of others. It is never ended, as the pools in common are not.
warpheap::block_importer& importer() {
  static auto& made = *new warpheap::block_importer;
  return made;
}

int number_of(std::int32_t device) {
  require(device >= -1, "device is neither the number of a device nor -1");
  return device < 0 ? device_context::current().device() : device;
}

// What functions give that have no status to return: null, or the block.
template <class Call>
void* block_or_null(Call call) noexcept {
  void* block = nullptr;
  static_cast<void>(guarded([&] { block = call(); }));
  return block;
}

void* allocate_common(std::uint64_t bytes, int device, device_streams::stream stream) {
  wh_pool& pool = common_pool(number_of(device));
  const scoped_device own{pool.device};
  device_streams::require_on(stream, pool.device);
  interface::watched_call watched{pool.watch.get(), pool.pool};
  void* const block = pool.pool.allocate(stream, bytes);
  watched.done();
  return block;
}

void deallocate_common(void* block, int device, device_streams::stream stream) {
  if (block == nullptr) return;
  wh_pool& pool = common_pool(number_of(device));
  const scoped_device own{pool.device};
  device_streams::require_on(stream, pool.device);
  pool.pool.deallocate(stream, block);
}

}  // namespace

extern "C" {

uint32_t wh_pool_abi(void) { return WH_POOL_ABI; }

const char* wh_pool_backend(void) { return warpheap::backend_name(warpheap::this_backend); }

uint32_t wh_pool_device_available(void) {
  if (interface::device_answers()) return 1;
  // What a first use of the device throws says why not.
  static_cast<void>(guarded([] { static_cast<void>(device_context::current()); }));
  return 0;
}

int32_t wh_pool_device_count(void) {
  int32_t count = 0;
  static_cast<void>(guarded([&] { count = warpheap::device_count(); }));
  return count;
}

const char* wh_pool_error(void) { return interface::last_error().c_str(); }

wh_pool_status wh_pool_make(const wh_pool_options* options, wh_pool** pool) {
  return guarded([&] {
    require(pool != nullptr, "there is no place for the pool's pointer");
    wh_pool_options asked{};
    asked.device = -1;
    if (options != nullptr) {
      require(options->struct_bytes >= sizeof(wh_pool_options),
              "struct_bytes of the options is not their size: set it to sizeof(wh_pool_options)");
      asked = interface::read_as_far(*options);
    }
    require((asked.flags & ~known_flags) == 0, "flags has a bit that this library does not know");
    *pool = make(asked, find_device(number_of(asked.device)), false).release();
  });
}

wh_pool_status wh_pool_end(wh_pool* pool) {
  if (pool == nullptr) return WH_POOL_OK;
  return guarded([&] {
    require(!pool->is_common, "a pool of wh_pool_of_device lives as long as the process: trim it instead");
    // A device that was reset has no work to wait for.
    const scoped_device own{pool->device, std::nothrow};
    delete pool;
  });
}

wh_pool_status wh_pool_of_device(int32_t device, wh_pool** pool) {
  return guarded([&] {
    require(pool != nullptr, "there is no place for the pool's pointer");
    *pool = &common_pool(number_of(device));
  });
}

int32_t wh_pool_device(const wh_pool* pool) { return pool == nullptr ? -1 : pool->device.device(); }

wh_pool_status wh_pool_allocate(wh_pool* pool, uint64_t bytes, uint64_t alignment, void* stream, void** block) {
  return on_stream(pool, stream, [&](warpheap::stream_pool& now, device_streams::stream which) {
    require(block != nullptr, "there is no place for the block's pointer");
    *block = now.allocate(which, bytes, std::max<std::uint64_t>(alignment, 1));
  });
}

wh_pool_status wh_pool_deallocate(wh_pool* pool, void* block, void* stream) {
  return on_stream(pool, stream,
                   [&](warpheap::stream_pool& now, device_streams::stream which) { now.deallocate(which, block); });
}

wh_pool_status wh_pool_note_use(wh_pool* pool, void* block, void* stream) {
  return on_stream(pool, stream,
                   [&](warpheap::stream_pool& now, device_streams::stream which) { now.note_use(which, block); });
}

wh_pool_status wh_pool_forget(wh_pool* pool, void* stream) {
  return on_stream(pool, stream, [&](warpheap::stream_pool& now, device_streams::stream which) { now.forget(which); });
}

wh_pool_status wh_pool_trim(wh_pool* pool, uint64_t keep_bytes, uint64_t* given_back) {
  return on(pool, [&](warpheap::stream_pool& now) { tell(given_back, now.trim(keep_bytes)); });
}

wh_pool_status wh_pool_limit(wh_pool* pool, uint64_t most_bytes) {
  return on(pool, [&](warpheap::stream_pool& now) { now.limit(most_bytes); });
}

wh_pool_status wh_pool_allow_peer(wh_pool* pool, int32_t device) {
  return on(pool, [&](warpheap::stream_pool& now) { now.allow_peer(device); });
}

wh_pool_status wh_pool_block_bytes(wh_pool* pool, const void* block, uint64_t* bytes) {
  return on(pool, [&](warpheap::stream_pool& now) { tell(bytes, now.block_bytes(block)); });
}

uint32_t wh_pool_owns(const wh_pool* pool, const void* address) {
  return pool != nullptr && pool->pool.common().contains(address) ? 1 : 0;
}

wh_pool_status wh_pool_statistics_of(wh_pool* pool, wh_pool_statistics* figures) {
  return on(pool, [&](warpheap::stream_pool& now) {
    require(figures != nullptr, "there is no place for the figures");
    require(figures->struct_bytes >= sizeof(figures->struct_bytes),
            "struct_bytes of the figures is not their size: set it to sizeof(wh_pool_statistics)");
    const warpheap::stream_pool_statistics found = now.statistics();
    wh_pool_statistics told{};
    told.reserved_bytes = found.reserved_bytes;
    told.committed_bytes = found.committed_bytes;
    told.peak_committed_bytes = found.peak_committed_bytes;
    told.live_bytes = found.live_bytes;
    told.peak_live_bytes = found.peak_live_bytes;
    told.live_blocks = found.live_blocks;
    told.peak_live_blocks = found.peak_live_blocks;
    told.deferred_bytes = found.deferred_bytes;
    told.stream_bytes = found.stream_bytes;
    told.private_bytes = found.private_bytes;
    told.common_bytes = found.common_bytes;
    told.allocations = found.allocations;
    told.deallocations = found.deallocations;
    told.allocated_bytes = found.allocated_bytes;
    told.deallocated_bytes = found.deallocated_bytes;
    told.failures = found.failures;
    told.streams = found.streams;
    told.captures = found.captures;
    told.gatherings = found.gatherings;
    told.waits = found.waits;
    interface::write_as_far(*figures, told);
  });
}

wh_pool_status wh_pool_reset_peaks(wh_pool* pool) {
  return on(pool, [pool](warpheap::stream_pool& now) {
    now.reset_peaks();
    if (pool->watch != nullptr) pool->watch->memory_changed(now);
  });
}

wh_pool_status wh_pool_snapshot(wh_pool* pool, char* buffer, uint64_t bytes, uint64_t* needed) {
  return on(pool, [&](warpheap::stream_pool& now) {
    const std::string text = now.snapshot();
    tell(needed, text.size() + 1);
    if (buffer == nullptr) return;
    if (bytes <= text.size()) {
      throw std::invalid_argument("the snapshot needs a buffer of " + std::to_string(text.size() + 1) +
                                  " bytes: ask for the size first, and again if other threads use the pool");
    }
    std::memcpy(buffer, text.c_str(), text.size() + 1);
  });
}

wh_pool_status wh_pool_begin_capture(wh_pool* pool, uint64_t name_first, uint64_t name_second, void* captured_stream,
                                     wh_pool_belongs belongs, void* param) {
  return on_stream(pool, captured_stream, [&](warpheap::stream_pool& now, device_streams::stream which) {
    const warpheap::capture_name name{name_first, name_second};
    if (belongs == nullptr) {
      now.begin_capture(name, which);
    } else {
      now.begin_capture(name, [belongs, param](device_streams::stream asked) { return belongs(param, asked) != 0; });
    }
  });
}

wh_pool_status wh_pool_end_capture(wh_pool* pool, uint64_t name_first, uint64_t name_second) {
  return on(pool, [&](warpheap::stream_pool& now) { now.end_capture({name_first, name_second}); });
}

wh_pool_status wh_pool_release_capture(wh_pool* pool, uint64_t name_first, uint64_t name_second, void* stream) {
  return on_stream(pool, stream, [&](warpheap::stream_pool& now, device_streams::stream which) {
    now.release_capture({name_first, name_second}, which);
  });
}

wh_pool_status wh_pool_export(wh_pool* pool, const void* block, wh_pool_handle* handle) {
  return on(pool, [&](warpheap::stream_pool& now) {
    require(handle != nullptr, "there is no place for the handle");
    if (pool->shared == nullptr) {
      throw interface::not_supported(
          "the memory of this pool cannot be mapped by other processes: make the pool with WH_POOL_SHARED");
    }
    const warpheap::block_handle named = warpheap::export_block(*pool->shared, now, block);
    static_assert(sizeof(named) <= sizeof(handle->bytes));
    *handle = {};
    std::memcpy(handle->bytes, &named, sizeof(named));
  });
}

wh_pool_status wh_pool_import(const wh_pool_handle* handle, int32_t device, void** block, uint64_t* bytes) {
  return guarded([&] {
    require(handle != nullptr, "there is no handle: pass what wh_pool_export wrote in the other process");
    require(block != nullptr, "there is no place for the block's pointer");
    require(device >= -1, "device is neither the number of a device nor -1");
    warpheap::block_handle named;
    std::memcpy(&named, handle->bytes, sizeof(named));
    *block = importer().import_block(named, device);
    tell(bytes, named.block_bytes);
  });
}

wh_pool_status wh_pool_release_import(void* block) {
  return guarded([&] { importer().release_block(block); });
}

wh_pool_status wh_pool_imports(uint64_t* memories, uint64_t* blocks) {
  return guarded([&] {
    tell(memories, importer().memories());
    tell(blocks, importer().blocks());
  });
}

void* wh_pool_torch_malloc(ptrdiff_t bytes, int device, void* stream) {
  return block_or_null([&]() -> void* {
    require(bytes >= 0, "a block of less than 0 bytes was asked for");
    if (bytes == 0) return nullptr;
    return allocate_common(static_cast<std::uint64_t>(bytes), device, static_cast<device_streams::stream>(stream));
  });
}

void wh_pool_torch_free(void* block, ptrdiff_t, int device, void* stream) {
  static_cast<void>(guarded([&] { deallocate_common(block, device, static_cast<device_streams::stream>(stream)); }));
}

void* wh_pool_cupy_malloc(void*, size_t bytes, int device) {
  return block_or_null([&]() -> void* { return bytes == 0 ? nullptr : allocate_common(bytes, device, {}); });
}

void wh_pool_cupy_free(void*, void* block, int device) {
  static_cast<void>(guarded([&] { deallocate_common(block, device, {}); }));
}

}  // extern "C"
