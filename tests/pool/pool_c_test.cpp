// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface of pools: each function, and each way to fail. What the pool promises of streams and captures, the
// tests of host/ watch.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <warpheap/pool/pool.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <sstream>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <thread>
#include <vector>
#include <warpheap.hpp>

#include "other_process.hpp"
#include "pool_from_c.h"

namespace warpheap::test::pool_c_test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

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
  EXPECT_GE(figures().reserved_bytes, std::min(describe_machine().memory_bytes, address_limit() / 4));
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

TEST_F(pool_c, plain_memory_is_taken_at_once_and_kept) {
  wh_pool_options how = options(4 * mebibyte);
  how.flags = WH_POOL_PLAIN;
  make(how);
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
        wh_pool_trim(nullptr, 0, nullptr), wh_pool_allow_peer(nullptr, 0),
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

TEST_F(pool_c, each_thread_has_its_own_error) {
  make();
  EXPECT_EQ(wh_pool_end_capture(pool_, 9, 9), WH_POOL_INVALID_ARGUMENT);
  const std::string mine = wh_pool_error();
  EXPECT_FALSE(mine.empty());
  std::thread([&] {
    EXPECT_STREQ(wh_pool_error(), "");
    EXPECT_EQ(wh_pool_allocate(pool_, 1, 3, nullptr, nullptr), WH_POOL_INVALID_ARGUMENT);
  }).join();
  EXPECT_EQ(wh_pool_error(), mine);
}

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

// Streams of the host are any pointers.
// A block that two threads have at a time is written by both, which the contents tell, and ThreadSanitizer.
TEST_F(pool_c, threads_use_streams_of_their_own_and_of_each_other) {
  if (std::string(wh_pool_backend()) != "host") GTEST_SKIP() << "any pointer is a stream on the host alone";
  make();
  constexpr int thread_count = 8;
  constexpr int stream_count = 8;
  const std::uint64_t steps = scaled(1'000, 1'000);
  static char names[stream_count + thread_count];
  struct held_block {
    void* at;
    std::uint64_t bytes;
    unsigned char content;
  };
  std::mutex mutex;
  std::vector<held_block> shelf;  // blocks that any thread may take back
  const auto belongs = [](void* own, void* stream) { return own == stream ? 1 : 0; };
  std::vector<std::thread> threads;
  for (int id = 0; id < thread_count; ++id) {
    threads.emplace_back([&, id] {
      random_stream random(11, static_cast<std::uint64_t>(id));
      char* const captured = &names[stream_count + id];
      const auto name = static_cast<std::uint64_t>(id);
      const auto any_stream = [&] { return &names[random.below(stream_count)]; };
      const auto take = [&](void* stream) {
        held_block made{nullptr, 1 + random.below(128 * 1024), static_cast<unsigned char>(random.below(256))};
        EXPECT_EQ(wh_pool_allocate(pool_, made.bytes, 0, stream, &made.at), WH_POOL_OK) << wh_pool_error();
        if (made.at != nullptr) std::memset(made.at, made.content, made.bytes);
        return made;
      };
      const auto give_back = [&](const held_block& block, void* stream) {
        if (block.at == nullptr) return;
        const auto* const bytes = static_cast<const unsigned char*>(block.at);
        EXPECT_TRUE(std::all_of(bytes, bytes + block.bytes, [&](unsigned char each) { return each == block.content; }))
            << "another thread had the block, too";
        EXPECT_EQ(wh_pool_deallocate(pool_, block.at, stream), WH_POOL_OK) << wh_pool_error();
      };
      for (std::uint64_t i = 0; i < steps && !HasFailure(); ++i) {
        held_block taken{};
        const held_block made = take(any_stream());
        if (random.below(4) == 0) {
          EXPECT_EQ(wh_pool_note_use(pool_, made.at, any_stream()), WH_POOL_OK) << wh_pool_error();
        }
        {
          const std::lock_guard lock(mutex);
          shelf.push_back(made);
          if (shelf.size() > 100) {
            std::swap(shelf[random.below(shelf.size())], shelf.back());
            taken = shelf.back();
            shelf.pop_back();
          }
        }
        give_back(taken, any_stream());
        switch (random.below(64)) {
          case 0: {
            ASSERT_EQ(wh_pool_begin_capture(pool_, name, 1, nullptr, belongs, captured), WH_POOL_OK);
            const held_block own = take(captured);
            const held_block other = take(captured);
            give_back(own, captured);
            EXPECT_EQ(wh_pool_end_capture(pool_, name, 1), WH_POOL_OK);
            give_back(other, any_stream());
            EXPECT_EQ(wh_pool_release_capture(pool_, name, 1, any_stream()), WH_POOL_OK);
            break;
          }
          case 1: EXPECT_EQ(wh_pool_trim(pool_, random.below(64 * mebibyte), nullptr), WH_POOL_OK); break;
          case 2: EXPECT_EQ(wh_pool_forget(pool_, any_stream()), WH_POOL_OK); break;
          case 3: figures(); break;
          case 4: EXPECT_EQ(wh_pool_reset_peaks(pool_), WH_POOL_OK); break;
          case 5: {
            std::uint64_t needed = 0;
            EXPECT_EQ(wh_pool_snapshot(pool_, nullptr, 0, &needed), WH_POOL_OK);
            EXPECT_GT(needed, 10u);
            break;
          }
          case 6: {
            std::uint64_t bytes = 0;
            EXPECT_EQ(wh_pool_block_bytes(pool_, made.at, &bytes), WH_POOL_OK);
            break;
          }
          default: break;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const held_block& each : shelf) deallocate(each.at);
  const wh_pool_statistics now = figures();
  EXPECT_EQ(now.live_blocks, 0u);
  EXPECT_EQ(now.captures, 0u);
  EXPECT_EQ(now.allocations, now.deallocations);
  EXPECT_EQ(now.allocated_bytes, now.deallocated_bytes);
  EXPECT_EQ(wh_pool_trim(pool_, 0, nullptr), WH_POOL_OK);
  EXPECT_EQ(figures().committed_bytes, 0u);
}

}  // namespace
}  // namespace warpheap::test::pool_c_test
