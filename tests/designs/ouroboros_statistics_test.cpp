// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What an Ouroboros says of its page sizes: exact where the state is known, and always in step with the count of live
// bytes, with the size of the heap and with itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <designs/ouroboros_stage.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap::test::ouroboros_statistics_test {
namespace {

using namespace directed;

constexpr std::uint64_t page_sizes[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};

template <class A>
inline constexpr bool queues_pages = std::string_view{A::name}.ends_with("_p");
template <class A>
inline constexpr bool is_static = std::string_view{A::name}.starts_with("ouroboros_s_");
template <class A>
inline constexpr bool is_array = std::string_view{A::name}.starts_with("ouroboros_va_");

/// Pages that a size can have in `chunks` chunks.
std::uint64_t pages_in(std::uint64_t chunks, std::uint64_t page) { return chunks * chunk_bytes / page; }

/// The statistics, whose figures agree with each other, with the heap and with the blocks in `live`.
template <class A>
ouroboros_statistics checked(stage<A>& s, const std::vector<request>& live) {
  const ouroboros_statistics stats = s.heap().allocator_statistics();
  EXPECT_EQ(stats.chunk_bytes, chunk_bytes);
  EXPECT_LE(stats.chunks * chunk_bytes, s.heap().size());
  EXPECT_GT((stats.chunks + 2) * chunk_bytes, s.heap().size());
  EXPECT_EQ(stats.live_bytes(), s.live());
  EXPECT_EQ(stats.page_sizes.size(), std::size(page_sizes));
  std::uint64_t chunks = stats.free_chunks + stats.large_chunks;
  for (std::uint64_t q = 0; q < std::size(page_sizes); ++q) {
    const ouroboros_page_statistics& size = stats.page_sizes[q];
    SCOPED_TRACE("pages of " + std::to_string(size.page_bytes) + " B");
    chunks += size.chunks + size.queue_chunks;
    EXPECT_EQ(size.page_bytes, page_sizes[q]);
    EXPECT_EQ(&stats.of(size.page_bytes), &size);
    EXPECT_EQ(&stats.of(size.page_bytes / 2 + 1), &size);
    EXPECT_EQ(size.pages, pages_in(size.chunks, size.page_bytes));
    EXPECT_EQ(size.live_pages + size.free_pages(), size.pages);
    EXPECT_EQ(size.live_pages, std::count_if(live.begin(), live.end(), [&](const request& each) {
                return each.bytes <= 65536 && page_bytes(each.bytes) == size.page_bytes;
              }));
    EXPECT_TRUE(queues_pages<A> || size.queued_pages == 0);
    EXPECT_TRUE(!queues_pages<A> || size.queue_entries >= size.queued_pages);
    EXPECT_EQ(size.queue_bytes != 0, is_static<A> || is_array<A> || size.queue_chunks != 0);
    EXPECT_TRUE(!is_static<A> || size.queue_chunks == 0);
    EXPECT_LE(size.queue_entries * sizeof(std::uint32_t), size.queue_bytes);
  }
  EXPECT_EQ(chunks, stats.chunks) << "a chunk is at two places, or at none";
  std::uint64_t large_blocks = 0;
  std::uint64_t large_chunks = 0;
  for (const request& each : live) {
    if (each.bytes > 65536) ++large_blocks, large_chunks += divide_up(each.bytes, chunk_bytes);
  }
  EXPECT_EQ(stats.large_blocks, large_blocks);
  EXPECT_EQ(stats.large_chunks, large_chunks);
  return stats;
}

/// Blocks that lie side by side, in two halves, so that no chunk becomes free if one of them is freed.
std::pair<std::vector<request>, std::vector<request>> every_other(const std::vector<request>& blocks) {
  std::pair<std::vector<request>, std::vector<request>> halves;
  for (std::uint64_t i = 0; i < blocks.size(); ++i) (i % 2 == 0 ? halves.first : halves.second).push_back(blocks[i]);
  return halves;
}

template <class A>
class ouroboros_statistics_of : public testing::Test {};
TYPED_TEST_SUITE(ouroboros_statistics_of, designs, design_names);

TYPED_TEST(ouroboros_statistics_of, an_empty_heap_is_free_chunks) {
  stage<TypeParam> s{bytes_for(1_MiB, 64_MiB)};
  const ouroboros_statistics stats = checked(s, {});
  EXPECT_EQ(stats.free_chunks, stats.chunks);
  std::uint64_t queues = 0;
  for (const ouroboros_page_statistics& size : stats.page_sizes) {
    EXPECT_EQ(size.queue_entries, 0u);
    if (is_static<TypeParam>) {
      // A static queue holds each page, or each chunk, of the heap, as far as the options let it.
      const std::uint64_t all = s.heap().size() / (queues_pages<TypeParam> ? size.page_bytes : chunk_bytes);
      const std::uint64_t most = std::min<std::uint64_t>(all, ouroboros_options{}.queue_entries);
      EXPECT_TRUE(size.page_bytes > chunk_bytes || size.queue_bytes >= most * sizeof(std::uint32_t));
    } else {
      EXPECT_EQ(size.queue_bytes, is_array<TypeParam> ? 256 * sizeof(std::uint32_t) : 0);
    }
    queues += size.queue_bytes;
  }
  EXPECT_EQ(stats.queue_bytes(), queues);
  // Rings lie in the metadata.
  EXPECT_TRUE(!is_static<TypeParam> || queues < s.heap().statistics().metadata_bytes);
}

TYPED_TEST(ouroboros_statistics_of, live_and_freed_blocks_of_one_size_are_where_they_should) {
  each_schedule([&](std::uint64_t) {
    stage<TypeParam> s{bytes_for(4_MiB, 64_MiB)};  // room for all sizes side by side
    for (const std::uint64_t page : page_sizes) {
      SCOPED_TRACE("pages of " + std::to_string(page) + " B");
      const std::uint64_t count = page <= 4096 ? 131 : 5;
      const std::vector<request> live = s.take(page, count);
      ASSERT_EQ(live.size(), count);
      // No page of the size was free, so the design took as many chunks as it needed, or shares of the heap.
      const std::uint64_t per_chunk = std::max<std::uint64_t>(chunk_bytes / page, 1);
      const std::uint64_t needed = divide_up(count * page, chunk_bytes);
      const ouroboros_statistics all = checked(s, live);
      const ouroboros_page_statistics taken = all.of(page);
      const std::uint64_t chunks = taken.chunks;
      EXPECT_GE(chunks, needed);
      // Scattered ones are taken by whole words of 64.
      EXPECT_LE(chunks, page > chunk_bytes ? needed : std::max(needed, all.chunks / 16) + all.chunks / 16 + 64);
      const std::uint64_t rest = pages_in(chunks, page) - count;  // in the batch, claimed by nobody
      EXPECT_EQ(taken.unclaimed_pages, rest);
      EXPECT_EQ(taken.queued_pages + taken.deferred_pages + taken.queue_entries + taken.queue_chunks, 0u);

      s.free(live);
      const ouroboros_page_statistics freed = checked(s, {}).of(page);
      EXPECT_EQ(freed.unclaimed_pages, rest);
      if (queues_pages<TypeParam>) {
        EXPECT_EQ(freed.chunks, chunks);
        EXPECT_EQ(freed.queued_pages, count);
        EXPECT_EQ(freed.queue_entries, count);
        EXPECT_EQ(freed.queue_chunks != 0, !is_static<TypeParam>);
        EXPECT_EQ(freed.deferred_pages, 0u);
      } else {
        // The last chunk of those with claimed pages has some that nobody claimed, so it stays, like the others.
        const std::uint64_t deferred = page < chunk_bytes ? count % per_chunk : 0;
        EXPECT_EQ(freed.chunks, chunks - (count - deferred) * page / chunk_bytes);
        EXPECT_EQ(freed.deferred_pages, deferred);
        EXPECT_GE(freed.queue_entries, deferred != 0 ? 1u : 0u);
        EXPECT_TRUE(deferred == 0 || is_static<TypeParam> || freed.queue_chunks != 0);
      }
      if (s.failed()) return;
    }
  });
}

TYPED_TEST(ouroboros_statistics_of, a_full_heap_has_no_free_page_and_defers_what_has_no_room) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(256_KiB, 8_MiB)};
    constexpr std::uint64_t bytes = 256;
    std::vector<request> live = s.fill(bytes);
    const ouroboros_statistics full = checked(s, live);
    EXPECT_EQ(full.free_chunks, 0u);
    EXPECT_EQ(full.of(bytes).chunks, full.chunks);
    EXPECT_EQ(full.of(bytes).free_pages(), 0u);
    auto [half, rest] = every_other(live);
    shuffle(half, seed);
    s.free(half);
    const ouroboros_page_statistics freed = checked(s, rest).of(bytes);
    const bool in_queue = queues_pages<TypeParam> && is_static<TypeParam>;
    EXPECT_EQ(freed.queued_pages, in_queue ? half.size() : 0);
    EXPECT_EQ(freed.deferred_pages, in_queue ? 0 : half.size()) << "a queue without a chunk took pages";
    // A few come back: the others stay in the queue, with their chunks, or go on as a batch.
    append(rest, s.take(bytes, 3));
    const ouroboros_page_statistics taken = checked(s, rest).of(bytes);
    EXPECT_EQ(taken.free_pages(), half.size() - 3);
    // A batch of hints has no pages of its own.
    EXPECT_EQ(taken.unclaimed_pages != 0, queues_pages<TypeParam> || !is_static<TypeParam>);
    s.free(rest);
    const ouroboros_statistics empty = checked(s, {});
    EXPECT_EQ(empty.of(bytes).chunks + empty.free_chunks + empty.of(bytes).queue_chunks, empty.chunks);
  });
}

