// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <warpheap/graph/detail/list_stages.hpp>
#include <warpheap/graph/graph.hpp>

// Members of a graph that change no edge one by one.

namespace warpheap {

template <graph_heap Heap, class Layout>
graph<Heap, Layout>::graph(const Heap& heap, vertex_id vertices, graph_options options)
    : heap_(&heap),
      options_(options),
      device_(device_context::current()),
      multiprocessors_(describe_machine().multiprocessors),
      totals_(1) {
  constexpr vertex_id most = (vertex_id{1} << 31) - 1;
  most_vertices_ = options.most_vertices != 0
                       ? options.most_vertices
                       : std::max(vertices, device_can_map() ? vertex_id{1} << 28 : vertex_id{1});
  if (most_vertices_ > most || vertices > most) {
    throw std::length_error("warpheap: a graph has at most 2^31 - 1 vertices: split it");
  }
  constexpr range_options pieces{.piece_bytes = std::uint64_t{4} << 20};
  records_ = device_range(std::uint64_t{most_vertices_} * sizeof(record), pieces);
  changed_ = device_range(set_bytes(most_vertices_), pieces);
  gone_ = device_range(set_bytes(most_vertices_), pieces);
  grow_to(vertices);
}

// Blocks go back to the heap. An error of the device is reported where it is waited for, and its context can use
// nothing any more.
template <graph_heap Heap, class Layout>
graph<Heap, Layout>::~graph() {
  if (records_.data() == nullptr) return;  // moved from
  const scoped_device own{device_, std::nothrow};
  if (!own.is_current()) return;
  try {
    launch(shape(vertices_, detail::list_lanes),
           detail::release_lists<Layout, heap_handle>{records(), vertices_, heap_->ref()});
    synchronise();
  } catch (const launch_failure&) {
  }
}

// Kernels loop over what they have to do, so a grid needs no more blocks than the device runs at once.
template <graph_heap Heap, class Layout>
grid_shape graph<Heap, Layout>::shape(std::uint64_t items, std::uint32_t lanes) const {
  const std::uint64_t most = std::uint64_t{multiprocessors_} * 16;
  const std::uint64_t blocks = divide_up(items * lanes, detail::stage_threads);
  return {std::clamp<std::uint64_t>(blocks, 1, most), detail::stage_threads};
}

template <graph_heap Heap, class Layout>
void graph<Heap, Layout>::require_batch(std::uint64_t count) const {
  if (count <= most_edges) return;
  throw std::length_error("warpheap: a batch of " + std::to_string(count) +
                          " edges is too large: give at most 2^30 - 1 at once");
}

template <graph_heap Heap, class Layout>
void graph<Heap, Layout>::grow_to(std::uint64_t vertices) {
  if (vertices > most_vertices_) {
    throw std::length_error("warpheap: the graph has addresses for " + std::to_string(most_vertices_) +
                            " vertices: make it with a larger graph_options::most_vertices");
  }
  if (vertices == vertices_) return;
  const std::uint64_t begin = vertices_ * std::uint64_t{sizeof(record)};
  const std::uint64_t bytes = vertices * sizeof(record) - begin;
  const std::uint64_t set_begin = set_bytes(vertices_);
  const std::uint64_t added_set = set_bytes(vertices) - set_begin;
  records_.commit(begin, bytes);
  changed_.commit(set_begin, added_set);
  gone_.commit(set_begin, added_set);
  device_fill(records_.data() + begin, 0, bytes);
  if (added_set != 0) {
    device_fill(changed_.data() + set_begin, 0, added_set);
    device_fill(gone_.data() + set_begin, 0, added_set);
  }
  vertices_ = static_cast<vertex_id>(vertices);
}

template <graph_heap Heap, class Layout>
vertex_id graph<Heap, Layout>::add_vertices(vertex_id count) {
  const scoped_device own{device_};
  const vertex_id first = vertices_;
  grow_to(std::uint64_t{vertices_} + count);
  if (count != 0) ++version_;
  return first;
}

template <graph_heap Heap, class Layout>
void graph<Heap, Layout>::clear() {
  const scoped_device own{device_};
  launch(shape(vertices_, detail::list_lanes),
         detail::release_lists<Layout, heap_handle>{records(), vertices_, heap_->ref()});
  if (vertices_ != 0) device_fill(gone_.data(), 0, set_bytes(vertices_));
  edges_ = 0;
  removed_vertices_ = 0;
  ++version_;
}

template <graph_heap Heap, class Layout>
void graph<Heap, Layout>::has_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count,
                                    std::uint8_t* found) const {
  require_batch(count);
  if (count == 0) return;
  const scoped_device own{device_};
  launch(shape(count, searches ? 1 : detail::list_lanes),
         detail::find_edges<Layout>{records(), vertices_, sources, targets, static_cast<std::uint32_t>(count), found});
}

template <graph_heap Heap, class Layout>
void graph<Heap, Layout>::degrees(std::uint32_t* degrees) const {
  const scoped_device own{device_};
  launch(shape(vertices_), detail::copy_degrees<record>{records(), vertices_, degrees});
}

