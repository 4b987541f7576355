// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The paper's procedures: three ways to make an environment, and what each of them says when it is used wrongly.

#include <gtest/gtest.h>
#include <warpheap/pool/mam.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>
#include <warpheap/platform.hpp>

#include "mam_from_c.h"

namespace warpheap::mam_test {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

class mam : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine_available()) GTEST_SKIP() << "there is no device";
  }
  void TearDown() override { MAM_Destroy(); }
};

TEST_F(mam, an_explicit_environment_lasts_until_it_is_destroyed) {
  ASSERT_EQ(MAM_Create(mib), MAM_SUCCESS);
  EXPECT_EQ(MAM_Create(mib), MAM_ERROR_ALREADY_CREATED);
  EXPECT_EQ(MAM_Create_auto(), MAM_ERROR_ALREADY_CREATED);
  void* a = nullptr;
  void* b = nullptr;
  ASSERT_EQ(MAM_CudaMalloc(&a, 1000), MAM_SUCCESS);
  ASSERT_EQ(MAM_CudaMalloc(&b, 1), MAM_SUCCESS);
  EXPECT_EQ(static_cast<std::byte*>(b) - static_cast<std::byte*>(a), 1024);
  device_fill(a, 1, 1000);
  device_fill(b, 2, 1);
  synchronise();
  EXPECT_EQ(MAM_CudaFree(a), MAM_SUCCESS);
  EXPECT_EQ(MAM_CudaFree(b), MAM_SUCCESS);
  EXPECT_EQ(MAM_CudaFree(b), MAM_ERROR_INVALID_DEVICE_POINTER) << "the environment is there without blocks";
  EXPECT_EQ(MAM_Destroy(), MAM_SUCCESS);
  EXPECT_EQ(MAM_Destroy(), MAM_ERROR_NOT_CREATED);
}