TYPED_TEST(ouroboros_statistics_of, queues_that_are_half_read_keep_their_memory) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(2_MiB, 64_MiB)};
    constexpr std::uint64_t bytes = 256;
    std::vector<request> live = s.take(bytes, 100 * chunk_bytes / bytes);
    append(live, s.take(bytes, checked(s, live).of(bytes).unclaimed_pages));
    sort(live);
    auto [half, rest] = every_other(live);
    shuffle(half, seed);
    s.free(half);
    checked(s, rest);
    append(rest, s.take(bytes, 1));
    const ouroboros_page_statistics taken = checked(s, rest).of(bytes);
    EXPECT_EQ(taken.free_pages(), half.size() - 1);
    EXPECT_GT(taken.queue_entries, 1u);
    EXPECT_EQ(taken.queue_chunks != 0, !is_static<TypeParam>);
    if (queues_pages<TypeParam>) {
      EXPECT_NE(taken.unclaimed_pages, 0u);
      EXPECT_EQ(taken.queue_entries, half.size() - 1);
    } else {
      // A hint for each chunk, some of them in the batch; their pages stay where they are.
      EXPECT_EQ(taken.unclaimed_pages, 0u);
      EXPECT_LE(taken.queue_entries, live.size() * bytes / chunk_bytes + 1);
      EXPECT_EQ(taken.deferred_pages, half.size() - 1);
    }
    s.free(rest);
    checked(s, {});
  });
}

