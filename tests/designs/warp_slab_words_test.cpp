// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The numbers and packed words of warp_slab, by themselves: sizes and slabs, hints, owners, cache entries, demand and
// forecast.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::warp_slab_words_test {
namespace {

using classes = slab_classes;

TEST(warp_slab_words, a_class_is_the_smallest_that_fits) {
  for (std::uint64_t bytes = 1; bytes <= classes::largest_bytes; ++bytes) {
    const auto [c, block] = classes::of(bytes);
    ASSERT_LT(c, classes::count);
    ASSERT_EQ(classes::bytes(c), block);
    ASSERT_GE(block, bytes);
    ASSERT_TRUE(c == 0 || classes::bytes(c - 1) < bytes);
  }
}

TEST(warp_slab_words, at_most_a_fifth_is_rounding) {
  for (std::uint64_t bytes = 65; bytes <= classes::largest_bytes; ++bytes) {
    const std::uint32_t block = classes::of(bytes).bytes;
    ASSERT_LT((block - bytes) * 5, block);
  }
}

TEST(warp_slab_words, a_slab_is_full_of_blocks) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    const std::uint64_t slab = classes::units(c) * classes::unit_bytes;
    const std::uint32_t block = classes::bytes(c);
    EXPECT_EQ(std::uint64_t{classes::blocks(c)} * block, slab) << block << " bytes";
    EXPECT_TRUE(is_power_of_two(classes::blocks(c)));
    EXPECT_EQ(classes::words(c), (classes::blocks(c) + 31) / 32);
    EXPECT_LE(classes::words(c), classes::most_words);
    EXPECT_LE(classes::units(c), classes::most_units);
    EXPECT_TRUE(classes::blocks(c) >= 32 || block > 16 << 10) << block << " bytes";
    for (std::uint32_t offset = 0; offset < slab; ++offset) {
      ASSERT_EQ(classes::divisor_of(c).quotient(offset), offset / block);
    }
  }
}

TEST(warp_slab_words, a_small_slab_holds_what_fits) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    const std::uint64_t slab = classes::units(c, true) * classes::unit_bytes;
    EXPECT_EQ(classes::blocks(c, true), slab / classes::bytes(c));
    EXPECT_EQ(classes::words(c, true), (classes::blocks(c, true) + 31) / 32);
    EXPECT_LE(classes::words(c, true), classes::most_words);
    EXPECT_TRUE(classes::blocks(c, true) >= 32 || classes::bytes(c) > 16 << 10);
    EXPECT_TRUE(is_power_of_two(classes::units(c, true)) || classes::bytes(c) > 2 << 10);
  }
}

TEST(warp_slab_words, a_hint_says_whose_it_is) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    for (const std::uint32_t place : {0u, 77u, (1u << 25) - 1}) {
      const slab_hint shown = slab_hint::make(c, place);
      const slab_hint hidden{shown.without()};
      EXPECT_TRUE(shown.shown() && !hidden.shown());
      EXPECT_TRUE(hidden.is_of(c) && !hidden.is_of(c + 1));
      EXPECT_EQ(hidden.place(), place);
      EXPECT_EQ(hidden.with(), shown.value);
    }
  }
}

// Each draw is an addition that leaves the rest of the word as it is, and regions of slabs of a unit grow to 64 leaves.
TEST(warp_slab_words, a_region_counts_its_draws) {
  constexpr std::uint32_t last_leaf = (1u << 19) - 1;
  slab_region_word region{0};
  EXPECT_EQ(region.leaves(), 1u);
  for (const std::uint32_t leaves : {2u, 4u, 8u, 16u, 32u, 64u, 64u}) {
    region = slab_region_word::make(last_leaf, region.next_log2_leaves(1u << 19, 64), 0);
    region.value += 0xfffffff;
    EXPECT_EQ(region.leaves(), leaves);
    EXPECT_EQ(region.leaf(), last_leaf);
    EXPECT_EQ(region.drawn(), 0xfffffffu);
  }
}

// Regions of large slabs have more leaves, as far as these are a quarter of the heap.
TEST(warp_slab_words, a_region_has_many_places_and_leaves_room) {
  const auto largest = [](std::uint32_t leaves, std::uint32_t each) {
    slab_region_word region{0};
    for (int i = 0; i < 20; ++i) region = slab_region_word::make(0, region.next_log2_leaves(leaves, each), 0);
    return region.leaves();
  };
  EXPECT_EQ(largest(8192, 64), 64u);
  EXPECT_EQ(largest(8192, 2), 2048u);
  EXPECT_EQ(largest(1 << 19, 1), 4096u);
  EXPECT_EQ(largest(256, 2), 64u);
  EXPECT_EQ(largest(16, 64), 4u);
  EXPECT_EQ(largest(1, 1), 1u);
}

