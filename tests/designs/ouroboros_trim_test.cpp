// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// An Ouroboros whose memory goes back to the machine: each chunk that no block lies in, and no other, whatever its
// pages were and wherever they waited; and the heap goes on as if nothing had been.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <designs/ouroboros_stage.hpp>
#include <set>
#include <string>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap::test::ouroboros_trim_test {
namespace {

using namespace directed;

template <class A>
class ouroboros_trim : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_can_map()) GTEST_SKIP() << "no memory can be given back";
  }
};
TYPED_TEST_SUITE(ouroboros_trim, designs, design_names);

// A whole grid compacts, beneath an adaptor too.
static_assert(coalesces_in_parallel<ouroboros_s_p> && coalesces_in_parallel<adaptor_base<ouroboros_vl_c>>);

std::uint64_t address_of(const request& of) { return reinterpret_cast<std::uint64_t>(of.block); }

/// What a heap gives back at once: a multiple of the chunk, counted from the heap's first one.
struct pieces {
  std::uint64_t bytes = chunk_bytes;
  std::uint64_t begin = 0;
};

/// Pieces, by number, that a block of `live` lies in.
std::set<std::uint64_t> touched(const std::vector<request>& live, pieces piece = {}) {
  std::set<std::uint64_t> found;
  for (const request& each : live) {
    const std::uint64_t first = address_of(each) - piece.begin;
    const std::uint64_t last = (first + block_bytes(each.bytes) - 1) / piece.bytes;
    for (std::uint64_t i = first / piece.bytes; i <= last; ++i) found.insert(i);
  }
  return found;
}

/// Live pages and bytes are those of `live`, no queue holds anything, and each chunk without a block of `live` is free
/// or withdrawn.
template <class A>
ouroboros_statistics expect_compact(stage<A>& s, const std::vector<request>& live) {
  const ouroboros_statistics stats = s.heap().allocator_statistics();
  std::uint64_t bytes = 0;
  for (const request& each : live) bytes += block_bytes(each.bytes);
  EXPECT_EQ(stats.live_bytes(), bytes);
  EXPECT_EQ(s.live(), bytes);
  const std::uint64_t held = touched(live).size();
  EXPECT_EQ(stats.free_chunks + stats.withdrawn_chunks, stats.chunks - held);
  std::uint64_t chunks = stats.large_chunks;
  for (const ouroboros_page_statistics& size : stats.page_sizes) {
    chunks += size.chunks;
    EXPECT_EQ(size.queue_chunks, 0u);
    EXPECT_EQ(size.queue_entries, 0u);
    EXPECT_EQ(size.unclaimed_pages + size.queued_pages, 0u);
  }
  EXPECT_EQ(chunks, held) << "a chunk is at two places, or at none";
  return stats;
}

/// Trims, and checks that the heap gave back each piece of its memory that no block of `live` lies in.
template <class A>
void trim(stage<A>& s, const std::vector<request>& live, pieces piece) {
  const std::uint64_t before = s.heap().statistics().committed_bytes;
  const std::uint64_t given_back = s.heap().trim();
  const std::uint64_t after = s.heap().statistics().committed_bytes;
  EXPECT_EQ(after, touched(live, piece).size() * piece.bytes);
  EXPECT_EQ(before - after, given_back);
  EXPECT_EQ(expect_compact(s, live).withdrawn_chunks * chunk_bytes, s.heap().size() - after);
  EXPECT_EQ(s.heap().trim(), 0u) << "what was given back is given back again";
  expect_compact(s, live);
}

/// The heap's pieces. It must be empty: its first block lies in its first chunk, and a trim keeps that piece alone.
template <class A>
pieces pieces_of(stage<A>& s) {
  const std::vector<request> one = s.take(16, 1);
  s.heap().trim();
  const pieces found{s.heap().statistics().committed_bytes, address_of(one.at(0))};
  s.heap().restore();
  s.free(one);
  return found;
}

