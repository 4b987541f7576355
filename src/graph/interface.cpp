// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface: arguments are checked here, and nothing that is thrown leaves for C (../interface/guard.hpp).

// Only what the header declares is seen from outside; graph.map keeps in what standard headers mark as visible.
#pragma GCC visibility push(default)
#include <warpheap/graph/graph.h>
#pragma GCC visibility pop

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../interface/arrays.hpp"
#include "any_graph.hpp"

namespace {

using warpheap::scoped_device;
namespace interface = warpheap::interface;

struct named_design {
  std::string_view name;
  interface::maker make;
};
constexpr named_design designs[] = {{"warp_slab", interface::make_warp_slab},
                                    {"bulk", interface::make_bulk},
                                    {"ouroboros_va_p", interface::make_ouroboros_va_p}};
constexpr const char* design_names = "warp_slab,bulk,ouroboros_va_p";

constexpr std::uint32_t known_flags =
    WH_GRAPH_UNDIRECTED | WH_GRAPH_KEEP_LOOPS | WH_GRAPH_WEIGHTS | WH_GRAPH_REPLACE_WEIGHTS;

using interface::require;
using interface::tell;

wh_graph_status status(interface::outcome how) { return static_cast<wh_graph_status>(how); }

template <class Call>
wh_graph_status guarded(Call call) noexcept {
  return status(interface::guarded(call));
}

// Runs `call(graph)` on the graph's device, and waits until what it wrote to device memory is there.
template <class Graph, class Call>
wh_graph_status on(Graph* graph, Call call) noexcept {
  return guarded([&] {
    require(graph != nullptr, "the graph is null: make one with wh_graph_create");
    const scoped_device own{graph->device};
    call(*graph);
    warpheap::synchronise();
  });
}

void require_edges(const std::uint32_t* sources, const std::uint32_t* targets, std::uint64_t count) {
  require(count == 0 || (sources != nullptr && targets != nullptr),
          "an array of the batch is null and its count is not 0");
}

void require_weights(const wh_graph& graph, const float* weights) {
  require(weights == nullptr || (graph.flags & WH_GRAPH_WEIGHTS) != 0,
          "the graph has no weights: make it with WH_GRAPH_WEIGHTS, or give none");
}

wh_graph_edge_counts for_c(const warpheap::edge_counts& counts) {
  return {counts.offered,  counts.added, counts.present, counts.removed, counts.absent,
          counts.repeated, counts.loops, counts.refused, counts.invalid};
}

const named_design& find_design(const char* name) {
  if (name == nullptr) return designs[0];
  for (const named_design& each : designs) {
    if (each.name == name) return each;
  }
  throw std::invalid_argument("no graph is on a heap of the design '" + std::string(name) + "': use one of " +
                              design_names);
}

std::uint64_t default_heap_bytes() {
  return std::min<std::uint64_t>(warpheap::describe_machine().memory_bytes / 8, std::uint64_t{1} << 30);
}

struct narrow {
  WARPHEAP_FN std::uint32_t operator()(std::int64_t id) const {
    const auto number = static_cast<std::uint64_t>(id);
    return number < 0xffffffffu ? static_cast<std::uint32_t>(number) : 0xffffffffu;
  }
};

}  // namespace

