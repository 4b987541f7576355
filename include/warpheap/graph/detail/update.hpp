// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <warpheap/graph/detail/contiguous_stages.hpp>
#include <warpheap/graph/detail/list_stages.hpp>
#include <warpheap/graph/detail/paged_stages.hpp>
#include <warpheap/graph/detail/small_batch.hpp>
#include <warpheap/graph/detail/sort_stages.hpp>
#include <warpheap/graph/detail/walk_stages.hpp>
#include <warpheap/graph/graph.hpp>

// Batches of edges: memory to work in, the order of stages, and the counts. Memory for the whole batch is taken before
// its first stage, so a batch that the machine has no memory for changes nothing.

namespace warpheap {

template <graph_heap Heap, class Layout>
struct graph<Heap, Layout>::arrays {
  scratch_array<std::uint64_t> keys[2], ranks;
  scratch_array<std::uint32_t> origin[2], found_at, extra, wanted_before;
  scratch_array<std::uint32_t> ids[2], place[2], run_of[2], batch_of[2], first[2], source;
  scratch_array<detail::list_plan> plans;
  scratch_array<std::uint8_t> is_member, dead;
  scratch_array<std::uint32_t> holes, tails, hole_count, tail_count, failed;
  scratch_array<void*> pages;
  scratch_array<std::byte> work;
};

template <graph_heap Heap, class Layout>
auto graph<Heap, Layout>::lay_out(scratch_plan& plan, std::uint32_t count, std::uint64_t wanted,
                                  bool from_rows) const -> arrays {
  constexpr bool has_weights = !std::is_void_v<weight_type>;
  const std::uint64_t ends = std::uint64_t{count} + 1;
  arrays at;
  std::uint64_t work = exclusive_sum_work<std::uint32_t>(count + 1);
  at.first[0] = plan.add<std::uint32_t>(ends);
  at.plans = plan.add<detail::list_plan>(count);
  at.extra = plan.add<std::uint32_t>(ends);
  if constexpr (!Layout::is_contiguous) {
    at.pages = plan.add<void*>((edges_ + wanted) / Layout::page_edges + count);
    at.failed = plan.add<std::uint32_t>(count);
  }
  if (!from_rows) {
    for (auto& keys : at.keys) keys = plan.add<std::uint64_t>(count);
    at.ranks = plan.add<std::uint64_t>(ends);
    at.source = plan.add<std::uint32_t>(count);
    if constexpr (searches) at.found_at = plan.add<std::uint32_t>(count);
    for (int set = 0; set < (searches ? 1 : 2); ++set) {
      at.ids[set] = plan.add<std::uint32_t>(count);
      at.place[set] = plan.add<std::uint32_t>(count);
      at.run_of[set] = plan.add<std::uint32_t>(count);
      if constexpr (has_weights) at.batch_of[set] = plan.add<std::uint32_t>(count);
      if (set == 1) at.first[1] = plan.add<std::uint32_t>(ends);
    }
    if constexpr (!searches) {
      at.is_member = plan.add<std::uint8_t>(count);
      at.wanted_before = plan.add<std::uint32_t>(ends);
    }
    if constexpr (Layout::is_contiguous && !Layout::is_ascending) {
      at.dead = plan.add<std::uint8_t>(count);
      for (auto* each : {&at.holes, &at.tails, &at.hole_count, &at.tail_count}) *each = plan.add<std::uint32_t>(count);
    }
    if constexpr (has_weights) {
      for (auto& origin : at.origin) origin = plan.add<std::uint32_t>(count);
      work = std::max(work, radix_sort_pairs_work<std::uint64_t, std::uint32_t>(count));
    } else {
      work = std::max(work, radix_sort_work<std::uint64_t>(count));
    }
    work = std::max(work, exclusive_sum_work<std::uint64_t>(count + 1));
  }
  at.work = plan.add<std::byte>(work);
  return at;
}

template <graph_heap Heap, class Layout>
auto graph<Heap, Layout>::view_of(const arrays& at, std::uint32_t count) const -> view {
  view batch{};
  batch.records = records();
  batch.vertices = vertices_;
  batch.bits = vertices_ == 0 ? 1 : highest_bit(vertices_) + 1;
  batch.changed = changed();
  batch.totals = totals_.data();
  batch.count = count;
  batch.found_at = scratch_.at(at.found_at);
  batch.ranks = scratch_.at(at.ranks);
  batch.ids = scratch_.at(at.ids[0]);
  batch.place = scratch_.at(at.place[0]);
  batch.run_of = scratch_.at(at.run_of[0]);
  batch.batch_of = scratch_.at(at.batch_of[0]);
  batch.source = scratch_.at(at.source);
  batch.first = scratch_.at(at.first[0]);
  batch.plans = scratch_.at(at.plans);
  batch.extra = scratch_.at(at.extra);
  return batch;
}

template <graph_heap Heap, class Layout>
template <detail::batch_kind Kind>
void graph<Heap, Layout>::sort_edges(const arrays& at, view& batch, const vertex_id* sources, const vertex_id* targets,
                                     std::uint32_t offered, bool keep_loops) {
  double_buffer<std::uint64_t> keys{scratch_.at(at.keys[0]), scratch_.at(at.keys[1])};
  double_buffer<std::uint32_t> origin{scratch_.at(at.origin[0]), scratch_.at(at.origin[1])};
  const grid_shape threads = shape(batch.count + 1);
  launch(threads,
         detail::pack_edges<Layout>{batch, sources, targets, offered, keep_loops, keys.current, origin.current});
  const bit_range bits{0, 2 * batch.bits};
  if constexpr (std::is_void_v<weight_type>) {
    radix_sort<std::uint64_t>(scratch_.work(at.work), keys, batch.count, bits);
  } else {
    radix_sort_pairs<std::uint64_t, std::uint32_t>(scratch_.work(at.work), keys, origin, batch.count, bits);
  }
  batch.keys = keys.current;
  batch.origin = origin.current;
  clock_.ended(&batch_times::sort);
  launch(threads, detail::judge_edges<Layout, Kind>{batch});
  exclusive_sum<std::uint64_t>(scratch_.work(at.work), batch.ranks, batch.ranks, batch.count + 1);
  launch(threads, detail::gather_runs<Layout>{batch});
}

// Of the unique edges of lists that cannot be searched, those that the batch is to add or remove.
template <graph_heap Heap, class Layout>
template <detail::batch_kind Kind>
auto graph<Heap, Layout>::sift(const arrays& at, view batch) -> view {
  std::uint8_t* const is_member = scratch_.at(at.is_member);
  std::uint32_t* const before = scratch_.at(at.wanted_before);
  const grid_shape threads = shape(batch.count + 1);
  device_fill(is_member, 0, batch.count);
  launch(threads, detail::measure_lists<Layout>{batch});
  exclusive_sum<std::uint32_t>(scratch_.work(at.work), batch.extra, batch.extra, batch.count + 1);
  launch(shape(batch.count + edges_ / detail::chunk_edges, detail::list_lanes),
         detail::walk_lists<Layout, Kind>{batch, is_member});
  launch(threads, detail::judge_members<Layout, Kind>{batch, is_member, before});
  exclusive_sum<std::uint32_t>(scratch_.work(at.work), before, before, batch.count + 1);
  view wanted = batch;
  wanted.ids = scratch_.at(at.ids[1]);
  wanted.place = scratch_.at(at.place[1]);
  wanted.run_of = scratch_.at(at.run_of[1]);
  wanted.batch_of = scratch_.at(at.batch_of[1]);
  wanted.first = scratch_.at(at.first[1]);
  launch(threads, detail::gather_wanted<Layout>{batch, wanted, before});
  launch({1, 32}, detail::settle_wanted{batch.totals, before, batch.count});
  return wanted;
}

template <graph_heap Heap, class Layout>
template <detail::batch_kind Kind>
void graph<Heap, Layout>::change_lists(const arrays& at, const view& batch, const view& unique, bool replaces) {
  const heap_handle heap = heap_->ref();
  const bool from_rows = batch.keys == nullptr;
  const std::uint64_t wanted = from_rows ? batch.weights_period : batch.count;
  const grid_shape threads = shape(batch.count + 1);
  const grid_shape edges = shape(std::max<std::uint64_t>(wanted, batch.count));
  const auto sum_extra = [&] {
    exclusive_sum<std::uint32_t>(scratch_.work(at.work), batch.extra, batch.extra, batch.count + 1);
  };
  const auto give_weights = [&] {
    if constexpr (Kind == detail::batch_kind::add && !std::is_void_v<weight_type>) {
      if (!replaces) return;
      if constexpr (searches) {
        launch(threads, detail::replace_weights<Layout>{batch});
      } else {
        launch(shape(batch.count, detail::list_lanes), detail::replace_walked_weights<Layout>{unique, batch.plans});
      }
    }
  };
  if constexpr (Layout::is_contiguous) {
    launch(threads, detail::plan_lists<Layout, Kind, heap_handle>{batch, heap});
    sum_extra();
    clock_.ended(&batch_times::allocate);
    give_weights();
    if (!from_rows) {
      launch(shape(batch.count + edges_ / detail::chunk_edges, detail::list_lanes),
             detail::move_lists<Layout, Kind>{batch});
    }
    if constexpr (Kind == detail::batch_kind::remove && !Layout::is_ascending) {
      device_fill(scratch_.at(at.dead), 0, batch.count);
      device_fill(scratch_.at(at.hole_count), 0, batch.count * sizeof(std::uint32_t));
      device_fill(scratch_.at(at.tail_count), 0, batch.count * sizeof(std::uint32_t));
      for (int stage = 0; stage < 3; ++stage) {
        launch(threads,
               detail::fill_holes<Layout>{batch, scratch_.at(at.holes), scratch_.at(at.tails), scratch_.at(at.dead),
                                          scratch_.at(at.hole_count), scratch_.at(at.tail_count), stage});
      }
    }
    clock_.ended(&batch_times::move);
    launch(edges, detail::settle_lists<Layout, Kind, heap_handle>{batch, heap});
  } else if constexpr (Kind == detail::batch_kind::remove) {
    launch(shape(batch.count, detail::list_lanes), detail::remove_paged<Layout, heap_handle>{batch, heap});
  } else {
    const detail::paged_batch<Layout, heap_handle> paged{batch, scratch_.at(at.pages), scratch_.at(at.failed), heap};
    const grid_shape groups = shape(std::max<std::uint64_t>(wanted, batch.count), detail::list_lanes);
    launch(threads, detail::plan_pages<Layout, heap_handle>{paged});
    sum_extra();
    launch(edges, detail::take_pages<Layout, heap_handle>{paged});
    launch(threads, detail::judge_pages<Layout, heap_handle>{paged});
    clock_.ended(&batch_times::allocate);
    give_weights();
    launch(groups, detail::fill_pages<Layout, heap_handle>{paged});
    clock_.ended(&batch_times::move);
    launch(groups, detail::settle_pages<Layout, heap_handle>{paged});
  }
  clock_.ended(&batch_times::settle);
}

// All stages of a batch of few keys, in one kernel.
template <graph_heap Heap, class Layout>
template <detail::batch_kind Kind>
void graph<Heap, Layout>::run_small(const arrays& at, view batch, const vertex_id* sources, const vertex_id* targets,
                                    std::uint32_t offered, bool keep_loops) {
  batch.keys = scratch_.at(at.keys[1]);
  batch.origin = scratch_.at(at.origin[1]);
  launch_with_shared<detail::small_batch_memory>(
      {1, detail::small_batch_threads},
      detail::small_batch<Layout, Kind, heap_handle>{
          {batch, sources, targets, offered, keep_loops, scratch_.at(at.keys[0]), scratch_.at(at.origin[0])},
          heap_->ref(),
          options_.replace_weights && batch.weights != nullptr});
  clock_.ended(&batch_times::at_once);
}

template <graph_heap Heap, class Layout>
template <detail::batch_kind Kind>
void graph<Heap, Layout>::run_stages(const arrays& at, view unique, const vertex_id* sources, const vertex_id* targets,
                                     std::uint32_t offered, bool keep_loops) {
  totals_.clear();
  sort_edges<Kind>(at, unique, sources, targets, offered, keep_loops);
  view wanted = unique;
  if constexpr (!searches) wanted = sift<Kind>(at, unique);
  clock_.ended(&batch_times::mark);
  change_lists<Kind>(at, wanted, unique, options_.replace_weights && unique.weights != nullptr);
}

template <graph_heap Heap, class Layout>
template <detail::batch_kind Kind>
edge_counts graph<Heap, Layout>::run_batch(const vertex_id* sources, const vertex_id* targets, std::uint64_t count,
                                           const weight_type* weights, bool both_ways, bool keep_loops,
                                           const std::uint32_t* gone) {
  require_batch(count);
  edge_counts result;
  if (count == 0) return result;
  const auto offered = static_cast<std::uint32_t>(count);
  const std::uint32_t keys = both_ways ? 2 * offered : offered;
  scratch_plan plan;
  const arrays at = lay_out(plan, keys, keys, false);
  scratch_.fit(plan);
  view batch = view_of(at, keys);
  batch.gone = gone;
  batch.weights = weights;
  batch.weights_period = offered;
  clock_.begin();
  if constexpr (searches) {
    if (keys <= detail::most_small_keys) {
      run_small<Kind>(at, batch, sources, targets, offered, keep_loops);
    } else {
      run_stages<Kind>(at, batch, sources, targets, offered, keep_loops);
    }
  } else {
    run_stages<Kind>(at, batch, sources, targets, offered, keep_loops);
  }

  clock_.end();
  const detail::batch_totals totals = totals_.at(0);
  result.offered = keys;
  result.invalid = totals.invalid;
  result.loops = totals.loops;
  result.repeated = totals.repeated;
  result.refused = totals.refused;
  if constexpr (Kind == detail::batch_kind::add) {
    result.present = totals.found;
    result.added = totals.missing - totals.refused;
    edges_ += result.added;
  } else {
    result.removed = totals.found;
    result.absent = totals.missing;
    edges_ -= result.removed;
  }
  if (result.added + result.removed != 0) ++version_;
  return result;
}

template <graph_heap Heap, class Layout>
edge_counts graph<Heap, Layout>::add_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count,
                                           const weight_type* weights) {
  const scoped_device own{device_};
  return run_batch<detail::batch_kind::add>(sources, targets, count, weights, options_.undirected, options_.keep_loops,
                                            removed_vertices_ == 0 ? nullptr : gone());
}

