// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Programs that are wrong in their use of memory, and run on: `interposed_test.cpp` expects that `warpheap run --mode
// check` finds each fault.

#include <gtest/gtest.h>

#include <run/device_words.hpp>
#include <support/child_process.hpp>

namespace warpheap::test::run {
namespace {

class faulty_program : public testing::Test {
 public:
  void SetUp() override {
    if (!children_can_fail_freely()) GTEST_SKIP() << "faults are planted, which a memory checker would report";
  }
};

TEST_F(faulty_program, writes_past_the_end) {
  std::uint32_t* words = nullptr;
  ASSERT_EQ(cudaMalloc(&words, 1'000), cudaSuccess);
  fill(words, 251, 0x01010101);  // the driver hands out 512 bytes or more at once, so no other block is hit
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaFree(words), cudaSuccess);
}

TEST_F(faulty_program, frees_a_block_twice) {
  void* block = nullptr;
  ASSERT_EQ(cudaMalloc(&block, 2'000), cudaSuccess);
  EXPECT_EQ(cudaFree(block), cudaSuccess);
  EXPECT_EQ(cudaFree(block), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(faulty_program, leaves_a_block) {
  void* block = nullptr;
  EXPECT_EQ(cudaMalloc(&block, 12'345), cudaSuccess);
}

}  // namespace
}  // namespace warpheap::test::run
