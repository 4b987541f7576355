// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_lists.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <warpheap/graph/generators.hpp>

#include "oracle.hpp"

namespace warpheap::bench {
namespace {

// Of coAuthorsCiteseer, which the survey has: 814,134 edges among 227,320 vertices.
constexpr std::uint64_t coauthor_vertices = 227'320;
constexpr std::uint64_t coauthor_edges = 814'134;

// A vertex has six neighbours in the mean, each edge in both directions, and edges are counted by 32 bits.
constexpr std::uint64_t least_vertices = 1'000;
constexpr std::uint64_t most_vertices = std::uint64_t{1} << 28;

// The edges of a batch. One that the graph has becomes a loop, which the rows leave out.
struct draw_edges {
  WARPHEAP_FN void operator()(csr_view<> graph, counter_random random, std::uint64_t first, std::uint64_t among,
                              std::uint64_t count, vertex_id* sources, vertex_id* targets) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      const auto source = static_cast<vertex_id>(first + random.below(among, i, 0));
      const auto target = static_cast<vertex_id>(random.below(graph.vertices(), i, 1));
      sources[i] = source;
      targets[i] = has(graph, source, target) ? source : target;
    }
  }

  WARPHEAP_FN static bool has(const csr_view<>& graph, vertex_id source, vertex_id target) {
    std::uint64_t low = graph.offsets()[source];
    const std::uint64_t end = graph.offsets()[source + std::uint64_t{1}];
    std::uint64_t high = end;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (graph.neighbours()[middle] < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < end && graph.neighbours()[low] == target;
  }
};

struct count_moves_kernel {
  WARPHEAP_FN void operator()(const vertex_list* lists, csr_view<> batch, list_moves* moves) const {
    for (std::uint64_t i = grid_thread_index(); i < batch.vertices(); i += grid_threads()) {
      const auto v = static_cast<vertex_id>(i);
      const std::uint64_t more = batch.degree(v);
      if (more == 0) continue;
      const std::uint64_t before = list_bytes(lists[v].degree);
      const std::uint64_t wanted = list_bytes(lists[v].degree + more);
      const std::uint64_t held = wanted > lists[v].bytes ? wanted : lists[v].bytes;
      // Sums are read after the launch and order nothing.
      if (wanted > lists[v].bytes) {
        atomic_view{moves->grown}.fetch_add(std::uint64_t{1}, memory_order::relaxed, thread_scope::device);
      }
      if (before < held) {
        atomic_view{moves->shrunk}.fetch_add(std::uint64_t{1}, memory_order::relaxed, thread_scope::device);
      }
    }
  }
};

struct write_blocks_kernel {
  WARPHEAP_FN void operator()(const vertex_list* lists, std::uint64_t count, void** blocks) const {
    for (std::uint64_t v = grid_thread_index(); v < count; v += grid_threads()) blocks[v] = lists[v].ids;
  }
};

struct copy_lists {
  WARPHEAP_FN void operator()(const vertex_list* lists, std::uint64_t count, const std::uint64_t* offsets,
                              vertex_id* to) const {
    for (std::uint64_t v = grid_thread_index(); v < count; v += grid_threads()) {
      for (std::uint64_t i = 0; i < lists[v].degree; ++i) to[offsets[v] + i] = lists[v].ids[i];
    }
  }
};

// The rows of `generator`, each edge in both directions, as vectors.
template <edge_generator G>
std::pair<std::vector<std::uint64_t>, std::vector<vertex_id>> rows_of(const G& generator) {
  const std::uint64_t room = count_edges(generator);
  const device_array<vertex_id> sources(room), targets(room);
  write_edges(generator, sources.data(), targets.data(), room);
  row_builder builder(generator.vertices());
  const std::uint64_t edges = builder.build({sources.data(), targets.data(), room}, {nullptr, nullptr, 0}, true);
  std::vector<std::uint64_t> offsets(std::uint64_t{generator.vertices()} + 1);
  std::vector<vertex_id> neighbours(edges);
  device_copy(offsets.data(), builder.rows().offsets(), offsets.size() * sizeof(std::uint64_t));
  device_copy(neighbours.data(), builder.rows().neighbours(), edges * sizeof(vertex_id));
  return {std::move(offsets), std::move(neighbours)};
}

std::pair<std::vector<std::uint64_t>, std::vector<vertex_id>> stand_in_rows(std::string_view name,
                                                                            std::uint64_t vertices,
                                                                            std::uint64_t seed) {
  if (name == "coauthors") {
    const std::uint64_t edges = vertices * coauthor_edges / coauthor_vertices;
    return rows_of(barabasi_albert_edges(static_cast<vertex_id>(vertices), edges, seed));
  }
  const auto cells = static_cast<std::uint32_t>(vertices / delaunay_edges::cell_points);
  const std::uint32_t width = generation::width_of(cells);
  return rows_of(delaunay_edges(width, cells / width, seed));
}

std::string vertex_text(std::uint64_t v) { return "the list of vertex " + std::to_string(v); }

// The first vertex whose record cannot be true, whatever its block holds.
std::string record_fault(const std::vector<vertex_list>& lists) {
  for (std::uint64_t v = 0; v < lists.size(); ++v) {
    const vertex_list& each = lists[v];
    if (each.ids == nullptr ? each.degree != 0 : each.bytes < list_bytes(each.degree)) {
      return vertex_text(v) + " has " + std::to_string(each.degree) + " neighbours in a block of " +
             std::to_string(each.bytes) + " bytes";
    }
  }
  return "";
}

}  // namespace

