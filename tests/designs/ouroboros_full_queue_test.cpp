// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Static queues that are too short for what is freed lose nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <designs/ouroboros_stage.hpp>
#include <utility>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap::test::ouroboros_full_queue_test {
namespace {

using namespace directed;

/// Designs whose static queues hold 2048 entries each.
template <class A>
class full_static_queue : public testing::Test {};

constexpr ouroboros_options tiny_queues{.chunk_bytes = 4096, .queue_entries = 1};
using tiny_designs = testing::Types<basic_ouroboros<page_items, static_ring, tiny_queues>,
                                    basic_ouroboros<chunk_items, static_ring, tiny_queues>>;
TYPED_TEST_SUITE(full_static_queue, tiny_designs);

TYPED_TEST(full_static_queue, defers_what_finds_no_room_and_hands_it_out_again) {
  each_schedule([&](std::uint64_t seed) {
    constexpr std::uint64_t bytes = 2048;
    stage<TypeParam> s{9_MiB};
    const std::uint64_t whole = s.longest_run(4096);
    std::vector<request> blocks = s.fill(bytes);
    EXPECT_EQ(blocks.size(), whole / bytes);
    // One page of each chunk: more pages, and more chunks, than the queue has entries.
    std::vector<request> rest;
    std::vector<request> half;
    for (std::uint64_t i = 0; i < blocks.size(); ++i) (i % 2 == 0 ? half : rest).push_back(blocks[i]);
    ASSERT_GT(half.size(), 2048u);
    shuffle(half, seed);
    s.free(std::move(half));
    EXPECT_EQ(s.live(), rest.size() * bytes);
    append(rest, s.fill(bytes));
    EXPECT_EQ(rest.size(), whole / bytes);
    shuffle(rest, seed);
    s.free(std::move(rest));
    EXPECT_EQ(s.live(), 0u);
    EXPECT_EQ(s.longest_run(4096), whole);
  });
}

// What a refill took off the list and did not use, as it did not fit or was not visited yet, is not lost when
// another size needs the memory.
TYPED_TEST(full_static_queue, a_sweep_finds_what_a_refill_left_over) {
  each_schedule([&](std::uint64_t seed) {
    constexpr std::uint64_t bytes = 16;
    constexpr std::uint64_t of_chunk = 4096 / bytes;
    stage<TypeParam> s{512_KiB};
    const std::uint64_t whole = s.longest_run(4096);
    std::vector<request> blocks = s.fill(bytes);
    ASSERT_EQ(blocks.size(), whole / bytes);
    // All pages of each chunk but one: more than fit a batch that is made of deferred pages.
    std::vector<request> rest;
    std::vector<request> most;
    for (std::uint64_t i = 0; i < blocks.size(); ++i) (i % of_chunk == 0 ? rest : most).push_back(blocks[i]);
    shuffle(most, seed);
    const std::uint64_t deferred = most.size();
    s.free(std::move(most));
    // Until the queue is empty and a refill has visited the list.
    append(rest, s.take(bytes, deferred / 2));
    shuffle(rest, seed + 1);
    s.free(std::move(rest));
    EXPECT_EQ(s.live(), 0u);
    EXPECT_EQ(s.longest_run(4096), whole);
  });
}

}  // namespace
}  // namespace warpheap::test::ouroboros_full_queue_test