TEST(warp_slab_words, an_owner_says_what_its_unit_is_part_of) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    for (std::uint32_t below = 0; below < classes::units(c); ++below) {
      const unit_owner owner = unit_owner::slab(c, below);
      EXPECT_TRUE(owner.is_slab() && !owner.is_run());
      EXPECT_EQ(owner.of_class(), c);
      EXPECT_EQ(owner.below(), below);
      // A byte of the unit, wherever the slab lies.
      const std::uint64_t byte = below * classes::unit_bytes + 12'345;
      EXPECT_EQ(owner.in_slab((std::uint64_t{1} << 38) + byte), byte);
      EXPECT_EQ(owner.block_at(static_cast<std::uint32_t>(byte)), byte / classes::bytes(c));
    }
  }
  for (const std::uint32_t units : {1u, 64u, 1u << 25}) {
    const unit_owner owner = unit_owner::run(units);
    EXPECT_TRUE(owner.is_run() && !owner.is_slab());
    EXPECT_EQ(owner.run_units(), units);
  }
  EXPECT_TRUE(!unit_owner{0}.is_run() && !unit_owner{0}.is_slab());
}

TEST(warp_slab_words, a_word_has_a_number_of_its_own) {
  std::vector<bool> seen(word_number::section_words * 3);
  for (std::uint32_t unit = 0; unit < word_number::section_units * 3; ++unit) {
    for (std::uint32_t index = 0; index < classes::most_words; ++index) {
      const std::uint32_t number = word_number::make(unit, index);
      EXPECT_EQ(word_number::unit(number), unit);
      EXPECT_EQ(word_number::index(number), index);
      ASSERT_LT(number, seen.size());
      EXPECT_FALSE(seen[number]);
      seen[number] = true;
    }
  }
}

TEST(warp_slab_words, a_cache_entry_guesses_what_was_taken) {
  constexpr std::uint32_t last = (1u << slab_cache_entry::word_bits) - 1;
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    for (const std::uint32_t word : {0u, 4711u, last}) {
      const slab_cache_entry entry = slab_cache_entry::make(c, {word, 0x00f0'0f00});
      EXPECT_TRUE(entry.is_of(c));
      EXPECT_EQ(entry.word(c), word);
      for (std::uint32_t other = 1; other < 4; ++other) EXPECT_FALSE(entry.is_of(c + other));
      EXPECT_EQ(entry.guess(8), 0x00f0'0f00u);
      EXPECT_EQ(entry.guess(3), 0x0000'0700u);
      EXPECT_EQ(popcount(entry.guess(32)), 32);
    }
    EXPECT_FALSE(slab_cache_entry{0}.is_of(c));
  }
}

TEST(warp_slab_words, demand_that_was_taken_is_told_from_later_demand) {
  slab_demand demand{0};
  demand.value += 77;
  EXPECT_EQ(demand.blocks(), 77);
  slab_demand taken{demand.taken()};
  EXPECT_EQ(taken.blocks(), 0);
  EXPECT_EQ(taken.times(), demand.times() + 1);
  // A thread that withdraws what it took leaves the count below zero for a moment.
  taken.value -= 77;
  EXPECT_EQ(taken.blocks(), -77);
  EXPECT_EQ(taken.times(), demand.times() + 1);
}

TEST(warp_slab_words, a_front_goes_on_within_a_launch) {
  const slab_front seen = slab_front{0}.with(7, 99);
  EXPECT_EQ(seen.launch(), 7);
  EXPECT_EQ(seen.blocks(), 100);
  EXPECT_EQ(seen.with(7, 98).blocks(), 100);
  EXPECT_EQ(seen.with(7, 100).blocks(), 101);
  EXPECT_EQ(seen.with(8, 3).blocks(), 4) << "another grid begins anew";
}

TEST(warp_slab_words, a_forecast_has_the_rest_want_as_much) {
  constexpr std::uint64_t begun = 1 << 18;
  EXPECT_EQ((slab_forecast{begun, 4 * begun}.slabs(1000, 64)), 4000);
  EXPECT_EQ((slab_forecast{begun, begun}.slabs(1000, 64)), 1000) << "all have begun";
  // Slabs for more than a block a thread have blocks that nobody has asked for yet.
  EXPECT_LE((slab_forecast{begun, 4 * begun}.slabs(1 << 20, 64)), 4 * begun / 64 + 4);
}

// A slab that has another place is the same else.
TEST(warp_slab_words, a_hint_can_name_another_place) {
  constexpr std::uint32_t places = 1u << 25;
  for (const std::uint32_t c : {0u, classes::count - 1}) {
    for (const std::uint32_t to : {0u, places - 1}) {
      const slab_hint hint = slab_hint::make(c, 4711);
      EXPECT_EQ(hint.at(to).value, slab_hint::make(c, to).value);
      EXPECT_EQ(slab_hint{hint.without()}.at(to).value, slab_hint::make(c, to).without());
    }
  }
}

}  // namespace
}  // namespace warpheap::test::warp_slab_words_test