template <graph_heap Heap, class Layout>
edge_counts graph<Heap, Layout>::remove_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count) {
  const scoped_device own{device_};
  return run_batch<detail::batch_kind::remove>(sources, targets, count, nullptr, options_.undirected,
                                               options_.keep_loops, removed_vertices_ == 0 ? nullptr : gone());
}

template <graph_heap Heap, class Layout>
edge_counts graph<Heap, Layout>::assign_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count,
                                              const weight_type* weights) {
  require_batch(count);
  clear();
  return add_edges(sources, targets, count, weights);
}

template <graph_heap Heap, class Layout>
edge_counts graph<Heap, Layout>::assign_csr(const std::uint64_t* offsets, const vertex_id* neighbours,
                                            std::uint64_t edges, const weight_type* weights) {
  require_batch(edges);
  const scoped_device own{device_};
  clear();
  scratch_plan plan;
  const arrays at = lay_out(plan, vertices_, edges, true);
  scratch_.fit(plan);
  totals_.clear();
  view rows = view_of(at, vertices_);
  rows.ids = const_cast<vertex_id*>(neighbours);  // a batch of additions reads its edges
  rows.weights = weights;
  rows.weights_period = static_cast<std::uint32_t>(edges);
  clock_.begin();
  launch(shape(vertices_ + 1), detail::rows_to_runs<Layout>{rows, offsets, edges});
  launch(shape(edges), detail::check_rows<Layout>{rows, rows.weights_period});
  launch({1, 32}, detail::settle_check{rows.totals});
  clock_.ended(&batch_times::mark);
  change_lists<detail::batch_kind::add>(at, rows, rows, false);
  clock_.end();
  const detail::batch_totals totals = totals_.at(0);
  if (totals.malformed != 0) {
    throw std::invalid_argument(
        "warpheap: the rows name a vertex that the graph has not, or are not in ascending order: sort them, or use "
        "assign_edges, which counts such edges");
  }
  edge_counts result;
  result.offered = edges;
  result.refused = totals.refused;
  result.added = edges - totals.refused;
  edges_ = result.added;
  return result;
}

}  // namespace warpheap