extern "C" {

uint32_t wh_graph_abi(void) { return WH_GRAPH_ABI; }

const char* wh_graph_backend(void) { return warpheap::backend_name(warpheap::this_backend); }

const char* wh_graph_designs(void) { return design_names; }

uint32_t wh_graph_device_available(void) { return interface::device_answers() ? 1 : 0; }

int32_t wh_graph_device(void) { return interface::current_device(); }

const char* wh_graph_error(void) { return interface::last_error().c_str(); }

wh_graph_status wh_graph_array_make(uint64_t bytes, void** array) {
  return guarded([&] { interface::array_make(bytes, array); });
}

void wh_graph_array_end(void* array) { interface::array_end(array); }

wh_graph_status wh_graph_array_copy(void* to, const void* from, uint64_t bytes) {
  return guarded([&] { interface::array_copy(to, from, bytes); });
}

wh_graph_status wh_graph_array_narrow(uint32_t* to, const int64_t* from, uint64_t count) {
  return guarded([&] { interface::convert<narrow>(to, from, count); });
}

wh_graph_status wh_graph_array_widen(uint64_t* to, const uint32_t* from, uint64_t count) {
  return guarded([&] { interface::convert<interface::widen>(to, from, count); });
}

wh_graph_status wh_graph_await_stream(uint64_t stream) {
  return guarded([&] { interface::await_stream(stream); });
}

wh_graph_status wh_graph_create(uint32_t vertices, const wh_graph_options* options, wh_graph** graph) {
  return guarded([&] {
    require(graph != nullptr, "there is no place for the graph's pointer");
    const wh_graph_options asked = options != nullptr ? *options : wh_graph_options{};
    require((asked.flags & ~known_flags) == 0, "flags has a bit that this library does not know");
    const named_design& design = find_design(asked.design);
    warpheap::graph_options how;
    how.undirected = (asked.flags & WH_GRAPH_UNDIRECTED) != 0;
    how.keep_loops = (asked.flags & WH_GRAPH_KEEP_LOOPS) != 0;
    how.replace_weights = (asked.flags & WH_GRAPH_REPLACE_WEIGHTS) != 0;
    how.most_vertices = asked.most_vertices;
    const std::uint64_t bytes = asked.heap_bytes != 0 ? asked.heap_bytes : default_heap_bytes();
    auto made = design.make(vertices, {bytes, how, (asked.flags & WH_GRAPH_WEIGHTS) != 0});
    made->flags = asked.flags;
    *graph = made.release();
  });
}

void wh_graph_destroy(wh_graph* graph) {
  static_cast<void>(guarded([&] { delete graph; }));
}

uint32_t wh_graph_vertices(const wh_graph* graph) { return graph == nullptr ? 0 : graph->vertices(); }

uint64_t wh_graph_edges(const wh_graph* graph) { return graph == nullptr ? 0 : graph->edges(); }

uint64_t wh_graph_version(const wh_graph* graph) { return graph == nullptr ? 0 : graph->version(); }

uint32_t wh_graph_flags(const wh_graph* graph) { return graph == nullptr ? 0 : graph->flags; }

wh_graph_status wh_graph_add_edges(wh_graph* graph, const uint32_t* sources, const uint32_t* targets,
                                   const float* weights, uint64_t count, wh_graph_edge_counts* counts) {
  return on(graph, [&](wh_graph& now) {
    require_edges(sources, targets, count);
    require_weights(now, weights);
    tell(counts, for_c(now.add(sources, targets, weights, count)));
  });
}

wh_graph_status wh_graph_remove_edges(wh_graph* graph, const uint32_t* sources, const uint32_t* targets, uint64_t count,
                                      wh_graph_edge_counts* counts) {
  return on(graph, [&](wh_graph& now) {
    require_edges(sources, targets, count);
    tell(counts, for_c(now.remove(sources, targets, count)));
  });
}

wh_graph_status wh_graph_has_edges(const wh_graph* graph, const uint32_t* sources, const uint32_t* targets,
                                   uint64_t count, uint8_t* found) {
  return on(graph, [&](const wh_graph& now) {
    require_edges(sources, targets, count);
    require(count == 0 || found != nullptr, "there is no array for what is found");
    now.find(sources, targets, count, found);
  });
}

wh_graph_status wh_graph_assign_edges(wh_graph* graph, const uint32_t* sources, const uint32_t* targets,
                                      const float* weights, uint64_t count, wh_graph_edge_counts* counts) {
  return on(graph, [&](wh_graph& now) {
    require_edges(sources, targets, count);
    require_weights(now, weights);
    tell(counts, for_c(now.assign(sources, targets, weights, count)));
  });
}

wh_graph_status wh_graph_assign_csr(wh_graph* graph, const uint64_t* offsets, const uint32_t* neighbours,
                                    const float* weights, uint64_t edges, wh_graph_edge_counts* counts) {
  return on(graph, [&](wh_graph& now) {
    require(offsets != nullptr, "offsets is null: it has a number more than the graph has vertices");
    require(edges == 0 || neighbours != nullptr, "neighbours is null and the number of edges is not 0");
    require_weights(now, weights);
    tell(counts, for_c(now.assign_rows(offsets, neighbours, weights, edges)));
  });
}

wh_graph_status wh_graph_clear(wh_graph* graph) {
  return on(graph, [](wh_graph& now) { now.clear(); });
}

wh_graph_status wh_graph_add_vertices(wh_graph* graph, uint32_t count, uint32_t* first) {
  return on(graph, [&](wh_graph& now) { tell(first, now.add_vertices(count)); });
}

wh_graph_status wh_graph_remove_vertices(wh_graph* graph, const uint32_t* ids, uint64_t count,
                                         wh_graph_vertex_counts* counts) {
  return on(graph, [&](wh_graph& now) {
    require(count == 0 || ids != nullptr, "ids is null and its count is not 0");
    const warpheap::vertex_counts done = now.remove_vertices(ids, count);
    tell(counts, wh_graph_vertex_counts{done.removed, done.invalid, done.removed_edges});
  });
}

wh_graph_status wh_graph_degrees(const wh_graph* graph, uint32_t* degrees) {
  return on(graph, [&](const wh_graph& now) {
    require(now.vertices() == 0 || degrees != nullptr, "there is no array for the degrees");
    now.degrees(degrees);
  });
}

wh_graph_status wh_graph_to_csr(const wh_graph* graph, uint64_t* offsets, uint32_t* neighbours, float* weights,
                                uint64_t room) {
  return on(graph, [&](const wh_graph& now) {
    require_weights(now, weights);
    require((neighbours == nullptr && weights == nullptr) || room >= now.edges(),
            "the graph has more edges than the arrays have room for: ask wh_graph_edges first");
    now.copy_rows(offsets, neighbours, weights);
  });
}

wh_graph_status wh_graph_neighbours(const wh_graph* graph, uint32_t vertex, uint32_t* ids, uint64_t room,
                                    uint64_t* count) {
  return on(graph, [&](const wh_graph& now) {
    const interface::list_place list = now.list_of(vertex);
    tell(count, list.count);
    if (ids == nullptr || list.count == 0) return;
    require(room >= list.count, "the vertex has more neighbours than the array has room for");
    warpheap::device_copy(ids, list.ids, list.count * sizeof(*ids));
  });
}

wh_graph_status wh_graph_memory(const wh_graph* graph, wh_graph_memory_figures* figures) {
  return on(graph, [&](const wh_graph& now) {
    require(figures != nullptr, "there is no place for the figures");
    constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
    const warpheap::graph_memory found = now.memory();
    *figures = {found.live_bytes,
                found.block_bytes,
                found.record_bytes,
                found.scratch_bytes,
                found.heap_committed_bytes.value_or(unknown),
                found.heap_live_bytes.value_or(unknown)};
  });
}

wh_graph_status wh_graph_grow_heap(wh_graph* graph, uint64_t bytes) {
  return on(graph, [&](wh_graph& now) { now.grow_heap(bytes); });
}

wh_graph_status wh_graph_changed_vertices(const wh_graph* graph, uint32_t* ids, uint64_t room, uint64_t* count) {
  return on(graph, [&](const wh_graph& now) {
    const auto found = now.changed();
    tell(count, found.size());
    if (ids == nullptr || found.size() == 0) return;
    require(room >= found.size(), "more vertices have changed than the array has room for");
    warpheap::device_copy(ids, found.data(), found.size() * sizeof(*ids));
  });
}

wh_graph_status wh_graph_clear_changed(wh_graph* graph) {
  return on(graph, [](wh_graph& now) { now.clear_changed(); });
}

wh_graph_status wh_graph_page_rank(wh_graph* graph, const wh_graph_page_rank_options* options, float* ranks,
                                   wh_graph_page_rank_result* result) {
  return on(graph, [&](wh_graph& now) {
    require(now.vertices() == 0 || ranks != nullptr, "there is no array for the ranks");
    warpheap::page_rank_options how;
    if (options != nullptr) {
      how.alpha = options->alpha;
      how.tolerance = options->tolerance;
      how.max_iterations = options->max_iterations;
      how.fixed_iterations = options->fixed_iterations;
      how.warm_start = options->warm_start != 0;
    }
    const warpheap::page_rank_result done = now.page_rank(how, ranks);
    tell(result, wh_graph_page_rank_result{done.iterations, done.converged ? 1u : 0u, done.change});
  });
}

wh_graph_status wh_graph_triangle_count(wh_graph* graph, uint64_t* per_vertex, uint64_t* triangles) {
  return on(graph, [&](wh_graph& now) {
    require((now.flags & WH_GRAPH_UNDIRECTED) != 0,
            "triangles are those of undirected graphs: make it with WH_GRAPH_UNDIRECTED");
    tell(triangles, now.triangles(per_vertex).triangles);
  });
}

wh_graph_status wh_graph_breadth_first(wh_graph* graph, uint32_t source, uint32_t* distances,
                                       wh_graph_breadth_first_result* result) {
  return on(graph, [&](wh_graph& now) {
    require(now.vertices() == 0 || distances != nullptr, "there is no array for the distances");
    const warpheap::breadth_first_result done = now.breadth_first(source, distances);
    tell(result, wh_graph_breadth_first_result{done.reached, done.depth});
  });
}

}  // extern "C"
