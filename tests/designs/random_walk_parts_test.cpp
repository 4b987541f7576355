// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The parts of random_walk, each by itself: what a request asks for, blocks of lines, what a search proves and how
// often it is made again, and sweeps by lanes that want different sizes.

#include <gtest/gtest.h>

#include <cstdint>
#include <designs/part_stage.hpp>
#include <support/schedules.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/random_walk/random_walk.hpp>

namespace warpheap::test::random_walk_parts_test {
namespace {

using allocator = basic_random_walk<4, 0>;  // without random steps: each search looks at all places
using layout = detail::walk_layout<4, 0>;
using lines = detail::walk_lines<layout>;
using quiescence = detail::walk_quiescence<layout>;
using sweep = detail::walk_sweep<layout>;
using runs = detail::walk_runs<layout>;
using detail::walk_place;
using detail::walk_request;
using verdict = quiescence::verdict;

static_assert(std::is_trivially_copyable_v<runs> && std::is_trivially_copyable_v<quiescence>);
// Kernels carry the addresses once, whatever the number of parts.
static_assert(sizeof(runs) == sizeof(lines) && sizeof(allocator) == sizeof(lines));

constexpr std::uint32_t pages = line_word::pages;
constexpr std::uint64_t line_bytes = line_word::line_bytes;
constexpr std::uint64_t words_out = 64;
using stage = part_stage<allocator, 4096, words_out>;

TEST(random_walk_request, lies_within_a_line_or_begins_with_one) {
  walk_request wanted{};
  ASSERT_TRUE(walk_request::make(16, 0, 0, 8, wanted));
  EXPECT_EQ(wanted, walk_request::within_line(1));
  ASSERT_TRUE(walk_request::make(64, 80, 0, 8, wanted));
  EXPECT_EQ(wanted, walk_request::within_line(8)) << "a multiple of the alignment";
  ASSERT_TRUE(walk_request::make(16, 3 * line_bytes + 1, 0, 8, wanted));
  EXPECT_FALSE(wanted.is_within_line());
  EXPECT_EQ(wanted.lines, 4u);
  EXPECT_EQ(wanted.places(8), 2u);
  EXPECT_EQ(wanted.line_of(1), 4u);
  EXPECT_EQ(wanted.word_of(0), line_word::make(~0u, 1));
  EXPECT_EQ(wanted.word_of(3), line_word::make(1, 0));
  EXPECT_EQ(wanted.above_least(), 0u);
  EXPECT_FALSE(walk_request::make(16, 9 * line_bytes, 0, 8, wanted)) << "more lines than there are";
  ASSERT_TRUE(walk_request::make(4 * line_bytes, 16, line_bytes, 8, wanted));
  EXPECT_EQ(wanted.phase, 3u) << "the first line that is aligned";
  EXPECT_EQ(wanted.stride, 4u);
  EXPECT_EQ(wanted.places(8), 2u);
  EXPECT_FALSE(wanted.noted || wanted.is_within_line());
  EXPECT_FALSE(walk_request::make(64 * line_bytes, 16, line_bytes, 8, wanted)) << "no line is aligned";
}

TEST(random_walk_request, each_size_has_a_note_of_its_own) {
  std::vector<std::uint32_t> least(walk_request::indices, 0);
  for (std::uint32_t size = 1; size <= walk_request::most_lines * pages; ++size) {
    walk_request wanted{};
    ASSERT_TRUE(walk_request::make(16, std::uint64_t{size} * 16, 0, walk_request::most_lines, wanted));
    ASSERT_LT(wanted.index(), walk_request::indices);
    std::uint32_t& first = least[wanted.index()];
    if (first == 0) first = size;
    EXPECT_EQ(wanted.above_least(), size - first);
  }
}

TEST(random_walk_lines, sizes_fit_that_have_a_place) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::uint32_t taken = split(mix(seed)).low & split(mix(seed + 1000)).high;
    const std::uint32_t sizes = split(mix(seed + 2000)).low;
    std::uint32_t fit = 0;
    for (std::uint32_t size = 1; size <= pages; ++size) {
      if ((sizes >> (size - 1) & 1) != 0 && line_word::places(taken, size) != 0) fit |= 1u << (size - 1);
    }
    ASSERT_EQ(line_word::sizes_that_fit(taken, sizes), fit);
  }
  EXPECT_EQ(line_word::sizes_that_fit(0, ~0u), ~0u);
  EXPECT_EQ(line_word::sizes_that_fit(~0u, ~0u), 0u);
}

