// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/algorithms/detail/list_spans.hpp>
#include <warpheap/platform.hpp>

// The kernels of triangle_count. Vertices are ordered by degree, then by number, and of each list only the neighbours
// that come after its vertex are copied: its oriented list. A triangle is then found once, from the edge of its first
// two vertices, as a vertex that is in the oriented lists of both. An oriented list has at most sqrt(2 E) entries for E
// undirected edges, so a hub's is short. The copy is contiguous whatever the layout, so all lists can be searched.

namespace warpheap::detail {

/// Where an oriented list, or a part of one, lies in the copy.
struct oriented_list {
  std::uint64_t first;
  std::uint32_t length;
};

/// What the kernels sum.
struct triangle_totals {
  std::uint64_t edges;  ///< entries of all oriented lists; also the next free place of the copy
  std::uint64_t triangles;
};

/// The copy and what leads to it.
struct oriented_graph {
  std::uint32_t* degrees;     ///< of each vertex in the whole graph; side by side they stay in a GPU's caches
  oriented_list* lists;       ///< of each vertex
  oriented_list* span_lists;  ///< what is left of each span of a long list
  vertex_id* sources;         ///< the vertex to which each place of the copy belongs
  vertex_id* targets;         ///< the copy
  triangle_totals* totals;

  /// True if `b` comes after `a`, whose degree is given, in the order by degree.
  WARPHEAP_FN bool is_after(vertex_id b, vertex_id a, std::uint32_t degree_of_a) const {
    const std::uint32_t degree_of_b = degrees[b];
    return degree_of_b != degree_of_a ? degree_of_b > degree_of_a : b > a;
  }
};

struct gather_degrees {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, std::uint32_t* degrees) const {
    const std::uint64_t at = grid_thread_index();
    if (at < graph.vertices()) degrees[at] = graph.degree(static_cast<vertex_id>(at));
  }
};

// What counting and copying share: which of the ids of a step stay.
struct orient_job {
  oriented_graph to;
  vertex_id vertex;      // the caller's
  std::uint32_t degree;  // of that vertex
  std::uint32_t kept;    // of the caller's ids so far

  WARPHEAP_FN void begin(const list_share& share) {
    vertex = share.vertex;
    degree = share.degree;
    kept = 0;
  }
  // The lanes whose id stays.
  WARPHEAP_FN lane_mask keeping(vertex_id id, const shared_item& item) const {
    const vertex_id from = shuffle(whole_warp, vertex, item.owner);
    const std::uint32_t from_degree = shuffle(whole_warp, degree, item.owner);
    return ballot(whole_warp, item.is_there && to.is_after(id, from, from_degree));
  }
};

// Counts what stays of each list, and reserves places of the copy for short lists.
struct count_oriented_job : orient_job {
  WARPHEAP_FN void step(vertex_id id, const shared_item& item) {
    kept += static_cast<std::uint32_t>(popcount(keeping(id, item) & item.of_caller));
  }
  WARPHEAP_FN void end(const list_share& share) {
    if (share.is_span) {
      if (share.is_there) to.span_lists[share.span].length = kept;
      return;
    }
    const std::uint64_t first = reserve_places(to.totals->edges, kept);
    if (share.is_short()) to.lists[share.vertex] = {first, kept};
  }
};

// Copies what stays, in the order of the list.
struct copy_oriented_job : orient_job {
  std::uint64_t first;  // place of the caller's list or span in the copy

  WARPHEAP_FN void begin(const list_share& share) {
    orient_job::begin(share);
    first = 0;
    if (share.is_short()) first = to.lists[share.vertex].first;
    if (share.is_span && share.is_there) first = to.span_lists[share.span].first;
  }
  WARPHEAP_FN void step(vertex_id id, const shared_item& item) {
    const lane_mask stays = keeping(id, item);
    const std::uint64_t next_place = shuffle(whole_warp, first + kept, item.owner);
    const lane_mask same_owner = shuffle(whole_warp, item.of_caller, item.owner);
    const vertex_id from = shuffle(whole_warp, vertex, item.owner);
    if ((stays & lane_bit()) != 0) {
      const std::uint64_t place = next_place + static_cast<std::uint32_t>(group_rank(stays & same_owner));
      to.targets[place] = id;
      to.sources[place] = from;
    }
    kept += static_cast<std::uint32_t>(popcount(stays & item.of_caller));
  }
  WARPHEAP_FN void end(const list_share&) {}
};

template <class Job>
struct orient {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, span_index_ref index, oriented_graph to) const {
    Job job{};
    job.to = to;
    run_over_lists(graph, index, job);
  }
};

