// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Compaction of the queues: after `trim` each chunk without a block is free, whatever sizes its pages had, and no other
// chunk is.

#include <gtest/gtest.h>

#include <cstdint>
#include <designs/ouroboros_stage.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace warpheap::test::ouroboros_compaction_test {
namespace {

using namespace directed;

template <class A>
class ouroboros_compaction : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_can_map()) GTEST_SKIP() << "this device has no memory that can be mapped";
  }
};
TYPED_TEST_SUITE(ouroboros_compaction, designs, design_names);

/// Chunks that blocks of `live` lie in.
std::uint64_t chunks_with(const std::vector<request>& live) {
  std::set<std::uint64_t> chunks;
  for (const request& each : live) {
    const auto begin = reinterpret_cast<std::uint64_t>(each.block);
    for (std::uint64_t at = begin / chunk_bytes; at * chunk_bytes < begin + each.bytes; ++at) chunks.insert(at);
  }
  return chunks.size();
}

/// Takes the queues apart. All memory is there again afterwards.
template <class A>
void compact(stage<A>& s) {
  s.heap().trim();
  s.heap().restore();
}

/// All chunks are free but those with blocks of `live`; queues have none.
template <class A>
void expect_compact(stage<A>& s, const std::vector<request>& live) {
  const ouroboros_statistics stats = s.heap().allocator_stats();
  EXPECT_EQ(stats.free_chunks, stats.chunks - chunks_with(live));
  for (const ouroboros_page_statistics& size : stats.page_sizes) {
    SCOPED_TRACE("pages of " + std::to_string(size.page_bytes) + " B");
    EXPECT_EQ(size.queue_entries, 0u);
    EXPECT_EQ(size.queue_chunks, 0u);
    EXPECT_EQ(size.unclaimed_pages, 0u);
  }
}

// The experiment of the authors' future work: small pages, freed in any order, become the largest ones.
TYPED_TEST(ouroboros_compaction, freed_pages_of_one_size_become_chunks_of_any) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(160_KiB, 4_MiB)};
    std::vector<request> fresh = s.fill(chunk_bytes);
    s.free(std::move(fresh));
    const std::uint64_t before = s.fill(chunk_bytes).size();
    s.reset();
    for (const std::uint64_t bytes : {16, 256, 4096, 16384}) {
      std::vector<request> blocks = s.fill(bytes);
      shuffle(blocks, seed);
      s.free(std::move(blocks));
      compact(s);
      expect_compact(s, {});
      std::vector<request> after = s.fill(chunk_bytes);
      EXPECT_EQ(after.size(), before) << "after pages of " << bytes << " B";
      s.free(std::move(after));
      if (s.failed()) return;
    }
  });
}

// No scheme can free a chunk in which a page is live, unless it moves the page.
TYPED_TEST(ouroboros_compaction, a_chunk_stays_with_its_size_only_for_a_block) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(256_KiB, 8_MiB)};
    const std::uint64_t whole = s.longest_run();
    for (const std::uint64_t bytes : {16, 256, 2048}) {
      std::vector<request> blocks = s.fill(bytes);
      const std::uint64_t capacity = blocks.size();
      std::vector<request> kept = pick(blocks, 4 * chunk_bytes / bytes, seed);  // in about a fifth of the chunks
      shuffle(blocks, seed);
      s.free(std::move(blocks));
      compact(s);
      expect_compact(s, kept);
      EXPECT_EQ(s.live(), kept.size() * bytes);
      compact(s);  // what was put in order stays so
      expect_compact(s, kept);
      append(kept, s.fill(bytes));
      EXPECT_EQ(kept.size(), capacity) << "pages of " << bytes << " B";
      s.free(std::move(kept));
      if (s.failed()) return;
    }
    compact(s);
    expect_compact(s, {});
    expect_empty(s, whole);
  });
}

// Sizes of all kinds at once, in every state that traffic leaves.
TYPED_TEST(ouroboros_compaction, traffic_before_and_after_loses_nothing) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{bytes_for(1_MiB, 16_MiB)};
    const std::uint64_t whole = s.longest_run();
    std::vector<request> kept = s.take(48, 40);
    for (std::uint64_t round = 0; round < 3; ++round) {
      s.traffic(bytes_for(96, 2048), mix(seed) + round, 30);
      append(kept, s.take(300 << round, 7));
      const std::uint64_t live = s.live();
      compact(s);
      expect_compact(s, kept);
      EXPECT_EQ(s.live(), live);
      if (s.failed()) return;
    }
    s.free(std::move(kept));
    compact(s);
    expect_empty(s, whole);
  });
}

}  // namespace
}  // namespace warpheap::test::ouroboros_compaction_test
