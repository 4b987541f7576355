// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a pool of the C interface that another process or another device uses.

#include <gtest/gtest.h>
#include <warpheap/pool/pool.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>
#include <warpheap.hpp>

#include "other_process.hpp"
#include "pool_c_fixture.hpp"

namespace warpheap::test::pool_c_sharing_test {
namespace {

TEST_F(pool_c, sharing_is_refused_where_it_cannot_be) {
  make();
  wh_pool_handle handle{};
  void* block = allocate(1000);
  EXPECT_EQ(wh_pool_export(pool_, block, &handle), WH_POOL_NOT_SUPPORTED);
  EXPECT_TRUE(told("WH_POOL_SHARED")) << wh_pool_error();
  EXPECT_EQ(wh_pool_export(nullptr, block, &handle), WH_POOL_INVALID_ARGUMENT);
  wh_pool_options how = options(0);
  how.flags = WH_POOL_SHARED;
  wh_pool* shared = nullptr;
  EXPECT_EQ(wh_pool_make(&how, &shared), WH_POOL_INVALID_ARGUMENT);
  how = options(4 * mebibyte);
  how.flags = WH_POOL_SHARED;
  ASSERT_EQ(wh_pool_make(&how, &shared), WH_POOL_OK) << wh_pool_error();
  ASSERT_EQ(wh_pool_allocate(shared, 1000, 0, nullptr, &block), WH_POOL_OK);
  EXPECT_EQ(wh_pool_export(shared, block, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_export(shared, nullptr, &handle), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_export(shared, static_cast<std::byte*>(block) + 256, &handle), WH_POOL_INVALID_ARGUMENT);
  EXPECT_TRUE(told("begin of a block")) << wh_pool_error();
  ASSERT_EQ(wh_pool_export(shared, block, &handle), WH_POOL_OK) << wh_pool_error();

  void* mapped = nullptr;
  EXPECT_EQ(wh_pool_import(&handle, -1, &mapped, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_TRUE(told("same process")) << wh_pool_error();
  EXPECT_EQ(wh_pool_import(nullptr, -1, &mapped, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_import(&handle, -1, nullptr, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_import(&handle, -2, &mapped, nullptr), WH_POOL_INVALID_ARGUMENT);
  wh_pool_handle damaged = handle;
  damaged.bytes[100] ^= 1;
  EXPECT_EQ(wh_pool_import(&damaged, -1, &mapped, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_TRUE(told("damaged")) << wh_pool_error();
  damaged = {};
  EXPECT_EQ(wh_pool_import(&damaged, -1, &mapped, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_TRUE(told("no handle")) << wh_pool_error();
  EXPECT_EQ(mapped, nullptr);
  EXPECT_EQ(wh_pool_release_import(block), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_release_import(nullptr), WH_POOL_OK);
  std::uint64_t memories = 1;
  std::uint64_t blocks = 1;
  EXPECT_EQ(wh_pool_imports(&memories, &blocks), WH_POOL_OK);
  EXPECT_EQ(memories + blocks, 0u);
  EXPECT_EQ(wh_pool_deallocate(shared, block, nullptr), WH_POOL_OK);
  EXPECT_EQ(wh_pool_export(shared, block, &handle), WH_POOL_INVALID_ARGUMENT) << "the block is not live";
  EXPECT_EQ(wh_pool_end(shared), WH_POOL_OK);
}

TEST_F(pool_c, another_device_reaches_the_blocks) {
  for (const std::uint32_t flags : {0, static_cast<int>(WH_POOL_PLAIN), static_cast<int>(WH_POOL_SHARED)}) {
    SCOPED_TRACE(flags);
    wh_pool_options how = options(8 * mebibyte);
    how.flags = flags;
    make(how);
    const int own = wh_pool_device(pool_);
    void* const a = allocate(1000);
    EXPECT_EQ(wh_pool_allow_peer(pool_, own), WH_POOL_OK) << wh_pool_error();
    EXPECT_EQ(wh_pool_allow_peer(pool_, 1'000), WH_POOL_DEVICE_FAILURE);
    EXPECT_TRUE(told("no device 1000")) << wh_pool_error();
    EXPECT_EQ(wh_pool_allow_peer(pool_, -1), WH_POOL_DEVICE_FAILURE);
    for (int device = 0; device < wh_pool_device_count(); ++device) {
      if (device == own) continue;
      if (wh_pool_allow_peer(pool_, device) != WH_POOL_OK) {
        EXPECT_TRUE(told("cannot reach")) << wh_pool_error();
        continue;
      }
      EXPECT_EQ(wh_pool_allow_peer(pool_, device), WH_POOL_OK) << "again: " << wh_pool_error();
      void* const later = allocate(4 * mebibyte);
      {
        const scoped_device other{device_context::of(device)};
        for (void* const each : {a, later}) device_fill(each, 0x55, 1000);
        synchronise();
      }
      for (void* const each : {a, later}) {
        std::vector<unsigned char> found(1000);
        device_copy(found.data(), each, 1000);
        EXPECT_EQ(found, std::vector<unsigned char>(1000, 0x55));
      }
      deallocate(later);
    }
    EXPECT_EQ(wh_pool_end(pool_), WH_POOL_OK) << wh_pool_error();
    pool_ = nullptr;
  }
}

std::vector<unsigned char> contents_of(const void* block, std::uint64_t bytes) {
  std::vector<unsigned char> found(bytes);
  device_copy(found.data(), block, bytes);
  return found;
}

constexpr std::uint64_t shared_bytes = 3000;

TEST_F(pool_c, a_block_is_used_by_two_processes) {
  wh_pool_options how = options(4 * mebibyte);
  how.flags = WH_POOL_SHARED;
  make(how);
  void* const a = allocate(shared_bytes);
  void* const b = allocate(mebibyte);
  device_fill(a, 0x11, shared_bytes);
  device_fill(b, 0x22, shared_bytes);
  synchronise();
  other_process child("pool_c.the_other_process_of_a_test");
  for (void* const each : {a, b}) {
    wh_pool_handle handle{};
    ASSERT_EQ(wh_pool_export(pool_, each, &handle), WH_POOL_OK) << wh_pool_error();
    child.send(handle);
  }
  EXPECT_EQ(child.receive<int>(), 1) << "imported, read and written";
  EXPECT_EQ(contents_of(a, shared_bytes), std::vector<unsigned char>(shared_bytes, 0x33));
  EXPECT_EQ(contents_of(b, shared_bytes), std::vector<unsigned char>(shared_bytes, 0x44));
  deallocate(a);
  deallocate(b);
  EXPECT_EQ(wh_pool_end(pool_), WH_POOL_OK);
  pool_ = nullptr;
  child.send(2);
  EXPECT_EQ(child.receive<int>(), 3) << "found that the memory is gone";
}

TEST_F(pool_c, the_other_process_of_a_test) {
  const char* const ends = std::getenv(other_process::variable);
  if (ends == nullptr) GTEST_SKIP() << "is started by another test";
  other_process parent{std::istringstream(ends)};
  const auto first = parent.receive<wh_pool_handle>();
  const auto second = parent.receive<wh_pool_handle>();
  const auto expect_imports = [](std::uint64_t memories, std::uint64_t blocks) {
    std::uint64_t mapped = 0;
    std::uint64_t imported = 0;
    EXPECT_EQ(wh_pool_imports(&mapped, &imported), WH_POOL_OK);
    EXPECT_EQ(mapped, memories);
    EXPECT_EQ(imported, blocks);
  };
  void* a = nullptr;
  void* again = nullptr;
  void* b = nullptr;
  std::uint64_t bytes = 0;
  ASSERT_EQ(wh_pool_import(&first, -1, &a, &bytes), WH_POOL_OK) << wh_pool_error();
  EXPECT_EQ(bytes, 3072u);
  ASSERT_EQ(wh_pool_import(&first, 0, &again, nullptr), WH_POOL_OK) << wh_pool_error();
  ASSERT_EQ(wh_pool_import(&second, -1, &b, &bytes), WH_POOL_OK) << wh_pool_error();
  EXPECT_EQ(bytes, mebibyte);
  EXPECT_EQ(a, again);
  expect_imports(1, 3);
  EXPECT_EQ(wh_pool_import(&first, 1'000, &again, nullptr), WH_POOL_DEVICE_FAILURE);
  expect_imports(1, 3);
  EXPECT_EQ(contents_of(a, shared_bytes), std::vector<unsigned char>(shared_bytes, 0x11));
  EXPECT_EQ(contents_of(b, shared_bytes), std::vector<unsigned char>(shared_bytes, 0x22));
  device_fill(a, 0x33, shared_bytes);
  EXPECT_EQ(wh_pool_release_import(a), WH_POOL_OK);
  device_fill(b, 0x44, shared_bytes);
  synchronise();
  EXPECT_EQ(contents_of(a, shared_bytes), std::vector<unsigned char>(shared_bytes, 0x33)) << "it was imported twice";
  EXPECT_EQ(wh_pool_release_import(a), WH_POOL_OK);
  EXPECT_EQ(wh_pool_release_import(a), WH_POOL_INVALID_ARGUMENT);
  expect_imports(1, 1);
  EXPECT_EQ(wh_pool_release_import(b), WH_POOL_OK);
  expect_imports(0, 0);
  parent.send(1);
  EXPECT_EQ(parent.receive<int>(), 2);
  EXPECT_EQ(wh_pool_import(&first, -1, &a, &bytes), WH_POOL_DEVICE_FAILURE);
  EXPECT_FALSE(std::string(wh_pool_error()).empty());
  expect_imports(0, 0);
  parent.send(3);
}

}  // namespace
}  // namespace warpheap::test::pool_c_sharing_test
