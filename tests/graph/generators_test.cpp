// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Generators make the graphs that they promise: degrees, counts, ids in range. A graph depends on its seed only, not on
// who makes it: kernels of any shape and a loop on the host make the same edges.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <graph/generated.hpp>
#include <numeric>
#include <stdexcept>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/graph/generators.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test::generators_test {
namespace {

/// Calls `use(generator)` for a small graph of each generator that needs no memory.
template <class Use>
void for_each_generator(std::uint64_t seed, Use use) {
  use(rmat_edges(9, 3000, seed));
  use(uniform_edges(777, 3000, seed));
  use(barabasi_albert_edges(500, 4 * 499, seed));
  use(grid_edges(31, 17));
  use(triangulation_edges(19, 23, seed));
  use(dual_edges(13, 21, seed));
  use(road_edges(2000, 8, 60, seed));
  use(stencil_edges({7, 5, 9, 2, 3}));
  use(delaunay_edges(9, 12, seed));
}

TEST(generators, ids_are_in_range) {
  for_each_generator(3, [](const auto& generator) { degrees(made(generator), generator.vertices()); });
}

TEST(generators, host_and_kernels_make_the_same) {
  for_each_generator(4, [](const auto& generator) { EXPECT_EQ(made(generator), by_hand(generator)); });
}

TEST(generators, every_launch_shape_makes_the_same) {
  for_each_generator(5, [](const auto& generator) {
    const edge_list expected = made(generator);
    for (const grid_shape shape : {grid_shape{1, 1}, grid_shape{1, 32}, grid_shape{7, 96}, grid_shape{40, 256}}) {
      EXPECT_EQ(made(generator, shape), expected) << shape.blocks << " blocks of " << shape.threads;
    }
  });
}

// Both backends compare with these constants, so a host run and a GPU run are compared with each other too.
TEST(generators, are_these) {
  std::vector<std::uint64_t> found;
  for_each_generator(2026, [&](const auto& generator) { found.push_back(checksum(made(generator))); });
  found.push_back(checksum(made(geometric_points(3000, 90'000'000, 2026).edges())));
  EXPECT_EQ(found, (std::vector<std::uint64_t>{14720474300227124473u, 3393538413262801887u, 5621382125033505444u,
                                               8351738426506034547u, 16538234173941224661u, 18194930483514623893u,
                                               16448854469954994760u, 4656648761463325915u, 14936314221880540641u,
                                               12474927623225786482u}));
  const edge_list rmat = made(rmat_edges(20, 2, 1));
  EXPECT_EQ(rmat, (edge_list{{654'335, 21'266}, {132'113, 132'458}}));
}

TEST(generators, seeds_decide) {
  const auto all = [](std::uint64_t seed) {
    std::vector<std::uint64_t> sums;
    for_each_generator(seed, [&](const auto& generator) { sums.push_back(checksum(made(generator))); });
    sums.push_back(checksum(made(geometric_points(3000, 90'000'000, seed).edges())));
    return sums;
  };
  const auto once = all(1), again = all(1), other = all(2);
  EXPECT_EQ(once, again);
  for (std::size_t i = 0; i < once.size(); ++i) {
    const bool without_seed = i == 3 || i == 7;  // the grid and the stencil have none
    EXPECT_EQ(once[i] == other[i], without_seed) << "generator " << i;
  }
}

TEST(generators, a_full_array_is_told_and_nothing_is_written) {
  for_each_generator(6, [](const auto& generator) {
    const std::uint64_t edges = count_edges(generator);
    const device_array<vertex_id> sources(edges), targets(edges);
    EXPECT_THROW(write_edges(generator, sources.data(), targets.data(), edges - 1), std::length_error);
    synchronise();
    EXPECT_EQ(sources.to_host(), std::vector<vertex_id>(edges));
    EXPECT_EQ(targets.to_host(), std::vector<vertex_id>(edges));
  });
}

TEST(generators, a_graph_may_be_empty) {
  EXPECT_TRUE(made(uniform_edges(10, 0, 1)).empty());
  EXPECT_TRUE(made(grid_edges(1, 1)).empty());
  EXPECT_TRUE(made(geometric_points(1, 1, 1).edges()).empty());
  EXPECT_EQ(made(dual_edges(1, 1, 1)).size(), 1u);
}

TEST(random, high_product_is_that_of_long_division) {
  __extension__ using wide = unsigned __int128;
  const counter_random random(9);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t a = random.word(i, 0) >> (i % 64), b = random.word(i, 1) >> (i / 64 % 64);
    ASSERT_EQ(high_product(a, b), static_cast<std::uint64_t>(wide{a} * b >> 64)) << a << " " << b;
  }
  EXPECT_EQ(high_product(~std::uint64_t{0}, ~std::uint64_t{0}), ~std::uint64_t{0} - 1);
}

