// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <warpheap/graph/graph_ref.hpp>
#include <warpheap/platform/device.hpp>

// The state of one batch in device memory, which its stages pass on. Each stage is a kernel, and kernels of a stream
// follow each other, so a stage sees all that earlier ones wrote. Within a stage threads write disjoint places, but for
// counters and sets, which are atomic and relaxed: nothing is read through them before the stage ends.

namespace warpheap::detail {

// What a batch does.
enum class batch_kind { add, remove };

// Figures of a batch that stay on the device. The host reads them when the batch is done.
struct batch_totals {
  std::uint64_t invalid;
  std::uint64_t loops;
  std::uint64_t repeated;
  std::uint64_t found;    // unique edges that the graph had
  std::uint64_t missing;  // unique edges that the graph had not
  std::uint64_t refused;
  std::uint64_t emitted;    // edges that a pass over all lists has written
  std::uint32_t wanted;     // edges to add or to remove
  std::uint32_t runs;       // sources of the batch
  std::uint32_t malformed;  // faults of compressed sparse rows
};

// What is done with the list of a source.
enum class list_action : std::uint32_t { none, in_place, fresh, release, refused };

// The list of a source as it is to be.
struct list_plan {
  void* target;            // contiguous: the block; paged: unused
  std::uint32_t capacity;  // contiguous: its room; paged: pages that stay
  list_action action;
};

// A batch as its stages see it. Runs are the valid sources of the batch in ascending order; the edges of run `r` are
// `first[r]` to `first[r + 1] - 1`, ascending by target, each once.
template <class Layout>
struct batch_view {
  using weight_type = typename Layout::weight_type;
  using record = typename Layout::record;

  record* records;
  vertex_id vertices;
  int bits;                   // of a vertex id, with room for the number `vertices`
  const std::uint32_t* gone;  // removed vertices, a bit each; null if all are there
  std::uint32_t* changed;     // vertices that batches have changed, a bit each
  batch_totals* totals;

  std::uint32_t count;          // keys
  const std::uint64_t* keys;    // source and target, sorted; invalid ones last
  const std::uint32_t* origin;  // place of each key in the batch; null without weights
  std::uint32_t* found_at;      // place in the list of each key's source
  std::uint64_t* ranks;         // count + 1: wanted edges before (low half), runs before (high half)

  vertex_id* ids;           // target of each wanted edge
  std::uint32_t* place;     // where it is in the list, or is to be inserted before; null: 0
  std::uint32_t* run_of;    // its run; null: to be searched in `first`
  std::uint32_t* batch_of;  // its place in the batch; null without weights

  vertex_id* source;     // of each run; null: run r is of vertex r
  std::uint32_t* first;  // runs + 1
  list_plan* plans;
  std::uint32_t* extra;  // count + 1: further pieces of work of each run, then their prefix sum

  const void* weights;           // of the batch
  std::uint32_t weights_period;  // edges of the batch; its second half, if any, repeats them