struct take_and_give_run {
  WARPHEAP_FN void operator()(lines of, std::uint64_t* out) const {
    const walk_request wanted{2 * pages + 5, 3, 3, 0, true};
    out[0] = of.take_run(1, wanted);
    out[1] = of.take_run(0, wanted) || of.take_run(3, wanted);  // pages that the first has
    out[2] = of.look(0);
    out[3] = of.look(3);
    out[4] = of.take(3, 4, 8) == 0x11111100u;  // places at multiples of 4, from page 8 on
    out[5] = of.changes().begin_search().runs.quiescent;
    of.give_run(1);
    out[6] = of.look(1) | of.look(2);
    out[7] = line_word::taken(of.look(3)) == 0xffffff00u;
  }
};
TEST(random_walk_lines, a_run_is_taken_as_a_whole_or_not_at_all) {
  const auto out = stage{8 * line_bytes}.run<lines>(take_and_give_run{});
  expect_words(out, {1, 0, 0, line_word::make(31, 0), 1, 1, 0, 1});
}

struct judge_searches {
  WARPHEAP_FN void operator()(lines of, std::uint64_t* out) const {
    const quiescence q = of.changes();
    const auto as_number = [](verdict v) { return static_cast<std::uint64_t>(v); };
    quiescence::retry_limits left{2, 1};
    detail::walk_snapshot before = q.begin_search();
    out[0] = as_number(q.judge(before, left));
    q.begin_run();
    out[1] = as_number(q.judge(before, left));  // begun since
    const detail::walk_snapshot within = q.begin_search();
    out[2] = as_number(q.judge(within, left));  // under way at the begin
    q.end_run();
    out[3] = as_number(q.judge(within, left));  // ended since: it was under way all the same
    before = q.begin_search();
    out[4] = as_number(q.judge(before, left));
    q.note_return();
    for (int i = 0; i < 3; ++i) out[5 + i] = as_number(q.judge(before, left));
    const walk_request wanted = walk_request::within_line(3);
    before = q.begin_search();
    out[8] = q.is_refused(wanted, before.returns);
    q.note_refusal(wanted, before.returns);
    out[9] = q.is_refused(wanted, q.begin_search().returns);
    out[10] = q.is_refused(walk_request::within_line(2), q.begin_search().returns);
    q.note_return();
    out[11] = q.is_refused(wanted, q.begin_search().returns);
  }
};
TEST(random_walk_quiescence, only_a_search_that_nothing_slipped_by_is_proof) {
  constexpr auto exhausted = static_cast<std::uint64_t>(verdict::exhausted);
  constexpr auto again = static_cast<std::uint64_t>(verdict::again);
  constexpr auto enough = static_cast<std::uint64_t>(verdict::enough);
  const auto out = stage{line_bytes}.run<lines>(judge_searches{});
  expect_words(out, {exhausted, again, enough, enough, exhausted, again, again, enough, 0, 1, 0, 0});
}

// Lanes of a warp that want different sizes sweep a heap that has a place for each of them and no more.
struct sweep_kernel {
  WARPHEAP_FN void operator()(sweep of, std::uint64_t* out) const {
    const auto rank = static_cast<std::uint32_t>(lane_index());
    const lane_mask group = low_bits(warp_width);
    const std::uint32_t size = rank + 1;
    if (rank == 0) {
      for (std::uint32_t line = 0; line < of.lines().count(); ++line) of.lines().take(line, 1, pages);
      for (std::uint32_t lane = 0; lane < warp_width; ++lane) {
        of.lines().give(3 * lane, line_word::make(line_word::run(0, lane + 1), line_word::run(0, lane + 1)));
      }
    }
    sync(group);
    const walk_place place = of.take(group, size, 17);
    out[rank] = place.served ? line_word::length(of.lines().look(place.line), place.page) : 0;
    sync(group);
    // All is taken: one sweep refuses each size, and notes it.
    const bool refused = !of.take(group, size, 5).served;
    const std::uint64_t returns = of.lines().changes().begin_search().returns;
    const bool noted = of.lines().changes().is_refused(walk_request::within_line(size), returns);
    const bool all_refused = all(group, refused && noted);
    if (rank == 0) out[pages] = all_refused;
  }
};
TEST(random_walk_sweep, serves_lanes_that_want_different_sizes) {
  for_each_schedule([](std::uint64_t) {
    const stage heap{3 * warp_width * line_bytes};
    const device_array<std::uint64_t> out(words_out);
    launch({1, warp_width}, sweep_kernel{}, sweep{heap.from()}, out.data());
    const auto found = out.to_host();
    for (std::uint32_t lane = 0; lane < warp_width; ++lane)
      EXPECT_EQ(found[lane], lane + 1) << "pages of lane " << lane;
    EXPECT_EQ(found[pages], 1u) << "a full heap refuses each size, with a note";
  });
}

