// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A machine that refuses memory: the member throws, and the graph is as it was.

#include <gtest/gtest.h>

#include <cstdint>
#include <graph/model.hpp>
#include <optional>
#include <support/fail_after.hpp>
#include <support/schedules.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::graph_refusals {
namespace {

using host::refused;
using host::with_failure_after;

template <class Layout>
class graph_refusals : public testing::Test {};
using layouts = testing::Types<contiguous<>, paged<64, list_order::unordered>>;
TYPED_TEST_SUITE(graph_refusals, layouts, );

TYPED_TEST(graph_refusals, batches_change_all_or_nothing) {
  const heap<> memory{std::uint64_t{4} << 20};
  // So many that their records need memory of their own. ThreadSanitizer has nothing to learn from that.
  const vertex_id many = looks_at_orders ? 1000 : 270000;
  const graph_options options{.most_vertices = std::uint32_t{1} << 20};
  for (std::uint64_t n = 0, last = 0; n <= last; ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    std::optional<graph<heap<>, TypeParam>> tested;
    const refused made = with_failure_after(n, [&] { tested.emplace(memory, 50, options); });
    ASSERT_EQ(made == refused::never, tested.has_value());
    if (!tested) {
      last = n + 1;
      tested.emplace(memory, 50, options);
    }
    graph_model model(50, options);
    random_stream random(n, 10);
    const auto batch_ends = [&](auto change, auto follow) {
      const std::uint64_t version = tested->version();
      const refused ended = with_failure_after(n, change);
      ASSERT_NE(ended, refused::caught);
      if (ended == refused::never) {
        follow();
      } else {
        last = n + 1;
        EXPECT_EQ(tested->version(), version);
      }
      ASSERT_NO_FATAL_FAILURE(expect_equal(*tested, model));
    };
    const edge_batch edges = some_edges(random, model, 200);
    const device_batch given(edges);
    batch_ends([&] { given.add_to(*tested); }, [&] { model.add(edges); });
    given.add_to(*tested);
    model.add(edges);
    const device_array<vertex_id> leaving(std::vector<vertex_id>{7});
    batch_ends([&] { tested->remove_vertices(leaving.data(), 1); },
               [&] {
                 for (auto& list : model.lists) list.erase(7);
                 model.lists[7].clear();
                 model.gone[7] = true;
               });
    batch_ends([&] { tested->add_vertices(many); },
               [&] {
                 model.lists.resize(50 + many);
                 model.changed.resize(50 + many);
                 model.gone.resize(50 + many);
               });
  }
}

}  // namespace
}  // namespace warpheap::test::graph_refusals
