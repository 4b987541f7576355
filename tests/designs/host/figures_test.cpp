// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The figures of a heap can be asked for at any time. While kernels use it they are a guess, within what the heap has.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <support/random.hpp>
#include <support/schedules.hpp>
#include <thread>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/dynasoar/dynasoar.hpp>
#include <warpheap/designs/halloc/halloc.hpp>
#include <warpheap/designs/halloc/statistics.hpp>
#include <warpheap/designs/kma/kma.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/designs/random_walk/random_walk.hpp>
#include <warpheap/designs/reg_eff/reg_eff.hpp>
#include <warpheap/designs/scatter/scatter.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/designs/xmalloc/xmalloc.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::figures_test {
namespace {

constexpr std::uint64_t heap_bytes = std::uint64_t{1} << 20;

/// Each thread takes blocks of all sizes, fills them with what no header looks like, and frees them.
struct churn_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t seed, int steps) const {
    constexpr int places = 6;
    random_stream random{seed, grid_thread_index()};
    std::uint64_t* held[places] = {};
    for (int step = 0; step < steps; ++step) {
      std::uint64_t*& block = held[random.below(places)];
      if (block != nullptr) {
        heap.free(block);
        block = nullptr;
        continue;
      }
      const std::uint64_t words = std::uint64_t{2} << random.below(12);
      block = static_cast<std::uint64_t*>(heap.malloc(words * sizeof(std::uint64_t)));
      for (std::uint64_t i = 0; block != nullptr && i < words; ++i) block[i] = 0xfeed'face'dead'beef;
    }
    for (std::uint64_t* const block : held) heap.free(block);
  }
};

template <class A>
class figures : public testing::Test {};
using designs = testing::Types<warp_slab, bulk, scatter, flatter_scatter, halloc, dynasoar, bump, ouroboros_s_p,
                               ouroboros_va_p, ouroboros_vl_p, ouroboros_s_c, ouroboros_va_c, ouroboros_vl_c,
                               random_walk, xmalloc, xmalloc_flat, kma, reg_eff_c, reg_eff_cf, reg_eff_cm, reg_eff_cfm>;
TYPED_TEST_SUITE(figures, designs);

TYPED_TEST(figures, are_bounded_while_another_thread_launches_kernels) {
  schedule plan = current_schedule();
  plan.workers = 1;
  plan.order = schedule::policy::random;
  for (plan.seed = 1; plan.seed <= seeds_to_try(2); ++plan.seed) {
    const scoped_schedule guard{plan};
    heap<TypeParam> of{heap_bytes};
    std::atomic<bool> ends{false};
    std::thread user{[&] {
      for (int round = 0; round < 3; ++round) launch({2, 64}, churn_kernel{}, of.ref(), plan.seed + round, 24);
      ends.store(true);
    }};
    do {
      const heap_statistics now = of.statistics();
      EXPECT_LE(now.live_bytes.value_or(0), of.size());
      if constexpr (reports_statistics<TypeParam>) {
        // A chunk may be counted as part of what it was and of what it becomes, but not below 0.
        EXPECT_LE(of.allocator_statistics().live_bytes(), 64 * of.size());
      }
    } while (!ends.load() && !::testing::Test::HasFailure());
    user.join();
    if constexpr (TypeParam::capabilities.individual_free) {
      EXPECT_EQ(of.statistics().live_bytes, 0u);
    }
  }
}

}  // namespace
}  // namespace warpheap::test::figures_test
