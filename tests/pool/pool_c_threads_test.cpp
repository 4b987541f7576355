// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface of pools under many threads: errors of their own, and one pool for all of them.

#include <gtest/gtest.h>
#include <warpheap/pool/pool.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "pool_c_fixture.hpp"

namespace warpheap::test::pool_c_threads_test {
namespace {

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
}  // namespace warpheap::test::pool_c_threads_test
