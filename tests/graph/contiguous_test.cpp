// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Graphs whose lists lie in a block each, against the model.

#include <gtest/gtest.h>

#include <graph/rounds.hpp>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::contiguous_test {
namespace {

template <class Design, class Layout>
struct use {
  using design = Design;
  using layout = Layout;
};

template <class Use>
class contiguous_graph : public testing::Test {};
using uses =
    testing::Types<use<warp_slab, contiguous<>>, use<warp_slab, contiguous<slack<>, list_order::ascending, float>>,
                   use<bulk, contiguous<slack<>, list_order::unordered>>,
                   use<ouroboros_va_p, contiguous<power_of_two, list_order::unordered, float>>>;
TYPED_TEST_SUITE(contiguous_graph, uses, );

TYPED_TEST(contiguous_graph, random_rounds_agree_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for_each_schedule(
      [](std::uint64_t seed) { random_rounds<typename TypeParam::design, typename TypeParam::layout>({}, seed); }, 1);
}

TYPED_TEST(contiguous_graph, undirected_rounds_with_loops_and_new_weights_agree_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  random_rounds<typename TypeParam::design, typename TypeParam::layout>(
      {.undirected = true, .keep_loops = true, .replace_weights = true}, 11);
}

TYPED_TEST(contiguous_graph, long_lists_agree_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  long_lists<typename TypeParam::design, typename TypeParam::layout>(3);
}

}  // namespace
}  // namespace warpheap::test::contiguous_test
