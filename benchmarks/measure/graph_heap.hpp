// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <warpheap/heap.hpp>

#include "findings.hpp"
#include "fixtures.hpp"
#include "graph_lists.hpp"
#include "memory.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// One thread a vertex asks for the block of its list and copies the list into it. A vertex whose request is refused
/// keeps an empty list without a block, and counts in `*null`.
template <device_allocator A>
struct make_lists_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, csr_view<> rows, vertex_list* lists, std::uint64_t* null) const {
    const std::uint64_t index = grid_thread_index();
    if (index >= rows.vertices()) return;
    const auto v = static_cast<vertex_id>(index);
    const auto from = rows.first_piece(v);
    const std::uint64_t bytes = list_bytes(from.count);
    auto* const ids = static_cast<vertex_id*>(heap.malloc(bytes));
    if (ids == nullptr) {
      lists[v] = {};
      return kernel_tally::count(*null);
    }
    for (std::uint32_t i = 0; i < from.count; ++i) ids[i] = from.ids[i];
    lists[v] = {ids, bytes, from.count};
  }
};

/// A fixture for cases of dynamic graphs: one heap, which stays warm, and a graph whose lists lie in it. `threads` are
/// the vertices.
template <device_allocator A>
struct graph_heap : one_heap<A> {
  static_assert(A::capabilities.alignment % sizeof(vertex_id) == 0, "lists are written in words");

  /// Makes the heap and the stand-in `name`, whose lists are not in the heap yet.
  graph_heap(const run_options& asked, std::string_view name)
      : one_heap<A>(asked),
        graph(name, asked.threads, asked.seed),
        lists(graph.vertices()),
        null(1),
        live_before(this->heap.statistics().live_bytes) {}

  /// Makes all lists, while no list has a block. Returns the time of the kernel in microseconds. Refused vertices
  /// count as failures.
  double make_lists() {
    null.clear();
    const double time = this->time_of([&] {
      launch(grid_shape::covering(graph.vertices()), make_lists_kernel<A>{}, this->heap.ref(), graph.rows(),
             lists.data(), null.data());
    });
    note(graph.vertices(), "vertices");
    return time;
  }

  /// Gives the blocks of all lists back, and then sees that nothing is live if `judged`.
  void free_lists(bool judged) {
    write_blocks(lists, this->blocks.data());
    this->empty({.count = graph.vertices(), .size = 16, .salt = 0, .mode = request_mode::thread});
    lists.clear();
    synchronise();
    if (!judged || !this->found.fault.empty()) return;
    this->found.fault = describe_leak(live_before, this->heap.statistics().live_bytes);
  }

  /// Writes down what a kernel did that made `requests` requests: those that got null are failures. `what` asked.
  void note(std::uint64_t requests, const char* what) {
    last_null = null.at(0);
    findings& found = this->found;
    found.requests += requests;
    found.failures += last_null;
    if (last_null == 0 || !found.refusal.empty()) return;
    found.refusal = std::to_string(last_null) + " of " + std::to_string(requests) + " " + what + " in round " +
                    std::to_string(found.rounds) + " got null: the lists of the graph ask for " +
                    std::to_string(graph.list_bytes()) + " bytes in all, the heap has " +
                    std::to_string(this->heap.size());
  }

  /// Checks every list against the graph with the edges of `added`, unless that is null. Vertices that are as before
  /// must be those whose request was refused by the last kernel; a refused request to shrink has no such mark.
  void look(const edge_batches* added, bool shrunk = false) {
    findings& found = this->found;
    const list_findings seen = judge_lists(graph, added, lists, A::capabilities.alignment);
    span_ratio = static_cast<double>(seen.span_bytes) / static_cast<double>(graph.list_bytes());
    const heap_statistics statistics = this->heap.statistics();
    found.memory = describe_memory(seen.requested_bytes, seen.span_bytes, statistics);
    if (!found.fault.empty()) return;
    found.fault = seen.fault;
    const std::uint64_t refused = shrunk ? 0 : last_null;
    if (found.fault.empty() && seen.refused != refused) {
      found.fault = std::to_string(seen.refused) + " lists lack what was to be written to them, and " +
                    std::to_string(refused) + " requests got null";
    }
  }

  stand_in_graph graph;
  device_array<vertex_list> lists;
  device_array<std::uint64_t> null;  ///< requests of the last kernel that were refused
  std::uint64_t last_null = 0;
  std::optional<std::uint64_t> live_before;
  double span_ratio = 0;  ///< of the last look: the span of all blocks over the bytes that the lists ask for
};

/// Why the design cannot serve lists of `degree` neighbours; empty if it can.
template <device_allocator A>
std::string unfit_for_lists(std::uint64_t degree) {
  if (list_bytes(degree) <= A::capabilities.largest_bytes) return "";
  return "the design serves requests of up to " + std::to_string(A::capabilities.largest_bytes) +
         " bytes, and a list of the graph may ask for " + std::to_string(list_bytes(degree));
}

}  // namespace warpheap::bench
