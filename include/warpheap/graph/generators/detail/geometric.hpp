// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/adjacency.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {
namespace generation {

/// Counts the vertices of each cell.
struct count_members {
  template <class Graph>
  WARPHEAP_FN void operator()(Graph graph, std::uint32_t* counts) const {
    for (std::uint64_t v = grid_thread_index(); v < graph.items(); v += grid_threads()) {
      const std::uint32_t cell = graph.cell(graph.point(static_cast<vertex_id>(v)));
      // Relaxed: only the sum counts, and the end of the kernel orders it before its readers. Threads of one device.
      atomic_view{counts[cell]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

/// Writes each vertex to a place of its cell; `ends` goes down from the end of each cell to its start.
struct place_members {
  template <class Graph>
  WARPHEAP_FN void operator()(Graph graph, std::uint32_t* ends, vertex_id* members) const {
    for (std::uint64_t v = grid_thread_index(); v < graph.items(); v += grid_threads()) {
      const std::uint32_t cell = graph.cell(graph.point(static_cast<vertex_id>(v)));
      // Relaxed: the place is the caller's by the value alone, and the end of the kernel orders what is written there.
      const std::uint32_t end = atomic_view{ends[cell]}.fetch_sub(1, memory_order::relaxed, thread_scope::device);
      members[end - 1] = static_cast<vertex_id>(v);
    }
  }
};

/// Sorts the members of each cell: the order in which threads came must not show in the graph. Cells are small.
struct sort_members {
  WARPHEAP_FN void operator()(const std::uint32_t* starts, std::uint64_t cells, vertex_id* members) const {
    for (std::uint64_t cell = grid_thread_index(); cell < cells; cell += grid_threads()) {
      for (std::uint32_t i = starts[cell] + 1; i < starts[cell + 1]; ++i) {
        const vertex_id moved = members[i];
        std::uint32_t at = i;
        for (; at > starts[cell] && members[at - 1] > moved; --at) members[at] = members[at - 1];
        members[at] = moved;
      }
    }
  }
};

}  // namespace generation

}  // namespace warpheap
