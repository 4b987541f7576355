// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "row_builder.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <warpheap/platform.hpp>

namespace warpheap::bench {
namespace {

// A key has the source above the target, each of `bits` bits.
struct pack_edges {
  WARPHEAP_FN void operator()(edge_view edges, int bits, bool swapped, std::uint64_t* keys) const {
    for (std::uint64_t i = grid_thread_index(); i < edges.count; i += grid_threads()) {
      const std::uint64_t source = swapped ? edges.targets[i] : edges.sources[i];
      keys[i] = source << bits | (swapped ? edges.sources[i] : edges.targets[i]);
    }
  }
};

// True for the first of equal keys that is no loop.
struct is_kept {
  const std::uint64_t* keys;
  int bits;
  WARPHEAP_FN bool operator()(std::uint32_t place) const {
    const std::uint64_t key = keys[place];
    if (key >> bits == (key & ((std::uint64_t{1} << bits) - 1))) return false;
    return place == 0 || keys[place - 1] != key;
  }
};

// An edge writes the offsets of its source and of the vertices without edges before that. The last edge writes those of
// the vertices after its source, too.
struct write_rows {
  WARPHEAP_FN void operator()(const std::uint64_t* keys, const std::uint32_t* places, const std::uint32_t* kept,
                              int bits, vertex_id vertices, std::uint64_t* offsets, vertex_id* neighbours) const {
    const std::uint64_t count = *kept;
    for (std::uint64_t i = grid_thread_index(); i <= count; i += grid_threads()) {
      const std::uint64_t first = i == 0 ? 0 : (keys[places[i - 1]] >> bits) + 1;
      std::uint64_t last = vertices;
      if (i < count) {
        const std::uint64_t key = keys[places[i]];
        neighbours[i] = static_cast<vertex_id>(key & ((std::uint64_t{1} << bits) - 1));
        last = key >> bits;
      }
      for (std::uint64_t v = first; v <= last; ++v) offsets[v] = i;
    }
  }
};

struct write_source_of_each {
  WARPHEAP_FN void operator()(csr_view<> rows, vertex_id* sources) const {
    for (std::uint64_t v = grid_thread_index(); v < rows.vertices(); v += grid_threads()) {
      for (std::uint64_t i = rows.offsets()[v]; i < rows.offsets()[v + 1]; ++i) sources[i] = static_cast<vertex_id>(v);
    }
  }
};

}  // namespace

grid_shape grid_for(std::uint64_t items) {
  const std::uint64_t most = std::uint64_t{describe_machine().multiprocessors} * 16;
  return {std::clamp<std::uint64_t>(divide_up(items, 256), 1, most), 256};
}

std::uint64_t row_builder::build(edge_view first, edge_view second, bool mirrored) {
  const std::uint64_t given = (first.count + second.count) * (mirrored ? 2 : 1);
  if (given >= std::uint64_t{1} << 32) throw std::length_error("row_builder: there are 2^32 edges or more; give fewer");
  const auto count = static_cast<std::uint32_t>(given);
  const int bits = std::max(1, static_cast<int>(std::bit_width(vertices_ - 1)));
  scratch_plan plan;
  const auto keys = plan.add<std::uint64_t>(given);
  const auto spare = plan.add<std::uint64_t>(given);
  const auto places = plan.add<std::uint32_t>(given + 1);
  const auto neighbours = plan.add<vertex_id>(given + 1);
  const auto kept = plan.add<std::uint32_t>(1);
  const auto sort_work = plan.add<std::byte>(radix_sort_work<std::uint64_t>(count));
  const auto select_work = plan.add<std::byte>(select_places_work<is_kept>(count));
  scratch_.fit(plan);

  std::uint64_t* at = scratch_.at(keys);
  const auto pack = [&](edge_view edges, bool swapped) {
    launch(grid_for(edges.count), pack_edges{}, edges, bits, swapped, at);
    at += edges.count;
  };
  for (const bool swapped : {false, true}) {
    if (swapped && !mirrored) break;
    pack(first, swapped);
    pack(second, swapped);
  }
  double_buffer<std::uint64_t> sorted{scratch_.at(keys), scratch_.at(spare)};
  radix_sort(scratch_.work(sort_work), sorted, count, {0, 2 * bits});
  select_places(scratch_.work(select_work), is_kept{sorted.current, bits}, count, scratch_.at(places),
                scratch_.at(kept));
  launch(grid_for(given), write_rows{}, sorted.current, scratch_.at(places), scratch_.at(kept), bits, vertices_,
         offsets_.data(), scratch_.at(neighbours));
  std::uint32_t edges = 0;
  device_copy(&edges, scratch_.at(kept), sizeof(edges));
  synchronise();
  neighbours_ = scratch_.at(neighbours);
  return edges;
}

void write_sources(const csr_view<>& rows, vertex_id* sources) {
  launch(grid_for(rows.vertices()), write_source_of_each{}, rows, sources);
}

}  // namespace warpheap::bench