TEST(random, shuffle_is_one_to_one) {
  for (const std::uint64_t count : {1, 2, 3, 5, 64, 65, 1000, 4096, 4097}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const number_shuffle shuffle(count, seed);
      std::vector<bool> seen(count);
      std::uint64_t fixed = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t to = shuffle(i);
        ASSERT_LT(to, count);
        ASSERT_FALSE(seen[to]) << count << " numbers, seed " << seed;
        seen[to] = true;
        fixed += to == i;
      }
      if (count >= 64) {
        EXPECT_LT(fixed, 12u) << "a random permutation has one fixed point in the mean";
      }
    }
  }
}

TEST(rmat, degrees_are_skewed) {
  const int scale = 14;
  const vertex_id vertices = vertex_id{1} << scale;
  const rmat_edges generator(scale, 16 * std::uint64_t{vertices}, 1);
  const edge_list edges = made(generator);
  ASSERT_EQ(edges.size(), 16u * vertices);
  const std::vector<std::uint32_t> degree = degrees(edges, vertices);
  const double isolated = static_cast<double>(std::count(degree.begin(), degree.end(), 0u)) / vertices;
  const auto most = std::max_element(degree.begin(), degree.end());
  // The vertex of all lower halves has a share of (0.57 + 0.19)^14 of the first ends, and of the second ends.
  EXPECT_NEAR(*most, 2 * 16 * vertices * 0.02144, 400);
  EXPECT_NEAR(isolated, 0.24, 0.03);
  // Ids say nothing of the degree: without the permutation the largest would have id 0.
  EXPECT_NE(most - degree.begin(), 0);
  std::uint64_t lower = 0;
  for (vertex_id v = 0; v < vertices / 2; ++v) lower += degree[v];
  EXPECT_NEAR(static_cast<double>(lower) / (32.0 * vertices), 0.5, 0.1);
}

TEST(rmat, quadrants_have_their_shares) {
  // Of one level, the ends are the quadrant; the permutation of two ids is the identity or swaps them.
  const std::uint64_t edges = 100'000;
  std::uint64_t counts[2][2] = {};
  for (const auto& [a, b] : made(rmat_edges(1, edges, 5))) ++counts[a][b];
  if (counts[0][0] < counts[1][1]) {
    std::swap(counts[0][0], counts[1][1]);
    std::swap(counts[0][1], counts[1][0]);
  }
  EXPECT_NEAR(static_cast<double>(counts[0][0]) / edges, 0.57, 0.01);
  EXPECT_NEAR(static_cast<double>(counts[0][1]) / edges, 0.19, 0.01);
  EXPECT_NEAR(static_cast<double>(counts[1][0]) / edges, 0.19, 0.01);
  EXPECT_NEAR(static_cast<double>(counts[1][1]) / edges, 0.05, 0.01);
}

TEST(uniform, degrees_are_those_of_chance) {
  const vertex_id vertices = 10'000;
  const std::vector<std::uint32_t> degree = degrees(made(uniform_edges(vertices, 16 * vertices, 7)), vertices);
  double squares = 0;
  for (const std::uint32_t d : degree) squares += (d - 32.0) * (d - 32.0);
  EXPECT_NEAR(squares / vertices, 32.0, 3.0);  // Poisson: the variance is the mean
}

