// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface of pools: each function that a program calls with a pool of its own, and each way to fail. What the
// pool promises of streams and captures, the tests of host/ watch.

#include <gtest/gtest.h>
#include <warpheap/pool/pool.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>
#include <warpheap.hpp>

#include "pool_c_fixture.hpp"
#include "pool_from_c.h"

namespace warpheap::test::pool_c_test {
namespace {

TEST_F(pool_c, a_program_in_c_uses_it) { EXPECT_EQ(pool_used_from_c(), 0) << wh_pool_error(); }

TEST_F(pool_c, the_library_says_what_it_is) {
  EXPECT_EQ(wh_pool_abi(), std::uint32_t{WH_POOL_ABI});
  EXPECT_STREQ(wh_pool_backend(), backend_name(this_backend));
  EXPECT_EQ(wh_pool_device_count(), device_count());
  EXPECT_EQ(wh_pool_device_available(), 1u);
}

TEST_F(pool_c, the_defaults_make_a_pool_of_the_whole_device) {
  ASSERT_EQ(wh_pool_make(nullptr, &pool_), WH_POOL_OK) << wh_pool_error();
  EXPECT_EQ(wh_pool_device(pool_), device_context::current().device());
  EXPECT_GE(figures().reserved_bytes, std::min(2 * describe_machine().memory_bytes, address_limit() / 4));
  EXPECT_EQ(figures().committed_bytes, 0u);
  deallocate(allocate(100));
}

TEST_F(pool_c, options_are_kept) {
  wh_pool_options how = options();
  how.initial_bytes = 3 * mebibyte;
  make(how);
  EXPECT_EQ(figures().reserved_bytes, 64 * mebibyte);
  EXPECT_EQ(figures().committed_bytes, 4 * mebibyte) << "whole pieces";
  deallocate(allocate(100));
  EXPECT_EQ(figures().stream_bytes, 2 * mebibyte) << "a span";
  std::uint64_t given_back = 0;
  EXPECT_EQ(wh_pool_trim(pool_, mebibyte, &given_back), WH_POOL_OK);
  EXPECT_EQ(given_back, 2 * mebibyte);
  EXPECT_EQ(wh_pool_trim(pool_, 0, nullptr), WH_POOL_OK);
  EXPECT_EQ(figures().committed_bytes, 0u);
}

// Every other piece is free, so that a larger block fits only where memory can go to.
TEST_F(pool_c, a_limit_holds_and_moves_free_memory) {
  make();  // pieces of 2 MiB
  ASSERT_EQ(wh_pool_limit(pool_, 16 * mebibyte), WH_POOL_OK) << wh_pool_error();
  std::vector<void*> held;
  for (int i = 0; i < 8; ++i) held.push_back(allocate(2 * mebibyte));
  void* block = nullptr;
  EXPECT_EQ(wh_pool_allocate(pool_, 1, 1, nullptr, &block), WH_POOL_OUT_OF_MEMORY);
  EXPECT_TRUE(told("most_bytes")) << wh_pool_error();
  for (std::size_t i = 0; i < held.size(); i += 2) deallocate(std::exchange(held[i], nullptr));
  deallocate(allocate(6 * mebibyte));
  EXPECT_LE(figures().peak_committed_bytes, 16 * mebibyte);
  EXPECT_EQ(wh_pool_limit(pool_, ~std::uint64_t{0}), WH_POOL_OK);
  deallocate(allocate(20 * mebibyte));
  for (void* const each : held) deallocate(each);
}

TEST_F(pool_c, plain_memory_is_taken_at_once_and_kept) {
  wh_pool_options how = options(4 * mebibyte);
  how.flags = WH_POOL_PLAIN;
  make(how);
  EXPECT_EQ(wh_pool_limit(pool_, mebibyte), WH_POOL_INVALID_ARGUMENT);
  EXPECT_TRUE(told("smaller space")) << wh_pool_error();
  EXPECT_EQ(figures().committed_bytes, figures().reserved_bytes);
  deallocate(allocate(mebibyte));
  std::uint64_t given_back = 1;
  EXPECT_EQ(wh_pool_trim(pool_, 0, &given_back), WH_POOL_OK);
  EXPECT_EQ(given_back, 0u);
}

TEST_F(pool_c, options_that_cannot_be_right_are_refused) {
  wh_pool* made = nullptr;
  const auto refused = [&](wh_pool_options how, const char* why) {
    EXPECT_EQ(wh_pool_make(&how, &made), WH_POOL_INVALID_ARGUMENT);
    EXPECT_TRUE(told(why)) << wh_pool_error();
    EXPECT_EQ(made, nullptr);
  };
  wh_pool_options how = options();
  how.struct_bytes = 8;
  refused(how, "sizeof(wh_pool_options)");
  how = options();
  how.flags = 4;
  refused(how, "flags");
  how = options();
  how.device = -2;
  refused(how, "device");
  how = options(0);
  how.flags = WH_POOL_PLAIN;
  refused(how, "reserve_bytes");
  how = options(mebibyte);
  how.initial_bytes = 3 * mebibyte;
  refused(how, "initial_bytes");
  how = options();
  EXPECT_EQ(wh_pool_make(&how, nullptr), WH_POOL_INVALID_ARGUMENT);
  how.device = 1'000;
  EXPECT_EQ(wh_pool_make(&how, &made), WH_POOL_DEVICE_FAILURE);
  EXPECT_TRUE(told("no device 1000")) << wh_pool_error();
  how = options(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(wh_pool_make(&how, &made), WH_POOL_TOO_LARGE) << wh_pool_error();
  EXPECT_EQ(made, nullptr);
}

TEST_F(pool_c, a_null_pool_is_refused_by_each_function) {
  void* block = nullptr;
  wh_pool_statistics figures{};
  figures.struct_bytes = sizeof(figures);
  for (const wh_pool_status how :
       {wh_pool_allocate(nullptr, 1, 0, nullptr, &block), wh_pool_deallocate(nullptr, nullptr, nullptr),
        wh_pool_note_use(nullptr, nullptr, nullptr), wh_pool_forget(nullptr, nullptr),
        wh_pool_trim(nullptr, 0, nullptr), wh_pool_limit(nullptr, 0), wh_pool_allow_peer(nullptr, 0),
        wh_pool_block_bytes(nullptr, nullptr, nullptr), wh_pool_statistics_of(nullptr, &figures),
        wh_pool_reset_peaks(nullptr), wh_pool_snapshot(nullptr, nullptr, 0, nullptr),
        wh_pool_begin_capture(nullptr, 0, 0, nullptr, nullptr, nullptr), wh_pool_end_capture(nullptr, 0, 0),
        wh_pool_release_capture(nullptr, 0, 0, nullptr)}) {
    EXPECT_EQ(how, WH_POOL_INVALID_ARGUMENT);
    EXPECT_TRUE(told("wh_pool_make")) << wh_pool_error();
  }
  EXPECT_EQ(wh_pool_owns(nullptr, &block), 0u);
  EXPECT_EQ(wh_pool_device(nullptr), -1);
  EXPECT_EQ(wh_pool_end(nullptr), WH_POOL_OK);
  EXPECT_EQ(wh_pool_of_device(-1, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_of_device(-2, &pool_), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_of_device(1'000, &pool_), WH_POOL_DEVICE_FAILURE);
  EXPECT_EQ(pool_, nullptr);
}

TEST_F(pool_c, blocks_are_as_asked_for) {
  make();
  for (std::uint64_t alignment = 1; alignment <= mebibyte; alignment *= 2) {
    void* block = nullptr;
    ASSERT_EQ(wh_pool_allocate(pool_, 3000, alignment, nullptr, &block), WH_POOL_OK);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % std::max<std::uint64_t>(alignment, 256), 0u);
    std::uint64_t bytes = 0;
    EXPECT_EQ(wh_pool_block_bytes(pool_, block, &bytes), WH_POOL_OK);
    EXPECT_EQ(bytes, 3072u);
    device_fill(block, 7, 3000);
  }
  std::uint64_t bytes = 0;
  EXPECT_EQ(wh_pool_block_bytes(pool_, allocate(0), &bytes), WH_POOL_OK);
  EXPECT_EQ(bytes, 256u);
  int elsewhere = 0;
  EXPECT_EQ(wh_pool_block_bytes(pool_, &elsewhere, &bytes), WH_POOL_OK);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(wh_pool_owns(pool_, &elsewhere), 0u);
  synchronise();
}

TEST_F(pool_c, a_request_that_cannot_be_served_leaves_all_as_it_was) {
  make();
  auto* const a = static_cast<std::byte*>(allocate(1000));
  void* block = a;
  EXPECT_EQ(wh_pool_allocate(pool_, 65 * mebibyte, 0, nullptr, &block), WH_POOL_OUT_OF_MEMORY);
  EXPECT_TRUE(told("bytes are free")) << wh_pool_error();
  EXPECT_EQ(wh_pool_allocate(pool_, 1, 3, nullptr, &block), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_allocate(pool_, 1, 0, nullptr, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(block, a);
  EXPECT_EQ(wh_pool_deallocate(pool_, a + 256, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_note_use(pool_, a + 256, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_deallocate(pool_, nullptr, nullptr), WH_POOL_OK);
  EXPECT_EQ(figures().live_blocks, 1u);
  EXPECT_EQ(figures().failures, 1u);
  deallocate(a);
  EXPECT_EQ(wh_pool_deallocate(pool_, a, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_TRUE(told("no live block")) << wh_pool_error();
}

TEST_F(pool_c, figures_and_peaks) {
  make();
  void* const a = allocate(mebibyte);
  void* const b = allocate(1000);
  deallocate(a);
  wh_pool_statistics now = figures();
  EXPECT_EQ(now.live_bytes, 1024u);
  EXPECT_EQ(now.live_blocks, 1u);
  EXPECT_EQ(now.peak_live_bytes, mebibyte + 1024);
  EXPECT_EQ(now.peak_live_blocks, 2u);
  EXPECT_EQ(now.allocations, 2u);
  EXPECT_EQ(now.deallocations, 1u);
  EXPECT_EQ(now.allocated_bytes, mebibyte + 1024);
  EXPECT_EQ(now.deallocated_bytes, mebibyte);
  EXPECT_EQ(now.streams, 1u);
  EXPECT_EQ(now.committed_bytes,
            now.live_bytes + now.deferred_bytes + now.stream_bytes + now.private_bytes + now.common_bytes);
  EXPECT_EQ(now.peak_committed_bytes, now.committed_bytes);
  EXPECT_EQ(wh_pool_reset_peaks(pool_), WH_POOL_OK);
  EXPECT_EQ(figures().peak_live_bytes, 1024u);
  EXPECT_EQ(figures().peak_live_blocks, 1u);
  EXPECT_EQ(wh_pool_statistics_of(pool_, nullptr), WH_POOL_INVALID_ARGUMENT);
  now.struct_bytes = 4;
  EXPECT_EQ(wh_pool_statistics_of(pool_, &now), WH_POOL_INVALID_ARGUMENT);
  deallocate(b);
}

// A caller that was compiled with fewer members.
TEST_F(pool_c, figures_are_written_as_far_as_the_caller_knows_them) {
  make();
  deallocate(allocate(1000));
  wh_pool_statistics figures;
  std::memset(&figures, 0x55, sizeof(figures));
  figures.struct_bytes = offsetof(wh_pool_statistics, live_bytes);
  ASSERT_EQ(wh_pool_statistics_of(pool_, &figures), WH_POOL_OK);
  EXPECT_EQ(figures.struct_bytes, offsetof(wh_pool_statistics, live_bytes));
  EXPECT_EQ(figures.reserved_bytes, 64 * mebibyte);
  EXPECT_EQ(figures.live_bytes, 0x5555555555555555u);
}

TEST_F(pool_c, a_snapshot_fits_its_buffer_or_is_refused) {
  make();
  allocate(1000);
  std::uint64_t needed = 0;
  ASSERT_EQ(wh_pool_snapshot(pool_, nullptr, 0, &needed), WH_POOL_OK);
  std::string text(needed, 'x');
  EXPECT_EQ(wh_pool_snapshot(pool_, text.data(), needed - 1, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_TRUE(told(std::to_string(needed).c_str())) << wh_pool_error();
  EXPECT_EQ(text, std::string(needed, 'x'));
  ASSERT_EQ(wh_pool_snapshot(pool_, text.data(), needed, &needed), WH_POOL_OK);
  EXPECT_EQ(text.size(), needed);
  EXPECT_EQ(text.back(), '\0');
  EXPECT_EQ(text.substr(0, 9), "{\"base\": ");
  EXPECT_NE(text.find("{\"offset\": 0, \"bytes\": 1024, \"state\": \"live\", \"stream\": "), std::string::npos) << text;
  EXPECT_EQ(text.substr(needed - 3, 2), "]}");
}

TEST_F(pool_c, a_noted_use_defers_a_block) {
  make();
  int names[2] = {};
  if (std::string(wh_pool_backend()) != "host") GTEST_SKIP() << "any pointer is a stream on the host alone";
  void* const a = allocate(1000, &names[0]);
  EXPECT_EQ(wh_pool_note_use(pool_, a, &names[1]), WH_POOL_OK);
  deallocate(a, &names[0]);
  EXPECT_EQ(figures().deferred_bytes, 1024u);
  EXPECT_EQ(wh_pool_forget(pool_, &names[1]), WH_POOL_OK);
  allocate(4 * mebibyte, &names[0]);  // looks for what is over, as its span does not hold it
  EXPECT_EQ(figures().deferred_bytes, 0u);
  EXPECT_EQ(wh_pool_forget(pool_, &names[0]), WH_POOL_OK);
  EXPECT_EQ(figures().streams, 0u);
}

TEST_F(pool_c, a_capture_has_its_memory_until_it_is_released) {
  make();
  ASSERT_EQ(wh_pool_begin_capture(pool_, 3, 4, nullptr, nullptr, nullptr), WH_POOL_OK) << wh_pool_error();
  EXPECT_EQ(wh_pool_begin_capture(pool_, 3, 4, nullptr, nullptr, nullptr), WH_POOL_INVALID_ARGUMENT);
  void* const a = allocate(1000);
  deallocate(a);
  EXPECT_EQ(allocate(1000), a);
  deallocate(a);
  EXPECT_EQ(wh_pool_release_capture(pool_, 3, 4, nullptr), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_end_capture(pool_, 3, 5), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(wh_pool_end_capture(pool_, 3, 4), WH_POOL_OK);
  EXPECT_NE(allocate(1000), a);
  EXPECT_EQ(figures().captures, 1u);
  EXPECT_EQ(figures().private_bytes, 2 * mebibyte);
  EXPECT_EQ(wh_pool_release_capture(pool_, 3, 4, nullptr), WH_POOL_OK) << wh_pool_error();
  EXPECT_EQ(figures().captures, 0u);
  EXPECT_EQ(figures().private_bytes, 0u);
}

}  // namespace
}  // namespace warpheap::test::pool_c_test