template <graph_heap Heap, class Layout>
csr_arrays<typename Layout::weight_type> graph<Heap, Layout>::to_csr() const {
  const scoped_device own{device_};
  constexpr bool has_weights = !std::is_void_v<weight_type>;
  using rows_type = csr_arrays<weight_type>;
  rows_type rows{device_array<std::uint64_t>(std::uint64_t{vertices_} + 1), device_array<vertex_id>(edges_),
                 device_array<typename rows_type::stored_weight>(has_weights ? edges_ : 1)};
  scratch_plan plan;
  const auto extra = plan.add<std::uint32_t>(std::uint64_t{vertices_} + 1);
  const auto work = plan.add<std::byte>(
      std::max(exclusive_sum_work<std::uint64_t>(vertices_ + 1), exclusive_sum_work<std::uint32_t>(vertices_ + 1)));
  scratch_.fit(plan);
  std::uint32_t* const chunks = scratch_.at(extra);
  launch(shape(vertices_ + 1), detail::measure_all<Layout>{records(), vertices_, rows.offsets.data(), chunks});
  exclusive_sum<std::uint64_t>(scratch_.work(work), rows.offsets.data(), rows.offsets.data(), vertices_ + 1);
  exclusive_sum<std::uint32_t>(scratch_.work(work), chunks, chunks, vertices_ + 1);
  using copy = detail::copy_lists<Layout>;
  launch(shape(vertices_ + edges_ / detail::chunk_edges, detail::list_lanes),
         copy{records(), vertices_, rows.offsets.data(), chunks, rows.neighbours.data(),
              reinterpret_cast<typename copy::weight*>(rows.weights.data())});
  return rows;
}

template <graph_heap Heap, class Layout>
graph_memory graph<Heap, Layout>::memory() const {
  const scoped_device own{device_};
  const device_array<std::uint64_t> blocks(1);
  launch(shape(vertices_), detail::sum_blocks<Layout, heap_handle>{records(), vertices_, heap_->ref(), blocks.data()});
  graph_memory figures{};
  figures.live_bytes = edges_ * Layout::edge_bytes;
  figures.block_bytes = blocks.at(0);
  figures.record_bytes = records_.committed_bytes() + changed_.committed_bytes() + gone_.committed_bytes();
  figures.scratch_bytes = scratch_.bytes() + mentions_.bytes();
  if constexpr (requires(const Heap& heap) { heap.statistics().committed_bytes; }) {
    const auto statistics = heap_->statistics();
    figures.heap_committed_bytes = statistics.committed_bytes;
    figures.heap_live_bytes = statistics.live_bytes;
  }
  return figures;
}

template <graph_heap Heap, class Layout>
device_array<vertex_id> graph<Heap, Layout>::changed_vertices() const {
  const scoped_device own{device_};
  using members = detail::is_member_of;
  scratch_plan plan;
  const auto places = plan.add<std::uint32_t>(vertices_);
  const auto selected = plan.add<std::uint32_t>(1);
  const auto work = plan.add<std::byte>(select_places_work<members>(vertices_));
  scratch_.fit(plan);
  select_places<members>(scratch_.work(work), members{changed()}, vertices_, scratch_.at(places),
                         scratch_.at(selected));
  std::uint32_t count = 0;
  device_copy(&count, scratch_.at(selected), sizeof(count));
  device_array<vertex_id> found(count);
  if (count != 0) device_copy(found.data(), scratch_.at(places), count * sizeof(vertex_id));
  return found;
}

template <graph_heap Heap, class Layout>
void graph<Heap, Layout>::clear_changed() {
  const scoped_device own{device_};
  if (vertices_ != 0) device_fill(changed_.data(), 0, set_bytes(vertices_));
}

template <graph_heap Heap, class Layout>
vertex_counts graph<Heap, Layout>::remove_vertices(const vertex_id* ids, std::uint64_t count) {
  require_batch(count);
  const scoped_device own{device_};
  vertex_counts result;
  if (count == 0 || vertices_ == 0) {
    result.invalid = count;
    return result;
  }
  scratch_plan plan;
  const auto words = static_cast<std::uint32_t>(set_bytes(vertices_) / sizeof(std::uint32_t));
  const auto leaving_at = plan.add<std::uint32_t>(words);
  const auto extra_at = plan.add<std::uint32_t>(std::uint64_t{vertices_} + 1);
  const auto work = plan.add<std::byte>(exclusive_sum_work<std::uint32_t>(vertices_ + 1));
  mentions_.fit(plan);
  std::uint32_t* const leaving = mentions_.at(leaving_at);
  std::uint32_t* const extra = mentions_.at(extra_at);
  device_fill(leaving, 0, set_bytes(vertices_));
  totals_.clear();
  launch(shape(count),
         detail::collect_leaving{ids, static_cast<std::uint32_t>(count), vertices_, gone(), leaving, totals_.data()});
  launch(shape(vertices_ + 1), detail::measure_all<Layout>{records(), vertices_, nullptr, extra});
  exclusive_sum<std::uint32_t>(mentions_.work(work), extra, extra, vertices_ + 1);
  detail::emit_mentions<Layout> emit{records(), vertices_, extra, leaving, totals_.data(), nullptr, nullptr};
  const grid_shape lists = shape(vertices_ + edges_ / detail::chunk_edges, detail::list_lanes);
  launch(lists, emit);
  const detail::batch_totals found = totals_.at(0);
  require_batch(found.emitted);
  result.removed = found.found;
  result.invalid = found.invalid;
  if (found.emitted != 0) {
    scratch_plan pairs;
    const auto sources = pairs.add<vertex_id>(found.emitted);
    const auto targets = pairs.add<vertex_id>(found.emitted);
    device_scratch edges;
    edges.fit(pairs);
    emit.sources = edges.at(sources);
    emit.targets = edges.at(targets);
    totals_.clear();
    launch(lists, emit);
    result.removed_edges =
        run_batch<detail::batch_kind::remove>(emit.sources, emit.targets, found.emitted, nullptr, false, true, nullptr)
            .removed;
  }
  if (result.removed != 0) {
    launch(shape(words), detail::unite_sets{leaving, words, gone(), changed()});
    removed_vertices_ += result.removed;
    ++version_;
  }
  return result;
}

}  // namespace warpheap
