// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The suite is tested: each deliberately broken allocator must be caught, by the check that is there for it. Each runs
// in a child process of its own, because a broken allocator may break anything, a GPU's context included.

#include <gtest/gtest.h>

#include <allocator/conformance/suite.hpp>
#include <allocator/mutants.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <support/child_process.hpp>

namespace warpheap::test::conformance_mutants_test {
namespace {

// Runs one check, prints what it finds and ends the process: with 0 if there was nothing.
[[noreturn]] void run_and_exit(const behaviour& which) {
  findings found;
  run_check(which, found);
  for (const std::string& text : found.texts()) std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(found.empty() ? 0 : 1);
}

class mutant : public testing::Test {
 protected:
  void SetUp() override { start_children_anew(); }
};

#define EXPECT_CAUGHT(allocator, check, words) \
  WARPHEAP_EXPECT_CAUGHT((run_and_exit({#check, &check<allocator>})), words)

TEST_F(mutant, whose_blocks_overlap) {
  EXPECT_CAUGHT(mutants::overlapping, mixed_blocks_are_disjoint, "overlaps a live block");
  EXPECT_CAUGHT(mutants::overlapping, churn_with_room, "overlaps a live block");
}

TEST_F(mutant, whose_blocks_are_short) {
  EXPECT_CAUGHT(mutants::short_blocks, mixed_blocks_are_disjoint, "fewer usable bytes");
}

// The suite finds the others by their results, which are the same under a sanitizer.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_F(mutant, that_leaks) {
  EXPECT_CAUGHT(mutants::leaking, everything_comes_back, "filled and emptied, a heap of .* held");
  EXPECT_CAUGHT(mutants::leaking, churn_with_room, "before and .* after");
}

TEST_F(mutant, that_grants_twice) {
  EXPECT_CAUGHT(mutants::double_granting, small_blocks_are_disjoint, "overlaps a live block");
  EXPECT_CAUGHT(mutants::double_granting, churn_with_room, "overlaps a live block");
}

TEST_F(mutant, that_loses_a_block_when_it_fails) {
  EXPECT_CAUGHT(mutants::losing_on_failure, failed_requests_cost_nothing, "after requests that are too large");
}

TEST_F(mutant, whose_blocks_are_misaligned) {
  EXPECT_CAUGHT(mutants::misaligned, blocks_are_aligned, "is not aligned");
  EXPECT_CAUGHT(mutants::unaligned, aligned_blocks_are_aligned, "is not aligned");
}

TEST_F(mutant, that_gives_no_null) {
  EXPECT_CAUGHT(mutants::never_null, full_heap_gives_null, "overlaps a live block");
  EXPECT_CAUGHT(mutants::never_null, impossible_sizes_give_null, "was granted although it cannot be served");
}

TEST_F(mutant, whose_sums_overflow) {
  EXPECT_CAUGHT(mutants::overflowing, impossible_sizes_give_null, "was granted although it cannot be served");
}

TEST_F(mutant, that_forgets_to_reset) {
  EXPECT_CAUGHT(mutants::forgetful_reset, reset_takes_back_everything, "after a reset");
}

TEST_F(mutant, that_grows_wrong) {
  EXPECT_CAUGHT(mutants::forgetful_growth, growth_keeps_blocks_and_adds_room, "overlaps a live block");
  EXPECT_CAUGHT(mutants::idle_growth, growth_keeps_blocks_and_adds_room, "added room for 0 blocks");
}

TEST_F(mutant, that_moves_wrong) {
  EXPECT_CAUGHT(mutants::forgetful_relocation, relocation_keeps_blocks_and_adds_room, "overlaps a live block");
  EXPECT_CAUGHT(mutants::idle_growth, relocation_keeps_blocks_and_adds_room, "added room for 0 blocks");
}

TEST_F(mutant, that_takes_blocks_back_only_where_they_were_taken) {
  EXPECT_CAUGHT(mutants::own_blocks_only, other_blocks_and_launches_may_free, "blocks freed by other blocks");
}

TEST_F(mutant, that_miscounts) { EXPECT_CAUGHT(mutants::miscounting, statistics_agree, "are said to be live"); }
#endif

// What a GPU does with a mask that names lanes which never come is undefined; the host executor reports it.
#if defined(WARPHEAP_BACKEND_HOST) && !defined(__SANITIZE_THREAD__)
TEST_F(mutant, that_hangs_when_lanes_diverge) {
  if (warp_width == 1) GTEST_SKIP() << "a warp of one cannot diverge";
  EXPECT_CAUGHT(mutants::full_warp_only, any_lanes_may_call, "mutants.hpp");
  EXPECT_CAUGHT(mutants::full_warp_only, lanes_may_loop_differently, "mutants.hpp");
}
#endif

// A missing order shows in no result on a strong machine; ThreadSanitizer sees it.
#if defined(__SANITIZE_THREAD__)
TEST_F(mutant, that_frees_without_release) {
  EXPECT_CAUGHT(mutants::unordered_release, blocks_pass_between_threads, "data race");
}
#endif

}  // namespace
}  // namespace warpheap::test::conformance_mutants_test
