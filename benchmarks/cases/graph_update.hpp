// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/graph_heap.hpp"
#include "../measure/graph_lists.hpp"
#include "../measure/kernel_judge.hpp"
#include "../measure/not_served.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How long kernels take that insert a batch of edges into a dynamic graph and delete them again, one thread a vertex
/// (Winter et al., PPoPP 2021, Figure 11g).
///
/// A batch has `size` / 8 edges. Drawing, sorting and marking them is not timed. A thread whose list outgrows its block
/// asks for the next power of two that holds the list, copies the list, and frees the old block. Deletion fills holes
/// from the end of the list, and moves the list to a smaller block when half of the block would do. A refused vertex
/// stays as it was, or keeps its larger block, and counts as a failure.
///
/// Each round begins with the same edges, in lists of the same order. In a judged round all blocks are sorted by
/// address, and all lists compared with the edges that they should have, after each of the two kernels.
struct graph_update {
  static constexpr const char* name = "graph_update";
  static constexpr const char* summary = "kernels that insert edges into a dynamic graph and delete them";
  static constexpr case_mode modes[] = {
      {"delaunay_uniform", "a stand-in of delaunay_n20, and sources among all vertices"},
      {"delaunay_window", "a stand-in of delaunay_n20, and sources in a window of 100 vertices that moves on"},
      {"coauthors_uniform", "a stand-in of coAuthorsCiteseer, and sources among all vertices"},
      {"coauthors_window", "a stand-in of coAuthorsCiteseer, and sources in a window of 100 vertices that moves on"}};
  static constexpr const char* axes[] = {"threads", "size"};

  /// No request is of `size` bytes, so that a design need not serve one.
  static constexpr bool size_is_of_input = true;
  static constexpr std::uint64_t edge_bytes = 8;  ///< of an edge of a batch: its source and its target

  /// The stand-in that a mode names.
  static constexpr std::string_view graph_of(std::string_view mode) { return mode.substr(0, mode.find('_')); }
  /// The sources that a mode names.
  static constexpr batch_sources sources_of(std::string_view mode) {
    return mode.ends_with("_window") ? batch_sources::window : batch_sources::uniform;
  }

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is. A design without individual free
  /// is not served, nor one that needs whole warps.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  struct fixture;
  template <device_allocator A>
  class course;
};

/// Moves a list to a block of `bytes` bytes, which holds it, and gives the old block back. Returns false, and leaves
/// the list as it is, if the heap refuses the block.
template <device_allocator A>
WARPHEAP_FN bool move_list(const heap_ref<A>& heap, vertex_list& list, std::uint64_t bytes) {
  auto* const ids = static_cast<vertex_id*>(heap.malloc(bytes));
  if (ids == nullptr) return false;
  for (std::uint32_t i = 0; i < list.degree; ++i) ids[i] = list.ids[i];
  heap.free(list.ids);
  list.ids = ids;
  list.bytes = bytes;
  return true;
}

/// One thread a vertex appends the vertex's edges of a batch, which its list lacks. A vertex whose request is refused
/// stays as it was, and counts in `*null`.
template <device_allocator A>
struct insert_edges_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, csr_view<> batch, vertex_list* lists, std::uint64_t* null) const {
    const std::uint64_t index = grid_thread_index();
    if (index >= batch.vertices()) return;
    const auto more = batch.first_piece(static_cast<vertex_id>(index));
    if (more.count == 0) return;
    vertex_list list = lists[index];
    const std::uint64_t bytes = list_bytes(std::uint64_t{list.degree} + more.count);
    if (bytes > list.bytes && !move_list(heap, list, bytes)) return kernel_tally::count(*null);
    for (std::uint32_t i = 0; i < more.count; ++i) list.ids[list.degree + i] = more.ids[i];
    list.degree += more.count;
    lists[index] = list;
  }
};

