// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/stream_pool.hpp>

namespace warpheap {

/// Makes a source a `cuda::mr::resource` of CCCL, under the names of its releases before 3.1 and after. `Properties`
/// are what is true of the source's memory, such as `cuda::mr::device_accessible`. Two are equal if they stand on the
/// same source, which must outlive them. CCCL itself is not included.
template <block_source Source, class... Properties>
class cccl_resource {
 public:
  /// Over `source`.
  explicit cccl_resource(Source& source) : source_(&source) {}

  /// As the source's.
  void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    return source_->allocate(bytes, alignment);
  }
  /// As the source's; size and alignment are not needed.
  void deallocate(void* block, std::size_t, std::size_t = alignof(std::max_align_t)) { source_->deallocate(block); }
  /// `allocate` by its later name.
  void* allocate_sync(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    return allocate(bytes, alignment);
  }
  /// `deallocate` by its later name.
  void deallocate_sync(void* block, std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    deallocate(block, bytes, alignment);
  }

  friend bool operator==(const cccl_resource&, const cccl_resource&) = default;
  template <class Property>
    requires(std::same_as<Property, Properties> || ...)
  friend constexpr void get_property(const cccl_resource&, Property) noexcept {}

 private:
  Source* source_;
};

/// Makes a stream pool a `cuda::mr::async_resource` of CCCL before 3.1 and a `cuda::mr::resource` after. A stream is
/// anything that has `get()`, as `cuda::stream_ref`. Calls without a stream use the default stream; `allocate` without
/// one waits until the memory is free for all.
template <class Pool, class... Properties>
class cccl_stream_resource {
 public:
  /// Over `pool`, which must outlive it.
  explicit cccl_stream_resource(Pool& pool) : pool_(&pool) {}

  /// A block for work on the stream; as the pool's.
  template <class Stream>
    requires requires(Stream on) { on.get(); }
  void* allocate_async(std::size_t bytes, std::size_t alignment, Stream on) {
    return pool_->allocate(on.get(), bytes, alignment);
  }
  /// Takes a block back after the stream's work so far; as the pool's.
  template <class Stream>
    requires requires(Stream on) { on.get(); }
  void deallocate_async(void* block, std::size_t, std::size_t, Stream on) {
    pool_->deallocate(on.get(), block);
  }
  /// `allocate_async` by its later name.
  template <class Stream>
    requires requires(Stream on) { on.get(); }
  void* allocate(Stream on, std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    return pool_->allocate(on.get(), bytes, alignment);
  }
  /// `deallocate_async` by its later name.
  template <class Stream>
    requires requires(Stream on) { on.get(); }
  void deallocate(Stream on, void* block, std::size_t, std::size_t = alignof(std::max_align_t)) {
    pool_->deallocate(on.get(), block);
  }

  /// A block for any use at once: waits for what used its memory before.
  void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    void* const block = pool_->allocate({}, bytes, alignment);
    try {
      device_streams::event mark;
      device_streams::record(mark, {});
      device_streams::synchronise(mark);
    } catch (...) {
      pool_->deallocate({}, block);
      throw;
    }
    return block;
  }
  /// Takes back a block that nothing uses any more.
  void deallocate(void* block, std::size_t, std::size_t = alignof(std::max_align_t)) { pool_->deallocate({}, block); }
  /// `allocate` without a stream, by its later name.
  void* allocate_sync(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    return allocate(bytes, alignment);
  }
  /// `deallocate` without a stream, by its later name.
  void deallocate_sync(void* block, std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    deallocate(block, bytes, alignment);
  }

  friend bool operator==(const cccl_stream_resource&, const cccl_stream_resource&) = default;
  template <class Property>
    requires(std::same_as<Property, Properties> || ...)
  friend constexpr void get_property(const cccl_stream_resource&, Property) noexcept {}

 private:
  Pool* pool_;
};

}  // namespace warpheap