std::string stand_in_graph::unfit(std::uint64_t vertices) {
  if (vertices >= least_vertices && vertices <= most_vertices) return "";
  return "a stand-in has a thread for each of its vertices: use " + std::to_string(least_vertices) + " to " +
         std::to_string(most_vertices) + " threads";
}

stand_in_graph::stand_in_graph(std::string_view name, std::uint64_t vertices, std::uint64_t seed)
    : name_(name), device_offsets_(0), device_neighbours_(0) {
  std::tie(offsets_, neighbours_) = stand_in_rows(name, vertices, seed);
  device_offsets_ = device_array<std::uint64_t>(offsets_);
  device_neighbours_ = device_array<vertex_id>(neighbours_);
}

std::uint64_t stand_in_graph::largest_degree() const {
  std::uint64_t largest = 0;
  for (vertex_id v = 0; v < vertices(); ++v) largest = std::max(largest, offsets_[v + 1] - offsets_[v]);
  return largest;
}

std::uint64_t stand_in_graph::list_bytes() const {
  std::uint64_t bytes = 0;
  for (vertex_id v = 0; v < vertices(); ++v) bytes += bench::list_bytes(offsets_[v + 1] - offsets_[v]);
  return bytes;
}

std::vector<vertex_id> stand_in_graph::neighbours(vertex_id v) const {
  const auto first = neighbours_.begin();
  return {first + static_cast<std::ptrdiff_t>(offsets_[v]), first + static_cast<std::ptrdiff_t>(offsets_[v + 1])};
}

json_object stand_in_graph::describe() const {
  return json_object{}
      .add("stand_in_of", name_ == "coauthors" ? "coAuthorsCiteseer" : "delaunay_n20")
      .add("vertices", std::uint64_t{vertices()})
      .add("edges", edges())
      .add("largest_degree", largest_degree())
      .add("requested_bytes", list_bytes());
}

edge_batches::edge_batches(const stand_in_graph& graph, std::uint64_t edges, batch_sources sources, std::uint64_t seed)
    : graph_(graph),
      seed_(seed),
      among_(sources == batch_sources::uniform ? graph.vertices() : std::min<std::uint64_t>(window, graph.vertices())),
      sources_(edges),
      targets_(edges),
      builder_(graph.vertices()) {}