// Places of the copy for long lists: a warp for each, which sums what its spans keep. The spans of a list get places in
// their own order, so its oriented list ascends if the list does.
struct place_long_lists {
  WARPHEAP_FN void operator()(span_index_ref index, oriented_graph to) const {
    const std::uint64_t number = grid_thread_index() / warp_width;
    if (number >= index.counts.lists) return;
    const long_list list = index.lists[number];
    oriented_list* const spans = to.span_lists + list.first_span;
    std::uint32_t length = 0;
    for (std::uint32_t first = 0; first < list.spans; first += warp_width) {
      const std::uint32_t at = first + static_cast<std::uint32_t>(lane_index());
      const std::uint32_t own = at < list.spans ? spans[at].length : 0;
      const std::uint32_t upto = inclusive_scan(whole_warp, own, plus{});
      if (at < list.spans) spans[at].first = length + upto - own;
      length += shuffle(whole_warp, upto, warp_width - 1);
    }
    const std::uint64_t base = shuffle(whole_warp, reserve_places(to.totals->edges, lane_index() == 0 ? length : 0), 0);
    for (std::uint32_t at = static_cast<std::uint32_t>(lane_index()); at < list.spans; at += warp_width) {
      spans[at].first += base;  // each lane adds to what it wrote itself
    }
    if (lane_index() == 0) to.lists[list.vertex] = {base, length};
  }
};

// Orders the oriented lists of a graph without order: each id counts the smaller ones of its list, which is its place.
// That takes as many reads as finding the triangles does, in the same balance.
struct sort_oriented {
  WARPHEAP_FN void operator()(oriented_graph graph, std::uint64_t edges, vertex_id* sorted) const {
    const std::uint64_t edge = grid_thread_index();
    const bool is_there = edge < edges;
    const vertex_id id = is_there ? graph.targets[edge] : 0;
    const oriented_list list = is_there ? graph.lists[graph.sources[edge]] : oriented_list{0, 0};
    std::uint32_t smaller = 0;
    share_items(list.length, [&](const shared_item& item) {
      const std::uint64_t first = shuffle(whole_warp, list.first, item.owner);
      const vertex_id than = shuffle(whole_warp, id, item.owner);
      const lane_mask below = ballot(whole_warp, item.is_there && graph.targets[first + item.index] < than);
      smaller += static_cast<std::uint32_t>(popcount(below & item.of_caller));
    });
    if (is_there) sorted[list.first + smaller] = id;
  }
};

WARPHEAP_FN inline bool has_id(const vertex_id* ids, std::uint32_t count, vertex_id id) {
  std::uint32_t first = 0;
  while (count != 0) {  // not a spin: halves the range
    const std::uint32_t half = count / 2;
    if (ids[first + half] < id) {
      first += half + 1;
      count -= half + 1;
    } else if (ids[first + half] == id) {
      return true;
    } else {
      count = half;
    }
  }
  return false;
}

// A lane takes an edge of the copy; all lanes search the ids of the shorter list in the longer one.
struct find_triangles {
  WARPHEAP_FN void operator()(oriented_graph graph, std::uint64_t edges, std::uint64_t* per_vertex) const {
    const std::uint64_t edge = grid_thread_index();
    const bool is_there = edge < edges;
    const vertex_id source = is_there ? graph.sources[edge] : 0;
    const vertex_id target = is_there ? graph.targets[edge] : 0;
    oriented_list shorter{0, 0};
    oriented_list longer{0, 0};
    if (is_there) {
      const oriented_list a = graph.lists[source];
      const oriented_list b = graph.lists[target];
      shorter = a.length < b.length ? a : b;
      longer = a.length < b.length ? b : a;
    }
    std::uint64_t found = 0;
    share_items(shorter.length, [&](const shared_item& item) {
      const std::uint64_t from = shuffle(whole_warp, shorter.first, item.owner);
      const std::uint64_t in = shuffle(whole_warp, longer.first, item.owner);
      const std::uint32_t length = shuffle(whole_warp, longer.length, item.owner);
      const vertex_id id = item.is_there ? graph.targets[from + item.index] : 0;
      const bool is_hit = item.is_there && has_id(graph.targets + in, length, id);
      found += static_cast<std::uint32_t>(popcount(ballot(whole_warp, is_hit) & item.of_caller));
      if (is_hit && per_vertex != nullptr) add_triangles(per_vertex[id], 1);
    });
    if (found != 0 && per_vertex != nullptr) {
      add_triangles(per_vertex[source], found);
      add_triangles(per_vertex[target], found);
    }
    add_to_total(graph.totals->triangles, found);
  }

  WARPHEAP_FN static void add_triangles(std::uint64_t& of_vertex, std::uint64_t count) {
    // Relaxed: a later launch or the host reads the number.
    static_cast<void>(atomic_view(of_vertex).fetch_add(count, memory_order::relaxed, thread_scope::device));
  }
};

}  // namespace warpheap::detail
