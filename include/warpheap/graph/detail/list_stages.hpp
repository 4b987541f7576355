// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <warpheap/graph/detail/batch.hpp>
#include <warpheap/graph/detail/paged_stages.hpp>
#include <warpheap/platform/device.hpp>

// Kernels over all lists of a graph, none of which changes it but `release_lists`.

namespace warpheap::detail {

// Degrees as 64-bit numbers, and the further chunks of each list; both have one element more, 0.
template <class Layout>
struct measure_all {
  const typename Layout::record* records;
  vertex_id vertices;
  std::uint64_t* degrees;
  std::uint32_t* extra;

  WARPHEAP_FN void operator()() const {
    for_each_thread(vertices + 1, [&](std::uint32_t v) {
      const std::uint32_t degree = v < vertices ? records[v].degree : 0;
      if (degrees != nullptr) degrees[v] = degree;
      if (extra != nullptr) extra[v] = further_chunks_of<Layout>(degree);
    });
  }
};

template <class Record>
struct copy_degrees {
  const Record* records;
  vertex_id vertices;
  std::uint32_t* degrees;
  WARPHEAP_FN void operator()() const {
    for_each_thread(vertices, [&](std::uint32_t v) { degrees[v] = records[v].degree; });
  }
};

// Copies all lists to where `offsets` says.
template <class Layout>
struct copy_lists {
  using weight = std::conditional_t<std::is_void_v<typename Layout::weight_type>, char, typename Layout::weight_type>;
  const typename Layout::record* records;
  vertex_id vertices;
  const std::uint64_t* offsets;
  const std::uint32_t* extra;
  vertex_id* neighbours;
  weight* weights;

  WARPHEAP_FN void operator()() const {
    for_each_group(vertices + extra[vertices], [&](std::uint32_t item) {
      const list_chunk work = chunk_at(item, vertices, extra);
      const std::uint64_t begin = offsets[work.list];
      for_each_neighbour<Layout>(records[work.list], work.chunk,
                                 [&](std::uint32_t i, vertex_id id, const auto& piece, std::uint32_t j) {
                                   neighbours[begin + i] = id;
                                   if constexpr (!std::is_void_v<typename Layout::weight_type>) {
                                     weights[begin + i] = piece.weights[j];
                                   }
                                 });
    });
  }
};

// Finds edges of which an end is in the set `leaving`: counts them, or also writes them.
template <class Layout>
struct emit_mentions {
  const typename Layout::record* records;
  vertex_id vertices;
  const std::uint32_t* extra;
  const std::uint32_t* leaving;
  batch_totals* totals;
  vertex_id* sources;  // null: only count
  vertex_id* targets;

  WARPHEAP_FN void operator()() const {
    std::uint32_t counted = 0;
    for_each_group(vertices + extra[vertices], [&](std::uint32_t item) {
      const list_chunk work = chunk_at(item, vertices, extra);
      const bool leaves = has_bit(leaving, work.list);
      for_each_neighbour<Layout>(
          records[work.list], work.chunk, [&](std::uint32_t, vertex_id id, const auto&, std::uint32_t) {
            if (!leaves && !has_bit(leaving, id)) return;
            if (sources == nullptr) {
              ++counted;
              return;
            }
            // Relaxed: the place is the caller's own, and the next kernel reads it.
            const std::uint64_t at =
                atomic_view{totals->emitted}.fetch_add(1, memory_order::relaxed, thread_scope::device);
            sources[at] = work.list;
            targets[at] = id;
          });
    });
    if (sources == nullptr) add_up(totals->emitted, counted);
  }
};

// Collects vertices that are to be removed.
struct collect_leaving {
  const vertex_id* ids;
  std::uint32_t count;
  vertex_id vertices;
  const std::uint32_t* gone;
  std::uint32_t* leaving;
  batch_totals* totals;

  WARPHEAP_FN void operator()() const {
    std::uint32_t invalid = 0;
    std::uint32_t found = 0;
    for_each_thread(count, [&](std::uint32_t i) {
      const vertex_id v = ids[i];
      const bool leaves = v < vertices && !has_bit(gone, v) && insert_bit(leaving, v);
      ++(leaves ? found : invalid);
    });
    add_up(totals->invalid, invalid);
    add_up(totals->found, found);
  }
};

// Adds one set of vertices to two others. A thread a word.
struct unite_sets {
  const std::uint32_t* leaving;
  std::uint32_t words;
  std::uint32_t* gone;
  std::uint32_t* changed;
  WARPHEAP_FN void operator()() const {
    for_each_thread(words, [&](std::uint32_t i) {
      gone[i] |= leaving[i];
      changed[i] |= leaving[i];
    });
  }
};

// True for members of a set, as `select_places` takes it.
struct is_member_of {
  const std::uint32_t* set;
  WARPHEAP_FN bool operator()(std::uint32_t v) const { return has_bit(set, v); }
};

// Looks edges up: a thread each in lists that can be searched, else a group of lanes each.
template <class Layout>
struct find_edges {
  const typename Layout::record* records;
  vertex_id vertices;
  const vertex_id* sources;
  const vertex_id* targets;
  std::uint32_t count;
  std::uint8_t* found;

