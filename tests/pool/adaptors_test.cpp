// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Adaptors: each alone, and stacked.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <sstream>
#include <stdexcept>
#include <string>
#include <support/busy_device.hpp>
#include <support/random.hpp>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::adaptors_test {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

static_assert(block_source<pool>);
static_assert(block_source<basic_pool<tree_fit>>);
static_assert(block_source<limit_adaptor<pool>>);
static_assert(block_source<counting_adaptor<pool>>);
static_assert(block_source<tracking_adaptor<pool>>);
static_assert(block_source<retry_adaptor<pool>>);
static_assert(block_source<logging_adaptor<pool>>);
static_assert(block_source<checked_adaptor<pool>>);
static_assert(!block_source<std::vector<int>>);

class adaptors : public testing::Test {
 protected:
  pool blocks{std::make_unique<host_space>(mib, 64 * kib)};
};

TEST_F(adaptors, a_limit_counts_live_bytes_with_their_rounding) {
  limit_adaptor few(blocks, 10 * kib);
  void* const a = few.allocate(6 * kib);
  EXPECT_THROW(few.allocate(5 * kib), out_of_memory);
  EXPECT_THROW(few.allocate(~std::uint64_t{0}), out_of_memory);
  void* const b = few.allocate(4 * kib - 100);
  EXPECT_EQ(few.live_bytes(), 10 * kib);
  EXPECT_THROW(few.allocate(0), out_of_memory) << "no bytes take a granule";
  EXPECT_THROW(few.deallocate(&few), unknown_block);
  few.deallocate(nullptr);
  few.deallocate(a);
  EXPECT_EQ(few.live_bytes(), 4 * kib);
  few.deallocate(few.allocate(6 * kib));
  few.deallocate(b);
  EXPECT_EQ(few.live_bytes(), 0u);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

TEST_F(adaptors, counts_are_of_one_part_of_a_program) {
  counting_adaptor part(blocks);
  void* const others = blocks.allocate(100);
  void* const a = part.allocate(1000);
  void* const b = part.allocate(0);
  EXPECT_THROW(part.allocate(2 * mib), out_of_memory);
  part.deallocate(a);
  part.deallocate(nullptr);
  EXPECT_THROW(part.deallocate(a), unknown_block);
  const block_counts now = part.counts();
  EXPECT_EQ(now.live_blocks, 1u);
  EXPECT_EQ(now.live_bytes, 256u);
  EXPECT_EQ(now.peak_blocks, 2u);
  EXPECT_EQ(now.peak_bytes, 1280u);
  EXPECT_EQ(now.allocations, 2u);
  EXPECT_EQ(now.allocated_bytes, 1280u);
  EXPECT_EQ(now.failures, 1u);
  EXPECT_EQ(now.sizes[0], 1u);
  EXPECT_EQ(now.sizes[10], 1u) << "1000 is below 2^10";
  EXPECT_EQ(now.sizes[22], 1u) << "2 MiB are 2^21";
  part.deallocate(b);
  blocks.deallocate(others);
}

TEST_F(adaptors, leaks_are_reported_with_their_origin) {
  tracking_adaptor tracked(blocks);
  void* const a = tracked.allocate(1000);
  const unsigned line = __LINE__ + 1;
  void* const b = tracked.allocate(77);
  tracked.deallocate(a);
  EXPECT_THROW(tracked.deallocate(a), unknown_block);
  EXPECT_THROW(tracked.allocate(2 * mib), out_of_memory);
  const std::string report = tracked.leak_report();
  EXPECT_NE(report.find("77 bytes, request 2"), std::string::npos) << report;
  EXPECT_NE(report.find("adaptors_test.cpp:" + std::to_string(line)), std::string::npos) << report;
  EXPECT_EQ(report.find("1000 bytes"), std::string::npos) << report;
  tracked.deallocate(b);
  EXPECT_EQ(tracked.leak_report(), "");
}

TEST_F(adaptors, a_callback_makes_room_or_gives_up) {
  void* hoard = blocks.allocate(mib);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> calls;
  retry_adaptor patient(blocks, [&](std::uint64_t bytes, std::uint64_t tries) {
    calls.emplace_back(bytes, tries);
    if (tries == 1) blocks.deallocate(std::exchange(hoard, nullptr));
    return tries < 2;
  });
  EXPECT_NE(patient.allocate(1000), nullptr);
  EXPECT_EQ(calls, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1000, 0}, {1000, 1}}));
  calls.clear();
  EXPECT_THROW(patient.allocate(2 * mib), out_of_memory);
  EXPECT_EQ(calls.size(), 3u);
}

TEST_F(adaptors, a_log_replays_to_the_same_blocks) {
  std::ostringstream log;
  logging_adaptor logged(blocks, log);
  test::random_stream random(1, 0);
  std::vector<void*> held;
  for (int i = 0; i < 1000; ++i) {
    if (random.below(3) != 0) {
      try {
        held.push_back(logged.allocate(random.size(64 * kib), std::uint64_t{1} << random.below(12)));
      } catch (const out_of_memory&) {
      }
    } else if (!held.empty()) {
      logged.deallocate(held.back());
      held.pop_back();
    }
  }
  EXPECT_NE(log.str().find("! "), std::string::npos) << "no request failed";

  pool again(std::make_unique<host_space>(mib, 64 * kib));
  std::ostringstream second;
  logging_adaptor logged_again(again, second);
  std::istringstream input(log.str());
  const std::uint64_t calls = replay_log(input, logged_again);
  EXPECT_EQ(calls, again.statistics().allocations * 2 - held.size());
  EXPECT_EQ(again.statistics().live_blocks, 0u) << "what was left is to be taken back";
  std::string expected;
  std::istringstream lines(log.str());
  for (std::string line; std::getline(lines, line);) expected += line[0] == '!' ? "" : line + "\n";
  EXPECT_EQ(second.str().substr(0, expected.size()), expected);
}

