// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>

namespace warpheap {

/// Makes a source a memory resource of Thrust, from which `thrust::mr::allocator` gives containers their memory:
///
///     using resource = thrust_resource<pool, thrust::mr::memory_resource<thrust::device_ptr<void>>>;
///     resource from_pool(blocks);
///     thrust::device_vector<int, thrust::mr::allocator<int, resource>> numbers(1000, 7, &from_pool);
///
/// `Base` is the interface that it implements, with the pointers that suit the source's memory. The source must outlive
/// it, and it the containers. Thrust itself is not included.
template <block_source Source, class Base>
class thrust_resource final : public Base {
 public:
  /// What containers get their memory as.
  using pointer = typename Base::pointer;

  /// Over `source`.
  explicit thrust_resource(Source& source) : source_(&source) {}

  /// As the source's.
  pointer do_allocate(std::size_t bytes, std::size_t alignment) override {
    return pointer(source_->allocate(bytes, alignment));
  }
  /// As the source's; size and alignment are not needed.
  void do_deallocate(pointer block, std::size_t, std::size_t) override { source_->deallocate(block.get()); }

 private:
  Source* source_;
};

}  // namespace warpheap
