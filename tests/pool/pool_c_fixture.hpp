// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <warpheap/pool/pool.h>

#include <cstdint>
#include <string>

namespace warpheap::test {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// One pool of the C interface, which ends well after each test.
class pool_c : public testing::Test {
 protected:
  void SetUp() override {
    if (wh_pool_device_available() == 0) GTEST_SKIP() << wh_pool_error();
  }
  void TearDown() override { EXPECT_EQ(wh_pool_end(pool_), WH_POOL_OK) << wh_pool_error(); }

  static wh_pool_options options(std::uint64_t bytes = 64 * mebibyte) {
    wh_pool_options options{};
    options.struct_bytes = sizeof(options);
    options.reserve_bytes = bytes;
    options.span_bytes = options.piece_bytes = 2 * mebibyte;
    options.device = -1;
    return options;
  }
  void make(const wh_pool_options& how = options()) {
    ASSERT_EQ(wh_pool_make(&how, &pool_), WH_POOL_OK) << wh_pool_error();
  }
  void* allocate(std::uint64_t bytes, void* stream = nullptr) {
    void* block = nullptr;
    EXPECT_EQ(wh_pool_allocate(pool_, bytes, 0, stream, &block), WH_POOL_OK) << wh_pool_error();
    return block;
  }
  void deallocate(void* block, void* stream = nullptr) {
    EXPECT_EQ(wh_pool_deallocate(pool_, block, stream), WH_POOL_OK) << wh_pool_error();
  }
  static wh_pool_statistics figures_of(wh_pool* pool) {
    wh_pool_statistics figures{};
    figures.struct_bytes = sizeof(figures);
    EXPECT_EQ(wh_pool_statistics_of(pool, &figures), WH_POOL_OK) << wh_pool_error();
    return figures;
  }
  wh_pool_statistics figures() const { return figures_of(pool_); }
  static bool told(const char* part) { return std::string(wh_pool_error()).find(part) != std::string::npos; }

  wh_pool* pool_ = nullptr;
};

}  // namespace warpheap::test