// On a GPU memory goes back in pieces of 2 MiB: sixteen of them, or four under a memory checker.
std::uint64_t heap_bytes() {
  if (this_backend == backend::host) return 256_KiB;
  return scale_in_force() == work_scale::small ? 8_MiB : 32_MiB;
}

TYPED_TEST(ouroboros_trim, a_heap_that_was_full_of_one_size_serves_another_as_a_new_one_does) {
  if (looks_at_orders) GTEST_SKIP() << "it_finds_all_that_traffic_leaves has the orders of this test";
  each_schedule([&](std::uint64_t seed) {
    for (const std::uint64_t bytes : {16, 256, 8192}) {
      stage<TypeParam> fresh{heap_bytes()};
      const std::uint64_t expected = fresh.fill(bytes == 8192 ? 16 : 8192).size();
      stage<TypeParam> s{heap_bytes()};
      const pieces piece = pieces_of(s);
      std::vector<request> live = s.fill(bytes);
      EXPECT_EQ(s.heap().trim(), 0u) << "a full heap gave back memory";
      shuffle(live, seed);
      s.free(live);
      trim(s, {}, piece);
      EXPECT_TRUE(s.take(16, 1).empty()) << "a block lies where no memory is";
      s.heap().restore();
      EXPECT_EQ(expect_compact(s, {}).withdrawn_chunks, 0u);
      EXPECT_EQ(s.fill(bytes == 8192 ? 16 : 8192).size(), expected);
      if (s.failed()) return;
    }
  });
}

TYPED_TEST(ouroboros_trim, what_survivors_leave_comes_back_to_the_chunk) {
  if (looks_at_orders) GTEST_SKIP() << "it_finds_all_that_traffic_leaves has the orders of this test";
  struct survival {
    std::uint64_t bytes, every;
  };
  std::uint64_t seed = 1;
  for (const auto [bytes, every] : {survival{16, 100}, {16, 2000}, {256, 100}, {4096, 10}, {65536, 3}}) {
    SCOPED_TRACE("one in " + std::to_string(every) + " blocks of " + std::to_string(bytes) + " B survives");
    stage<TypeParam> s{heap_bytes()};
    const pieces piece = pieces_of(s);
    std::vector<request> live = s.fill(bytes);
    std::vector<request> kept = pick(live, every, ++seed);
    shuffle(live, seed);
    s.free(live);
    trim(s, kept, piece);
    s.heap().restore();
    const std::uint64_t regained = expect_compact(s, kept).free_chunks;
    // Those chunks serve any size, and the pages beside the survivors serve theirs.
    const std::vector<request> others = s.fill(8192);
    EXPECT_EQ(others.size(), regained);
    if (bytes < chunk_bytes) {
      const std::vector<request> beside = s.fill(bytes);
      EXPECT_EQ(beside.size(), touched(kept).size() * (chunk_bytes / bytes) - kept.size());
      s.free(beside);
    }
    std::vector<request> all = kept;
    append(all, others);
    trim(s, all, piece);
    s.free(all);
    trim(s, {}, piece);
    if (s.failed()) return;
  }
}

/// Batches that are drawn in part, queues, hints that are out of date, lists: a compaction takes each of them.
TYPED_TEST(ouroboros_trim, it_finds_all_that_traffic_leaves) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{2 * heap_bytes()};
    const pieces piece = pieces_of(s);
    std::vector<request> live;
    for (std::uint64_t round = 0; round < 3; ++round) {
      for (const std::uint64_t bytes : {16, 48, 200, 1000, 3000, 8192, 20'000, 70'000}) {
        append(live, s.take(bytes, 1 + bytes_for(2000, 100'000) / bytes));
      }
      s.traffic(bytes_for(32, 1024), seed + round, 12);
      s.recycle(live, seed ^ round);
      s.free(pick(live, 2, seed + 7 * round));
      if (round == 1) s.heap().grow(2 * s.heap().size());
      trim(s, live, piece);
      if (round % 2 == 0) s.heap().restore();
      if (s.failed()) return;
      // What is left of the pages is found again: a size that was compacted is full as before.
      std::vector<request> all = s.fill(200);
      const std::uint64_t full = all.size();
      s.free(pick(all, 2, seed));
      append(all, s.fill(200));
      EXPECT_EQ(all.size(), full);
      shuffle(all, seed);
      s.free(all);
    }
    s.free(live);
    trim(s, {}, piece);
    s.heap().restore();
    EXPECT_EQ(expect_compact(s, {}).withdrawn_chunks, 0u);
    expect_empty(s, expect_compact(s, {}).chunks * chunk_bytes);
  });
}

