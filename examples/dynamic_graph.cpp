// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The guide's example of a dynamic graph, whole: a triangle is added as one batch, and a kernel reads the lists.

// [guide]
#include <iostream>
#include <warpheap.hpp>
#include <warpheap/graph.hpp>

struct sum_neighbours {  // any ordinary kernel: one thread a vertex
  template <class Graph>
  WARPHEAP_FN void operator()(Graph graph, std::uint32_t* sums) const {
    const auto v = static_cast<warpheap::vertex_id>(warpheap::grid_thread_index());
    if (v >= graph.vertices()) return;
    for (auto piece = graph.first_piece(v); piece.count != 0; piece = graph.next_piece(piece)) {
      for (std::uint32_t i = 0; i < piece.count; ++i) sums[v] += piece.ids[i];
    }
  }
};

int main() {
  warpheap::heap<> heap{1 << 22};
  warpheap::graph<warpheap::heap<>> graph{heap, 4, {.undirected = true}};
  const warpheap::device_array<warpheap::vertex_id> from(std::vector<warpheap::vertex_id>{1, 2, 3});
  const warpheap::device_array<warpheap::vertex_id> to(std::vector<warpheap::vertex_id>{2, 3, 1});
  const warpheap::edge_counts counts = graph.add_edges(from.data(), to.data(), from.size());
  const warpheap::device_array<std::uint32_t> sums(4);
  warpheap::launch({1, 4}, sum_neighbours{}, graph.ref(), sums.data());
  std::cout << counts.added << " edges, the neighbours of vertex 1 sum up to " << sums.at(1) << "\n";
  // [guide]
  const bool as_expected = counts.added == 6 && sums.to_host() == std::vector<std::uint32_t>{0, 5, 4, 3};
  return as_expected && graph.remove_edges(from.data(), to.data(), 2).removed == 4 && graph.edges() == 2 ? 0 : 1;
}
