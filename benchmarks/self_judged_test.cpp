// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Cases whose kernels judge their own blocks find each fault of an allocator that they are there to find, and none in a
// sound one. Each broken allocator runs in a child process of its own, because it may break anything.

#include <gtest/gtest.h>

#include <allocator/mutants.hpp>
#include <allocator/reference.hpp>
#include <cstdint>
#include <string>
#include <support/child_process.hpp>
#include <support/schedules.hpp>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/platform.hpp>

#include "case_outcome.hpp"
#include "cases/churn.hpp"
#include "cases/latency.hpp"
#include "cases/orders.hpp"
#include "cases/temperature.hpp"
#include "measure/kernel_judge.hpp"
#include "measure/stamp.hpp"

namespace warpheap::bench::self_judged_test {
namespace {

using namespace test_of_cases;

using sound = test::locked_list<>;

run_options options_of(const char* mode, std::uint64_t threads = 300, std::uint64_t size = 20) {
  return small_run(mode, threads, size, std::uint64_t{1} << 20, 2);
}

using self_judged = with_children;

#define EXPECT_CAUGHT(measured, allocator, options, words) \
  WARPHEAP_EXPECT_CAUGHT((run_and_exit<measured, test::mutants::allocator>(options)), words)

constexpr const char* same_kernel = orders::in_same_kernel.name;

TEST_F(self_judged, cases_find_blocks_that_overlap) {
  EXPECT_CAUGHT(churn, overlapping, options_of("thread"), "blocks lost what was written to them");
  EXPECT_CAUGHT(churn, overlapping, options_of("mixed", 300, 200), "blocks lost what was written to them");
  EXPECT_CAUGHT(orders, overlapping, options_of(same_kernel), "blocks lost what was written to them");
}

TEST_F(self_judged, cases_find_blocks_that_are_granted_twice) {
  EXPECT_CAUGHT(churn, double_granting, options_of("thread"), "blocks lost what was written to them");
  EXPECT_CAUGHT(orders, double_granting, options_of(same_kernel), "blocks lost what was written to them");
}

TEST_F(self_judged, cases_find_blocks_that_are_lost) {
  EXPECT_CAUGHT(churn, leaking, options_of("thread"), "are live after all blocks were freed");
  EXPECT_CAUGHT(orders, leaking, options_of(same_kernel), "are live after all blocks were freed");
}

TEST_F(self_judged, cases_find_blocks_that_are_misaligned) {
  EXPECT_CAUGHT(churn, misaligned, options_of("thread", 300, 24), "is not aligned");
  EXPECT_CAUGHT(orders, misaligned, options_of(same_kernel, 300, 24), "is not aligned");
}

TEST_F(self_judged, cases_find_a_full_heap_that_grants) {
  run_options full = options_of("thread", 300, 4000);
  full.heap_bytes = 100'000;
  EXPECT_CAUGHT(churn, never_null, full, "blocks lost what was written to them");
  full.mode = same_kernel;
  EXPECT_CAUGHT(orders, never_null, full, "blocks lost what was written to them");
}

TEST_F(self_judged, cases_find_blocks_that_are_not_freed_by_others) {
  EXPECT_CAUGHT(
      orders, own_blocks_only,
      [] {
        run_options options = options_of("other_block", 1000);
        options.heap_bytes = 100'000;
        return options;
      }(),
      "got null");
}

template <class Case, class A>
std::string record_of(const run_options& options, std::string& reason) {
  json_object record;
  reason = Case::template run<A>(options, record);
  return record.text();
}

// What a record says if nothing was wrong: `measure` is there and is not null.
template <class Case, class A = sound>
void expect_flawless(const run_options& options, const char* measure) {
  std::string reason;
  const std::string record = record_of<Case, A>(options, reason);
  EXPECT_EQ(reason, "");
  EXPECT_NE(record.find(R"("failures": 0, )"), std::string::npos) << record;
  EXPECT_NE(record.find(R"("verified": true)"), std::string::npos) << record;
  EXPECT_NE(record.find(std::string{"\""} + measure + R"(": {"median": )"), std::string::npos) << record;
}

// One seed of each kind of schedule: a sanitizer makes the switches of threads that wait for the lock dear.
TEST(sound_allocator, is_flawless) {
  const auto under_schedule = [](std::uint64_t) {
    for (const std::uint64_t size : {1, 6, 333}) {
      expect_flawless<churn>(options_of("thread", 33, size), "rate");
      expect_flawless<orders>(options_of(same_kernel, 33, size), "pair");
    }
    for (const std::uint64_t threads : {1, 300}) {
      expect_flawless<churn>(options_of("mixed", threads, 64), "rate");
      expect_flawless<orders>(options_of(same_kernel, threads), "pair");
      expect_flawless<latency>(options_of("mixed", threads, 64), "malloc");
      expect_flawless<latency>(options_of("warp", threads / 8 + 1, 64), "free");
      expect_flawless<temperature>(options_of("cold", threads, 64), "malloc");
      expect_flawless<temperature>(options_of("warm", threads, 64), "free");
      for (const char* order : {"as_allocated", "reversed", "shuffled"}) {
        expect_flawless<orders>(options_of(order, threads), "free");
      }
    }
    expect_flawless<orders>(options_of("other_block", 520), "free");
  };
  test::for_each_schedule(under_schedule, 1);
}

TEST(churning, counts_each_operation) {
  std::string reason;
  const run_options options = options_of("thread", 100);
  const std::string record = record_of<churn, sound>(options, reason);
  const auto requests = std::stoull(record.substr(record.find(R"("requests": )") + 12));
  // Three churns, whose steps each ask for a block or free one, and 100 requests of the heap that they leave. Every
  // block is freed, so at least half of the operations are mallocs.
  EXPECT_GE(requests, 3 * 100 * churn::steps / 2 + 100);
  EXPECT_LT(requests, 3 * 100 * (churn::steps / 2 + churn::places) + 100);
}

TEST(tally, knows_the_operations) {
  EXPECT_EQ((kernel_tally{.requests = 5, .null = 2, .damaged = 1}).operations(), 8u);
}

TEST(full_heap, fails_and_has_no_measures) {
  for (const char* mode : {"thread", same_kernel, "reversed", "cold"}) {
    run_options options = options_of(mode, 600, 8192);  // not even those of one thread block fit
    std::string reason;
    const std::string record = mode == std::string{"thread"} ? record_of<churn, sound>(options, reason)
                               : mode == std::string{"cold"} ? record_of<temperature, sound>(options, reason)
                                                             : record_of<orders, sound>(options, reason);
    EXPECT_NE(reason.find("in round 1 got null"), std::string::npos) << mode << ": " << reason;
    EXPECT_NE(record.find(R"("rounds": 1, )"), std::string::npos) << "a refusal ends it: " << record;
    EXPECT_NE(record.find(R"("measures": {})"), std::string::npos) << record;
  }
}

TEST(design_without_free, is_told_from_a_fault) {
  std::string reason;
  EXPECT_NE((record_of<churn, bump>(options_of("thread"), reason)).find(R"("failures": 0, )"), std::string::npos);
  EXPECT_EQ(reason, lacks_individual_free);
  record_of<orders, bump>(options_of("shuffled"), reason);
  EXPECT_EQ(reason, lacks_individual_free);
  expect_flawless<latency, bump>(options_of("thread"), "malloc");
  expect_flawless<temperature, bump>(options_of("cold"), "malloc");
}

TEST(other_block, takes_two_blocks) {
  std::string reason;
  record_of<orders, sound>(options_of("other_block", freed_block::least_for_other_block - 1), reason);
  EXPECT_NE(reason.find("at least 512 threads"), std::string::npos) << reason;
}

struct stamp_kernel {
  WARPHEAP_FN void operator()(unsigned char* block, std::uint64_t bytes, std::uint64_t changed, bool* intact) const {
    if (grid_thread_index() != 0) return;
    const stamp own{block, bytes, 1, 2};
    own.write();
    block[changed] = static_cast<unsigned char>(block[changed] ^ 1u);
    *intact = own.intact();
  }
};

TEST(stamps, cover_both_ends_and_nothing_behind_them) {
  for (std::uint64_t bytes = 1; bytes < 20; ++bytes) {
    for (std::uint64_t changed = 0; changed < bytes + 4; ++changed) {
      const device_array<unsigned char> block(32);
      const device_array<bool> intact(1);
      launch(grid_shape::covering(1), stamp_kernel{}, block.data(), bytes, changed, intact.data());
      const bool covered = changed < 4 ? changed < bytes : changed >= align_down(bytes - 1, 4) && changed < bytes;
      EXPECT_EQ(intact.at(0), !covered) << "byte " << changed << " of " << bytes;
      for (std::uint64_t i = bytes; i < 32; ++i) EXPECT_EQ(block.at(i), i == changed) << "behind a block of " << bytes;
    }
  }
}

}  // namespace
}  // namespace warpheap::bench::self_judged_test