void edge_batches::draw(std::uint64_t round) {
  const std::uint64_t places = graph_.vertices() - among_ + 1;
  const std::uint64_t first = round * window % places;
  launch(grid_for(sources_.size()), draw_edges{}, graph_.rows(), counter_random(seed_ ^ mix(round)), first, among_,
         sources_.size(), sources_.data(), targets_.data());
  kept_ = builder_.build({sources_.data(), targets_.data(), sources_.size()}, {nullptr, nullptr, 0}, false);
}

std::vector<std::uint64_t> edge_batches::offsets() const {
  std::vector<std::uint64_t> values(std::uint64_t{graph_.vertices()} + 1);
  device_copy(values.data(), rows().offsets(), values.size() * sizeof(std::uint64_t));
  return values;
}

std::vector<vertex_id> edge_batches::neighbours() const {
  std::vector<vertex_id> values(kept_);
  if (kept_ != 0) device_copy(values.data(), rows().neighbours(), kept_ * sizeof(vertex_id));
  return values;
}

std::uint64_t edge_batches::likely_largest() const { return 2 * sources_.size() / among_ + 16; }

list_moves count_moves(const device_array<vertex_list>& lists, const csr_view<>& batch) {
  const device_array<list_moves> moves(1);
  launch(grid_for(batch.vertices()), count_moves_kernel{}, static_cast<const vertex_list*>(lists.data()), batch,
         moves.data());
  return moves.at(0);
}

void write_blocks(const device_array<vertex_list>& lists, void** blocks) {
  launch(grid_for(lists.size()), write_blocks_kernel{}, static_cast<const vertex_list*>(lists.data()), lists.size(),
         blocks);
}

list_findings judge_lists(const stand_in_graph& graph, const edge_batches* added,
                          const device_array<vertex_list>& lists, std::uint64_t alignment) {
  const std::vector<vertex_list> here = lists.to_host();
  std::vector<void*> blocks;
  std::vector<std::uint64_t> bytes, places{0};
  for (const vertex_list& each : here) {
    blocks.push_back(each.ids);
    bytes.push_back(std::max<std::uint64_t>(each.bytes, 1));
    places.push_back(places.back() + each.degree);
  }
  const address_findings seen = judge_addresses(bytes, blocks, alignment);
  list_findings found{0, seen.requested_bytes, seen.span_bytes, seen.fault};
  if (found.fault.empty()) found.fault = record_fault(here);
  if (!found.fault.empty()) return found;

  const device_array<std::uint64_t> offsets(places);
  const device_array<vertex_id> copies(places.back());
  launch(grid_for(lists.size()), copy_lists{}, static_cast<const vertex_list*>(lists.data()), lists.size(),
         static_cast<const std::uint64_t*>(offsets.data()), copies.data());
  std::vector<vertex_id> ids = copies.to_host();
  std::vector<std::uint64_t> added_offsets(here.size() + 1);
  std::vector<vertex_id> added_ids;
  if (added != nullptr) {
    added_offsets = added->offsets();
    added_ids = added->neighbours();
  }
  for (vertex_id v = 0; v < graph.vertices(); ++v) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(places[v]);
    const auto last = ids.begin() + static_cast<std::ptrdiff_t>(places[v + 1]);
    std::sort(first, last);
    const std::vector<vertex_id> before = graph.neighbours(v);
    std::vector<vertex_id> wanted = before;
    for (std::uint64_t i = added_offsets[v]; i < added_offsets[v + 1]; ++i) wanted.push_back(added_ids[i]);
    std::sort(wanted.begin(), wanted.end());
    const bool is_whole = here[v].ids != nullptr && std::equal(first, last, wanted.begin(), wanted.end());
    if (is_whole) continue;
    if (here[v].ids == nullptr || std::equal(first, last, before.begin(), before.end())) {
      ++found.refused;
      continue;
    }
    found.fault = vertex_text(v) + " has " + std::to_string(here[v].degree) + " neighbours, which are not those " +
                  "that it should have, " + std::to_string(wanted.size());
    return found;
  }
  return found;
}

}  // namespace warpheap::bench