/// When the last page of a chunk is freed, hints to it may wait in the queue. A compaction that forgets them must not
/// leave chunks that claim to have one: pages that are freed there later would never be found.
TYPED_TEST(ouroboros_trim, chunks_know_that_their_hints_are_gone) {
  each_schedule([&](std::uint64_t seed) {
    stage<TypeParam> s{heap_bytes()};
    std::vector<request> live = s.fill(256);
    const std::uint64_t full = live.size();
    shuffle(live, seed);
    s.free(live);
    s.heap().trim();
    s.heap().restore();
    live = s.fill(256);
    EXPECT_EQ(live.size(), full);
    s.free(pick(live, 2, seed));
    append(live, s.fill(256));
    EXPECT_EQ(live.size(), full);
  });
}

/// A refill takes more chunks off the list than its batch has room for. A compaction lists those again, once.
TYPED_TEST(ouroboros_trim, chunks_that_a_refill_carries_are_listed_once) {
  if (looks_at_orders) GTEST_SKIP() << "it_finds_all_that_traffic_leaves has the orders of this test";
  stage<TypeParam> s{2 * heap_bytes()};  // more chunks than a refill visits at once
  std::vector<request> live = s.fill(16);
  const std::uint64_t full = live.size();
  std::vector<request> kept = pick(live, 100, 9);
  s.free(live);
  for (int i = 0; i < 3; ++i) {
    s.heap().trim();  // lists all chunks
    s.heap().restore();
    append(kept, s.take(16, 10));  // carries some
    s.heap().trim();
    s.heap().restore();
    expect_compact(s, kept);
    s.free(s.fill(8192));  // sweeps what is carried
  }
  append(kept, s.fill(16));
  EXPECT_EQ(kept.size(), full);
}

TYPED_TEST(ouroboros_trim, chunks_are_listed_by_address) {
  stage<TypeParam> s{heap_bytes()};
  std::vector<request> live = s.fill(256);
  std::vector<request> freed;
  for (std::uint64_t i = 0; i < live.size(); i += 7) freed.push_back(live[i]);
  const std::set<std::uint64_t> chunks = touched(freed);
  shuffle(freed, 3);
  s.free(freed);
  s.heap().trim();
  const std::vector<request> one = s.take(256, 1);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(address_of(one[0]) / chunk_bytes, *chunks.begin());
}

/// A trimmed heap that moves takes with it what it has.
TYPED_TEST(ouroboros_trim, a_trimmed_heap_moves_and_is_whole) {
  stage<TypeParam> s{heap_bytes()};
  std::vector<request> live = s.fill(64);
  std::vector<request> kept = pick(live, 200, 5);
  s.free(live);
  s.heap().trim();
  expect_compact(s, kept);
  s.relocate(kept, 2 * s.heap().size());
  EXPECT_EQ(expect_compact(s, kept).withdrawn_chunks, 0u);
  s.reset();
  EXPECT_EQ(expect_compact(s, {}).withdrawn_chunks, 0u);
  const pieces piece = pieces_of(s);
  trim(s, {}, piece);
  s.reset();  // what has no memory stays out of the heap
  EXPECT_EQ(expect_compact(s, {}).free_chunks, 0u);
}

}  // namespace
}  // namespace warpheap::test::ouroboros_trim_test
