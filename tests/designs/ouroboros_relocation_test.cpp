// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// An Ouroboros that moves to a larger place, in whatever state its queues, bitmaps and batches are: blocks of all kinds
// follow, what is free is found again, and nothing is lost.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <designs/ouroboros_stage.hpp>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap::test::ouroboros_relocation_test {
namespace {

using namespace directed;

template <class A>
class ouroboros_relocation : public testing::Test {};
TYPED_TEST_SUITE(ouroboros_relocation, designs, design_names);

std::uint64_t bytes_of(const std::vector<request>& live) {
  std::uint64_t total = 0;
  for (const request& each : live) total += block_bytes(each.bytes);
  return total;
}

/// Neither the heap nor its design counts other bytes than those of `live`, and no chunk is lost.
template <class A>
void expect_live(stage<A>& s, const std::vector<request>& live) {
  const ouroboros_statistics stats = s.heap().allocator_statistics();
  EXPECT_EQ(s.live(), bytes_of(live));
  EXPECT_EQ(stats.live_bytes(), bytes_of(live));
  EXPECT_GT((stats.chunks + 2) * chunk_bytes, s.heap().size());
  std::uint64_t chunks = stats.free_chunks + stats.large_chunks;
  for (const ouroboros_page_statistics& size : stats.page_sizes) chunks += size.chunks + size.queue_chunks;
  EXPECT_EQ(chunks, stats.chunks);
}

TYPED_TEST(ouroboros_relocation, an_empty_heap_moves_and_serves) {
  for (const std::uint64_t size : {128_KiB, 128_KiB + 1, 4_MiB}) {
    stage<TypeParam> s{128_KiB, {.plain = true}};
    std::vector<request> live;
    s.relocate(live, size);
    EXPECT_EQ(s.heap().size(), size);
    expect_live(s, live);
    EXPECT_GE(s.longest_run() + 2 * chunk_bytes, size) << "the place is not all free";
    live = s.take(24, 300);
    EXPECT_EQ(live.size(), 300u);
    expect_live(s, live);
    s.free(live);
  }
}

TYPED_TEST(ouroboros_relocation, a_full_heap_moves_and_is_served_from_the_added_memory) {
  each_schedule([&](std::uint64_t seed) {
    for (const std::uint64_t bytes : {64, 4096, 16384}) {
      std::uint64_t size = 160_KiB;
      stage<TypeParam> s{size, {.plain = true}};
      std::vector<request> live = s.fill(bytes);
      s.relocate(live, size);  // no larger: what there is stays full
      append(live, s.fill(bytes));
      expect_live(s, live);
      for (const std::uint64_t next : {size + 7 * chunk_bytes + 100, 3 * size}) {
        s.relocate(live, next);
        expect_live(s, live);
        append(live, s.fill(bytes));
        expect_live(s, live);
        EXPECT_GE(bytes_of(live) + 2 * std::max(bytes, chunk_bytes), next) << "not all of the new place is in use";
        if (s.failed()) return;
      }
      shuffle(live, seed);
      s.free(live);
      EXPECT_EQ(s.live(), 0u);
      EXPECT_GE(s.longest_run() + 2 * chunk_bytes, 3 * size) << "chunks got lost, or wait in queues";
    }
  });
}

TYPED_TEST(ouroboros_relocation, all_that_is_free_is_found_again) {
  each_schedule([&](std::uint64_t seed) {
    std::uint64_t size = 384_KiB;
    stage<TypeParam> s{size, {.plain = true}};
    random_stream random{seed, 6};
    std::vector<request> live;
    for (std::uint64_t step = 0; step < 5; ++step) {
      // Leaves batches that are claimed in part, queues and staged pages half read, and hints that are out of date.
      for (const std::uint64_t bytes : {16, 200, 1024, 8192, 32768, 70'000}) {
        append(live, s.take(bytes, 1 + random.below(bytes < 1024 ? 200 : bytes < 8192 ? 20 : 3)));
        std::vector<request> some = pick(live, 2, seed + step + bytes);
        shuffle(some, seed + step);
        s.free(some);
        append(live, s.take(bytes, random.below(5)));
      }
      const std::uint64_t next = size + random.below(3) * 65'000;
      s.relocate(live, next);
      size = next;
      expect_live(s, live);
      if (s.failed()) return;
    }
    // Each free chunk and each free page can be had.
    for (std::uint64_t bytes = 65536; bytes >= 16; bytes /= 2) append(live, s.fill(bytes));
    expect_live(s, live);
    const ouroboros_statistics full = s.heap().allocator_statistics();
    std::uint64_t queues = 0;
    for (const ouroboros_page_statistics& each : full.page_sizes) queues += each.queue_chunks;
    EXPECT_EQ(s.live(), (full.chunks - queues) * chunk_bytes);
    EXPECT_LE(queues, 1u) << "queues without entries keep chunks";
    shuffle(live, seed);
    s.free(live);
    EXPECT_EQ(s.live(), 0u);
    EXPECT_GE(s.longest_run() + 2 * chunk_bytes, size) << "chunks got lost, or wait in queues";
  });
}

TYPED_TEST(ouroboros_relocation, a_heap_that_grew_moves_and_resets) {
  if (!device_can_map()) GTEST_SKIP() << "memory cannot be mapped here";
  stage<TypeParam> s{128_KiB, {.reserve_bytes = 1_MiB}};
  std::vector<request> live = s.fill(512);
  s.heap().grow(300_KiB);
  append(live, s.fill(100));
  s.free(pick(live, 2, 1));
  s.relocate(live, 2_MiB, {.reserve_bytes = 8_MiB});
  expect_live(s, live);
  append(live, s.take(65'537, 4));
  append(live, s.take(512, 1000));
  s.heap().grow(4_MiB);
  append(live, s.take(65'537, 4));
  expect_live(s, live);
  s.relocate(live, 4_MiB);
  expect_live(s, live);
  s.reset();
  expect_live(s, {});
  EXPECT_GE(s.longest_run() + 2 * chunk_bytes, 4_MiB);
}

TYPED_TEST(ouroboros_relocation, aligned_blocks_stay_aligned) {
  stage<TypeParam> s{4_MiB, {.plain = true}};
  std::vector<request> live;
  for (std::uint64_t alignment = 16; alignment <= 1_MiB; alignment *= 4) live.push_back({100, alignment});
  s.serve(live);
  for (const request& each : live) ASSERT_NE(each.block, nullptr) << "aligned to " << each.alignment;
  s.relocate(live, 5_MiB, {.alignment = 1_MiB});  // watches their alignment
  s.free(live);
  EXPECT_EQ(s.live(), 0u);
}

template <class A>
std::uint64_t queue_entries(stage<A>& of) {
  std::uint64_t entries = 0;
  for (const ouroboros_page_statistics& size : of.heap().allocator_statistics().page_sizes)
    entries += size.queue_entries;
  return entries;
}

// `made_anew`: the rings of the new place are longer, or cut into other segments.
template <class A>
void move_queues(std::uint64_t from, std::uint64_t to, bool made_anew) {
  stage<A> s{from, {.plain = true}};
  std::vector<request> live = s.take(16, 2000);
  s.free(pick(live, 3, 1));
  const std::uint64_t entries = queue_entries(s);
  EXPECT_NE(entries, 0u);
  s.relocate(live, to);
  EXPECT_EQ(queue_entries(s), made_anew ? 0 : entries);
  stage<A> made{to, {.plain = true}};
  const auto rings = [](stage<A>& of) {
    std::vector<std::uint64_t> bytes;
    for (const ouroboros_page_statistics& size : of.heap().allocator_statistics().page_sizes)
      bytes.push_back(size.queue_bytes);
    return bytes;
  };
  EXPECT_EQ(rings(s), rings(made));
  // Entries from before are gone from the queues, and those of the new ones come and go.
  append(live, s.take(16, 20'000));
  s.free(pick(live, 2, 2));
  append(live, s.take(16, 5000));
  expect_live(s, live);
  s.free(live);
  EXPECT_EQ(s.live(), 0u);
}

/// Static queues are made for the heap as it is after it moved.
template <class A>
class static_queues_that_move : public testing::Test {};
TYPED_TEST_SUITE(static_queues_that_move, designs, design_names);

TYPED_TEST(static_queues_that_move, are_as_large_as_those_of_a_heap_made_so_large) {
  if constexpr (TypeParam::capabilities.state_in_arena) {
    GTEST_SKIP() << "queues in chunks move with them";
  } else {
    // Rings of pages are longer in the first new place, those of hints as long; in the second all are as long as
    // before, but hints have twice as many segments of half the size.
    constexpr bool pages = std::is_same_v<TypeParam, ouroboros_s_p>;
    {
      SCOPED_TRACE("to 16 MiB");
      move_queues<TypeParam>(256_KiB, 16_MiB, pages);
    }
    SCOPED_TRACE("to 128 MiB");
    move_queues<TypeParam>(128_MiB - 8_KiB, 128_MiB, !pages);
  }
}

}  // namespace
}  // namespace warpheap::test::ouroboros_relocation_test
