// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What a search that found nothing proves: nothing that slipped by it is taken for exhaustion, and a proof refuses
// others until something is freed.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/sync.hpp>

namespace warpheap::test::search_proof_test {
namespace {

using counts = search_counts<4, 2>;

/// A part below that counts frees of its own.
struct source_below {
  std::uint64_t* frees;
  WARPHEAP_FN std::uint64_t epoch() const {
    return atomic_view{*frees}.load(memory_order::relaxed, thread_scope::device);
  }
};
using proof = search_proof<counts, source_below>;

struct watch_kernel {
  WARPHEAP_FN void operator()(counts* state, std::uint64_t* below, std::uint32_t* out) const {
    const proof p{*state, source_below{below}};
    const auto tell = [&p](const search_snapshot& before) { return static_cast<std::uint32_t>(p.since(before)); };
    const search_snapshot first = p.begin_search();
    out[0] = tell(first);
    p.begin_change();
    out[1] = tell(first);  // begun since
    const search_snapshot within = p.begin_search();
    out[2] = tell(within);  // under way at the begin, and still
    p.end_change();
    out[3] = tell(within);  // ended since: it was under way all the same
    const search_snapshot later = p.begin_search();
    out[4] = tell(later);
    p.note_free();
    out[5] = tell(later);
    const search_snapshot last = p.begin_search();
    *below += 1;
    out[6] = tell(last);
    p.begin_change();
    out[7] = tell(last);  // freed and moved: what moves may be what the search missed
    const search_snapshot during = p.begin_search();
    p.note_free();
    out[8] = tell(during);  // freed while memory was on its way
    p.end_change();
  }
};

TEST(search_proof, only_a_search_that_nothing_slipped_by_is_proof) {
  device_array<counts> state(1);
  device_array<std::uint64_t> below(1);
  device_array<std::uint32_t> out(9);
  launch({1, 1}, watch_kernel{}, state.data(), below.data(), out.data());
  using enum search_course;
  const std::vector<search_course> expected{quiescent, moved, pending, pending, quiescent, freed, freed, moved, moved};
  const auto got = out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got[i], static_cast<std::uint32_t>(expected[i])) << i;
}

struct refuse_kernel {
  WARPHEAP_FN void operator()(counts* state, std::uint64_t* below, std::uint32_t* out) const {
    const proof p{*state, source_below{below}};
    const search_snapshot before = p.begin_search();
    out[0] = p.is_refused(1, before.freed);
    p.note_refusal(1, before);
    out[1] = p.is_refused(1, p.freed());
    out[2] = p.is_refused(0, p.freed());  // another request
    search_snapshot mine{};
    out[3] = p.begins_refused(lane_bit(), 1, mine);
    p.note_free();
    out[4] = p.is_refused(1, p.freed());
    out[5] = p.begins_refused(lane_bit(), 1, mine);
    out[6] = mine.freed == before.freed + 1;
    p.note_refusal(1, mine);
    *below += 1;
    out[7] = p.is_refused(1, p.freed());
  }
};

TEST(search_proof, a_proof_refuses_that_request_until_something_is_freed) {
  device_array<counts> state(1);
  device_array<std::uint64_t> below(1);
  device_array<std::uint32_t> out(8);
  launch({1, 1}, refuse_kernel{}, state.data(), below.data(), out.data());
  EXPECT_EQ(out.to_host(), (std::vector<std::uint32_t>{0, 1, 0, 1, 0, 0, 1, 0}));
}

TEST(search_limits, what_is_pending_is_waited_for_and_the_rest_is_limited) {
  search_limits left;
  EXPECT_FALSE(left.at_end());
  EXPECT_FALSE(left.allow(search_course::quiescent));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(left.allow(search_course::pending));
  std::uint32_t frees = 0;
  while (left.allow(search_course::freed)) ++frees;
  EXPECT_EQ(frees, search_limits{}.frees);
  EXPECT_TRUE(left.at_end());
  std::uint32_t changes = 0;
  while (left.allow(search_course::moved)) ++changes;
  EXPECT_EQ(changes, search_limits{}.changes);
  EXPECT_TRUE(left.allow(search_course::pending));
}

/// A search that finds nothing `turns` times, with this course, and then a block. Two halves of a warp call it: the
/// upper half finds something at once.
struct turns_kernel {
  WARPHEAP_FN void operator()(search_course how, std::uint32_t turns, std::uint32_t* calls, std::uint32_t* last,
                              std::uint32_t* served) const {
    const lane_mask together = active_group();
    const bool upper = lane_index() >= group_size(together) / 2;
    const lane_mask peers = match(together, std::uint64_t{upper});
    std::uint32_t* const mine = calls + grid_thread_index();
    std::uint32_t* const ends = last + grid_thread_index();
    void* const got = search_in_turns(together, peers, [=](lane_mask waiting, bool at_end) {
      require(waiting == peers, "a search is of the lanes that wait");
      *ends += at_end;
      const bool finds = upper || *mine >= turns;
      ++*mine;
      return search_result{finds ? mine : nullptr, finds ? search_course::pending : how};
    });
    served[grid_thread_index()] = got == mine;
  }
};

struct turns {
  std::uint32_t calls;   // of the lower half
  std::uint32_t last;    // calls that were told that they may be the last
  std::uint32_t served;  // 1 if it got a block
  friend bool operator==(const turns&, const turns&) = default;
};
turns take_turns(search_course how, std::uint32_t needed) {
  constexpr int lanes = 8;
  const device_array<std::uint32_t> calls(lanes);
  const device_array<std::uint32_t> last(lanes);
  const device_array<std::uint32_t> served(lanes);
  launch({1, lanes}, turns_kernel{}, how, needed, calls.data(), last.data(), served.data());
  for (int lane = lanes / 2; lane < lanes; ++lane) {
    EXPECT_EQ(calls.at(lane), 1u);
    EXPECT_EQ(served.at(lane), 1u);
  }
  for (int lane = 0; lane < lanes / 2; ++lane) EXPECT_EQ(calls.at(lane), calls.at(0));
  return {calls.at(0), last.at(0), served.at(0)};
}

TEST(search_in_turns, searches_until_a_block_is_found_or_the_limit_is_met) {
  using enum search_course;
  EXPECT_EQ(take_turns(pending, 200), (turns{201, 0, 1}));
  EXPECT_EQ(take_turns(quiescent, 1), (turns{1, 0, 0}));
  EXPECT_EQ(take_turns(moved, 64), (turns{65, 1, 1}));
  EXPECT_EQ(take_turns(moved, 65), (turns{65, 1, 0}));
  EXPECT_EQ(take_turns(freed, 4), (turns{5, 1, 1}));
  EXPECT_EQ(take_turns(freed, 5), (turns{5, 1, 0}));
}

/// A search that reads many words finds a block after some turns.
struct long_search_kernel {
  WARPHEAP_FN void operator()(std::uint32_t* words, std::uint32_t* served) const {
    const lane_mask group = active_group();
    std::uint32_t turns = 0;
    void* const got = search_in_turns(group, group, [=, &turns](lane_mask, bool) {
      std::uint32_t sum = 0;
      for (int i = 0; i < 64; ++i) {
        sum += atomic_view{words[i]}.load(memory_order::relaxed, thread_scope::device);
      }
      const bool finds = ++turns > 50 && sum == 0;
      return search_result{finds ? words : nullptr, search_course::pending};
    });
    if (got != nullptr) atomic_view{*served}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

// A host executor that watches for launches in which all lanes only wait must not take searches for that.
TEST(search_in_turns, a_search_is_work) {
  schedule plan = current_schedule();
  plan.order = schedule::policy::random;
  plan.fuzz = true;  // lanes change at each access, so a search takes many turns
  plan.stalled_rounds = 16;
  const scoped_schedule use{plan};
  const device_array<std::uint32_t> words(64);
  const device_array<std::uint32_t> served(1);
  launch({2, 64}, long_search_kernel{}, words.data(), served.data());
  EXPECT_EQ(served.at(0), 128u);
}

/// Blocks lie in two rows, or in the hands of a thread that moves one within a change.
constexpr std::uint32_t blocks = 8;
struct room {
  counts state;
  std::uint64_t below;
  std::uint32_t row[2][blocks];
  std::uint32_t served;
  std::uint32_t refused;
};

struct fill_kernel {
  WARPHEAP_FN void operator()(room* in) const {
    for (std::uint32_t i = 0; i < blocks; ++i) in->row[0][i] = 1;
  }
};

/// The lanes of even warps ask for a block each and give none back; those of odd ones move blocks to and fro. More
/// lanes ask than there are blocks: as many are served as there are blocks, and all others are refused.
struct ask_kernel {
  WARPHEAP_FN static bool claim(std::uint32_t& word) {
    std::uint32_t expected = 1;
    return atomic_view{word}.compare_exchange(expected, 0u, memory_order::acquire, thread_scope::device);
  }
  WARPHEAP_FN static void put(std::uint32_t& word) {
    atomic_view{word}.store(1, memory_order::release, thread_scope::device);
  }

  WARPHEAP_FN void operator()(room* in, int moves) const {
    const proof p{in->state, source_below{&in->below}};
    if (grid_warp_index() % 2 != 0) {
      const auto at = static_cast<std::uint32_t>(grid_thread_index() % blocks);
      for (int i = 0; i < moves; ++i) {
        p.begin_change();
        if (claim(in->row[i % 2][at])) {
          for (int j = 0; j < 100; ++j) static_cast<void>(p.freed());  // it is in no row for a while
          put(in->row[(i + 1) % 2][at]);
        }
        p.end_change();
      }
      return;
    }
    const lane_mask group = active_group();
    void* const got = search_in_turns(group, group, [in, p](lane_mask waiting, bool) {
      search_snapshot before{};
      if (p.begins_refused(waiting, 0, before)) return search_result{nullptr, search_course::quiescent};
      void* found = nullptr;
      for (std::uint32_t i = 0; i < 2 * blocks && found == nullptr; ++i) {
        std::uint32_t& word = in->row[i / blocks][i % blocks];
        if (claim(word)) found = &word;
      }
      if (any(waiting, found != nullptr)) return search_result{found, search_course::pending};
      auto how = search_course::pending;
      if (is_leader(waiting)) how = p.since(before);
      if (is_leader(waiting) && how == search_course::quiescent) p.note_refusal(0, before);
      how = static_cast<search_course>(shuffle(waiting, static_cast<std::uint32_t>(how), leader(waiting)));
      return search_result{nullptr, how};
    });
    std::uint32_t& sum = got != nullptr ? in->served : in->refused;
    atomic_view{sum}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

TEST(search_proof, a_turn_serves_or_refuses_each_lane_and_no_block_is_missed) {
  for_each_schedule([](std::uint64_t) {
    device_array<room> in(1);
    launch({1, 1}, fill_kernel{}, in.data());
    // Few moves: a search that changes disturb may give up at its limit, and these are below it.
    launch({2, 64}, ask_kernel{}, in.data(), 1);
    const room end = in.to_host().front();
    std::uint32_t left = 0;
    for (const auto& row : end.row) {
      for (const std::uint32_t word : row) left += word;
    }
    EXPECT_EQ(end.served + left, blocks);
    EXPECT_EQ(end.served + end.refused, 64u);
    EXPECT_EQ(left, 0u) << "lanes were refused while blocks were there";
  });
}

}  // namespace
}  // namespace warpheap::test::search_proof_test
