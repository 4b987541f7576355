// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <warpheap/graph/detail/batch.hpp>
#include <warpheap/graph/detail/batch_clock.hpp>
#include <warpheap/graph/graph_ref.hpp>
#include <warpheap/graph/results.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/primitives.hpp>

namespace warpheap {

/// A heap as a graph uses it: `ref()` gives a handle for kernels with `malloc` and `free`, each thread on its own. Null
/// means that a list has to stay as it is. `usable_size` and `statistics` are used where they are there.
template <class H>
concept graph_heap = requires(const H& heap, std::uint64_t bytes, void* block) {
  { heap.ref().malloc(bytes) } -> std::same_as<void*>;
  heap.ref().free(block);
} && std::is_trivially_copyable_v<decltype(std::declval<const H&>().ref())>;

namespace detail {

// True if each thread may call on its own, as the kernels of a graph do.
template <class HeapRef>
constexpr bool serves_single_threads() {
  if constexpr (requires { HeapRef::capabilities.needs_full_warp; }) {
    return !HeapRef::capabilities.needs_full_warp && HeapRef::capabilities.alignment % 8 == 0;
  } else {
    return true;
  }
}

}  // namespace detail

/// A dynamic graph whose lists lie in blocks of a heap: directed edges, each once, between the vertices 0 to
/// `vertices() - 1`.
///
/// It changes by batches in device memory, one at a time; kernels read it through `ref()` between batches. All members
/// are for the host, work on the default stream, and use the device that was current when the graph was made. The heap
/// outlives the graph; others may use it meanwhile.
///
/// A batch is all or nothing for each source: where the heap has no block for a list, the whole run of its vertex is
/// refused and counted, and the list stays as it was. A member that throws has changed nothing, unless it says
/// otherwise. Members throw `std::length_error` for batches of 2^30 edges or more, and what `device_allocate` throws
/// when the machine has no memory to work in.
template <graph_heap Heap, class Layout = contiguous<>>
class graph {
 public:
  using weight_type = typename Layout::weight_type;  ///< void without weights
  using layout = Layout;                             ///< how lists lie in blocks

  /// A graph of `vertices` vertices without edges. Throws `std::length_error` for more than 2^31 - 1 vertices or than
  /// `options.most_vertices`.
  explicit graph(const Heap& heap, vertex_id vertices = 0, graph_options options = {});
  ~graph();
  graph(graph&& other) noexcept = default;

  /// The graph for kernels, until vertices are added.
  graph_ref<Layout> ref() const { return {records(), vertices_}; }
  vertex_id vertices() const { return vertices_; }    ///< ids of vertices, those of removed ones included
  std::uint64_t edges() const { return edges_; }      ///< directed edges
  std::uint64_t version() const { return version_; }  ///< rises with each change of vertices or edges

