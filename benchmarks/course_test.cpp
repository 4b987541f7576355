// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The skeleton of a case calls a course in the documented order, ends where it has to, and reports what was found. Its
// fixtures count, free and judge the blocks of a round.

#include <gtest/gtest.h>

#include <allocator/reference.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/platform.hpp>

#include "measure/course.hpp"
#include "measure/filling.hpp"
#include "measure/fixtures.hpp"

namespace warpheap::bench::course_test {
namespace {

using sound = test::locked_list<>;

run_options options_of(std::uint64_t threads = 100, std::uint64_t size = 32) {
  run_options options;
  options.mode = "thread";
  options.threads = threads;
  options.size = size;
  options.heap_bytes = std::uint64_t{1} << 16;
  options.iterations = 2;
  options.warmup = 1;
  options.verify = verify_policy::ends;
  return options;
}

// What a course below does, and what was called, a word for each call.
struct script {
  std::vector<std::string> calls;
  std::string unfit_options;
  std::string unfit_heap;
  std::uint64_t fault_in_round = 0;    ///< 0: never
  std::uint64_t refusal_in_round = 0;  ///< 0: never
};

script* acted = nullptr;

struct counted_fixture : fixture_base {
  explicit counted_fixture(const run_options& asked) : fixture_base(asked) {
    acted->calls.push_back("fixture of " + std::to_string(asked.threads));
  }
  void finish() { acted->calls.push_back("finish"); }
};

// A course that overrides everything and notes each call.
struct counted_course : course_defaults {
  using fixture = counted_fixture;
  explicit counted_course(fixture& on) : on_(on) { acted->calls.push_back("course"); }

  static std::string unfit_options(const run_options&) { return acted->unfit_options; }
  static run_options adapted(run_options options) {
    options.threads = 7;
    return options;
  }
  std::string unfit_heap() const { return acted->unfit_heap; }
  void describe(json_object& record) const { record.add("described", true); }
  std::vector<const samples*> watched() const { return {&times_}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    acted->calls.push_back(std::string{kind.timed ? "timed" : "untimed"} + (kind.judged ? " judged" : ""));
    on_.found.requests += asked.count;
    if (kind.timed) times_.add(static_cast<double>(on_.found.rounds));
    if (on_.found.rounds == acted->fault_in_round) on_.found.fault = "broken";
    if (on_.found.rounds != acted->refusal_in_round) return;
    on_.found.failures = 1;
    on_.found.refusal = "refused";
  }

  void add_measures(findings& found) const {
    acted->calls.push_back("measures");
    found.add("time", microseconds, times_);
  }

 private:
  fixture& on_;
  samples times_;
};

struct unfit_course : counted_course {
  using counted_course::counted_course;
  static constexpr const char* unfit_design = "not for this design";
};

// A course without rounds, and with the defaults for everything else.
struct plain_course : course_defaults {
  using fixture = fixture_base;
  explicit plain_course(fixture& on) : on_(on) {}
  void measure() { on_.found.rounds = 5; }
  void add_measures(findings& found) const { found.add("value", space_ratio, 1.5); }

 private:
  fixture& on_;
};

class skeleton : public testing::Test {
 protected:
  void SetUp() override { acted = &script_; }
  void TearDown() override { acted = nullptr; }

  template <class Course = counted_course>
  void run(const run_options& options = options_of()) {
    json_object record;
    reason_ = run_course<Course>(options, record);
    record_ = record.text();
  }
  bool says(const std::string& text) const { return record_.find(text) != std::string::npos; }

