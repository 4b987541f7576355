// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The mix of the paper's Algorithm 7, small pages queued one by one and larger ones by their chunk, and another size of
// chunks keep what the registered six keep.

#include <gtest/gtest.h>

#include <allocator/conformance/fixture.hpp>
#include <string>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace {

using warpheap::basic_ouroboros;

struct mixed_items : basic_ouroboros<warpheap::pages_up_to<1024>, warpheap::virtual_array> {
  static constexpr const char* name = "ouroboros_va_mixed";
  using basic_ouroboros::basic_ouroboros;
};

struct small_chunks : basic_ouroboros<warpheap::pages_up_to<1024>, warpheap::virtual_list,
                                      warpheap::ouroboros_options{.chunk_bytes = 4096}> {
  static constexpr const char* name = "ouroboros_vl_mixed_4096";
  using basic_ouroboros::basic_ouroboros;
};

const bool registered =
    warpheap::test::register_conformance<mixed_items>() && warpheap::test::register_conformance<small_chunks>();

}  // namespace

// Free pages that small sizes keep cost the blocks of 21 KiB around them little room, and none for good.
TEST(ouroboros_mix, large_blocks_come_back_whole) {
  using namespace warpheap;
  using namespace warpheap::test;
  findings found;
  under_schedules(found, [&](std::uint64_t seed) {
    expect_nothing_lost<mixed_items>(
        found, this_backend == backend::host ? 16_MiB : 1024_MiB, "churn", [&](trial<mixed_items>& t) {
          t.run(scaled_for<mixed_items>(1024, 1 << 16), churn_kernel{.ample = true}, seed, scaled(24, 64));
        });
  });
  for (const std::string& text : found.texts()) ADD_FAILURE() << text;
}

// A chunk that a sweep freed went to another size, whose pages the sweep had visited before; so the sweeper found
// nothing although there was room at each moment. Seed 233, fuzzed, showed it.
TEST(ouroboros_mix, chunks_that_pass_by_are_not_missed) {
  using namespace warpheap;
  using namespace warpheap::test;
  schedule plan;
  plan.order = schedule::policy::random;
  plan.seed = 233;
  plan.fuzz = true;
  plan.workers = 1;
  const scoped_schedule guard{plan};
  findings found;
  expect_nothing_lost<small_chunks>(
      found, this_backend == backend::host ? 2_MiB : 512_MiB, "churn", [&](trial<small_chunks>& t) {
        t.run(scaled_for<small_chunks>(1024, 1 << 16), churn_kernel{.ample = true}, plan.seed, scaled(24, 64));
      });
  for (const std::string& text : found.texts()) ADD_FAILURE() << text;
}
