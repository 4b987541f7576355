// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What the Ouroboros designs promise beyond the conformance suite: memory moves between page sizes, runs and queues
// without loss, down to the last chunk, and the count of live bytes is exact whatever lies in queues and bitmaps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <designs/ouroboros_stage.hpp>
#include <utility>
#include <vector>

namespace warpheap::test::ouroboros_test {
namespace {

using namespace directed;

template <class A>
class ouroboros : public testing::Test {};
TYPED_TEST_SUITE(ouroboros, designs, design_names);

TYPED_TEST(ouroboros, freed_pages_serve_any_other_size) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(160_KiB, 4_MiB)};
    const std::uint64_t whole = s.longest_run();
    EXPECT_GE(whole + 2 * chunk_bytes, s.heap().size()) << "more than what alignment takes is missing";
    for (const std::uint64_t bytes : {32, 4096, 65536, 300, 16384, 64, 65537}) {
      std::vector<request> blocks = s.fill(bytes);
      EXPECT_EQ(blocks.size(), s.room_for(bytes)) << "blocks of " << bytes << " B";
      if (bytes != 300) shuffle(blocks, seed);
      s.free(std::move(blocks));
      EXPECT_EQ(s.live(), 0u) << "after blocks of " << bytes << " B";
      if (bytes == 65536) expect_empty(s, whole);
      if (s.failed()) return;
    }
    expect_empty(s, whole);
  });
}

TYPED_TEST(ouroboros, whole_chunks_and_single_pages_come_back_together) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(128_KiB, 4_MiB)};
    const std::uint64_t whole = s.longest_run();
    for (const std::uint64_t bytes : {256, 1024, 128, 4096}) {
      std::vector<request> blocks = s.fill(bytes);
      const std::uint64_t capacity = blocks.size();
      EXPECT_EQ(capacity, whole / bytes);
      for (std::uint64_t round = 0; round < 3 && !s.failed(); ++round) {
        s.recycle(blocks, mix(seed) + round);
        append(blocks, s.fill(bytes));
        sort(blocks);
        EXPECT_EQ(blocks.size(), capacity) << "pages of " << bytes << " B in round " << round;
      }
      // One warp frees whole chunks, the next one pages of all chunks.
      std::vector<request> scattered = pick(blocks, 3, seed);
      shuffle(scattered, seed);
      append(blocks, scattered);
      s.free(std::move(blocks));
      EXPECT_EQ(s.live(), 0u) << "after pages of " << bytes << " B";
      if (s.failed()) return;
    }
    expect_empty(s, whole);
  });
}

TYPED_TEST(ouroboros, half_free_chunks_serve_their_pages_again) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(160_KiB, 4_MiB)};
    const std::uint64_t whole = s.longest_run();
    for (const std::uint64_t bytes : {32, 2048, 512}) {
      std::vector<request> blocks = s.fill(bytes);
      const std::uint64_t capacity = blocks.size();
      for (std::uint64_t round = 0; round < 2 && !s.failed(); ++round) {
        std::vector<request> half = pick(blocks, 2, seed + round);
        shuffle(half, seed + round);
        s.free(std::move(half));
        EXPECT_EQ(s.live(), blocks.size() * bytes);
        append(blocks, s.take(bytes, warp_width));  // one warp finds more pages at once than it can keep
        append(blocks, s.fill(bytes));
        EXPECT_EQ(blocks.size(), capacity) << "pages of " << bytes << " B in round " << round;
      }
      shuffle(blocks, seed);
      s.free(std::move(blocks));
      expect_empty(s, whole);
      if (s.failed()) return;
    }
  });
}

TYPED_TEST(ouroboros, live_bytes_are_exact_and_queues_give_chunks_back) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(512_KiB, 8_MiB)};
    const std::uint64_t whole = s.longest_run();
    random_stream random{seed, 2};
    std::vector<request> live;
    std::uint64_t expected = 0;
    for (std::uint64_t step = 0; step < 8; ++step) {
      // Odd numbers of blocks, so that batches stay that are claimed in part.
      const std::uint64_t bytes = std::uint64_t{16} << random.below(11);
      for (const request& each : s.take(bytes, std::min<std::uint64_t>(1 + random.below(333), 65536 / bytes))) {
        live.push_back(each);
        EXPECT_EQ(each.usable, bytes);
        expected += bytes;
      }
      EXPECT_EQ(s.live(), expected) << "after taking blocks of " << bytes << " B";
      std::vector<request> some = pick(live, 1 + random.below(3), seed + step);
      shuffle(some, seed + step);
      for (const request& each : some) expected -= each.bytes;
      s.free(std::move(some));
      EXPECT_EQ(s.live(), expected) << "after freeing blocks";
      if (s.failed()) return;
    }
    shuffle(live, seed);
    s.free(std::move(live));
    expect_empty(s, whole);
    // Queues of the smallest pages are the largest. Whole chunks are taken, so that no page is left over, and then one
    // page of the many that were freed, so that a search ends early.
    live = s.take(16, bytes_for(10, 200) * 512);
    s.free(pick(live, 2, seed));
    append(live, s.take(16, 1));
    s.free(std::move(live));
    expect_empty(s, whole);
  });
}

