// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>
#include <warpheap/graph/csr_file.hpp>
#include <warpheap/graph/generators.hpp>

#include "row_builder.hpp"

namespace warpheap::bench {
namespace {

constexpr std::string_view stand_in_prefix = "stand-in of ";

constexpr std::string_view generators[] = {"rmat", "uniform", "barabasi_albert", "delaunay", "geometric",
                                           "grid", "dual",    "roads",           "stencil"};

// Of Graph500 and GAP.
constexpr std::uint64_t edges_a_vertex = 16;
constexpr std::uint64_t attached_edges = 4;
// Mean degree 2.1, as road networks have it.
constexpr std::uint32_t road_chain = 8;
constexpr vertex_id vertices_a_second_road = 20;

graph_input generated(std::string name, const row_builder& builder, std::uint64_t edges) {
  const csr_view<> rows = builder.rows();
  const std::uint64_t places = std::uint64_t{rows.vertices()} + 1;
  graph_input made{std::move(name), rows.vertices(), true, device_array<std::uint64_t>(places),
                   device_array<vertex_id>(edges)};
  device_copy(made.offsets.data(), rows.offsets(), places * sizeof(std::uint64_t));
  device_copy(made.neighbours.data(), rows.neighbours(), edges * sizeof(vertex_id));
  return made;
}

template <edge_generator G>
graph_input generate(std::string name, const G& generator) {
  const std::uint64_t room = count_edges(generator);
  const device_array<vertex_id> sources(room), targets(room);
  write_edges(generator, sources.data(), targets.data(), room);
  row_builder builder(generator.vertices());
  const std::uint64_t edges = builder.build({sources.data(), targets.data(), room}, {nullptr, nullptr, 0}, true);
  return generated(std::move(name), builder, edges);
}

graph_input generate_named(const graph_bench_options& asked) {
  const std::string& name = asked.graph;
  const std::uint64_t wanted = asked.scale ? std::uint64_t{1} << *asked.scale : asked.vertices.value_or(100'000);
  const auto vertices = static_cast<vertex_id>(wanted);
  const std::uint64_t seed = asked.seed;
  if (name == "rmat") {
    const int scale = asked.scale.value_or(static_cast<int>(std::bit_width(wanted - 1)));
    return generate(name, rmat_edges(scale, edges_a_vertex << scale, seed));
  }
  if (name == "uniform") return generate(name, uniform_edges(vertices, edges_a_vertex * wanted, seed));
  if (name == "barabasi_albert") {
    return generate(name, barabasi_albert_edges(vertices, attached_edges * (wanted - 1), seed));
  }
  if (name == "delaunay") {
    const std::uint32_t cells = vertices / delaunay_edges::cell_points, width = generation::width_of(cells);
    return generate(name, delaunay_edges(width, cells / width, seed));
  }
  if (name == "geometric") {
    const geometric_points points(vertices, geometric_radius(vertices), seed);
    return generate(name, points.edges());
  }
  if (name == "grid") {
    const std::uint32_t width = generation::width_of(vertices);
    return generate(name, grid_edges(width, vertices / width));
  }
  if (name == "dual") {
    const std::uint32_t width = generation::width_of(vertices / 2);
    return generate(name, dual_edges(width, vertices / 2 / width, seed));
  }
  if (name == "roads") {
    return generate(name, road_edges(vertices, road_chain, vertices / vertices_a_second_road, seed));
  }
  if (name == "stencil") {
    const auto side = static_cast<std::uint32_t>(std::cbrt(static_cast<double>(vertices)) + 0.5);
    return generate(name, stencil_edges({side, side, side}));
  }
  for (const stand_in& each : stand_ins) {
    const std::string_view full = each.name;
    if (name != full && name != full.substr(stand_in_prefix.size())) continue;
    const bool is_whole = !asked.vertices && !asked.scale;
    const auto divisor = static_cast<std::uint32_t>(is_whole ? 1 : std::max<std::uint64_t>(each.vertices / wanted, 1));
    std::optional<graph_input> made;
    with_stand_in(each, divisor, seed, [&](const auto& generator) { made = generate(each.name, generator); });
    return std::move(*made);
  }
  std::string names;
  for (const std::string& known : graph_names()) names.append(names.empty() ? "" : ", ").append(known);
  throw graph_usage_error("--graph: '" + name + "' is unknown; use one of: " + names);
}

}  // namespace

graph_input load_graph_input(const graph_bench_options& asked) {
  if (asked.csr_file.empty()) return generate_named(asked);
  const csr_graph file = read_csr_file(asked.csr_file);
  // Rows keep loops, while batches and rebuilds drop them: the results could not be compared.
  for (vertex_id v = 0; v < file.vertices; ++v) {
    const auto list = file.neighbours.begin();
    const auto first = list + static_cast<std::ptrdiff_t>(file.offsets[v]);
    const auto last = list + static_cast<std::ptrdiff_t>(file.offsets[v + 1]);
    if (std::find(first, last, v) != last) {
      throw graph_usage_error("--csr: vertex " + std::to_string(v) + " has an edge to itself; write the file again, " +
                              "from a graph that was read with simple=True");
    }
  }
  const std::size_t slash = asked.csr_file.rfind('/');
  std::string name = asked.csr_file.substr(slash == std::string::npos ? 0 : slash + 1);
  return {std::move(name), file.vertices, !file.directed, device_array<std::uint64_t>(file.offsets),
          device_array<vertex_id>(file.neighbours)};
}

std::vector<std::string> graph_names() {
  std::vector<std::string> names(std::begin(generators), std::end(generators));
  for (const stand_in& each : stand_ins) names.emplace_back(std::string_view{each.name}.substr(stand_in_prefix.size()));
  return names;
}

}  // namespace warpheap::bench