/// One thread a vertex deletes the vertex's edges of a batch; those that its list lacks are passed over. A refused
/// request for a smaller block counts in `*null`; the list then keeps its block.
template <device_allocator A>
struct delete_edges_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, csr_view<> batch, vertex_list* lists, std::uint64_t* null) const {
    const std::uint64_t index = grid_thread_index();
    if (index >= batch.vertices()) return;
    const auto fewer = batch.first_piece(static_cast<vertex_id>(index));
    if (fewer.count == 0) return;
    vertex_list list = lists[index];
    for (std::uint32_t i = 0; i < list.degree;) {
      if (has(fewer.ids, fewer.count, list.ids[i])) {
        list.ids[i] = list.ids[--list.degree];
      } else {
        ++i;
      }
    }
    const std::uint64_t bytes = list_bytes(list.degree);
    if (bytes < list.bytes && !move_list(heap, list, bytes)) kernel_tally::count(*null);
    lists[index] = list;
  }

  // Whether the ascending ids have `id`.
  WARPHEAP_FN static bool has(const vertex_id* ids, std::uint32_t count, vertex_id id) {
    std::uint32_t low = 0, high = count;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (ids[middle] < id) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < count && ids[low] == id;
  }
};

// A graph whose lists are in the heap when the rounds begin.
template <device_allocator A>
struct graph_update::fixture : graph_heap<A> {
  explicit fixture(const run_options& asked) : graph_heap<A>(asked, graph_of(asked.mode)) {}

  // After flawless rounds: nothing may be live once all lists are given back.
  void finish() {
    if (this->found.flawless()) this->free_lists(true);
  }
};

// One run of the case on a warm heap.
template <device_allocator A>
class graph_update::course : public course_defaults {
 public:
  using fixture = graph_update::fixture<A>;
  static constexpr const char* unfit_design = unfit_for_lone_threads(A::capabilities);

  explicit course(fixture& on)
      : on_(on), batches_(on.graph, on.options.size / edge_bytes, sources_of(on.options.mode), on.options.seed) {}

  static std::string unfit_options(const run_options& options) {
    if (options.size / edge_bytes == 0 || options.size / edge_bytes > most_edges) {
      return "a batch has an edge for each 8 bytes: use a size of 8 to " + std::to_string(most_edges * edge_bytes);
    }
    return stand_in_graph::unfit(options.threads);
  }
  std::string unfit_heap() const { return unfit_for_lists<A>(on_.graph.largest_degree() + batches_.likely_largest()); }
  void describe(json_object& record) const {
    json_object graph = on_.graph.describe();
    record.add("graph", graph.add("batch_edges", on_.options.size / edge_bytes));
  }
  std::vector<const samples*> watched() const { return {&insert_times_, &delete_times_}; }

  void round(round_kind kind) {
    if (kind.judged) ++on_.found.rounds_judged;
    if (on_.found.rounds++ == 0) {
      on_.make_lists();
      on_.look(nullptr);
      if (!on_.found.flawless()) return;
    }
    batches_.draw(on_.found.rounds);
    const list_moves moves = count_moves(on_.lists, batches_.rows());
    const double insert_time = time_of(insert_edges_kernel<A>{});
    on_.note(moves.grown, "lists that grew");
    if (kind.judged || on_.last_null != 0) on_.look(&batches_);
    if (!on_.found.flawless()) return;
    const double delete_time = time_of(delete_edges_kernel<A>{});
    on_.note(moves.shrunk, "lists that shrank");
    if (kind.judged || on_.last_null != 0) on_.look(nullptr, true);
    if (!kind.timed || !on_.found.flawless()) return;
    insert_times_.add(insert_time);
    delete_times_.add(delete_time);
    applied_.add(static_cast<double>(batches_.edges()));
    moved_.add(static_cast<double>(moves.grown));
  }

  void add_measures(findings& found) const {
    found.add("insert", microseconds, insert_times_);
    found.add("delete", microseconds, delete_times_);
    found.add("applied", count_of_work, applied_);
    found.add("moved", count_of_work, moved_);
  }

 private:
  // Keys of a batch are counted by 32 bits.
  static constexpr std::uint64_t most_edges = std::uint64_t{1} << 30;
  static constexpr measure_kind count_of_work{"count", false, false};

  template <class Kernel>
  double time_of(const Kernel& kernel) {
    on_.null.clear();
    return on_.time_of([&] {
      launch(grid_shape::covering(on_.graph.vertices()), kernel, on_.heap.ref(), batches_.rows(), on_.lists.data(),
             on_.null.data());
    });
  }

  fixture& on_;
  edge_batches batches_;
  samples insert_times_;
  samples delete_times_;
  samples applied_;
  samples moved_;
};

}  // namespace warpheap::bench
