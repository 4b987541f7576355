// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/algorithms/detail/scratch.hpp>
#include <warpheap/graph/algorithms/detail/walk.hpp>
#include <warpheap/platform.hpp>

// Long lists in parts, so that a hub is the work of many warps.
//
// A list of more than `span_ids` neighbours is cut into spans of at most as many, whatever its layout. Shorter ones
// need no index: a lane brings each from the vertex itself. So a warp has at most 32 * `span_ids` ids at a time.
// Cutting a list of pages follows its links, page after page, with one lane; all passes over edges then need no link.
// Spans cost 16 bytes for 64 neighbours if lists are contiguous, and 16 bytes a page if they are paged.

namespace warpheap::detail {

/// Neighbours in a span, at most; also the longest list that needs no spans.
inline constexpr std::uint32_t span_ids = 64;

/// A part of a long list.
struct list_span {
  const vertex_id* ids;
  std::uint32_t count;
  vertex_id vertex;  ///< whose list it is
};

/// A list that is cut into spans.
struct long_list {
  std::uint64_t first_span;  ///< its spans follow each other, in the order of the list
  std::uint32_t spans;
  vertex_id vertex;
};

/// What an index needs room for.
struct span_counts {
  std::uint64_t spans;
  std::uint64_t lists;
};

/// The spans of all long lists, as kernels see them. Spans of one list follow each other; lists are in any order.
struct span_index_ref {
  list_span* spans;
  long_list* lists;
  span_counts counts;  ///< how many there are, or, while they are found, how many fit
};

template <adjacency G>
using piece_of = list_piece<typename G::weight_type>;

/// Number of spans of the list of `v`.
template <adjacency G>
WARPHEAP_FN std::uint32_t spans_of(const G& graph, vertex_id v) {
  std::uint32_t spans = 0;
  for (piece_of<G> piece = graph.first_piece(v); piece.count != 0; piece = graph.next_piece(piece)) {
    spans += static_cast<std::uint32_t>(divide_up(piece.count, span_ids));
  }
  return spans;
}

// A warp finds the long lists among the vertices of its lanes. Nothing is written of lists that do not fit, and all are
// counted.
struct find_spans {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, span_index_ref into, span_counts* found) const {
    const std::uint64_t thread = grid_thread_index();
    const auto v = static_cast<vertex_id>(thread);
    const std::uint32_t degree = thread < graph.vertices() ? graph.degree(v) : 0;
    const bool is_long = degree > span_ids;
    if (!any(whole_warp, is_long)) return;
    const std::uint32_t spans = is_long ? spans_of(graph, v) : 0;
    const std::uint64_t first = reserve_places(found->spans, spans);
    const std::uint64_t entry = reserve_places(found->lists, is_long ? 1 : 0);
    const bool fits = first + spans <= into.counts.spans && entry < into.counts.lists;
    if (is_long && fits) into.lists[entry] = {first, spans, v};
    piece_of<G> piece;
    if (is_long && fits) piece = graph.first_piece(v);
    for (std::uint64_t at = first; any(whole_warp, piece.count != 0);) {  // not a spin: a turn for each piece
      const auto parts = static_cast<std::uint32_t>(divide_up(piece.count, span_ids));
      write_spans(piece, parts, v, into.spans + at);
      at += parts;
      if (piece.count != 0) piece = graph.next_piece(piece);
    }
  }

  // The lanes write the spans of all together: a contiguous list has one piece, of any length.
  template <class Piece>
  WARPHEAP_FN static void write_spans(const Piece& piece, std::uint32_t parts, vertex_id v, list_span* to) {
    share_items(parts, [&](const shared_item& item) {
      const vertex_id* const ids = shuffle(whole_warp, piece.ids, item.owner);
      const std::uint32_t count = shuffle(whole_warp, piece.count, item.owner);
      const vertex_id vertex = shuffle(whole_warp, v, item.owner);
      list_span* const place = shuffle(whole_warp, to, item.owner);
      if (!item.is_there) return;
      const std::uint32_t skipped = item.index * span_ids;
      place[item.index] = {ids + skipped, count - skipped < span_ids ? count - skipped : span_ids, vertex};
    });
  }
};

/// Owns the index of long lists.
class span_index {
 public:
  /// Finds the long lists of `graph`. Reads the counts once, or twice if they outgrow the memory of earlier calls.
  template <adjacency G>
  span_index_ref find(const G& graph) {
    for (;;) {  // not a spin: the second turn has the room that the first asks for
      const span_index_ref into{spans_.data(), lists_.data(), {spans_.room(), lists_.room()}};
      found_.reserve_zeros(1);
      launch(grid_shape::covering(graph.vertices()), find_spans{}, graph, into, found_.data());
      span_counts counts{};
      found_.read(&counts, 0, 1);
      if (counts.spans <= spans_.room() && counts.lists <= lists_.room()) return {into.spans, into.lists, counts};
      spans_.reserve(counts.spans);
      lists_.reserve(counts.lists);
    }
  }

 private:
  scratch<list_span> spans_;
  scratch<long_list> lists_;
  scratch<span_counts> found_;
};

/// A grid with a thread for each vertex and each span, so that no warp has both.
inline grid_shape grid_over_lists(vertex_id vertices, std::uint64_t spans) {
  return grid_shape::covering(align_up(vertices, 32) + spans);
}

/// What a lane brings to a job.
struct list_share {
  bool is_span;          ///< true if it is a span, false if it is a vertex; equal in all lanes of a warp
  bool is_there;         ///< false if the lane brings nothing
  vertex_id vertex;      ///< the vertex, or the one whose list the span is of
  std::uint32_t degree;  ///< of the vertex; 0 if the lane brings nothing
  std::uint64_t span;    ///< number of the span

  /// True for a vertex that brings all its ids. One with a long list brings no ids, as its spans do.
  WARPHEAP_FN bool is_short() const { return is_there && !is_span && degree <= span_ids; }
};

/// Runs a job over all lists; each warp of `grid_over_lists` calls it once. A job has members that all lanes of a warp
/// call together:
///
///     begin(share)      before the ids of what the lane brings
///     step(id, item)    for the ids of all lanes, see `walk`; the ids of a lane come in the order of its list
///     end(share)        after all ids
template <adjacency G, class Job>
WARPHEAP_FN void run_over_lists(const G& graph, const span_index_ref& index, Job& job) {
  const std::uint64_t thread = grid_thread_index();
  const std::uint64_t vertex_threads = align_up(graph.vertices(), 32);
  list_share share{thread >= vertex_threads, false, 0, 0, 0};
  piece_of<G> piece;
  if (share.is_span) {
    share.span = thread - vertex_threads;
    share.is_there = share.span < index.counts.spans;
    if (share.is_there) {
      const list_span& span = index.spans[share.span];
      share.vertex = span.vertex;
      share.degree = graph.degree(span.vertex);
      piece.ids = span.ids;
      piece.count = span.count;
    }
  } else {
    share.vertex = static_cast<vertex_id>(thread);
    share.is_there = thread < graph.vertices();
    if (share.is_there) share.degree = graph.degree(share.vertex);
    if (share.is_short() && share.degree != 0) piece = graph.first_piece(share.vertex);
  }
  job.begin(share);
  if constexpr (G::is_contiguous) {
    walk(piece.ids, piece.count, job);
  } else {
    while (any(whole_warp, piece.count != 0)) {  // not a spin: a turn for each page of a short list
      walk(piece.ids, piece.count, job);
      if (piece.count != 0) piece = share.is_span ? piece_of<G>{} : graph.next_piece(piece);
    }
  }
  job.end(share);
}

}  // namespace warpheap::detail