  WARPHEAP_FN std::uint64_t source_of(std::uint64_t key) const { return key >> bits; }
  WARPHEAP_FN vertex_id target_of(std::uint64_t key) const {
    return static_cast<vertex_id>(key & ((std::uint64_t{1} << bits) - 1));
  }
  WARPHEAP_FN bool is_valid(std::uint64_t key) const { return source_of(key) < vertices; }
  WARPHEAP_FN vertex_id vertex_of(std::uint32_t run) const { return source == nullptr ? run : source[run]; }
  WARPHEAP_FN std::uint32_t run_length(std::uint32_t run) const { return first[run + 1] - first[run]; }
  WARPHEAP_FN std::uint32_t place_of(std::uint32_t edge) const { return place == nullptr ? 0 : place[edge]; }
  WARPHEAP_FN std::uint32_t run_with(std::uint32_t edge) const {
    return run_of != nullptr ? run_of[edge] : upper_bound(first, totals->runs + 1, edge) - 1;
  }
  // The weight that the batch gives to a wanted edge.
  WARPHEAP_FN auto weight_of(std::uint32_t edge) const
    requires(!std::is_void_v<weight_type>)
  {
    return weight_at(batch_of == nullptr ? edge : batch_of[edge]);
  }
  // The weight at a place of the batch.
  WARPHEAP_FN auto weight_at(std::uint32_t at) const
    requires(!std::is_void_v<weight_type>)
  {
    if (weights == nullptr) return weight_type{};
    return static_cast<const weight_type*>(weights)[at < weights_period ? at : at - weights_period];
  }
};

// Lanes that work on a list together: neighbours in a warp.
inline constexpr int list_lanes = warp_width < 8 ? warp_width : 8;
// Neighbours of a list that one group of lanes moves as one piece of work.
inline constexpr std::uint32_t chunk_edges = 64;
// More neighbours than this are not moved in place, by one group, as long as the heap has a block.
inline constexpr std::uint32_t most_in_place = 32 * list_lanes;
// Threads of each block.
inline constexpr std::uint32_t stage_threads = 128;

WARPHEAP_FN inline lane_mask list_group() { return low_bits(list_lanes) << (lane_index() & ~(list_lanes - 1)); }
WARPHEAP_FN inline std::uint32_t list_rank() { return static_cast<std::uint32_t>(lane_index() & (list_lanes - 1)); }
WARPHEAP_FN inline std::uint32_t list_group_index() {
  return static_cast<std::uint32_t>(grid_thread_index() / list_lanes);
}
WARPHEAP_FN inline std::uint32_t list_groups() { return static_cast<std::uint32_t>(grid_threads() / list_lanes); }

// Calls `body(i)` for the caller's share of 0 to `count - 1`. All threads of a warp end together.
template <class Body>
WARPHEAP_FN void for_each_thread(std::uint32_t count, Body body) {
  const auto threads = static_cast<std::uint32_t>(grid_threads());
  for (auto i = static_cast<std::uint32_t>(grid_thread_index()); i < count; i += threads) body(i);
}
// As above, for groups of lanes: all lanes of a group get the same numbers.
template <class Body>
WARPHEAP_FN void for_each_group(std::uint32_t count, Body body) {
  for (std::uint32_t i = list_group_index(); i < count; i += list_groups()) body(i);
}

// Adds what the lanes of the caller's warp have counted. All of them call.
WARPHEAP_FN inline void add_up(std::uint64_t& total, std::uint32_t counted) {
  const lane_mask warp = low_bits(warp_width);
  const std::uint32_t sum = reduce(warp, counted, plus{});
  // Relaxed: the host reads the sum after the kernel.
  if (sum != 0 && is_leader(warp)) {
    atomic_view{total}.fetch_add(sum, memory_order::relaxed, thread_scope::device);
  }
}

WARPHEAP_FN inline bool has_bit(const std::uint32_t* set, vertex_id v) { return (set[v / 32] >> v % 32 & 1) != 0; }
// Inserts `v`; returns true if it was missing. Relaxed: nothing is read through the set before the kernel ends.
WARPHEAP_FN inline bool insert_bit(std::uint32_t* set, vertex_id v) {
  const std::uint32_t bit = std::uint32_t{1} << v % 32;
  return (atomic_view{set[v / 32]}.fetch_or(bit, memory_order::relaxed, thread_scope::device) & bit) == 0;
}

// Pieces of work over lists: piece `i` below `lists` is the first chunk of list `i`, later ones are further chunks,
// which `extra` counts (a prefix sum). Most lists have one chunk, so most pieces need no search.
struct list_chunk {
  std::uint32_t list;
  std::uint32_t chunk;
};
WARPHEAP_FN inline list_chunk chunk_at(std::uint32_t piece, std::uint32_t lists, const std::uint32_t* extra) {
  if (piece < lists) return {piece, 0};
  piece -= lists;
  const std::uint32_t list = upper_bound(extra, lists + 1, piece) - 1;
  return {list, 1 + piece - extra[list]};
}
WARPHEAP_FN inline std::uint32_t further_chunks(std::uint32_t edges) {
  return edges <= chunk_edges ? 0 : (edges - 1) / chunk_edges;
}

// Calls `body(i, id, piece, j)` for each neighbour `i` of a chunk, `j` its place in `piece`, by the lanes of the
// caller's group. A list in pages is one chunk.
template <class Layout, class Body>
WARPHEAP_FN void for_each_neighbour(const typename Layout::record& vertex, std::uint32_t chunk, Body body) {
  if constexpr (Layout::is_contiguous) {
    const auto piece = Layout::first_piece(vertex);
    const std::uint32_t begin = chunk * chunk_edges;
    const std::uint32_t end = piece.count - begin < chunk_edges ? piece.count : begin + chunk_edges;
    for (std::uint32_t i = begin + list_rank(); i < end; i += list_lanes) body(i, piece.ids[i], piece, i);
  } else {
    std::uint32_t begin = 0;
    for (auto piece = Layout::first_piece(vertex); piece.count != 0; piece = Layout::next_piece(piece)) {
      for (std::uint32_t j = list_rank(); j < piece.count; j += list_lanes) body(begin + j, piece.ids[j], piece, j);
      begin += piece.count;
    }
  }
}
template <class Layout>
WARPHEAP_FN std::uint32_t further_chunks_of(std::uint32_t degree) {
  return Layout::is_contiguous ? further_chunks(degree) : 0;
}

}  // namespace warpheap::detail