  WARPHEAP_FN void operator()() const {
    if constexpr (Layout::is_ascending && Layout::is_contiguous) {
      const graph_ref<Layout> graph{records, vertices};
      for_each_thread(count, [&](std::uint32_t i) {
        found[i] = sources[i] < vertices && graph.has_edge(sources[i], targets[i]) ? 1 : 0;
      });
    } else {
      for_each_group(count, [&](std::uint32_t i) {
        bool seen = false;
        if (sources[i] < vertices) {
          const auto vertex = records[sources[i]];
          const std::uint32_t chunks = 1 + further_chunks_of<Layout>(vertex.degree);
          for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            for_each_neighbour<Layout>(vertex, chunk, [&](std::uint32_t, vertex_id id, const auto&, std::uint32_t) {
              seen = seen || id == targets[i];
            });
          }
        }
        seen = any(list_group(), seen);
        if (list_rank() == 0) found[i] = seen ? 1 : 0;
      });
    }
  }
};

// Gives all blocks back and makes all records empty: a thread a vertex, or a group if its list is a chain.
template <class Layout, class HeapRef>
struct release_lists {
  typename Layout::record* records;
  vertex_id vertices;
  HeapRef heap;

  WARPHEAP_FN void operator()() const {
    if constexpr (Layout::is_contiguous) {
      for_each_thread(vertices, [&](std::uint32_t v) {
        void* const block = records[v].block;
        records[v] = {nullptr, 0, 0};
        if (block != nullptr) heap.free(block);
      });
    } else {
      for_each_group(vertices, [&](std::uint32_t v) {
        const auto vertex = records[v];
        sync(list_group());
        if (list_rank() == 0) records[v] = {nullptr, nullptr, 0};
        settle_pages<Layout, HeapRef>::template free_chain<Layout>(
            heap, vertex.first, static_cast<std::uint32_t>(divide_up(vertex.degree, Layout::page_edges)));
      });
    }
  }
};

// Sums up the bytes of blocks, as the heap knows them if it knows sizes.
template <class Layout, class HeapRef>
struct sum_blocks {
  const typename Layout::record* records;
  vertex_id vertices;
  HeapRef heap;
  std::uint64_t* bytes;

  WARPHEAP_FN void operator()() const {
    std::uint64_t sum = 0;
    for_each_thread(vertices, [&](std::uint32_t v) {
      const auto vertex = records[v];
      if constexpr (!Layout::is_contiguous) {
        sum += divide_up(vertex.degree, Layout::page_edges) * Layout::page_bytes;
      } else if constexpr (requires { heap.usable_size(vertex.block); }) {
        if (vertex.block != nullptr) sum += heap.usable_size(vertex.block);
      } else {
        sum += std::uint64_t{vertex.capacity} * Layout::edge_bytes;
      }
    });
    // Relaxed: the host reads the sum after the kernel.
    if (sum != 0) atomic_view{*bytes}.fetch_add(sum, memory_order::relaxed, thread_scope::device);
  }
};

// Compressed sparse rows as a batch of additions to an empty graph: where the runs begin, and what is wrong with them.
template <class Layout>
struct rows_to_runs {
  batch_view<Layout> batch;
  const std::uint64_t* offsets;
  std::uint64_t edges;

  WARPHEAP_FN void operator()() const {
    std::uint32_t wrong = 0;
    for_each_thread(batch.vertices + 1, [&](std::uint32_t v) {
      const std::uint64_t begin = offsets[v];
      if (v == 0 && begin != 0) ++wrong;
      if (v == batch.vertices ? begin != edges : begin > offsets[v + 1] || begin > edges) ++wrong;
      batch.first[v] = static_cast<std::uint32_t>(begin < edges ? begin : edges);
    });
    if (grid_thread_index() == 0) {
      batch.totals->wanted = static_cast<std::uint32_t>(edges);
      batch.totals->runs = batch.vertices;
    }
    note(batch.totals, wrong);
  }
  // Relaxed: the next kernel reads it.
  WARPHEAP_FN static void note(batch_totals* totals, std::uint32_t wrong) {
    if (wrong != 0) atomic_view{totals->malformed}.fetch_add(wrong, memory_order::relaxed, thread_scope::device);
  }
};

// Counts ids that the graph has not, and such as break the order of an ascending list.
template <class Layout>
struct check_rows {
  batch_view<Layout> batch;
  std::uint32_t edges;

  WARPHEAP_FN void operator()() const {
    if (batch.totals->malformed != 0) return;
    std::uint32_t wrong = 0;
    for_each_thread(edges, [&](std::uint32_t edge) {
      const vertex_id id = batch.ids[edge];
      bool is_wrong = id >= batch.vertices;
      if (Layout::is_ascending && edge != 0 && batch.ids[edge - 1] >= id) {
        is_wrong = is_wrong || batch.first[batch.run_with(edge)] != edge;
      }
      wrong += is_wrong ? 1 : 0;
    });
    counted(wrong);
  }
  // A second figure: kernels of the same grid read `malformed`.
  WARPHEAP_FN void counted(std::uint32_t wrong) const { add_up(batch.totals->invalid, wrong); }
};

// What the check of the rows has found stops the stages that follow.
struct settle_check {
  batch_totals* totals;
  WARPHEAP_FN void operator()() const {
    if (grid_thread_index() == 0 && totals->invalid != 0) totals->malformed = 1;
  }
};

}  // namespace warpheap::detail
