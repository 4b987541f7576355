// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Each stand-in has the vertices and edges of the graph that it stands for, and says that it is a stand-in.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <graph/generated.hpp>
#include <set>
#include <string>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/graph/generators.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test::stand_ins_test {
namespace {

/// Pairs of vertices of a stencil that are neighbours, in both orders: along each axis there are 3n - 2 pairs of places
/// at most one apart.
std::uint64_t stencil_arcs(const stencil_shape& shape) {
  const auto pairs = [](std::uint64_t n) { return 3 * n - 2; };
  const std::uint64_t nodes = std::uint64_t{shape.x} * shape.y * shape.z, u = shape.unknowns;
  const std::uint64_t far = shape.layers == 0 ? 0 : 2 * nodes;
  return u * u * (pairs(shape.x) * pairs(shape.y) * pairs(shape.z) + far) - u * nodes;
}

TEST(stand_ins, arcs_of_a_stencil_are_known) {
  for (const stencil_shape shape : {stencil_shape{5, 6, 7}, {3, 4, 9, 3}, {4, 4, 11, 2, 3}, {9, 2, 30, 3}}) {
    EXPECT_EQ(2 * count_edges(stencil_edges(shape)), stencil_arcs(shape));
  }
}

TEST(stand_ins, say_that_they_are_and_differ) {
  std::set<std::string> names;
  for (const stand_in& one : stand_ins) {
    EXPECT_EQ(std::string(one.name).find("stand-in of "), 0u) << one.name;
    names.insert(one.name);
  }
  EXPECT_EQ(names.size(), stand_ins.size());
}

TEST(stand_ins, have_the_size_of_the_original) {
  for (const stand_in& one : stand_ins) {
    // A stencil's edges follow from its shape; others are counted, under a sanitizer in a smaller graph.
    const bool is_stencil = one.kind == stand_in_kind::stencil;
    // A host takes long for the triangles of millions of points.
    const bool is_slow = one.kind == stand_in_kind::delaunay && this_backend == backend::host;
    const bool is_whole = is_stencil || (!is_slow && scale_in_force() != work_scale::small);
    const std::uint32_t divisor = is_whole ? 1 : std::max<std::uint32_t>(one.vertices / 50'000, 1);
    with_stand_in(one, divisor, 1, [&](const auto& generator) {
      const double vertices = one.vertices / divisor, arcs = static_cast<double>(one.arcs) / divisor;
      EXPECT_LE(generator.vertices(), vertices) << one.name;
      EXPECT_GE(generator.vertices(), (is_whole ? 0.999 : 0.98) * vertices) << one.name;
      const std::uint64_t found = is_stencil ? stencil_arcs(one.shape) : 2 * count_edges(generator);
      EXPECT_NEAR(static_cast<double>(found) / arcs, 1.0, is_whole ? 0.03 : 0.3) << one.name;
    });
  }
}

TEST(stand_ins, smaller_ones_have_ids_in_range) {
  for (const stand_in& one : stand_ins) {
    const std::uint32_t divisor = std::max<std::uint32_t>(one.vertices / 10'000, 1);
    with_stand_in(one, divisor, 1, [&](const auto& generator) {
      if (generator.vertices() > 30'000) return;  // slices of the large stencils are large
      const std::vector<std::uint32_t> degree = degrees(made(generator), generator.vertices());
      EXPECT_EQ(std::count(degree.begin(), degree.end(), 0u) == 0, one.kind != stand_in_kind::geometric) << one.name;
    });
  }
}

}  // namespace
}  // namespace warpheap::test::stand_ins_test