TYPED_TEST(ouroboros_statistics_of, a_mix_of_sizes_agrees_at_each_step) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(4_MiB, 16_MiB)};
    random_stream random{seed, 5};
    std::vector<request> live;
    for (std::uint64_t step = 0; step < 10; ++step) {
      std::vector<request> more;
      for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t kind = random.below(40);
        more.push_back({kind == 0  ? 65537 + random.below(100'000)
                        : kind < 3 ? 16384 << random.below(3)
                                   : random.size(3000)});
      }
      s.serve(more);
      std::erase_if(more, [](const request& each) { return each.block == nullptr; });
      append(live, more);
      checked(s, live);
      std::vector<request> some = pick(live, 1 + random.below(3), seed + step);
      shuffle(some, seed + step);
      s.free(some);
      checked(s, live);
      if (s.failed()) return;
    }
    s.free(live);
    checked(s, {});
    s.longest_run();  // takes all sizes apart
    const ouroboros_statistics whole = checked(s, {});
    EXPECT_EQ(whole.free_chunks, whole.chunks);
  });
}

TYPED_TEST(ouroboros_statistics_of, growth_adds_free_chunks) {
  if (!device_can_map()) GTEST_SKIP() << "memory cannot be mapped here";
  stage<TypeParam> s{1_MiB, {.reserve_bytes = 16_MiB}};
  const std::vector<request> live = s.take(48, 1000);
  const ouroboros_statistics before = checked(s, live);
  s.heap().grow(9_MiB);
  const ouroboros_statistics after = checked(s, live);
  EXPECT_EQ(after.chunks - before.chunks, 8_MiB / chunk_bytes);
  EXPECT_EQ(after.free_chunks - before.free_chunks, 8_MiB / chunk_bytes);
  s.free(live);
}

}  // namespace
}  // namespace warpheap::test::ouroboros_statistics_test
