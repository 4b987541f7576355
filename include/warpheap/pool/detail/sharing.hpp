// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <warpheap/pool/sharing.hpp>

namespace warpheap {

namespace pool_detail {

static_assert(std::is_trivially_copyable_v<block_handle> && std::has_unique_object_representations_v<block_handle>);

inline constexpr std::uint64_t handle_kind = 0x77686d656d310000 + static_cast<std::uint64_t>(this_backend);

// FNV-1a over all that comes before the sum.
inline std::uint64_t handle_sum(const block_handle& handle) {
  unsigned char bytes[offsetof(block_handle, sum)];
  std::memcpy(bytes, &handle, sizeof(bytes));
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const unsigned char each : bytes) sum = (sum ^ each) * 0x100000001b3;
  return sum;
}

// Process numbers of two containers may be equal; a random number is not.
inline std::uint64_t process_token() {
  static const std::uint64_t token = [] {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
  }();
  return token;
}

// Number of the device of this process with that identity.
inline int device_with(const device_identity& identity) {
  for (int device = 0, count = device_count(); device < count; ++device) {
    if (identity_of_device(device) == identity) return device;
  }
  throw launch_failure(
      "warpheap: the memory is of a device that this process does not see: make it visible, or name a device that "
      "reaches it");
}

inline void require_handle(const block_handle& handle) {
  if (handle.kind != handle_kind) {
    throw std::invalid_argument(
        "warpheap: the bytes are no handle of a block, or one of another backend or version of the library");
  }
  if (handle.sum != handle_sum(handle)) {
    throw std::invalid_argument("warpheap: the handle of a block is damaged: pass all its bytes on as they are");
  }
  if (handle.process[0] == process_token() && handle.process[1] == process_number()) {
    throw std::invalid_argument(
        "warpheap: the block is of this same process: use its own pointer, since memory cannot be mapped again there");
  }
}

}  // namespace pool_detail

template <class Pool>
block_handle export_block(const shared_space& space, const Pool& pool, const void* block) {
  const exported_memory& memory = space.memory();
  block_handle handle;
  handle.block_bytes = pool.block_bytes(block);
  const auto* const at = static_cast<const std::byte*>(block);
  if (handle.block_bytes == 0 || at < memory.data() || at >= memory.data() + memory.bytes()) {
    throw unknown_block("warpheap: no live block of the pool begins at the pointer: export the begin of a block");
  }
  const relaxed_capture_mode mode;
  handle.kind = pool_detail::handle_kind;
  handle.process[0] = pool_detail::process_token();
  handle.process[1] = process_number();
  handle.memory = memory.handle();
  handle.device = identity_of_device(memory.context().device());
  handle.memory_bytes = memory.bytes();
  handle.offset = static_cast<std::uint64_t>(at - memory.data());
  handle.sum = pool_detail::handle_sum(handle);
  return handle;
}

inline void* block_importer::import_block(const block_handle& handle, int device) {
  pool_detail::require_handle(handle);
  if (device < 0) device = pool_detail::device_with(handle.device);
  const scoped_device own{device_context::of(device)};
  const place where{handle.memory, device};
  const relaxed_capture_mode mode;
  const host_lock lock(mutex_);
  const auto [mapped, is_new] = mappings_.try_emplace(where);
  try {
    if (is_new) mapped->second.memory = std::make_unique<imported_memory>(handle.memory, handle.memory_bytes);
    std::byte* const block = mapped->second.memory->data() + handle.offset;
    imported& known = blocks_.try_emplace(block, imported{where}).first->second;
    ++known.count;
    ++mapped->second.blocks;
    return block;
  } catch (...) {
    if (is_new) mappings_.erase(mapped);
    throw;
  }
}

inline void block_importer::release_block(void* block) {
  if (block == nullptr) return;
  const relaxed_capture_mode mode;
  const host_lock lock(mutex_);
  const auto known = blocks_.find(block);
  if (known == blocks_.end()) {
    throw unknown_block("warpheap: the pointer was not imported, or was released as often as it was imported");
  }
  const auto mapped = mappings_.find(known->second.where);
  if (--known->second.count == 0) blocks_.erase(known);
  if (--mapped->second.blocks == 0) mappings_.erase(mapped);
}

inline std::uint64_t block_importer::memories() const {
  const host_lock lock(mutex_);
  return mappings_.size();
}
inline std::uint64_t block_importer::blocks() const {
  const host_lock lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [where, each] : mappings_) sum += each.blocks;
  return sum;
}

}  // namespace warpheap
