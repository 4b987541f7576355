// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/graph.hpp>

namespace warpheap::bench {

/// Rows on the host.
struct host_rows {
  std::vector<std::uint64_t> offsets;
  std::vector<vertex_id> neighbours;

  std::vector<vertex_id> list(vertex_id v) const {
    const auto at = [&](std::uint64_t place) { return neighbours.begin() + static_cast<std::ptrdiff_t>(place); };
    return {at(offsets[v]), at(offsets[v + 1])};
  }
};

/// What a graph is to hold, as sorted lists on the host. Members that compare return the first difference in
/// words, or an empty text.
class graph_model {
 public:
  explicit graph_model(const host_rows& rows);

  /// Follows a batch that the graph has worked on: `counts` is what it returned, `after` what it holds now. A list with
  /// refused edges must be as it was.
  std::string follow(const std::vector<vertex_id>& sources, const std::vector<vertex_id>& targets, bool adds,
                     const edge_counts& counts, const host_rows& after);
  /// Adds edges, whatever became of each, and compares all lists.
  std::string compare_union(const std::vector<vertex_id>& sources, const std::vector<vertex_id>& targets,
                            const host_rows& after);
  /// Compares all lists.
  std::string compare(const host_rows& rows) const;

  /// Ranks after `iterations` iterations from 1/V, by doubles.
  std::vector<double> page_rank(double alpha, std::uint32_t iterations) const;
  /// Triangles, if each edge is there in both directions.
  std::uint64_t triangles() const;
  std::uint64_t edges() const;

 private:
  std::vector<std::vector<vertex_id>> lists_;
};

/// The first difference of two results of a batch in words, or an empty text.
std::string difference(const edge_counts& counts, const edge_counts& expected);

}  // namespace warpheap::bench