TYPED_TEST(ouroboros, pages_are_aligned_to_their_size) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(4_MiB, 16_MiB)};
    std::vector<request> requests;
    for (std::uint64_t bytes = 1; bytes <= 65536; bytes *= 2) {
      for (const std::uint64_t size : {bytes, bytes + bytes / 2, bytes / 2 + 1}) {
        requests.push_back({std::min<std::uint64_t>(size, 65536)});
      }
    }
    shuffle(requests, seed);
    s.serve(requests);
    for (const request& each : requests) {
      ASSERT_NE(each.block, nullptr) << each.bytes << " B";
      EXPECT_EQ(each.usable, page_bytes(each.bytes));
      EXPECT_EQ(reinterpret_cast<std::uint64_t>(each.block) % std::min<std::uint64_t>(each.usable, 4096), 0u)
          << each.bytes << " B";
    }
    s.free(std::move(requests));
    EXPECT_EQ(s.live(), 0u);
  });
}

TYPED_TEST(ouroboros, aligned_blocks_and_runs_are_served_up_to_the_whole_heap) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{16_MiB};
    const std::uint64_t whole = s.longest_run();
    std::vector<request> requests;
    for (std::uint64_t alignment = 16; alignment <= 1_MiB; alignment *= 2) {
      for (const std::uint64_t bytes : {std::uint64_t{1}, alignment / 4 + 3, std::uint64_t{70'000}}) {
        requests.push_back({bytes, alignment});
      }
    }
    for (const std::uint64_t bytes : {65537, 65536 + 8192, 65536 + 8193, 100'000, 999'999}) {
      requests.push_back({bytes});
    }
    for (int round = 0; round < 2; ++round) {
      shuffle(requests, seed + round);
      s.serve(requests);
      for (const request& each : requests) {
        ASSERT_NE(each.block, nullptr) << each.bytes << " B aligned to " << each.alignment;
        if (each.bytes > 65536) {
          EXPECT_EQ(each.usable, align_up(each.bytes, chunk_bytes)) << each.bytes << " B";
        }
      }
      s.free(requests);
      expect_empty(s, whole);
      if (s.failed()) return;
    }
  });
}

TYPED_TEST(ouroboros, freed_neighbours_make_longer_runs) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(8_MiB, 32_MiB)};
    const std::uint64_t whole = s.longest_run();
    random_stream random{seed, 3};
    std::vector<request> requests;
    // More than there is room for, of pages and runs of several chunks, so that they lie without gaps.
    for (std::uint64_t i = 0; i < whole / 65536; ++i) {
      const std::uint64_t bytes = random.below(4) == 0 ? 16384 << random.below(3) : 65537 + random.below(200'000);
      requests.push_back({bytes});
    }
    s.serve(requests);
    std::erase_if(requests, [](const request& each) { return each.block == nullptr; });
    append(requests, s.fill(16384));
    append(requests, s.fill(8192));
    std::uint64_t expected = 0;
    for (const request& each : requests) expected += block_bytes(each.bytes);
    EXPECT_EQ(expected, whole) << "pages of one chunk left gaps";
    EXPECT_EQ(s.live(), whole);
    shuffle(requests, seed);
    s.free(std::move(requests));
    expect_empty(s, whole);
  });
}

TYPED_TEST(ouroboros, mixed_traffic_loses_nothing) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(768_KiB, 16_MiB)};
    const std::uint64_t whole = s.longest_run();
    s.traffic(scaled(128, 1 << 10), seed, scaled(12, 16));
    expect_empty(s, whole);
  });
}

TYPED_TEST(ouroboros, growth_adds_chunks_to_live_pages_and_queues) {
  if (!device_can_map()) GTEST_SKIP() << "memory cannot be mapped here";
  each_schedule([&](std::uint64_t seed) {
    const std::uint64_t start = bytes_for(96_KiB, 4_MiB);
    stage<TypeParam> s{start, {.reserve_bytes = 16 * start}};
    std::vector<request> live = s.fill(256);
    // Sizes that are no multiples of a chunk, of 64 chunks, or of what was there before.
    for (const std::uint64_t size : {start + 5000, 2 * start + 100, 7 * start, 11 * start + 77}) {
      std::vector<request> some = pick(live, 3, seed + size);
      s.free(std::move(some));
      s.heap().grow(size);
      std::uint64_t expected = 0;
      for (const std::uint64_t bytes : {65537, 2048, 256}) {
        append(live, bytes == 256 ? s.fill(bytes) : s.take(bytes, 5));
      }
      for (const request& each : live) expected += block_bytes(each.bytes);
      EXPECT_EQ(s.live(), expected) << "in a heap that grew to " << size << " B";
      EXPECT_GE(expected + 2 * chunk_bytes, size) << "not all of the heap that grew to " << size << " B is in use";
      if (s.failed()) return;
    }
    shuffle(live, seed);
    s.free(std::move(live));
    EXPECT_EQ(s.live(), 0u);
    EXPECT_GE(s.longest_run() + 2 * chunk_bytes, 11 * start);
  });
}

}  // namespace
}  // namespace warpheap::test::ouroboros_test
