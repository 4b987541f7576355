// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A graph on the host, a map of targets for each source, and the comparison of a graph on the heap with it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <support/random.hpp>
#include <type_traits>
#include <utility>
#include <vector>
#include <warpheap/graph.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test {

/// A batch of edges on the host.
struct edge_batch {
  std::vector<vertex_id> sources;
  std::vector<vertex_id> targets;
  std::vector<float> weights;

  void add(vertex_id source, vertex_id target, float weight = 0) {
    sources.push_back(source);
    targets.push_back(target);
    weights.push_back(weight);
  }
  std::uint64_t size() const { return sources.size(); }
};

/// A batch of edges in device memory.
struct device_batch {
  device_array<vertex_id> sources;
  device_array<vertex_id> targets;
  device_array<float> weights;

  explicit device_batch(const edge_batch& batch)
      : sources(batch.sources), targets(batch.targets), weights(batch.weights) {}
  template <class Graph>
  edge_counts add_to(Graph& graph) const {
    if constexpr (std::is_void_v<typename Graph::weight_type>) {
      return graph.add_edges(sources.data(), targets.data(), sources.size());
    } else {
      return graph.add_edges(sources.data(), targets.data(), sources.size(), weights.data());
    }
  }
  template <class Graph>
  edge_counts remove_from(Graph& graph) const {
    return graph.remove_edges(sources.data(), targets.data(), sources.size());
  }
};

/// What a graph is to hold.
class graph_model {
 public:
  graph_model(vertex_id vertices, graph_options options)
      : lists(vertices), changed(vertices), gone(vertices), options_(options) {}

  edge_counts add(const edge_batch& batch) { return apply(batch, true); }
  edge_counts remove(const edge_batch& batch) { return apply(batch, false); }

  std::vector<std::map<vertex_id, float>> lists;
  std::vector<bool> changed;
  std::vector<bool> gone;

 private:
  edge_counts apply(const edge_batch& batch, bool adds) {
    edge_counts counts;
    std::map<std::pair<vertex_id, vertex_id>, float> seen;
    const auto one = [&](vertex_id source, vertex_id target, float weight) {
      ++counts.offered;
      if (source >= lists.size() || target >= lists.size() || gone[source] || gone[target]) {
        ++counts.invalid;
      } else if (source == target && !options_.keep_loops) {
        ++counts.loops;
      } else if (!seen.emplace(std::pair{source, target}, weight).second) {
        ++counts.repeated;
      }
    };
    for (std::uint64_t i = 0; i < batch.size(); ++i) one(batch.sources[i], batch.targets[i], batch.weights[i]);
    for (std::uint64_t i = 0; options_.undirected && i < batch.size(); ++i) {
      one(batch.targets[i], batch.sources[i], batch.weights[i]);
    }
    for (const auto& [edge, weight] : seen) {
      auto& list = lists[edge.first];
      if (adds) {
        const auto [place, is_new] = list.emplace(edge.second, weight);
        if (!is_new && options_.replace_weights) place->second = weight;
        ++(is_new ? counts.added : counts.present);
        changed[edge.first] = changed[edge.first] || is_new;
      } else {
        const bool was_there = list.erase(edge.second) != 0;
        ++(was_there ? counts.removed : counts.absent);
        changed[edge.first] = changed[edge.first] || was_there;
      }
    }
    return counts;
  }

  graph_options options_;
};

inline std::ostream& operator<<(std::ostream& out, const edge_counts& counts) {
  return out << "offered " << counts.offered << ", added " << counts.added << ", present " << counts.present
             << ", removed " << counts.removed << ", absent " << counts.absent << ", repeated " << counts.repeated
             << ", loops " << counts.loops << ", refused " << counts.refused << ", invalid " << counts.invalid;
}

/// The lists of a graph as kernels read them, piece by piece; checks that ascending lists ascend.
struct read_lists {
  template <class Graph>
  WARPHEAP_FN void operator()(Graph graph, const std::uint64_t* offsets, vertex_id* ids) const {
    for (std::uint64_t v = grid_thread_index(); v < graph.vertices(); v += grid_threads()) {
      std::uint64_t at = offsets[v];
      for (auto piece = graph.first_piece(static_cast<vertex_id>(v)); piece.count != 0;
           piece = graph.next_piece(piece)) {
        for (std::uint32_t i = 0; i < piece.count; ++i) ids[at++] = piece.ids[i];
      }
    }
  }
};

