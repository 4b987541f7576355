// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "../../measure/requests.hpp"
#include "program.hpp"

namespace warpheap::bench {

/// A graph in adjacency lists, one thread a vertex: it is built up by batches of edges and taken down by others. A list
/// that is full moves to a block of the next power of two, one that is three quarters empty to one of half the size.
/// Batches come sorted by source, some sources are far more frequent than others, and which ones changes as it goes.
namespace adjacency {

inline constexpr std::uint32_t vertices = 1024;
inline constexpr std::uint32_t least_capacity = 4;

struct edge {
  std::uint32_t source;
  std::uint32_t target;
  friend bool operator==(const edge& a, const edge& b) { return a.source == b.source && a.target == b.target; }
  friend bool operator<(const edge& a, const edge& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  }
};

struct vertex {
  std::uint32_t* targets;
  std::uint32_t degree;
  std::uint32_t capacity;
};

// Moves the list to a block for `capacity` targets. Returns false if the heap refuses that block.
template <class Heap>
WARPHEAP_FN bool move_list(Heap heap, vertex& of, std::uint32_t capacity) {
  auto* const moved = static_cast<std::uint32_t*>(heap.malloc(capacity * sizeof(std::uint32_t)));
  if (moved == nullptr) return false;
  for (std::uint32_t i = 0; i < of.degree; ++i) moved[i] = of.targets[i];
  heap.free(of.targets);
  of.targets = moved;
  of.capacity = capacity;
  return true;
}

WARPHEAP_FN inline std::uint32_t find(const vertex& in, std::uint32_t target) {
  std::uint32_t at = 0;
  while (at < in.degree && in.targets[at] != target) ++at;
  return at;
}

// The edges of vertex v in a batch are those from starts[v] to starts[v + 1].
struct insert_kernel {
  template <class Heap>
  WARPHEAP_FN void operator()(Heap heap, vertex* graph, const std::uint32_t* starts, const edge* batch) const {
    const std::uint64_t v = grid_thread_index();
    if (v >= vertices) return;
    vertex own = graph[v];
    for (std::uint32_t i = starts[v]; i < starts[v + 1]; ++i) {
      if (find(own, batch[i].target) != own.degree) continue;
      const std::uint32_t larger = own.capacity == 0 ? least_capacity : 2 * own.capacity;
      if (own.degree == own.capacity && !move_list(heap, own, larger)) continue;
      own.targets[own.degree++] = batch[i].target;
    }
    graph[v] = own;
  }
};

struct remove_kernel {
  template <class Heap>
  WARPHEAP_FN void operator()(Heap heap, vertex* graph, const std::uint32_t* starts, const edge* batch) const {
    const std::uint64_t v = grid_thread_index();
    if (v >= vertices) return;
    vertex own = graph[v];
    for (std::uint32_t i = starts[v]; i < starts[v + 1]; ++i) {
      const std::uint32_t at = find(own, batch[i].target);
      if (at == own.degree) continue;
      own.targets[at] = own.targets[--own.degree];
      if (own.degree == 0) {
        heap.free(own.targets);
        own = {};
      } else if (own.capacity > least_capacity && own.degree <= own.capacity / 4) {
        move_list(heap, own, own.capacity / 2);  // without a block the list stays where it is
      }
    }
    graph[v] = own;
  }
};

// Random edges, in order and each once. A source is the product of three random numbers, so low ones are frequent; they
// are low counted from `shift`.
inline std::vector<edge> random_batch(std::uint64_t seed, std::uint32_t count, std::uint32_t shift) {
  std::vector<edge> batch;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t drawn = mix(seed ^ mix(i));
    const std::uint64_t low = (drawn % vertices) * (drawn >> 16 & 0xffff) / 65536 * (drawn >> 32 & 0xffff) / 65536;
    batch.push_back({static_cast<std::uint32_t>((low + shift) % vertices), static_cast<std::uint32_t>(drawn >> 48)});
  }
  std::sort(batch.begin(), batch.end());
  batch.erase(std::unique(batch.begin(), batch.end()), batch.end());
  return batch;
}

// Edges of `model` that are drawn with a chance of one in `of`.
inline std::vector<edge> some_edges(const std::set<edge>& model, std::uint64_t seed, std::uint32_t of) {
  std::vector<edge> batch;
  for (const edge& each : model) {
    if (mix(seed ^ mix(each.source * std::uint64_t{65536} + each.target)) % of == 0) batch.push_back(each);
  }
  return batch;
}

// The graph in device memory, and beside it what it should be.
template <device_allocator A>
class program {
 public:
  void insert(const std::vector<edge>& batch) {
    run(insert_kernel{}, batch);
    model_.insert(batch.begin(), batch.end());
  }
  void remove(const std::vector<edge>& batch) {
    run(remove_kernel{}, batch);
    for (const edge& each : batch) model_.erase(each);
  }
  const std::set<edge>& edges() const { return model_; }

  // Compares degrees, which every wrong or lost edge would change sooner or later.
  bool agrees() const {
    std::vector<std::uint32_t> degrees(vertices);
    for (const edge& each : model_) ++degrees[each.source];
    const std::vector<vertex> graph = graph_.to_host();
    return std::equal(graph.begin(), graph.end(), degrees.begin(),
                      [](const vertex& v, std::uint32_t degree) { return v.degree == degree; });
  }
  trace finish() { return run_.finish(); }

 private:
  template <class Kernel>
  void run(Kernel kernel, const std::vector<edge>& batch) {
    std::vector<std::uint32_t> starts(vertices + 1);
    for (const edge& each : batch) ++starts[each.source + 1];
    for (std::uint32_t v = 0; v < vertices; ++v) starts[v + 1] += starts[v];
    const device_array<std::uint32_t> device_starts(starts);
    const device_array<edge> device_batch(batch);
    launch(grid_shape::covering(vertices), kernel, run_.heap(), graph_.data(),
           static_cast<const std::uint32_t*>(device_starts.data()), static_cast<const edge*>(device_batch.data()));
    run_.end_phase();
  }

  recorded_run<A> run_;
  device_array<vertex> graph_{vertices};
  std::set<edge> model_;
};

}  // namespace adjacency

/// Records the program: the shipped trace `adjacency`.
template <device_allocator A>
trace record_adjacency() {
  using namespace adjacency;
  constexpr std::uint32_t rounds = 24;
  program<A> graph;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    // Insertions outweigh removals at first and are outweighed later.
    graph.insert(random_batch(2 * round, round < rounds / 2 ? 6000 : 1500, round * 40));
    graph.remove(some_edges(graph.edges(), 2 * round + 1, round < rounds / 2 ? 16 : 4));
    must_agree(graph.agrees(), "adjacency");
  }
  return graph.finish();
}

}  // namespace warpheap::bench