TEST(barabasi_albert, edges_are_those_of_the_array_of_ends) {
  const std::uint64_t seed = 11;
  for (const std::uint64_t edges : {999, 1500, 4000, 7777}) {
    const vertex_id vertices = 1000;
    std::vector<std::uint64_t> ends;  // the array that the generator never has
    edge_list expected;
    const counter_random random(seed);
    for (std::uint64_t v = 1; v < vertices; ++v) {
      const std::uint64_t first = (v - 1) * edges / (vertices - 1), last = v * edges / (vertices - 1);
      ASSERT_EQ(ends.size(), 2 * first);
      for (std::uint64_t e = first; e < last; ++e) {
        const std::uint64_t target = v == 1 ? 0 : ends[random.below(2 * first, e)];
        expected.emplace_back(static_cast<vertex_id>(v), static_cast<vertex_id>(target));
      }
      for (std::uint64_t e = first; e < last; ++e) {
        ends.push_back(v);
        ends.push_back(expected[e].second);
      }
    }
    ASSERT_EQ(expected.size(), edges);
    EXPECT_EQ(made(barabasi_albert_edges(vertices, edges, seed)), expected);
  }
}

TEST(barabasi_albert, degrees_are_skewed_and_no_vertex_is_isolated) {
  const vertex_id vertices = 20'000;
  const std::uint64_t m = 4;
  const edge_list edges = made(barabasi_albert_edges(vertices, m * (vertices - 1), 1));
  const std::vector<std::uint32_t> degree = degrees(edges, vertices);
  for (const auto& [a, b] : edges) ASSERT_GT(a, b);
  EXPECT_EQ(std::accumulate(degree.begin(), degree.end(), std::uint64_t{0}), 2 * m * (vertices - 1));
  EXPECT_EQ(*std::min_element(degree.begin(), degree.end()), m);
  // The share of degree m tends to 2 / (m + 2), and that of degree k falls as its cube.
  const double least = static_cast<double>(std::count(degree.begin(), degree.end(), m));
  EXPECT_NEAR(least / vertices, 2.0 / (m + 2), 0.02);
  EXPECT_GT(*std::max_element(degree.begin(), degree.end()), 20 * 2 * m);
}

TEST(grid, degrees_are_those_of_a_grid) {
  const grid_edges generator(12, 9);
  const edge_list edges = made(generator);
  EXPECT_EQ(edges.size(), 11u * 9 + 12 * 8);
  EXPECT_TRUE(is_simple(edges));
  const std::vector<std::uint32_t> degree = degrees(edges, generator.vertices());
  for (std::uint32_t y = 0; y < 9; ++y) {
    for (std::uint32_t x = 0; x < 12; ++x) {
      ASSERT_EQ(degree[y * 12 + x], 4u - (x == 0) - (x == 11) - (y == 0) - (y == 8)) << x << " " << y;
    }
  }
}

TEST(triangulation, has_the_edges_of_one) {
  const std::uint32_t width = 60, height = 50;
  const triangulation_edges generator(width, height, 1);
  const edge_list edges = made(generator);
  EXPECT_EQ(edges.size(), 3u * width * height - 2 * width - 2 * height + 1);
  EXPECT_TRUE(is_simple(edges));
  const std::vector<std::uint32_t> degree = degrees(edges, generator.vertices());
  std::vector<std::uint32_t> counts(9);
  for (std::uint32_t y = 1; y + 1 < height; ++y) {
    for (std::uint32_t x = 1; x + 1 < width; ++x) {
      ASSERT_GE(degree[y * width + x], 4u);
      ASSERT_LE(degree[y * width + x], 8u);
      ++counts[degree[y * width + x]];
    }
  }
  const double inside = (width - 2.0) * (height - 2.0);
  EXPECT_NEAR(counts[6] / inside, 6.0 / 16, 0.05);  // two of four diagonals
  EXPECT_NEAR(counts[8] / inside, 1.0 / 16, 0.03);
}