TEST_F(adaptors, a_log_that_is_none_is_told_by_its_line) {
  for (const char* const text :
       {"+ 1 100 1\n- 2\n", "+ 1 100 1\n+ 1 100 1\n", "+ 1 100 1\nx\n", "+ 1 100 1\n+ 2 many\n"}) {
    std::istringstream input(text);
    try {
      replay_log(input, blocks);
      FAIL() << text;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
    EXPECT_EQ(blocks.statistics().live_blocks, 0u);
  }
}

TEST_F(adaptors, writes_beside_a_block_are_found) {
  checked_adaptor guarded(blocks, host_access());
  auto* a = static_cast<unsigned char*>(guarded.allocate(1000));
  EXPECT_EQ(a[0], guarded.fresh);
  EXPECT_EQ(a[999], guarded.fresh);
  std::memset(a, 1, 1000);
  guarded.deallocate(a);
  EXPECT_EQ(a[500], guarded.dead);
  for (const int offset : {-1, -256, 1000, 1255}) {
    a = static_cast<unsigned char*>(guarded.allocate(1000));
    a[offset] = 0;
    try {
      guarded.deallocate(a);
      FAIL() << "not found: " << offset;
    } catch (const damaged_block& error) {
      const std::string distance =
          offset < 0 ? std::to_string(-offset) + " before" : std::to_string(offset - 1000) + " after";
      EXPECT_NE(std::string(error.what()).find(distance), std::string::npos) << error.what();
    }
    EXPECT_EQ(blocks.statistics().live_blocks, 0u);
  }
}

TEST_F(adaptors, frees_that_do_not_match_are_found) {
  checked_adaptor guarded(blocks, host_access());
  auto* const a = static_cast<std::byte*>(guarded.allocate(1000, 4 * kib));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % (4 * kib), 0u);
  EXPECT_EQ(guarded.block_bytes(a), blocks.statistics().live_bytes) << "its red zones count";
  EXPECT_THROW(guarded.deallocate(a + 256), unknown_block);
  EXPECT_THROW(guarded.deallocate(a - 4 * kib), unknown_block);
  guarded.deallocate(a);
  EXPECT_THROW(guarded.deallocate(a), unknown_block);
  guarded.deallocate(nullptr);
  EXPECT_THROW(guarded.allocate(~std::uint64_t{0}), out_of_memory);
  EXPECT_THROW(guarded.allocate(~std::uint64_t{0} - 600), out_of_memory);
}

TEST(checked_pool, finds_what_a_kernel_writes_beside_a_block) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  pool blocks(std::make_unique<device_space>(mib));
  checked_adaptor guarded(blocks);
  auto* const a = static_cast<unsigned char*>(guarded.allocate(100));
  device_fill(a, 1, 100);
  guarded.deallocate(a);
  void* const b = guarded.allocate(100);
  device_fill(b, 1, 101);
  EXPECT_THROW(guarded.deallocate(b), damaged_block);
}

// A pool gives mapped memory back without waiting for the device: a fill that ran later would end the context.
TEST(checked_pool, leaves_no_fill_to_run_after_a_call) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  const test::busy_device busy;
  memory_access late = device_access();
  late.fill = [&busy, fill = late.fill](void* to, unsigned char value, std::uint64_t bytes) {
    busy.begin();
    fill(to, value, bytes);
  };
  {
    pool blocks(std::make_unique<device_space>(mib));
    checked_adaptor guarded(blocks, late);
    guarded.deallocate(guarded.allocate(100));
  }
  EXPECT_NO_THROW(synchronise());
}

TEST_F(adaptors, containers_of_the_standard_library_use_a_pool) {
  pmr_adaptor resource(blocks);
  pmr_adaptor same(blocks);
  pool other_blocks(std::make_unique<host_space>(mib));
  pmr_adaptor other(other_blocks);
  EXPECT_TRUE(resource.is_equal(same));
  EXPECT_FALSE(resource.is_equal(other));
  EXPECT_FALSE(resource.is_equal(*std::pmr::new_delete_resource()));
  {
    std::pmr::vector<int> numbers(&resource);
    for (int i = 0; i < 1000; ++i) numbers.push_back(i);
    EXPECT_TRUE(blocks.contains(numbers.data()));
    EXPECT_EQ(numbers[999], 999);
    EXPECT_THROW(numbers.reserve(mib), std::bad_alloc);
  }
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

TEST_F(adaptors, stack_in_any_order_and_serve_threads) {
  std::ostringstream log;
  counting_adaptor counted(blocks);
  limit_adaptor limited(counted, 512 * kib);
  checked_adaptor guarded(limited, host_access());
  logging_adaptor logged(guarded, log);
  tracking_adaptor top(logged);
  std::vector<std::thread> threads;
  for (std::uint64_t id = 0; id < 3; ++id) {
    threads.emplace_back([&, id] {
      test::random_stream random(3, id);
      for (int i = 0; i < 500; ++i) {
        const std::uint64_t bytes = random.size(8 * kib);
        void* const block = top.allocate(bytes);
        std::memset(block, static_cast<int>(id), bytes);
        top.deallocate(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(top.leak_report(), "");
  EXPECT_EQ(counted.counts().allocations, 1500u);
  EXPECT_EQ(limited.live_bytes(), 0u);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

}  // namespace
}  // namespace warpheap::adaptors_test
