// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// One suite for both engines: what they hand out, how they split and merge, and what they promise about the fit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>
#include <warpheap/pool.hpp>

#include <support/random.hpp>
#include <support/scale.hpp>
#include "paired_books.hpp"

namespace warpheap::engine_test {
namespace {

constexpr std::uint64_t granule = 256;
constexpr std::uint64_t base = std::uint64_t{0x7f12} << 32;
using enum segment_state;

template <class Engine>
class engine_test : public testing::Test {
 protected:
  Engine engine{granule};

  void take_in(std::uint64_t granules) { engine.adopt(base, granules * granule, free); }
  segment_handle allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    return engine.allocate(bytes, alignment);
  }
  std::uint64_t place(segment_handle handle) { return (engine.at(handle).begin - base) / granule; }
};
using engines = testing::Types<segregated_fit, tree_fit>;
TYPED_TEST_SUITE(engine_test, engines);

TYPED_TEST(engine_test, splits_a_free_segment_and_merges_it_again) {
  this->take_in(100);
  auto& engine = this->engine;
  const auto a = this->allocate(1);
  const auto b = this->allocate(2 * granule);
  const auto c = this->allocate(granule + 1);
  EXPECT_EQ(engine.at(a).bytes, granule);
  EXPECT_EQ(engine.at(c).bytes, 2 * granule);
  EXPECT_EQ(engine.bytes_in(live), 5 * granule);
  EXPECT_EQ(engine.bytes_in(free), 95 * granule);
  EXPECT_EQ(engine.segments_in(free), 1u);
  EXPECT_EQ(engine.find(engine.at(b).begin), b);
  EXPECT_EQ(engine.find(engine.at(b).begin + granule), no_segment) << "inside a block is not its begin";

  const std::uint64_t where_b = engine.at(b).begin;
  engine.deallocate(b);  // between two live ones
  EXPECT_EQ(engine.segments_in(free), 2u);
  EXPECT_EQ(engine.find(where_b), no_segment);
  engine.deallocate(a);  // merges with what follows
  EXPECT_EQ(engine.segments_in(free), 2u);
  const auto whole = engine.deallocate(c);  // merges on both sides
  EXPECT_EQ(engine.segments_in(free), 1u);
  EXPECT_EQ(engine.at(whole).begin, base);
  EXPECT_EQ(engine.at(whole).bytes, 100 * granule);
  EXPECT_EQ(engine.largest_free(), 100 * granule);
}

TYPED_TEST(engine_test, an_exact_fit_is_taken_whole) {
  this->take_in(10);
  EXPECT_EQ(this->engine.at(this->allocate(10 * granule)).bytes, 10 * granule);
  EXPECT_EQ(this->engine.segments_in(free), 0u);
  EXPECT_EQ(this->allocate(1), no_segment);
}

TYPED_TEST(engine_test, begins_are_multiples_of_any_power_of_two) {
  this->engine.adopt(base + granule, (std::uint64_t{1} << 30) - granule, free);
  for (std::uint64_t alignment = 1; alignment <= std::uint64_t{1} << 28; alignment *= 2) {
    const auto block = this->allocate(3 * granule, alignment);
    ASSERT_NE(block, no_segment) << alignment;
    EXPECT_EQ(this->engine.at(block).begin % alignment, 0u);
  }
}

TYPED_TEST(engine_test, sizes_beyond_all_memory_find_nothing_and_change_nothing) {
  this->take_in(1000);
  for (const std::uint64_t bytes : {1001 * granule, std::uint64_t{1} << 40, std::uint64_t{1} << 62,
                                    (std::uint64_t{1} << 62) + 1, ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(this->allocate(bytes), no_segment) << bytes;
    EXPECT_EQ(this->allocate(bytes, std::uint64_t{1} << 40), no_segment) << bytes;
  }
  EXPECT_EQ(this->allocate(1, std::uint64_t{1} << 63), no_segment);
  EXPECT_EQ(this->engine.largest_free(), 1000 * granule);
  EXPECT_EQ(this->engine.segments_in(free), 1u);
}

TYPED_TEST(engine_test, a_block_takes_what_is_free_behind_it_up_to_a_limit) {
  this->take_in(20);
  auto& engine = this->engine;
  EXPECT_EQ(engine.at(engine.allocate(2 * granule, 1, 5 * granule + granule - 1)).bytes, 5 * granule);
  EXPECT_EQ(engine.at(engine.allocate(2 * granule, 1, granule)).bytes, 2 * granule) << "a limit below the request";
  const auto aligned = engine.allocate(granule, 16 * granule, 100 * granule);
  EXPECT_EQ(this->place(aligned), 16u);
  EXPECT_EQ(engine.at(aligned).bytes, 4 * granule) << "no more is free";
  EXPECT_EQ(engine.bytes_in(free), 9 * granule);
  EXPECT_EQ(engine.allocate(10 * granule, 1, 20 * granule), no_segment);
}

TYPED_TEST(engine_test, what_is_taken_in_behind_all_that_is_known_merges_with_it) {
  this->take_in(10);
  auto& engine = this->engine;
  const auto block = this->allocate(8 * granule);
  const auto grown = engine.adopt(base + 10 * granule, 5 * granule, free);
  EXPECT_EQ(this->place(grown), 8u);
  EXPECT_EQ(engine.at(grown).bytes, 7 * granule);
  const auto other = engine.adopt(base + 15 * granule, 5 * granule, live);
  EXPECT_EQ(engine.at(other).bytes, 5 * granule) << "a live segment is one by itself";
  engine.drop(other);  // the last, so that the free one is the last again
  EXPECT_EQ(engine.at(engine.adopt(base + 15 * granule, granule, free)).bytes, 8 * granule);
  engine.adopt(base + 30 * granule, granule, free);
  EXPECT_EQ(engine.segments_in(free), 2u) << "there is a gap";
  engine.deallocate(block);
  EXPECT_EQ(engine.largest_free(), 16 * granule);
  EXPECT_NE(this->allocate(16 * granule), no_segment);
}

// The list of a size may hold segments that are too small before one that is large enough. The engine must find that
// one, however many small ones precede it.
TYPED_TEST(engine_test, no_request_fails_while_a_segment_fits) {
  constexpr std::uint64_t width = 1024;  // sizes from 1024 to 1055 granules share a list
  auto& engine = this->engine;
  std::vector<segment_handle> held;
  std::uint64_t begin = base;
  for (int i = 0; i < 100; ++i) {  // kept apart by a gap
    const std::uint64_t size = i == 40 ? width + 31 : width + static_cast<std::uint64_t>(i) % 31;
    engine.adopt(begin, size * granule, free);
    begin += (size + 1) * granule;
  }
  const auto found = this->allocate((width + 31) * granule);
  ASSERT_NE(found, no_segment);
  EXPECT_EQ(engine.at(found).bytes, (width + 31) * granule);
  EXPECT_EQ(this->allocate((width + 31) * granule), no_segment);
}

TYPED_TEST(engine_test, a_segment_of_the_requests_own_list_is_preferred_to_a_large_one) {
  auto& engine = this->engine;
  engine.adopt(base, 100'000 * granule, free);
  engine.adopt(base + 200'000 * granule, 1034 * granule, free);
  const auto found = this->allocate(1029 * granule);
  EXPECT_EQ(this->place(found), 200'000u);
}

TYPED_TEST(engine_test, no_aligned_request_fails_while_a_segment_fits) {
  auto& engine = this->engine;
  const std::uint64_t mib = std::uint64_t{1} << 20;
  for (std::uint64_t i = 0; i < 50; ++i)
    engine.adopt(base + i * 4 * mib + granule, mib, free);  // none holds an aligned MiB
  engine.adopt(base + 50 * 4 * mib, mib, free);             // but this one
  const auto found = this->allocate(mib, mib);
  ASSERT_NE(found, no_segment);
  EXPECT_EQ(engine.at(found).begin, base + 50 * 4 * mib);
  EXPECT_EQ(this->allocate(mib, mib), no_segment);
}

TYPED_TEST(engine_test, a_part_of_a_segment_takes_another_state) {
  this->take_in(100);
  auto& engine = this->engine;
  const auto whole = engine.find(base) == no_segment ? this->allocate(100 * granule) : no_segment;
  engine.deallocate(whole);
  segment_handle free_one = no_segment;
  engine.for_each_free(1, [&](const segment_view& each) { free_one = each.handle; });
  const auto hole = engine.change(free_one, base + 20 * granule, 30 * granule, absent);
  EXPECT_EQ(engine.bytes_in(absent), 30 * granule);
  EXPECT_EQ(engine.segments_in(free), 2u);
  EXPECT_EQ(engine.largest_free(), 50 * granule);
  EXPECT_EQ(engine.at(engine.before(hole)).bytes, 20 * granule);
  EXPECT_EQ(engine.at(engine.after(hole)).begin, base + 50 * granule);
  int absent_ones = 0;
  engine.for_each_absent([&](const segment_view& each) { absent_ones += each.handle == hole; });
  EXPECT_EQ(absent_ones, 1);
  engine.change(hole, base + 20 * granule, 10 * granule, free);
  EXPECT_EQ(engine.largest_free(), 50 * granule);
  segment_handle rest = no_segment;
  engine.for_each_absent([&](const segment_view& each) { rest = each.handle; });
  engine.change(rest, base + 30 * granule, 20 * granule, free);
  EXPECT_EQ(engine.largest_free(), 100 * granule);
  EXPECT_EQ(engine.segments_in(free), 1u);
}

TYPED_TEST(engine_test, a_live_segment_can_be_split_in_two) {
  this->take_in(10);
  auto& engine = this->engine;
  const auto block = this->allocate(10 * granule);
  engine.change(block, base + 4 * granule, 6 * granule, live);
  const auto front = engine.find(base);
  const auto back = engine.find(base + 4 * granule);
  ASSERT_NE(front, no_segment);
  ASSERT_NE(back, no_segment);
  EXPECT_EQ(engine.at(front).bytes, 4 * granule);
  EXPECT_EQ(engine.at(back).bytes, 6 * granule);
  engine.deallocate(front);
  EXPECT_EQ(engine.largest_free(), 4 * granule);
  engine.deallocate(back);
  EXPECT_EQ(engine.largest_free(), 10 * granule);
}

TYPED_TEST(engine_test, a_dropped_segment_is_forgotten_and_parts_its_neighbours) {
  this->take_in(30);
  auto& engine = this->engine;
  const auto a = this->allocate(10 * granule);
  const auto b = this->allocate(10 * granule);
  const auto c = this->allocate(10 * granule);
  engine.drop(b);
  EXPECT_EQ(engine.find(base + 10 * granule), no_segment);
  engine.deallocate(a);
  engine.deallocate(c);
  EXPECT_EQ(engine.segments_in(free), 2u);
  EXPECT_EQ(engine.largest_free(), 10 * granule);
  engine.clear();
  EXPECT_EQ(engine.bytes_in(free), 0u);
  EXPECT_EQ(this->allocate(1), no_segment);
  this->take_in(5);
  EXPECT_NE(this->allocate(5 * granule), no_segment);
}

// Two blocks whose granules' numbers agree in their lower half are told apart.
TYPED_TEST(engine_test, blocks_a_tebibyte_apart_are_told_apart) {
  auto& engine = this->engine;
  const std::uint64_t far = base + (granule << 32);
  engine.adopt(base, granule, free);
  engine.adopt(far, granule, free);
  const auto a = this->allocate(granule);
  const auto b = this->allocate(granule);
  EXPECT_EQ(engine.find(engine.at(a).begin), a);
  EXPECT_EQ(engine.find(engine.at(b).begin), b);
  EXPECT_NE(a, b);
  const std::uint64_t where = engine.at(a).begin;
  engine.deallocate(a);
  EXPECT_EQ(engine.find(where), no_segment);
  EXPECT_EQ(engine.find(engine.at(b).begin), b);
}

TYPED_TEST(engine_test, the_book_costs_at_most_64_bytes_a_segment) {
  this->take_in(1 << 20);
  auto& engine = this->engine;
  std::vector<segment_handle> held;
  for (int i = 0; i < 1 << 20; ++i) {
    held.push_back(this->allocate(1));
    const std::uint64_t segments = engine.segments_in(live) + engine.segments_in(free);
    ASSERT_LE(engine.bookkeeping_bytes(), 64 * segments + 12 * 1024) << segments;
  }
}

// The height of a tree whose handles' begins were put in and taken out in a hurtful order.
std::uint64_t height_below(
    const pool_detail::balanced_tree<std::vector<pool_detail::treed_record>, pool_detail::address_order>& tree,
    segment_handle node) {
  if (node == no_segment) return 0;
  return 1 + std::max(height_below(tree, tree.child(node, 0)), height_below(tree, tree.child(node, 1)));
}

TEST(balanced_tree, is_no_higher_than_twice_the_logarithm) {
  constexpr segment_handle count = 1 << 14;
  std::vector<pool_detail::treed_record> records(count + 1);
  pool_detail::balanced_tree<std::vector<pool_detail::treed_record>, pool_detail::address_order> tree(records);
  for (segment_handle i = 1; i <= count; ++i) {  // rising
    records[i].begin = i;
    tree.insert(i);
  }
  std::uint64_t left = count;
  EXPECT_LE(height_below(tree, tree.root()), 2u * 15);
  test::random_stream random(1, 0);
  std::vector<bool> is_in(count + 1, true);
  for (segment_handle i = 1; i <= count; ++i) {  // from the front, nearly all
    if (random.below(16) == 0) continue;
    tree.erase(i);
    is_in[i] = false;
    --left;
    if (i % 1024 == 0) {
      ASSERT_LE(height_below(tree, tree.root()), 2u * static_cast<unsigned>(highest_bit(left + 1) + 1)) << left;
    }
  }
  for (int round = 0; round < 100'000; ++round) {
    const auto i = static_cast<segment_handle>(1 + random.below(count));
    is_in[i] ? tree.erase(i) : tree.insert(i);
    is_in[i] = !is_in[i];
    left += is_in[i] ? 1 : -1;
    if (round % 1000 == 0) {
      ASSERT_LE(height_below(tree, tree.root()), 2u * static_cast<unsigned>(highest_bit(left + 1) + 1)) << left;
    }
  }
}

TYPED_TEST(engine_test, agrees_with_a_plain_book_over_random_steps) {
  const std::uint64_t steps = test::scaled_up_to(200'000, 10'000'000);
  constexpr std::uint64_t seeds = 4;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    test::random_stream random(seed, 0);
    test::paired_books<TypeParam, test::random_stream> books(random);
    for (std::uint64_t i = 0; i < steps / seeds; ++i) {
      books.step();
      if (i % 256 == 0) books.compare();
      if (this->HasFatalFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
  }
}

}  // namespace
}  // namespace warpheap::engine_test