TEST(dual, has_degree_three) {
  const std::uint32_t width = 40, height = 30;
  const dual_edges generator(width, height, 1);
  const edge_list edges = made(generator);
  EXPECT_EQ(generator.vertices(), 2u * width * height);
  EXPECT_EQ(edges.size(), 3u * width * height - width - height);
  EXPECT_TRUE(is_simple(edges));
  const std::vector<std::uint32_t> degree = degrees(edges, generator.vertices());
  for (std::uint32_t y = 1; y + 1 < height; ++y) {
    for (std::uint32_t x = 1; x + 1 < width; ++x) {
      ASSERT_EQ(degree[2 * (y * width + x)], 3u);
      ASSERT_EQ(degree[2 * (y * width + x) + 1], 3u);
    }
  }
  EXPECT_GE(*std::min_element(degree.begin(), degree.end()), 1u);
}

/// True if a circle through the vertex of `graph` and the place `b` near it holds no place near it.
bool on_empty_circle(const std::vector<delaunay_edges::offset>& near, std::uint32_t b) {
  const double bx = near[b].x, by = near[b].y;
  for (const delaunay_edges::offset& c : near) {
    // The centre is as far from the vertex, which is the origin, as from b and c.
    const double area = 2 * (bx * c.y - by * c.x);
    if (area == 0) continue;
    const double b_square = bx * bx + by * by, c_square = 1.0 * c.x * c.x + 1.0 * c.y * c.y;
    const double x = (c.y * b_square - by * c_square) / area, y = (bx * c_square - c.x * b_square) / area;
    const double radius = x * x + y * y;
    const auto is_inside = [&](const delaunay_edges::offset& d) {
      return (d.x - x) * (d.x - x) + (d.y - y) * (d.y - y) < radius * (1 - 1e-9);
    };
    if (std::none_of(near.begin(), near.end(), is_inside)) return true;
  }
  return false;
}