  /// Adds edges from `sources[i]` to `targets[i]`. Where the batch names an edge more than once, the first weight
  /// holds. `weights` is null in a graph without weights, and in one with them stands for zero weights.
  edge_counts add_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count,
                        const weight_type* weights = nullptr);
  /// Removes edges. Blocks become smaller once a quarter of them is in use, as long as the heap has one to move to.
  edge_counts remove_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count);
  /// From now on `add_edges`, `remove_edges` and `assign_csr` add the times of their stages to `*times`, until the next
  /// call; null ends that. `times` outlives the graph or the next call. The events lengthen a batch by microseconds.
  void time_batches(batch_times* times) { clock_.write_to(times); }
  /// Sets `found[i]` to 1 if the graph has the edge from `sources[i]` to `targets[i]`, else to 0.
  void has_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count, std::uint8_t* found) const;

  /// Replaces all edges by those of compressed sparse rows of `vertices()` vertices and `edges` edges, in device
  /// memory. The rows of an undirected graph have both directions. Ids of an ascending layout rise strictly in each
  /// row. Throws `std::invalid_argument`, without any edge, if the rows name a vertex that the graph has not or break
  /// that order. Removed vertices are there again.
  edge_counts assign_csr(const std::uint64_t* offsets, const vertex_id* neighbours, std::uint64_t edges,
                         const weight_type* weights = nullptr);
  /// Replaces all edges by a batch of others. Without edges if it throws.
  edge_counts assign_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count,
                           const weight_type* weights = nullptr);
  /// Removes all edges; removed vertices are there again.
  void clear();

  /// Adds `count` vertices without edges and returns the first id. Records stay where they are. Throws
  /// `std::length_error` if the graph cannot grow so far.
  vertex_id add_vertices(vertex_id count);
  /// Removes vertices and all edges from and to them. Their ids are not given again, and are invalid in batches. Waits
  /// for the device once more than other batches, to count the edges.
  vertex_counts remove_vertices(const vertex_id* ids, std::uint64_t count);

  /// Writes the degree of each vertex.
  void degrees(std::uint32_t* degrees) const;
  /// The graph in compressed sparse rows.
  csr_arrays<weight_type> to_csr() const;
  /// Memory in use. Looks at all vertices.
  graph_memory memory() const;

  /// Vertices whose edges have changed since the set was cleared, in ascending order, in device memory.
  device_array<vertex_id> changed_vertices() const;
  /// The set of changed vertices, a bit a vertex in words of 32, for kernels; until vertices are added.
  const std::uint32_t* changed_set() const { return changed(); }
  /// Empties the set of changed vertices.
  void clear_changed();

 private:
  using record = typename Layout::record;
  using view = detail::batch_view<Layout>;
  using heap_handle = decltype(std::declval<const Heap&>().ref());
  static_assert(detail::serves_single_threads<heap_handle>(),
                "graph: take a design whose calls need no full warp and whose blocks are aligned to 8 bytes");
  static constexpr bool searches = Layout::is_ascending && Layout::is_contiguous;
  static constexpr std::uint64_t most_edges = (std::uint64_t{1} << 30) - 1;
  struct arrays;

  record* records() const { return reinterpret_cast<record*>(records_.data()); }
  std::uint32_t* changed() const { return reinterpret_cast<std::uint32_t*>(changed_.data()); }
  std::uint32_t* gone() const { return reinterpret_cast<std::uint32_t*>(gone_.data()); }
  static std::uint64_t set_bytes(std::uint64_t vertices) { return divide_up(vertices, 32) * sizeof(std::uint32_t); }

  grid_shape shape(std::uint64_t items, std::uint32_t lanes = 1) const;
  void grow_to(std::uint64_t vertices);
  void require_batch(std::uint64_t count) const;

  template <detail::batch_kind Kind>
  edge_counts run_batch(const vertex_id* sources, const vertex_id* targets, std::uint64_t count,
                        const weight_type* weights, bool both_ways, bool keep_loops, const std::uint32_t* gone);
  template <detail::batch_kind Kind>
  void run_small(const arrays& at, view batch, const vertex_id* sources, const vertex_id* targets,
                 std::uint32_t offered, bool keep_loops);
  template <detail::batch_kind Kind>
  void run_stages(const arrays& at, view unique, const vertex_id* sources, const vertex_id* targets,
                  std::uint32_t offered, bool keep_loops);
  template <detail::batch_kind Kind>
  view sift(const arrays& at, view batch);
  template <detail::batch_kind Kind>
  void change_lists(const arrays& at, const view& batch, const view& unique, bool replaces);
  template <detail::batch_kind Kind>
  void sort_edges(const arrays& at, view& batch, const vertex_id* sources, const vertex_id* targets,
                  std::uint32_t offered, bool keep_loops);
  arrays lay_out(scratch_plan& plan, std::uint32_t count, std::uint64_t wanted, bool from_rows) const;
  view view_of(const arrays& at, std::uint32_t count) const;

  const Heap* heap_;
  graph_options options_;
  device_context device_;
  std::uint32_t multiprocessors_;
  device_range records_;
  device_range changed_;
  device_range gone_;
  vertex_id most_vertices_;
  vertex_id vertices_ = 0;
  std::uint64_t edges_ = 0;
  std::uint64_t removed_vertices_ = 0;
  std::uint64_t version_ = 0;
  device_array<detail::batch_totals> totals_;
  mutable device_scratch scratch_;
  device_scratch mentions_;
  detail::batch_clock clock_;
};

}  // namespace warpheap

#if WARPHEAP_COMPILES_KERNELS
#include <warpheap/graph/detail/graph.hpp>
#include <warpheap/graph/detail/update.hpp>
#endif