  script script_;
  std::string reason_;
  std::string record_;
};

using calls = std::vector<std::string>;

TEST_F(skeleton, runs_warm_ups_then_timed_rounds_then_a_judged_one_and_reports) {
  run();
  EXPECT_EQ(script_.calls, (calls{"fixture of 7", "course", "untimed judged", "timed", "timed", "untimed judged",
                                  "finish", "measures"}));
  EXPECT_EQ(reason_, "");
  EXPECT_EQ(record_.find(R"({"described": true, "failures": 0, "refused": 0, "requests": 28, )"), 0u) << record_;
  EXPECT_TRUE(says(R"("rounds": 4, )")) << record_;
  EXPECT_TRUE(says(R"("time": {"median": 2.5, )")) << record_;
}

TEST_F(skeleton, goes_on_until_the_watched_figures_are_known) {
  run_options options = options_of();
  options.most_iterations = 9;
  options.precision = 1e-9;
  run(options);
  EXPECT_TRUE(says(R"("rounds": 11, )")) << "a warm-up, nine timed rounds, a judged one: " << record_;
}

TEST_F(skeleton, ends_at_a_fault_and_reports_no_measures) {
  script_.fault_in_round = 2;
  run();
  EXPECT_EQ(script_.calls, (calls{"fixture of 7", "course", "untimed judged", "timed", "finish", "measures"}));
  EXPECT_EQ(reason_, "broken");
  EXPECT_TRUE(says(R"("verified": false)") && says(R"("measures": {})")) << record_;
}

TEST_F(skeleton, ends_at_a_refusal_and_says_why) {
  script_.refusal_in_round = 1;
  run();
  EXPECT_EQ(script_.calls, (calls{"fixture of 7", "course", "untimed judged", "finish", "measures"}));
  EXPECT_EQ(reason_, "refused");
  EXPECT_TRUE(says(R"("failures": 1, )") && says(R"("measures": {})")) << record_;
}

TEST_F(skeleton, tells_of_a_fault_before_a_refusal) {
  script_.fault_in_round = script_.refusal_in_round = 1;
  run();
  EXPECT_EQ(reason_, "broken");
}

TEST_F(skeleton, makes_nothing_for_unfit_designs_and_options) {
  script_.unfit_options = "too few threads";
  run();
  EXPECT_EQ(reason_, "too few threads");
  EXPECT_TRUE(says(R"("rounds": 0, )") && says(R"("measures": {})")) << record_;
  run<unfit_course>();
  EXPECT_EQ(reason_, "not for this design") << "the design is asked about first";
  EXPECT_EQ(script_.calls, calls{});
}

TEST_F(skeleton, runs_no_round_on_an_unfit_heap) {
  script_.unfit_heap = "too small";
  run();
  EXPECT_EQ(script_.calls, (calls{"fixture of 7", "course"}));
  EXPECT_EQ(reason_, "too small");
  EXPECT_EQ(record_.find(R"({"described": true, )"), 0u) << record_;
}

TEST_F(skeleton, lets_a_course_measure_without_rounds) {
  run<plain_course>();
  EXPECT_EQ(reason_, "");
  EXPECT_TRUE(says(R"("rounds": 5, )") && says(R"("value": {"median": 1.5, )")) << record_;
}

TEST(unfit, tells_what_the_design_lacks) {
  allocator_capabilities can = sound::capabilities;
  EXPECT_EQ(unfit_for_frees(can), nullptr);
  EXPECT_EQ(unfit_for_lone_threads(can), nullptr);
  can.needs_full_warp = true;
  EXPECT_EQ(unfit_for_frees(can), nullptr);
  EXPECT_STREQ(unfit_for_lone_threads(can), needs_whole_warps);
  can.individual_free = false;
  EXPECT_STREQ(unfit_for_frees(can), lacks_individual_free);
  EXPECT_STREQ(unfit_for_lone_threads(can), lacks_individual_free);
}

TEST(base, draws_other_requests_for_each_round) {
  fixture_base on{options_of(9)};
  const requests first = on.next_requests();
  const requests second = on.next_requests();
  EXPECT_EQ(first.count, 9u);
  EXPECT_EQ(first.size, 32u);
  EXPECT_NE(first.salt, second.salt);
  EXPECT_EQ(on.found.rounds, 2u);
}

// Rounds that each fill more than half of the heap: they succeed if `empty` frees all blocks.
template <class A>
void expect_emptied() {
  one_heap<A> on{options_of(100, 400)};
  for (int i = 0; i < 3; ++i) {
    const requests asked = on.next_requests();
    EXPECT_GE(on.time_of([&] { on.malloc_all(on.heap, asked); }), 0);
    on.look(on.heap, asked, i == 0);
    EXPECT_EQ(on.found.reason(), "") << A::name << ", round " << i;
    on.empty(asked);
  }
  EXPECT_EQ(on.found.requests, 300u);
  EXPECT_EQ(on.found.rounds_judged, 1u);
}

TEST(one_heap, is_empty_again_after_each_round) {
  expect_emptied<sound>();
  expect_emptied<bump>();
}

TEST(one_heap, makes_refusals_failures) {
  one_heap<sound> on{options_of(100, 4000)};
  const requests asked = on.next_requests();
  on.malloc_all(on.heap, asked);
  on.look(on.heap, asked, false);
  EXPECT_TRUE(on.found.sound());
  EXPECT_FALSE(on.found.flawless());
  EXPECT_NE(on.found.reason().find("of 100 requests in round 1 got null"), std::string::npos) << on.found.reason();
}

TEST(own_heaps, judge_the_heap_that_they_are_given) {
  own_heaps<sound> on{options_of()};
  for (int i = 0; i < 2; ++i) {
    const heap<sound> fresh{on.options.heap_bytes};
    const requests asked = on.next_requests();
    on.malloc_all(fresh, asked);
    on.look(fresh, asked, true);
    on.free_all(fresh, asked);
    synchronise();
    EXPECT_EQ(fresh.statistics().live_bytes, 0u);
  }
  EXPECT_EQ(on.found.reason(), "");
  EXPECT_EQ(on.found.rounds_judged, 2u);
}

TEST(self_judging, judges_the_heap_at_the_end_unless_something_was_wrong) {
  self_judging<sound> on{options_of()};
  on.finish();
  EXPECT_EQ(on.found.rounds_judged, 1u);
  EXPECT_EQ(on.found.requests, 100u);
  on.found.fault = "broken";
  on.finish();
  EXPECT_EQ(on.found.rounds, 1u);
}

TEST(filling, ends_when_the_heap_is_full_when_the_time_is_over_and_at_a_fault) {
  const auto words = [] { return std::string{"nothing came"}; };
  const auto rounds_of = [&](filling<sound>& on, int full_after, const std::string& fault) {
    int rounds = 0;
    const bool full = on.until_full(
        [&] {
          ++on.found.rounds;
          on.note(fault);
          return ++rounds == full_after;
        },
        words);
    EXPECT_EQ(full, rounds == full_after);
    return rounds;
  };
  filling<sound> full{options_of()};
  EXPECT_EQ(rounds_of(full, 3, ""), 3);
  EXPECT_EQ(full.found.reason(), "");

  run_options hasty = options_of();
  hasty.soft_limit = 1e-9;
  filling<sound> late{hasty};
  EXPECT_EQ(rounds_of(late, 3, ""), 1) << "one round runs, however late it is";
  EXPECT_EQ(late.found.reason(), "not exhausted when the time was over: nothing came");

  filling<sound> broken{options_of()};
  EXPECT_EQ(rounds_of(broken, 3, "broken"), 1);
  EXPECT_EQ(broken.found.reason(), "broken");
}

TEST(filling, refuses_a_heap_that_holds_no_block) {
  EXPECT_EQ((filling<sound>{options_of()}.unfit_heap()), "");
  EXPECT_NE((filling<sound>{options_of(1, 1 << 20)}.unfit_heap()).find("1048576 bytes"), std::string::npos);
}

TEST(filling, makes_refusals_of_an_empty_heap_failures) {
  filling<sound> on{options_of()};
  on.found.refused = 4;
  on.blame_empty_heap();
  EXPECT_EQ(on.found.failures, 4u);
  EXPECT_EQ(on.found.refused, 0u);
  EXPECT_NE(on.found.reason().find("served none of 100 requests"), std::string::npos);
}

}  // namespace
}  // namespace warpheap::bench::course_test