// Lanes that want runs of two lengths share a heap that has room for all of them.
struct runs_kernel {
  WARPHEAP_FN void operator()(runs of, std::uint64_t* out) const {
    const std::uint32_t count = 2 + grid_thread_index() % 2;
    const std::uint32_t line = of.take({count * pages, count, count, 0, true});
    if (line == runs::none) return;
    atomic_view{out[0]}.fetch_add(count, memory_order::relaxed, thread_scope::device);
    of.lines().give_run(line);
  }
};
struct count_taken_lines {
  WARPHEAP_FN void operator()(lines of, std::uint64_t* out) const {
    for (std::uint32_t line = 0; line < of.count(); ++line) out[0] += of.look(line) != 0;
  }
};
TEST(random_walk_runs, lanes_that_want_different_runs_are_all_served) {
  for_each_schedule([](std::uint64_t) {
    stage heap{6 * 64 * line_bytes};  // room for 64 runs, wherever they lie
    EXPECT_EQ(heap.run<runs>(runs_kernel{}, 64)[0], 64u * 5 / 2);
    EXPECT_EQ(heap.run<lines>(count_taken_lines{})[0], 0u) << "lines were taken for nobody";
  });
}

// Thread 0 asks for what a full heap does not have while thread 1 gives one page back and takes it again: in each sweep
// of thread 0 something came back. Thread 0 is refused while thread 1 still runs.
struct ask_while_pages_move {
  static constexpr std::uint64_t rounds = 4000;

  std::uint64_t bytes;
  WARPHEAP_FN void operator()(allocator self, std::uint64_t* out) const {
    const atomic_view done{out[0]};
    if (grid_thread_index() == 0) {
      const void* const block = self.malloc(bytes);
      require(block == nullptr, "a block of a full heap");
      done.store(1, memory_order::relaxed, thread_scope::device);
      return;
    }
    void* page = reinterpret_cast<void*>(out[1]);
    std::uint64_t round = 0;
    for (; round < rounds && done.load(memory_order::relaxed, thread_scope::device) == 0; ++round) {
      self.free(page);
      page = self.malloc(16);
      require(page != nullptr, "the page that came back");
    }
    out[2] = round;
  }
};
struct fill_kernel {
  WARPHEAP_FN void operator()(lines of, std::uint64_t* out) const {
    for (std::uint32_t line = 0; line < of.count(); ++line) of.take(line, 1, pages);
    out[1] = reinterpret_cast<std::uint64_t>(of.address({0, 5, true}));
  }
};

// One worker: with two the system decides how many rounds thread 1 makes while thread 0 is kept from running.
TEST(random_walk_search, ends_though_pages_come_back_for_ever) {
  for_each_seed(schedule::policy::random, 3, [](std::uint64_t) {
    for (const std::uint64_t bytes : {std::uint64_t{32}, line_bytes, 2 * line_bytes}) {
      const stage heap{256 * line_bytes};  // a sweep takes longer than thread 1 for a round
      const device_array<std::uint64_t> out(words_out);
      launch({1, 1}, fill_kernel{}, lines{heap.from()}, out.data());
      launch({2, 1}, ask_while_pages_move{bytes}, allocator{heap.from()}, out.data());
      EXPECT_LT(out.at(2), ask_while_pages_move::rounds) << bytes << " bytes were asked for as long as pages moved";
    }
  });
}

}  // namespace
}  // namespace warpheap::test::random_walk_parts_test