TEST(delaunay, edges_are_those_with_an_empty_circle) {
  const delaunay_edges generator(8, 9, 1);
  edge_list found = made(generator);
  EXPECT_EQ(found.size(), 3u * generator.vertices());
  EXPECT_TRUE(is_simple(found));
  edge_list expected;
  for (vertex_id v = 0; v < generator.vertices(); ++v) {
    std::vector<delaunay_edges::offset> near;
    for (std::uint32_t i = 0; i < delaunay_edges::near_count; ++i) near.push_back(generator.near_offset(v, i));
    for (std::uint32_t i = 0; i < delaunay_edges::near_count; ++i) {
      const vertex_id other = generator.near_vertex(v, i);
      if (other > v && on_empty_circle(near, i)) expected.emplace_back(v, other);
    }
  }
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST(delaunay, degrees_vary_around_six) {
  const delaunay_edges generator(50, 50, 1);
  const edge_list edges = made(generator);
  EXPECT_EQ(edges.size(), 3u * 10'000);
  const std::vector<std::uint32_t> degree = degrees(edges, generator.vertices());
  double squares = 0;
  for (const std::uint32_t d : degree) squares += (d - 6.0) * (d - 6.0);
  EXPECT_NEAR(std::sqrt(squares / 10'000), 1.30, 0.05);  // of points drawn from the whole plane: 1.34
  EXPECT_GE(*std::min_element(degree.begin(), degree.end()), 3u);
}

/// Number of connected parts of a graph.
std::uint32_t parts(const edge_list& edges, vertex_id vertices) {
  std::vector<vertex_id> above(vertices);
  std::iota(above.begin(), above.end(), 0);
  const auto root = [&](vertex_id v) {
    while (above[v] != v) v = above[v] = above[above[v]];
    return v;
  };
  std::uint32_t count = vertices;
  for (const auto& [a, b] : edges) {
    const vertex_id one = root(a), other = root(b);
    if (one != other) --count;
    above[one] = other;
  }
  return count;
}

TEST(roads, are_chains_between_junctions) {
  for (const std::uint32_t chain : {0, 1, 8}) {
    for (const vertex_id vertices : {5000u, 5003u, 5776u}) {
      const std::uint64_t extra = 150;
      const road_edges generator(vertices, chain, extra, vertices);
      const edge_list edges = made(generator);
      EXPECT_EQ(generator.vertices(), vertices);
      EXPECT_EQ(edges.size(), vertices - 1 + extra);
      EXPECT_EQ(edges.size(), generator.edges());
      EXPECT_TRUE(is_simple(edges));
      EXPECT_EQ(parts(edges, vertices), 1u);
      const std::vector<std::uint32_t> degree = degrees(edges, vertices);
      std::uint64_t in_chains = 0;
      for (vertex_id v = 0; v < vertices; ++v) {
        ASSERT_GE(degree[v], 1u);
        ASSERT_LE(degree[v], 4u);
        if (v < generator.items()) continue;
        ASSERT_LE(degree[v], 2u) << "a vertex of a chain";
        in_chains += degree[v] == 2;
      }
      // One chain ends nowhere, at the last junction.
      EXPECT_GE(in_chains + 1, vertices - generator.items());
    }
  }
}

TEST(stencil, degrees_are_those_of_27_points) {
  const stencil_shape shape{6, 5, 4};
  const stencil_edges generator(shape);
  const edge_list edges = made(generator);
  EXPECT_TRUE(is_simple(edges));
  const std::vector<std::uint32_t> degree = degrees(edges, generator.vertices());
  const auto near = [](std::uint32_t at, std::uint32_t side) { return 3u - (at == 0) - (at + 1 == side); };
  for (std::uint32_t z = 0; z < shape.z; ++z) {
    for (std::uint32_t y = 0; y < shape.y; ++y) {
      for (std::uint32_t x = 0; x < shape.x; ++x) {
        const std::uint32_t expected = near(x, shape.x) * near(y, shape.y) * near(z, shape.z) - 1;
        ASSERT_EQ(degree[(z * shape.y + y) * shape.x + x], expected) << x << " " << y << " " << z;
      }
    }
  }
}

TEST(stencil, unknowns_and_far_layers_add_neighbours) {
  const stencil_edges generator({5, 4, 9, 3, 4});
  const edge_list edges = made(generator);
  EXPECT_EQ(generator.vertices(), 540u);
  EXPECT_TRUE(is_simple(edges));
  const std::vector<std::uint32_t> degree = degrees(edges, generator.vertices());
  const std::uint32_t inside = ((3 * 4 + 1) * 5 + 2) * 3;
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(degree[inside + i], 3u * 29 - 1);
  EXPECT_EQ(degree[0], 3u * (8 + 2) - 1);
}

TEST(geometric, edges_are_the_near_pairs) {
  // Radii from many cells to one, and one that is wider than any cell may be.
  for (const std::uint32_t radius : {40'000'000u, 300'000'000u, 1'500'000'000u, 2'100'000'000u}) {
    const vertex_id vertices = 600;
    const geometric_points points(vertices, radius, radius);
    const geometric_edges generator = points.edges();
    edge_list expected;
    for (vertex_id a = 0; a < vertices; ++a) {
      for (vertex_id b = a + 1; b < vertices; ++b) {
        const random_point p = generator.point(a), q = generator.point(b);
        const double dx = static_cast<double>(p.x) - q.x, dy = static_cast<double>(p.y) - q.y;
        if (dx * dx + dy * dy <= static_cast<double>(radius) * radius) expected.emplace_back(a, b);
      }
    }
    edge_list found = made(generator);
    EXPECT_EQ(made(generator, {3, 64}), found);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

TEST(geometric, degrees_are_those_of_the_radius) {
  const vertex_id vertices = 1u << 14;
  const geometric_points points(vertices, geometric_radius(vertices), 1);
  const std::vector<std::uint32_t> degree = degrees(made(points.edges()), vertices);
  const double mean = std::accumulate(degree.begin(), degree.end(), 0.0) / vertices;
  EXPECT_NEAR(mean, 0.55 * 0.55 * 3.14159 * 9.704, 0.4);  // pi r^2 n, less what the border takes
  EXPECT_GT(std::count(degree.begin(), degree.end(), 0u), 0);
}

}  // namespace
}  // namespace warpheap::test::generators_test
