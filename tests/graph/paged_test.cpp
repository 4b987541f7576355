// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Graphs whose lists lie in chains of pages, against the model.

#include <gtest/gtest.h>

#include <graph/rounds.hpp>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#if WARPHEAP_RUNS_ON_HOST
#include <warpheap/designs/scatter/scatter.hpp>
#endif

namespace warpheap::test::paged_test {
namespace {

template <class Design, class Layout>
struct use {
  using design = Design;
  using layout = Layout;
};

#if WARPHEAP_RUNS_ON_HOST
using third = scatter;
#else
using third = bulk;
#endif

template <class Use>
class paged_graph : public testing::Test {};
using uses = testing::Types<use<warp_slab, paged<>>, use<bulk, paged<128, list_order::ascending, float>>,
                            use<third, paged<64, list_order::unordered, float>>>;
TYPED_TEST_SUITE(paged_graph, uses, );

TYPED_TEST(paged_graph, random_rounds_agree_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for_each_schedule(
      [](std::uint64_t seed) { random_rounds<typename TypeParam::design, typename TypeParam::layout>({}, seed); }, 1);
}

TYPED_TEST(paged_graph, undirected_rounds_with_loops_and_new_weights_agree_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  random_rounds<typename TypeParam::design, typename TypeParam::layout>(
      {.undirected = true, .keep_loops = true, .replace_weights = true}, 11);
}

TYPED_TEST(paged_graph, long_lists_agree_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  long_lists<typename TypeParam::design, typename TypeParam::layout>(3);
}

}  // namespace
}  // namespace warpheap::test::paged_test
