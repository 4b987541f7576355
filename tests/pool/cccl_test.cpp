// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The pool as a memory resource of CCCL, as the toolkit has it.

// Before release 3.1 its resources are there only for those who ask.
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE

#include <gtest/gtest.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/mr/allocator.h>

#include <cstdint>
#include <cuda/memory_resource>
#include <memory>
#include <vector>
#include <warpheap/pool.hpp>

#if __has_include(<cuda/buffer>)
#include <cuda/buffer>
#endif

// Release 3.1 gave the calls and the concepts other names.
#define WARPHEAP_TEST_OLD_CCCL (CCCL_MAJOR_VERSION < 3 || (CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION < 1))

namespace warpheap::cccl_test {
namespace {

using pool_resource = cccl_resource<pool, cuda::mr::device_accessible>;
using stream_resource = cccl_stream_resource<stream_pool, cuda::mr::device_accessible>;

#if WARPHEAP_TEST_OLD_CCCL
static_assert(cuda::mr::resource<pool_resource>);
static_assert(cuda::mr::resource_with<pool_resource, cuda::mr::device_accessible>);
static_assert(!cuda::mr::resource_with<pool_resource, cuda::mr::host_accessible>);
static_assert(cuda::mr::async_resource_with<stream_resource, cuda::mr::device_accessible>);
#else
static_assert(cuda::mr::synchronous_resource<pool_resource>);
static_assert(cuda::mr::synchronous_resource_with<pool_resource, cuda::mr::device_accessible>);
static_assert(!cuda::mr::synchronous_resource_with<pool_resource, cuda::mr::host_accessible>);
static_assert(cuda::mr::resource_with<stream_resource, cuda::mr::device_accessible>);
#endif
static_assert(cuda::mr::resource<stream_resource>);

constexpr std::uint64_t mib = 1 << 20;

TEST(cccl, a_pool_serves_through_a_reference_to_any_resource) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  pool blocks(std::make_unique<device_space>(mib));
  pool_resource resource(blocks);
  pool_resource same(blocks);
  EXPECT_TRUE(resource == same);
#if WARPHEAP_TEST_OLD_CCCL
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

TEST(cccl, a_vector_of_thrust_lives_in_a_pool) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  pool blocks(std::make_unique<device_space>(16 * mib));
  using resource = thrust_resource<pool, thrust::mr::memory_resource<thrust::device_ptr<void>>>;
  resource from_pool(blocks);
  {
    thrust::device_vector<int, thrust::mr::allocator<int, resource>> numbers(100'000, 7, &from_pool);
    EXPECT_TRUE(blocks.contains(numbers.data().get()));
    EXPECT_EQ(blocks.block_bytes(numbers.data().get()), 400'128u);
    numbers.push_back(8);  // it grows, and gives its old block back
    EXPECT_EQ(blocks.statistics().live_blocks, 1u);
    EXPECT_EQ(thrust::count(numbers.begin(), numbers.end(), 7), 100'000);
    EXPECT_EQ(numbers.back(), 8);
  }
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

#if __has_include(<cuda/buffer>)
TEST(cccl, a_buffer_lives_in_a_stream_pool) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  stream_pool blocks(std::make_unique<device_space>(16 * mib));
  stream_resource resource(blocks);
  const cuda::stream_ref stream{cudaStreamLegacy};
  {
    const auto numbers = cuda::make_buffer<int, cuda::mr::device_accessible>(stream, resource, 100'000, 7);
    EXPECT_TRUE(blocks.common().contains(numbers.data()));
    EXPECT_EQ(blocks.statistics().live_blocks, 1u);
    std::vector<int> seen(100'000);
    ASSERT_EQ(cudaMemcpy(seen.data(), numbers.data(), seen.size() * sizeof(int), cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(seen, std::vector<int>(100'000, 7));
  }
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}
#endif

}  // namespace
}  // namespace warpheap::cccl_test
