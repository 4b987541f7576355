// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/algorithms/detail/list_spans.hpp>
#include <warpheap/platform.hpp>

// The kernels of breadth_first. Each level is a launch. It reads the frontier, which is the last part of two queues:
// vertices with short lists, and spans of long lists. What it discovers it appends to both.
//
// Invariant: a vertex is appended once, by the lane whose exchange replaced its distance `not_seen`. So the queue of
// vertices needs V places, and the queue of spans as many as all long lists have; neither wraps around.

namespace warpheap::detail {

inline constexpr std::uint32_t not_seen = 0xffffffffu;

/// A part of the queues: all that is at one distance.
struct frontier {
  std::uint64_t first_vertex;
  std::uint64_t vertices;  ///< grows while the level before runs
  std::uint64_t first_span;
  std::uint64_t spans;  ///< grows while the level before runs

  WARPHEAP_FN bool is_empty() const { return vertices == 0 && spans == 0; }
};

/// What launches share. Level `n` reads frontier `n % 3`, appends to the next one and clears the one after that, which
/// the level before has read. So a level after the last one finds an empty frontier, however many are launched.
struct search_state {
  frontier frontiers[3];
  std::uint64_t reached_long;  ///< vertices with long lists that were reached
  std::uint32_t depth;         ///< the last level whose frontier was not empty
};

/// Where a level appends. The first places are the lanes' own copies, as one lane writes those of the frontier.
struct appended {
  frontier* to;
  std::uint64_t first_vertex;
  std::uint64_t first_span;
};

/// The arguments of all launches.
struct search_memory {
  std::uint32_t* distances;
  vertex_id* vertices;
  list_span* spans;
  search_state* state;
};

// Counts what the queue of spans has to hold.
struct count_spans {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, span_counts* counts) const {
    const std::uint64_t at = grid_thread_index();
    const auto v = static_cast<vertex_id>(at);
    const bool is_long = at < graph.vertices() && graph.degree(v) > span_ids;
    add_to_total(counts->spans, is_long ? spans_of(graph, v) : 0);
  }
};

// Appends the vertices that the lanes discovered.
template <adjacency G>
WARPHEAP_FN void append_discovered(const G& graph, const search_memory& all, const appended& next, bool is_new,
                                   vertex_id v) {
  const std::uint32_t degree = is_new ? graph.degree(v) : 0;
  const bool is_long = degree > span_ids;
  const bool is_short = is_new && !is_long;
  if (any(whole_warp, is_short)) {
    const std::uint64_t place = reserve_places(next.to->vertices, is_short ? 1 : 0);
    if (is_short) all.vertices[next.first_vertex + place] = v;
  }
  if (!any(whole_warp, is_long)) return;
  add_to_total(all.state->reached_long, is_long ? 1 : 0);
  piece_of<G> piece;
  if (is_long) piece = graph.first_piece(v);
  while (any(whole_warp, piece.count != 0)) {  // not a spin: a turn for each piece
    const auto parts = static_cast<std::uint32_t>(divide_up(piece.count, span_ids));
    const std::uint64_t place = reserve_places(next.to->spans, parts);
    find_spans::write_spans(piece, parts, v, all.spans + next.first_span + place);
    if (piece.count != 0) piece = graph.next_piece(piece);
  }
}

struct start_search {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, search_memory all, vertex_id source) const {
    const bool is_first = lane_index() == 0;
    if (is_first) all.distances[source] = 0;
    append_discovered(graph, all, {&all.state->frontiers[0], 0, 0}, is_first, source);
  }
};

// Visits the neighbours that the lanes bring.
template <adjacency G>
struct discover_job {
  const G& graph;
  const search_memory& all;
  const appended& next;
  std::uint32_t distance;  // of what is discovered

  WARPHEAP_FN void step(vertex_id id, const shared_item& item) const {
    bool is_new = false;
    if (item.is_there) {
      const atomic_view seen(all.distances[id]);
      // Relaxed: the exchange alone decides which lane appends the vertex, and queues are read by a later launch. Most
      // neighbours are known, and a load finds out without the cost of an exchange.
      std::uint32_t expected = seen.load(memory_order::relaxed, thread_scope::device);
      is_new = expected == not_seen &&
               seen.compare_exchange(expected, distance, memory_order::relaxed, thread_scope::device);
    }
    if (any(whole_warp, is_new)) append_discovered(graph, all, next, is_new, id);
  }
};

// One level. The host does not know the size of the frontier, so the grid is of any size, and warps take what there is
// in turns: 32 vertices, or 32 spans.
struct search_level {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, search_memory all, std::uint32_t level) const {
    frontier* const frontiers = all.state->frontiers;
    const frontier now = frontiers[level % 3];
    const appended next{&frontiers[(level + 1) % 3], now.first_vertex + now.vertices, now.first_span + now.spans};
    if (grid_thread_index() == 0) {
      next.to->first_vertex = next.first_vertex;
      next.to->first_span = next.first_span;
      frontiers[(level + 2) % 3] = {0, 0, 0, 0};
      if (!now.is_empty()) all.state->depth = level;
    }
    discover_job<G> job{graph, all, next, level + 1};
    const std::uint64_t vertex_turns = divide_up(now.vertices, warp_width);
    const std::uint64_t turns = vertex_turns + divide_up(now.spans, warp_width);
    const std::uint64_t warps = grid_threads() / warp_width;
    for (std::uint64_t turn = grid_thread_index() / warp_width; turn < turns; turn += warps) {
      const bool is_span = turn >= vertex_turns;
      const std::uint64_t at = (is_span ? turn - vertex_turns : turn) * warp_width + lane_index();
      piece_of<G> piece;
      if (is_span && at < now.spans) {
        piece.ids = all.spans[now.first_span + at].ids;
        piece.count = all.spans[now.first_span + at].count;
      } else if (!is_span && at < now.vertices) {
        const vertex_id v = all.vertices[now.first_vertex + at];
        if (graph.degree(v) != 0) piece = graph.first_piece(v);
      }
      while (any(whole_warp, piece.count != 0)) {  // not a spin: a turn for each page of a short list
        walk(piece.ids, piece.count, job);
        if (piece.count != 0) piece = is_span ? piece_of<G>{} : graph.next_piece(piece);
      }
    }
  }
};

}  // namespace warpheap::detail
