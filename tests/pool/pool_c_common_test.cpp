// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The pool that all callers of a device have in common, and the functions for frameworks, which use it.

#include <gtest/gtest.h>
#include <warpheap/pool/pool.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <warpheap.hpp>

#include "pool_c_fixture.hpp"

namespace warpheap::test::pool_c_common_test {
namespace {

TEST_F(pool_c, a_device_has_one_pool_in_common_that_does_not_end) {
  wh_pool* first = nullptr;
  wh_pool* again = nullptr;
  const int device = device_context::current().device();
  ASSERT_EQ(wh_pool_of_device(-1, &first), WH_POOL_OK) << wh_pool_error();
  ASSERT_EQ(wh_pool_of_device(device, &again), WH_POOL_OK);
  EXPECT_EQ(first, again);
  EXPECT_EQ(wh_pool_device(first), device);
  EXPECT_EQ(wh_pool_end(first), WH_POOL_INVALID_ARGUMENT);
  EXPECT_TRUE(told("lives as long as the process")) << wh_pool_error();
}

TEST_F(pool_c, frameworks_functions_use_the_common_pool) {
  const int device = device_context::current().device();
  wh_pool* common = nullptr;
  ASSERT_EQ(wh_pool_of_device(device, &common), WH_POOL_OK);
  const std::uint64_t before = figures_of(common).live_blocks;
  void* const a = wh_pool_torch_malloc(1000, device, nullptr);
  void* const b = wh_pool_cupy_malloc(nullptr, 2000, device);
  ASSERT_NE(a, nullptr) << wh_pool_error();
  ASSERT_NE(b, nullptr) << wh_pool_error();
  EXPECT_EQ(wh_pool_owns(common, a), 1u);
  EXPECT_EQ(figures_of(common).live_blocks, before + 2);
  wh_pool_torch_free(a, 1000, device, nullptr);
  wh_pool_cupy_free(nullptr, b, device);
  EXPECT_EQ(figures_of(common).live_blocks, before);

  EXPECT_EQ(wh_pool_torch_malloc(0, device, nullptr), nullptr);
  EXPECT_EQ(wh_pool_cupy_malloc(nullptr, 0, device), nullptr);
  EXPECT_EQ(wh_pool_torch_malloc(-1, device, nullptr), nullptr);
  EXPECT_TRUE(told("less than 0")) << wh_pool_error();
  EXPECT_EQ(wh_pool_cupy_malloc(nullptr, std::numeric_limits<std::size_t>::max(), device), nullptr);
  EXPECT_TRUE(told("no memory for a block")) << wh_pool_error();
  EXPECT_EQ(wh_pool_torch_malloc(1, 1'000, nullptr), nullptr);
  EXPECT_TRUE(told("no device 1000")) << wh_pool_error();
  wh_pool_torch_free(nullptr, 0, device, nullptr);
  wh_pool_torch_free(a, 1000, device, nullptr);
  EXPECT_TRUE(told("no live block")) << wh_pool_error();
}

}  // namespace
}  // namespace warpheap::test::pool_c_common_test