/// Expects that the graph holds what the model holds: degrees, lists by `to_csr` and by pieces, weights, edges.
template <class Graph>
void expect_equal(const Graph& graph, const graph_model& model) {
  ASSERT_EQ(graph.vertices(), model.lists.size());
  const device_array<std::uint32_t> degrees_there(graph.vertices());
  graph.degrees(degrees_there.data());
  const std::vector<std::uint32_t> degrees = degrees_there.to_host();
  std::uint64_t edges = 0;
  for (vertex_id v = 0; v < graph.vertices(); ++v) {
    ASSERT_EQ(degrees[v], model.lists[v].size()) << "vertex " << v;
    edges += degrees[v];
  }
  ASSERT_EQ(graph.edges(), edges);
  const auto rows = graph.to_csr();
  const device_array<vertex_id> pieces_there(edges);
  launch({4, 64}, read_lists{}, graph.ref(), rows.offsets.data(), pieces_there.data());
  const auto offsets = rows.offsets.to_host();
  const auto neighbours = rows.neighbours.to_host();
  const auto pieces = pieces_there.to_host();
  ASSERT_EQ(pieces, neighbours);
  for (vertex_id v = 0; v < graph.vertices(); ++v) {
    ASSERT_EQ(offsets[v + 1] - offsets[v], degrees[v]);
    std::vector<vertex_id> expected;
    for (const auto& [target, weight] : model.lists[v]) expected.push_back(target);
    std::vector<vertex_id> list(neighbours.begin() + static_cast<std::ptrdiff_t>(offsets[v]),
                                neighbours.begin() + static_cast<std::ptrdiff_t>(offsets[v + 1]));
    if constexpr (!Graph::layout::is_ascending) std::sort(list.begin(), list.end());
    ASSERT_EQ(list, expected) << "vertex " << v;
  }
  if constexpr (!std::is_void_v<typename Graph::weight_type>) {
    const auto weights = rows.weights.to_host();
    for (vertex_id v = 0; v < graph.vertices(); ++v) {
      for (std::uint64_t at = offsets[v]; at < offsets[v + 1]; ++at) {
        ASSERT_EQ(weights[at], model.lists[v].at(neighbours[at])) << "edge " << v << " to " << neighbours[at];
      }
    }
  }
  EXPECT_EQ(graph.memory().live_bytes, edges * Graph::layout::edge_bytes);
  EXPECT_GE(graph.memory().block_bytes, edges * Graph::layout::edge_bytes);
}

/// Expects that the graph's set of changed vertices is that of the model, and clears both.
template <class Graph>
void expect_changed(Graph& graph, graph_model& model) {
  std::vector<vertex_id> expected;
  for (vertex_id v = 0; v < model.changed.size(); ++v) {
    if (model.changed[v]) expected.push_back(v);
  }
  EXPECT_EQ(graph.changed_vertices().to_host(), expected);
  graph.clear_changed();
  model.changed.assign(model.changed.size(), false);
  EXPECT_EQ(graph.changed_vertices().size(), 0u);
}

/// A batch of `count` edges, of which about a third are from a few sources, and some repeat, loop or are no edges.
inline edge_batch some_edges(random_stream& random, const graph_model& model, std::uint64_t count) {
  edge_batch batch;
  const std::uint64_t vertices = model.lists.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto weight = static_cast<float>(random.below(1000));
    vertex_id source = static_cast<vertex_id>(random.below(random.below(3) == 0 ? 3 : vertices));
    vertex_id target = static_cast<vertex_id>(random.below(vertices));
    switch (random.below(24)) {
      case 0: target = source; break;
      case 1: target = static_cast<vertex_id>(vertices + random.below(2)); break;
      case 2: source = static_cast<vertex_id>(~vertex_id{0} - random.below(2)); break;
      case 3:
        if (batch.size() != 0) {
          const std::uint64_t earlier = random.below(batch.size());
          source = batch.sources[earlier];
          target = batch.targets[earlier];
        }
        break;
      case 4: {  // an edge that the graph has, if the vertex has any
        const auto at =
            source < vertices ? model.lists[source].lower_bound(target) : std::map<vertex_id, float>::const_iterator{};
        if (source < vertices && at != model.lists[source].end()) target = at->first;
        break;
      }
      default: break;
    }
    batch.add(source, target, weight);
  }
  return batch;
}

/// A batch of about one in `part` of the graph's edges, and a few that it has not.
inline edge_batch some_present_edges(random_stream& random, const graph_model& model, std::uint64_t part) {
  edge_batch batch;
  for (vertex_id v = 0; v < model.lists.size(); ++v) {
    for (const auto& [target, weight] : model.lists[v]) {
      if (random.below(part) == 0) batch.add(v, target);
      if (random.below(20) == 0) batch.add(v, target + 1);
    }
  }
  return batch;
}

}  // namespace warpheap::test