TEST_F(mam, best_fit_takes_the_smallest_hole) {
  ASSERT_EQ(MAM_Create(mib), MAM_SUCCESS);
  void* held[5] = {};
  const std::size_t sizes[5] = {8192, 256, 4096, 256, 1};
  for (int i = 0; i < 5; ++i) ASSERT_EQ(MAM_CudaMalloc(&held[i], sizes[i]), MAM_SUCCESS);
  EXPECT_EQ(MAM_CudaFree(held[0]), MAM_SUCCESS);
  EXPECT_EQ(MAM_CudaFree(held[2]), MAM_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(MAM_CudaMalloc(&block, 4000), MAM_SUCCESS);
  EXPECT_EQ(block, held[2]);
}

TEST_F(mam, a_lazy_environment_ends_with_its_last_block) {
  void* a = nullptr;
  void* b = nullptr;
  ASSERT_EQ(MAM_CudaMalloc(&a, 1000), MAM_SUCCESS);
  ASSERT_EQ(MAM_CudaMalloc(&b, 1000), MAM_SUCCESS);
  EXPECT_EQ(MAM_Create(mib), MAM_ERROR_ALREADY_CREATED);
  EXPECT_EQ(MAM_CudaFree(a), MAM_SUCCESS);
  EXPECT_EQ(MAM_CudaFree(b), MAM_SUCCESS);
  EXPECT_EQ(MAM_CudaFree(b), MAM_ERROR_NOT_CREATED);
  EXPECT_EQ(MAM_Destroy(), MAM_ERROR_NOT_CREATED) << "it did not end by itself";
  ASSERT_EQ(MAM_CudaMalloc(&a, 1000), MAM_SUCCESS) << "another is made when it is needed";
  EXPECT_EQ(MAM_CudaFree(a), MAM_SUCCESS);
}

TEST_F(mam, a_lazy_environment_that_cannot_serve_does_not_stay) {
  void* block = nullptr;
  EXPECT_EQ(MAM_CudaMalloc(&block, std::size_t{1} << 55), MAM_ERROR_MEMORY_ALLOCATION);
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(MAM_Destroy(), MAM_ERROR_NOT_CREATED);
}

TEST_F(mam, the_automatic_chunk_is_a_large_part_of_the_device) {
  ASSERT_EQ(MAM_Create_auto(), MAM_SUCCESS);
  void* block = nullptr;
  EXPECT_EQ(MAM_CudaMalloc(&block, describe_machine().memory_bytes / 4), MAM_SUCCESS);
}

TEST_F(mam, misuse_has_an_error_of_its_own_and_changes_nothing) {
  void* block = nullptr;
  int elsewhere = 0;
  EXPECT_EQ(MAM_Create(0), MAM_ERROR_INVALID_VALUE);
  EXPECT_EQ(MAM_Create(~std::size_t{0}), MAM_ERROR_MEMORY_ALLOCATION);
  EXPECT_EQ(MAM_Create(std::size_t{1} << 50), MAM_ERROR_MEMORY_ALLOCATION);
  EXPECT_EQ(MAM_CudaMalloc(nullptr, 1), MAM_ERROR_INVALID_VALUE);
  EXPECT_EQ(MAM_CudaMalloc(&block, 0), MAM_ERROR_INVALID_VALUE);
  EXPECT_EQ(MAM_CudaFree(&elsewhere), MAM_ERROR_NOT_CREATED);
  EXPECT_EQ(MAM_CudaFree(nullptr), MAM_SUCCESS);
  ASSERT_EQ(MAM_Create(mib), MAM_SUCCESS);
  EXPECT_EQ(MAM_CudaMalloc(&block, ~std::size_t{0}), MAM_ERROR_MEMORY_ALLOCATION);
  EXPECT_EQ(MAM_CudaMalloc(&block, std::size_t{1} << 40), MAM_ERROR_MEMORY_ALLOCATION);
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(MAM_CudaFree(&elsewhere), MAM_ERROR_INVALID_DEVICE_POINTER);
  ASSERT_EQ(MAM_CudaMalloc(&block, mib), MAM_SUCCESS) << "something was lost";
  EXPECT_EQ(MAM_CudaFree(static_cast<std::byte*>(block) + 256), MAM_ERROR_INVALID_DEVICE_POINTER);
  EXPECT_EQ(MAM_CudaFree(block), MAM_SUCCESS);
}

TEST_F(mam, every_error_has_a_message_of_its_own) {
  std::set<std::string> messages;
  for (const MAM_Error error :
       {MAM_SUCCESS, MAM_ERROR_INVALID_VALUE, MAM_ERROR_MEMORY_ALLOCATION, MAM_ERROR_NOT_CREATED,
        MAM_ERROR_INVALID_DEVICE_POINTER, MAM_ERROR_NO_DEVICE, MAM_ERROR_ALREADY_CREATED, static_cast<MAM_Error>(57)}) {
    messages.insert(MAM_GetErrorString(error));
  }
  EXPECT_EQ(messages.size(), 8u);
}

TEST_F(mam, threads_make_and_end_lazy_environments_together) {
  // An environment takes most of a device's memory, which takes a GPU a quarter of a second.
  const int rounds = this_backend == backend::cuda ? 5 : 200;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t id = 0; id < wrong.size(); ++id) {
    threads.emplace_back([&, id] {
      for (int i = 0; i < rounds; ++i) {
        void* block = nullptr;
        wrong[id] += MAM_CudaMalloc(&block, 100 * (id + 1)) != MAM_SUCCESS;
        wrong[id] += MAM_CudaFree(block) != MAM_SUCCESS;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
  EXPECT_EQ(MAM_Destroy(), MAM_ERROR_NOT_CREATED);
}

TEST_F(mam, a_program_in_c_can_use_it) { EXPECT_EQ(mam_used_from_c(), 0); }

}  // namespace
}  // namespace warpheap::mam_test
