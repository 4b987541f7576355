// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The parts of Ouroboros that keep chunks, pages and hints, each by itself.

#include <gtest/gtest.h>

#include <cstdint>
#include <designs/ouroboros_parts.hpp>

namespace warpheap::test::ouroboros_parts_test {
namespace {

using namespace ouroboros_parts;

TEST(ouroboros_layout, the_parts_of_a_state_change_alone) {
  const chunk_state state = chunk_state{0}.with_count(1000).with_hint(chunk_state::in_list).next_life();
  EXPECT_EQ(state.count(), 1000u);
  EXPECT_EQ(state.hint(), chunk_state::in_list);
  EXPECT_EQ(state.word >> 16, 1u);
  EXPECT_EQ(state.with_count(7).hint(), chunk_state::in_list);
  EXPECT_EQ(state.with_hint(3).count(), 1000u);
  EXPECT_EQ(state.with_count(7).with_hint(3).next_life().word >> 16, 2u);
}
TEST(ouroboros_layout, a_source_fits_the_bits_that_a_batch_has) {
  const std::uint64_t base = (std::uint64_t{1} << 45) - 1;
  const source from = source::make(source::staged_chunks, base, 15);
  EXPECT_EQ(from.what(), source::staged_chunks);
  EXPECT_EQ(from.base(), base);
  EXPECT_EQ(from.shift(), 15u);
  EXPECT_EQ(from.word >> 52, 0u);
}

struct number_chunks {
  WARPHEAP_FN void operator()(c::chunks of, std::uint64_t* out) const {
    out[0] = of.control().chunks;
    out[1] = of.chunks_in(5 * chunk_bytes + of.lead() + chunk_bytes - 1);
    out[2] = of.chunks_in(of.lead());
    const index_run four = of.take_neighbours(4, 4, 4);
    out[3] = four.count;
    out[4] = reinterpret_cast<std::uint64_t>(of.data() + four.first * chunk_bytes) % (4 * chunk_bytes);
    out[5] = is_free(of, four.first) || is_free(of, four.first + 3);
    of.set_owner(four.first, chunk_record::run_base + 4);
    out[6] = of.owner_of(four.first) - chunk_record::run_base;
    out[7] = of.take_neighbours(100, 100, 1).count;  // more than there are
    of.free_chunks().add(four);
    out[8] = of.take_neighbours(100, 1000, 1).count;
  }
};
TEST(ouroboros_chunks, spans_are_aligned_and_come_back) {
  expect_words(stage<c>{100}.run<c::chunks>(number_chunks{}), {100, 5, 0, 4, 0, 0, 4, 0, 100});
}

struct give_back_every_third {
  WARPHEAP_FN void operator()(c::chunks of, std::uint64_t*) const {
    if (grid_thread_index() < 42) of.give_back_together(active_group(), 3 * grid_thread_index());
  }
};
struct take_all {
  template <class Chunks>
  WARPHEAP_FN void operator()(Chunks of, std::uint64_t*) const {
    take_all_chunks(of);
  }
};
struct read_leaves {
  WARPHEAP_FN void operator()(c::chunks of, std::uint64_t* out) const {
    for (std::uint32_t i = 0; i < 2; ++i) out[i] = of.free_chunks().leaf_word(i);
  }
};
TEST(ouroboros_chunks, lanes_give_chunks_back_together) {
  stage<c> s{128};
  s.run<c::chunks>(take_all{});
  s.run<c::chunks>(give_back_every_third{}, 64);
  expect_words(s.run<c::chunks>(read_leaves{}), {0x9249'2492'4924'9249, 0x0924'9249'2492'4924});
}

struct queue_and_adopt {
  WARPHEAP_FN void operator()(c::queues of, std::uint64_t* out) const {
    const lane_mask group = active_group();
    const std::uint32_t before = static_cast<std::uint32_t>(popcount(of.chunks().free_chunks().leaf_word(0)));
    for (std::uint32_t i = 0; i < 5; ++i) require(of.queue(q).push(group, 10 + i), "no room");
    out[0] = static_cast<std::uint32_t>(popcount(of.chunks().free_chunks().leaf_word(0))) < before;
    const adopted_segment oldest = of.queue(q).adopt();
    out[1] = oldest.count;
    const source from = source::make(source::queued, oldest.segment.id);
    for (std::uint32_t i = 0; i < 5; ++i) out[2] += of.entry(from, i) == 10 + i;
    of.retire(q, from);
    out[3] = of.trim_queues(group);  // what the queue kept in reserve
    out[4] = static_cast<std::uint32_t>(popcount(of.chunks().free_chunks().leaf_word(0))) == before;
    out[5] = of.trim_queues(group);
  }
};
TEST(ouroboros_queues, a_segment_is_adopted_read_and_its_chunks_come_back) {
  expect_words(stage<c>{64}.run<c::queues>(queue_and_adopt{}), {1, 5, 5, 1, 1, 0});
}

struct use_staging_in_turn {
  WARPHEAP_FN void operator()(p::queues of, std::uint64_t* out) const {
    const lane_mask group = active_group();
    const std::uint32_t first = of.next_staging(q, group);
    ++of.chunks().of_class(q).turn;
    const std::uint32_t second = of.next_staging(q, group);
    ++of.chunks().of_class(q).turn;
    out[0] = first != second && of.next_staging(q, group) == first;
    out[1] = of.next_staging(q + 1, group) != first && of.next_staging(q + 1, group) != second;
    const std::uint64_t large = std::uint64_t{1} << 40;  // page numbers have more than 32 bits
    for (std::uint32_t i = 0; i < p::layout::staging_capacity; ++i) {
      of.staging(first)[i] = large + i;
      of.staging(second)[i] = 2 * large + i;
    }
    const source from = source::make(source::staged_pages, first);
    for (std::uint32_t i = 0; i < p::layout::staging_capacity; ++i) out[2] += of.entry(from, i) != large + i;
    of.use_staging(first);
    out[3] = of.flat().header(first).in_use;
    of.retire(q, from);
    of.await_staging(group, first);  // returns, since the segment is retired
    out[4] = of.flat().header(first).in_use;
  }
};
TEST(ouroboros_queues, staging_segments_are_used_in_turn_and_do_not_overlap) {
  expect_words(stage<p>{64}.run<p::queues>(use_staging_in_turn{}), {1, 1, 0, 1, 0});
}

struct set_and_take_bits {
  WARPHEAP_FN void operator()(c::page_bits of, std::uint64_t* out) const {
    constexpr std::uint32_t smallest = 0;  // 512 pages of 16 bytes
    const lane_mask self = active_group();
    for (const std::uint64_t page : {3, 40, 41, 511}) of.set_bits(self, smallest, 2 * chunk_bytes + page * 16);
    out[0] = of.take_page_bit(smallest, 2, 1) - 1024;  // the second set bit
    out[1] = of.take_page_bit(smallest, 2, 0) - 1024;
    std::uint64_t rest[2] = {0, 0};
    of.take_page_bits(smallest, 2, 2, rest);
    out[2] = rest[0] - 1024;
    out[3] = rest[1] - 1024;
    for (const std::uint32_t word : of.chunks().record(2).bits) out[4] += word;
    of.set_bits(self, smallest, 2 * chunk_bytes + 16);
    of.clear_bits(2);
    for (const std::uint32_t word : of.chunks().record(2).bits) out[5] += word;
  }
};
TEST(ouroboros_page_bits, ranks_take_other_bits_and_each_bit_is_taken_once) {
  const auto out = stage<c>{4}.run<c::page_bits>(set_and_take_bits{});
  std::uint64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += out[i];
  EXPECT_EQ(sum, 3u + 40u + 41u + 511u);
  EXPECT_NE(out[0], 3u);
  EXPECT_EQ(out[1], 3u);
  EXPECT_EQ(out[4], 0u);
  EXPECT_EQ(out[5], 0u);
}

struct set_bits_together {
  WARPHEAP_FN void operator()(c::page_bits of, std::uint64_t*) const {
    of.set_bits(active_group(), 0, chunk_bytes + grid_thread_index() * 7 % 512 * 16);
  }
};
struct take_bits_apart {
  WARPHEAP_FN void operator()(c::page_bits of, std::uint64_t* out) const {
    const std::uint64_t page = of.take_page_bit(0, 1, static_cast<std::uint32_t>(grid_thread_index() % 32));
    atomic_view{out[page - 512]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};
TEST(ouroboros_page_bits, threads_that_took_from_the_count_find_a_bit_each) {
  stage<c> s{4};
  s.run<c::page_bits>(set_bits_together{}, 256);
  const auto out = s.run<c::page_bits>(take_bits_apart{}, 256);
  for (std::uint64_t i = 0; i < 512; ++i) EXPECT_EQ(out[i * 7 % 512], i < 256 ? 1u : 0u) << i;
}

struct list_and_carry {
  WARPHEAP_FN void operator()(c::partial_lists of, std::uint64_t* out) const {
    const lane_mask group = active_group();
    for (const std::uint64_t chunk : {4, 5, 6}) of.list(q, chunk);
    out[0] = of.next_candidate(q, group);
    of.list(q, 7);  // while the chain of the others is not at its end
    out[1] = of.next_candidate(q, group);
    of.set_carried(q, of.carry(q, group, 9));
    out[2] = of.next_candidate(q, group);  // what is carried goes first
    out[3] = of.next_candidate(q, group);
    out[4] = of.next_candidate(q, group);
    out[5] = of.next_candidate(q, group) == no_chunk;
    out[6] = of.next_candidate(q + 1, group) == no_chunk;
    of.set_carried(q, of.carry(q, group, 8));
    of.list_carried(q, group);
    out[7] = of.chunks().of_class(q).carried;
    out[8] = of.next_candidate(q, group);
  }
};
TEST(ouroboros_partial_lists, carried_chunks_then_the_chain_then_the_list) {
  expect_words(stage<c>{16}.run<c::partial_lists>(list_and_carry{}), {6, 5, 9, 4, 7, 1, 1, 0, 8});
}

struct list_own_chunk {
  WARPHEAP_FN void operator()(c::partial_lists of, std::uint64_t*) const { of.list(q, grid_thread_index()); }
};
struct empty_list {
  WARPHEAP_FN void operator()(c::partial_lists of, std::uint64_t* out) const {
    for (;;) {
      const std::uint64_t chunk = of.next_candidate(q, active_group());
      if (chunk == no_chunk) return;
      ++out[chunk];
    }
  }
};
TEST(ouroboros_partial_lists, no_chunk_is_lost_when_many_threads_push) {
  stage<c> s{256};
  s.run<c::partial_lists>(list_own_chunk{}, 256);
  const auto out = s.run<c::partial_lists>(empty_list{});
  for (std::uint64_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], 1u) << i;
}

struct count_up_and_down {
  WARPHEAP_FN void operator()(c::deferral of, std::uint64_t* out) const {
    take_all_chunks(of.chunks());
    const lane_mask self = active_group();
    bool gives_back = false;
    bool more = false;
    out[0] = of.count_pages(self, q, offset_of(3, 0), gives_back) == pending_action::queue && !gives_back;
    out[1] = of.nothing_moves();  // the hint is on its way
    of.end_move(q);
    out[2] = of.nothing_moves();
    out[3] = of.count_pages(self, q, offset_of(3, 1), gives_back) == pending_action::none && !gives_back;
    out[4] = of.take_counted(q, 3, 5, false, more);
    out[5] = of.state_of(3).hint() == q + 1 && !more;  // only the last holder clears the hint
    out[6] = of.take_counted(q + 1, 3, 5, true, more);
    out[7] = of.take_counted(q, 3, 5, true, more);
    out[8] = of.state_of(3).hint() == chunk_state::no_hint && !more;
    std::uint64_t taken[2] = {0, 0};
    of.bits().take_page_bits(q, 3, 2, taken);
    for (std::uint32_t i = 0; i + 1 < pages; ++i) {
      if (of.count_pages(self, q, offset_of(3, i), gives_back) != pending_action::none) of.end_move(q);
    }
    const pending_action last = of.count_pages(self, q, offset_of(3, pages - 1), gives_back);
    out[9] = last == pending_action::give_back && gives_back;
    out[10] = of.state_of(3).count() == 0 && !is_free(of.chunks(), 3) && !of.nothing_moves();
    of.finish_pending_action(q, self, 3, last, gives_back);
    out[11] = is_free(of.chunks(), 3) && of.nothing_moves();
    out[12] = of.chunks().record(3).bits[0];
    out[13] = of.state_of(3).word >> 16;  // lives that have ended
  }
};
TEST(ouroboros_deferral, the_last_page_gives_the_chunk_back) {
  expect_words(stage<c>{16}.run<c::deferral>(count_up_and_down{}), {1, 0, 1, 1, 2, 1, 0, 0, 1, 1, 1, 1, 0, 1});
}

struct list_and_collect {
  WARPHEAP_FN void operator()(c::deferral of, std::uint64_t* out) const {
    take_all_chunks(of.chunks());
    const lane_mask self = active_group();
    bool gives_back = false;
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (of.count_pages(self, q, offset_of(5, i), gives_back) == pending_action::queue) {
        of.list_instead(q, 5);
        of.end_move(q);
      }
    }
    out[0] = of.state_of(5).hint() == chunk_state::in_list;
    out[1] = of.take_fully_free(q, 5);  // two pages are in use
    for (std::uint32_t i = 2; i < pages; ++i) {
      out[2] += of.count_pages(self, q, offset_of(5, i), gives_back) != pending_action::none;  // a listed chunk stays
    }
    out[3] = of.chunks().of_class(q).fully_free;
    out[4] = of.lists().next_candidate(q, self);
    out[5] = of.collect_chunk(q, 5);
    out[6] = of.chunks().of_class(q).fully_free;
    out[7] = of.state_of(5).hint() == chunk_state::no_hint && of.state_of(5).count() == 0;
    of.count_free(q, 5, 1);  // cannot use one of them
    out[8] = of.state_of(5).hint() == chunk_state::in_list && of.state_of(5).count() == 1;
    of.count_free(q, 5, pages - 1);
    out[9] = of.take_fully_free(q, 5);
    of.give_back(5);
    out[10] = is_free(of.chunks(), 5) && of.chunks().record(5).bits[0] == 0;
    out[11] = of.nothing_moves();
    of.list_instead(q, 5);  // a hint that is out of date
    out[12] = of.state_of(5).hint();
  }
};
TEST(ouroboros_deferral, a_listed_chunk_stays_until_it_is_taken_off) {
  expect_words(stage<c>{16}.run<c::deferral>(list_and_collect{}), {1, 0, 0, 1, 5, 4, 0, 1, 1, 1, 1, 1, 0});
}

struct free_whole_chunks {
  WARPHEAP_FN void operator()(c::deferral of, std::uint64_t* out) const {
    // Lanes may come in parts, so a part frees a chunk at once or page by page.
    const lane_mask group = active_group();
    const std::uint64_t chunk = grid_thread_index() / pages;
    bool gives_back = false;
    const pending_action action = of.count_pages(group, q, offset_of(chunk, grid_thread_index() % pages), gives_back);
    if (gives_back) atomic_view{out[chunk]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    sync(group);
    of.finish_pending_action(q, group, chunk, action, gives_back);
  }
};
TEST(ouroboros_deferral, lanes_that_free_a_whole_chunk_give_it_back_once) {
  stage<c> s{64};
  s.run<c::chunks>(take_all{});
  const auto out = s.run<c::deferral>(free_whole_chunks{}, 64 * pages);
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 1u) << i;
  EXPECT_EQ(s.run<c::chunks>(read_leaves{})[0], ~std::uint64_t{0});
}

struct overfill_hints {
  WARPHEAP_FN void operator()(tiny::hints of, std::uint64_t* out) const {
    const std::uint64_t all = of.chunks().control().chunks;
    take_all_chunks(of.chunks());
    defer_one_each(of, 0, all);
    for (std::uint64_t chunk = 0; chunk < all; ++chunk) {
      out[0] += of.deferral().state_of(chunk).hint() == q + 1;
      out[1] += of.deferral().state_of(chunk).hint() == chunk_state::in_list;
    }
    out[2] = of.queues().queue(q).size();
    while (of.lists().next_candidate(q, active_group()) != no_chunk) ++out[3];
    out[4] = of.deferral().nothing_moves();
  }
};
TEST(ouroboros_hints, a_hint_without_room_in_the_queue_is_listed_and_its_field_says_so) {
  constexpr std::uint64_t chunks = 4096;
  const auto out = stage<tiny>{chunks}.run<tiny::hints>(overfill_hints{});
  EXPECT_EQ(out[0] + out[1], chunks);
  EXPECT_GT(out[0], 0u);
  EXPECT_GT(out[1], 0u);
  EXPECT_EQ(out[2], out[0]);
  EXPECT_EQ(out[3], out[1]);
  EXPECT_EQ(out[4], 1u);
}

}  // namespace
}  // namespace warpheap::test::ouroboros_parts_test
