// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The pool as a memory resource of CCCL, as the toolkit has it.

// Before release 3.1 its resources are there only for those who ask.
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE

#include <gtest/gtest.h>

#include <cstdint>
#include <cuda/memory_resource>
#include <memory>
#include <warpheap/pool.hpp>

namespace warpheap {
namespace {

using pool_resource = cccl_resource<pool, cuda::mr::device_accessible>;
using stream_resource = cccl_stream_resource<stream_pool, cuda::mr::device_accessible>;

static_assert(cuda::mr::resource<pool_resource>);
static_assert(cuda::mr::resource_with<pool_resource, cuda::mr::device_accessible>);
static_assert(!cuda::mr::resource_with<pool_resource, cuda::mr::host_accessible>);
static_assert(cuda::mr::resource<stream_resource>);
#if CCCL_MAJOR_VERSION < 3 || (CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION < 1)
static_assert(cuda::mr::async_resource_with<stream_resource, cuda::mr::device_accessible>);
#endif

constexpr std::uint64_t mib = 1 << 20;

TEST(cccl, a_pool_serves_through_a_reference_to_any_resource) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  pool blocks(std::make_unique<device_space>(mib));
  pool_resource resource(blocks);
  pool_resource same(blocks);
  EXPECT_TRUE(resource == same);
#if CCCL_MAJOR_VERSION < 3 || (CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION < 1)
  cuda::mr::resource_ref<cuda::mr::device_accessible> reference(resource);
  void* const block = reference.allocate(1000, 256);
  EXPECT_EQ(blocks.block_bytes(block), 1024u);
  reference.deallocate(block, 1000, 256);
#else
  resource.deallocate_sync(resource.allocate_sync(1000), 1000);
#endif
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

TEST(cccl, a_stream_pool_serves_on_a_stream_and_without) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  stream_pool blocks(std::make_unique<device_space>(mib));
  stream_resource resource(blocks);
  const cuda::stream_ref stream{cudaStreamLegacy};
  void* const a = resource.allocate_async(1000, 256, stream);
  void* const b = resource.allocate(1000, 256);
  EXPECT_EQ(blocks.statistics().live_blocks, 2u);
  resource.deallocate_async(a, 1000, 256, stream);
  resource.deallocate(b, 1000, 256);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

}  // namespace
}  // namespace warpheap
