// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The parts of bulk, each by itself, over a heap with chunks of four pages: a chunk has three bins
// of a page, or is a bin of seven blocks of 2 KiB.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <designs/part_stage.hpp>
#include <support/scale.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/bulk/bulk.hpp>

namespace warpheap::test::bulk_parts_test {
namespace {

using allocator = bulk_allocator<buddy_tree, 4>;
using layout = detail::bulk_layout<buddy_tree, 4>;
using pages = detail::bulk_pages<layout>;
using quiescence = detail::bulk_quiescence<layout>;
using bins = detail::bulk_bins<layout>;
using bin_lists = detail::bulk_bin_lists<layout>;
using bin_source = detail::bulk_bin_source<layout>;
using reclamation = detail::bulk_reclamation<layout>;
using search = detail::bulk_search<layout>;
using bin_units = detail::bulk_bin_units;
using list_units = detail::bulk_list_units;
using detail::bin_state;

static_assert(std::is_trivially_copyable_v<pages> && std::is_trivially_copyable_v<quiescence> &&
              std::is_trivially_copyable_v<search>);
// Kernels carry the addresses once, whatever the number of parts.
static_assert(sizeof(search) == sizeof(pages) && sizeof(allocator) == sizeof(pages));

constexpr std::uint32_t large = layout::sizes - 1;  // 2 KiB: seven units in a chunk
constexpr std::uint32_t small = 3;                  // 64 bytes: 64 units in a page
constexpr std::uint64_t words_out = 16;

/// `bytes` of arena that begin at a chunk.
using stage = part_stage<allocator, layout::chunk_bytes, words_out>;

WARPHEAP_FN bin_state state_of(const pages& of, std::uint32_t page) {
  return {atomic_view{of.header_at(page).state}.load(memory_order::relaxed, thread_scope::device)};
}

TEST(bulk_layout, a_state_goes_below_zero_without_touching_mark_and_pins) {
  const bin_state marked{bin_state::units_of(3) | bin_state::listed_bit | bin_state::one_pin};
  const bin_state less{marked.bits - bin_state::units_of(5)};
  EXPECT_EQ(less.units(), -2);
  EXPECT_TRUE(less.listed());
  EXPECT_EQ(less.bits & (bin_state::listed_bit - 1), bin_state::one_pin);
  EXPECT_EQ(less.bits + bin_state::units_of(2), (bin_state::listed_bit | bin_state::one_pin));
}

TEST(bulk_layout, bitmaps_have_a_bit_for_each_unit) {
  for (std::uint32_t c = 0; c < layout::classes; ++c) {
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < layout::most_words; ++i) {
      bits += static_cast<std::uint32_t>(popcount(layout::all_bits(c, i)));
    }
    EXPECT_EQ(bits, layout::units(c)) << c;
  }
}

struct number_pages {
  WARPHEAP_FN void operator()(pages of, std::uint64_t* out) const {
    std::uint32_t page = 0;
    std::uint32_t count = 0;
    for (; of.take_chunk(page); ++count) {
      out[1] += of.address_of(page) % layout::chunk_bytes != 0;
      out[2] += of.page_of(of.address_of(page) + layout::chunk_bytes - 1) != page + layout::chunk_pages - 1;
    }
    out[0] = count;
    out[3] = of.has_chunks();
  }
};
TEST(bulk_pages, chunks_are_aligned_and_all_of_them_are_served) {
  const auto out = stage{8 * layout::chunk_bytes}.run<pages>(number_pages{});
  EXPECT_EQ(out[0], 8u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(out[2], 0u);
  EXPECT_EQ(out[3], 1u);
}
TEST(bulk_pages, a_heap_without_room_for_a_chunk_says_so) {
  const auto out = stage{layout::chunk_bytes - layout::page_bytes}.run<pages>(number_pages{});
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[3], 0u);
}

struct watch_changes {
  WARPHEAP_FN void operator()(pages of, std::uint64_t* out) const {
    const quiescence q{of.control()};
    detail::bulk_snapshot before = q.begin_search();
    out[0] = q.was_quiescent(before);
    q.begin_change();
    out[1] = q.was_quiescent(before);  // begun since
    const detail::bulk_snapshot within = q.begin_search();
    out[2] = q.was_quiescent(within);  // under way at the begin
    q.end_change(true);
    out[3] = q.was_quiescent(within);  // ended since: it was under way all the same
    const detail::bulk_snapshot later = q.begin_search();
    out[4] = q.was_quiescent(later);
    out[5] = later.progress - before.progress;
    q.note_free();
    out[6] = q.was_quiescent(later);
    before = q.begin_search();
    out[7] = q.is_refused(small, before.freed);
    q.note_refusal(small, before);
    out[8] = q.is_refused(small, q.freed());
    out[9] = q.is_refused(large, q.freed());
    q.note_free();
    out[10] = q.is_refused(small, q.freed());
    before = q.begin_search();
    before.unsettled = true;
    out[11] = q.was_quiescent(before);
  }
};
TEST(bulk_quiescence, only_a_search_that_nothing_slipped_by_is_proof) {
  const auto out = stage{layout::chunk_bytes}.run<pages>(watch_changes{});
  const std::vector<std::uint64_t> expected{1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

TEST(bulk_bins, a_pick_begins_where_it_is_told_and_wraps_around) {
  EXPECT_EQ(detail::bulk_pick(~std::uint64_t{0}, 4, 8), std::uint64_t{0xF00});
  EXPECT_EQ(detail::bulk_pick(~std::uint64_t{0}, 4, 62), std::uint64_t{0xC000'0000'0000'0003});
  EXPECT_EQ(detail::bulk_pick(0, 4, 8), 0u);
  for (std::uint32_t from = 0; from < 64; ++from) {
    const std::uint64_t word = 0x8421'0000'1111'0F0F;
    for (std::uint32_t wanted = 1; wanted <= 32; ++wanted) {
      const std::uint64_t got = detail::bulk_pick(word, wanted, from);
      EXPECT_EQ(got & ~word, 0u);
      const auto has = static_cast<std::uint32_t>(popcount(got));
      EXPECT_GE(has, 1u);
      EXPECT_LE(has, wanted);
    }
  }
}

struct claim_of_a_bin {
  WARPHEAP_FN void operator()(bin_source of, std::uint64_t* out) const {
    bin_units made{0, 0, 0};
    require(of.make(0, small, 64, made), "no bin");
    const bins& in = of.lists().bins();
    const auto first = in.try_claim({made.page, 20, 0});
    const auto second = in.claim({made.page, 44, 20});
    out[0] = first.bits;
    out[1] = second.bits;
    out[2] = in.try_claim({made.page, 1, 0}).bits;  // none is left
    in.set_bits(made.page, 0, first.bits);
    out[3] = in.try_claim({made.page, 32, 0}).bits;
  }
};
TEST(bulk_bins, claims_take_each_bit_once) {
  const auto out = stage{layout::chunk_bytes}.run<bin_source>(claim_of_a_bin{});
  EXPECT_EQ(popcount(out[0]), 20);
  EXPECT_EQ(out[0] & out[1], 0u);
  EXPECT_NE(out[1], 0u);
  EXPECT_EQ(out[2] & (out[0] | out[1]), 0u);
  EXPECT_NE(out[3], 0u);
}

struct exhaust_and_relist {
  WARPHEAP_FN void operator()(bin_source of, std::uint64_t* out) const {
    const bin_lists& lists = of.lists();
    bin_units made{0, 0, 0};
    require(of.make(0, large, 0, made), "no bin");
    require(lists.list_at(0, large).count.signal(7), "too many");
    require(lists.list_at(0, large).count.try_take(7), "too few");
    const bin_units taken = lists.count_off_some_bin(0, large, 7);
    out[0] = taken.units;
    const auto got = lists.bins().claim(taken);
    out[1] = static_cast<std::uint64_t>(popcount(got.bits));
    bin_units none{0, 0, 0};
    out[2] = lists.count_off_top(0, large, layout::stack_of(made.page), 1, none);  // takes the exhausted bin off
    out[3] = none.units;
    out[4] = lists.count_off_top(0, large, 0, 1, none);  // no stack has a top
    out[5] = state_of(of.pages(), made.page).listed();
    lists.free_units(got.page, large, got.word, got.bits & 1);
    const bin_state now = state_of(of.pages(), made.page);
    out[6] = now.bits == (bin_state::units_of(1) | bin_state::listed_bit);
    out[7] = static_cast<std::uint64_t>(lists.list_at(0, large).count.count().available);
    out[8] = lists.count_off_top(0, large, 0, 7, none);
    out[9] = none.units;
  }
};
TEST(bulk_bin_lists, an_exhausted_bin_leaves_the_list_and_a_free_lists_it_again) {
  const auto out = stage{layout::chunk_bytes}.run<bin_source>(exhaust_and_relist{});
  const std::vector<std::uint64_t> expected{7, 7, 1, 0, 0, 0, 1, 1, 1, 1};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

struct prepare_bins {
  WARPHEAP_FN void operator()(bin_source of, std::uint64_t*) const {
    bin_units made{0, 0, 0};
    for (int i = 0; i < 2; ++i) {
      require(of.make(0, large, 0, made), "no bin");
      require(of.lists().list_at(0, large).count.signal(7), "too many");
    }
  }
};
struct take_and_free_units {
  std::uint32_t steps;
  WARPHEAP_FN void operator()(bin_lists lists, std::uint64_t* out) const {
    for (std::uint32_t step = 0; step < steps; ++step) {
      if (!lists.list_at(0, large).count.try_wait(1)) continue;
      const bin_units taken = lists.count_off_some_bin(0, large, 1);
      const auto got = lists.bins().claim(taken);
      if (popcount(got.bits) != 1) atomic_view{out[0]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      atomic_view{out[1]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      lists.free_units(got.page, large, got.word, got.bits);
    }
  }
};
struct take_all_units {
  WARPHEAP_FN void operator()(bin_lists lists, std::uint64_t* out) const {
    for (; lists.list_at(0, large).count.try_wait(1); ++out[0]) {
      out[1] += static_cast<std::uint64_t>(popcount(lists.bins().claim(lists.count_off_some_bin(0, large, 1)).bits));
    }
  }
};
TEST(bulk_bin_lists, a_counted_unit_is_always_found_and_none_is_lost) {
  stage s{2 * layout::chunk_bytes};
  s.run<bin_source>(prepare_bins{});
  const auto out =
      s.run<bin_lists>(take_and_free_units{static_cast<std::uint32_t>(scaled(20, 100))}, scaled(256, 4096));
  EXPECT_EQ(out[0], 0u);
  EXPECT_GT(out[1], 0u);
  const auto all = s.run<bin_lists>(take_all_units{});
  EXPECT_EQ(all[0], 14u);
  EXPECT_EQ(all[1], 14u);
}

struct make_bins {
  WARPHEAP_FN void operator()(bin_source of, std::uint64_t* out) const {
    const pages& p = of.pages();
    bin_units made{0, 0, 0};
    for (; of.make(0, small, 5, made); ++out[0]) {
      const std::uint32_t index = made.page % layout::chunk_pages;
      const auto& chunk = p.header_at(made.page - index);
      out[1] += index == 0 || chunk.of_class != layout::pages_class || chunk.classes[index] != small;
      out[2] += state_of(p, made.page).bits != (bin_state::units_of(59) | bin_state::listed_bit);
      out[3] += made.units != 5;
    }
    out[4] = of.can_make(0, small);
    out[5] = of.lists().list_at(0, small).bins;
  }
};
TEST(bulk_bin_source, a_chunk_becomes_three_bins_and_then_there_are_no_more) {
  const auto out = stage{2 * layout::chunk_bytes}.run<bin_source>(make_bins{});
  EXPECT_EQ(out[0], 6u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(out[2], 0u);
  EXPECT_EQ(out[3], 0u);
  EXPECT_EQ(out[4], 0u);
  EXPECT_EQ(out[5], 6u);
}

struct reclaim_when_free {
  WARPHEAP_FN void operator()(reclamation of, std::uint64_t* out) const {
    const bin_lists& lists = of.lists();
    bin_units made{0, 0, 0};
    require(of.source().make(0, large, 1, made), "no bin");
    require(lists.list_at(0, large).count.signal(6), "too many");
    const auto block = lists.bins().claim(made);
    out[0] = of.reclaim_list(0, large);  // a block is in use
    atomic_view state{of.pages().header_at(made.page).state};
    state.fetch_add(bin_state::one_pin, memory_order::relaxed, thread_scope::device);
    lists.free_units(block.page, large, block.word, block.bits);
    out[1] = of.reclaim_list(0, large);  // a thread has a pin
    state.fetch_sub(bin_state::one_pin, memory_order::relaxed, thread_scope::device);
    std::uint32_t page = 0;
    out[2] = of.pages().take_chunk(page);
    out[3] = static_cast<std::uint64_t>(lists.list_at(0, large).count.count().available);
    const quiescence q{of.pages().control()};
    out[4] = of.reclaim_all();
    out[5] = static_cast<std::uint64_t>(lists.list_at(0, large).count.count().available);
    out[6] = q.begin_search().changes.quiescent;  // the change has ended
    out[7] = of.pages().take_chunk(page) && page == made.page;
    out[8] = of.reclaim_all();
  }
};
TEST(bulk_reclamation, a_bin_is_withdrawn_only_if_fully_free_and_without_pins) {
  const auto out = stage{layout::chunk_bytes}.run<reclamation>(reclaim_when_free{});
  const std::vector<std::uint64_t> expected{0, 0, 0, 7, 1, 0, 1, 1, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

struct find_everything {
  WARPHEAP_FN void operator()(search of, std::uint64_t* out) const {
    const bin_lists& lists = of.lists();
    const std::uint32_t other = (lists.local_arena() + 1) & of.pages().arena_mask();
    // All chunks are bins of another arena, of which only the last one has free units.
    bin_units made{0, 0, 0};
    std::uint32_t count = 0;
    for (; of.source().make(other, large, 7, made); ++count) continue;
    out[0] = count;
    list_units left{0, 0};
    bin_units taken{0, 0, 0};
    out[1] = of.find_units(small, 1, left, taken);  // nothing of any class
    out[2] = of.quiescence().is_refused(small, of.quiescence().freed());
    const auto block = lists.bins().claim(made);
    lists.free_units(block.page, large, block.word, block.bits & (~block.bits + 1));
    of.quiescence().note_free();
    out[3] = of.quiescence().is_refused(small, of.quiescence().freed());
    out[4] = of.find_units(large, 3, left, taken);  // the one unit, from the other arena
    out[5] = left.arena == other && left.units == 1 && taken.units == 0;
    require(lists.list_at(other, large).count.signal(1), "too many");
    out[6] = of.find_pages(0) == buddy_tree::none;  // the bin has blocks in use
    lists.free_units(block.page, large, block.word, block.bits & (block.bits - 1));
    of.quiescence().note_free();
    out[7] = of.find_units(small, 2, left, taken);  // by reclaiming the bin
    out[8] = taken.units == 2 && of.pages().header_at(taken.page).of_class == small;
  }
};
TEST(bulk_search, other_arenas_then_reclamation_then_a_refusal_until_the_next_free) {
  stage s{std::uint64_t{1} << 20};  // two arenas
  const auto out = s.run<search>(find_everything{});
  const std::vector<std::uint64_t> expected{64, 0, 1, 0, 1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

}  // namespace
}  // namespace warpheap::test::bulk_parts_test
