// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <algorithm>
#include <iterator>

namespace warpheap::bench {
namespace {

using list = std::vector<vertex_id>;

std::uint64_t common(const list& a, const list& b) {
  list both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both.size();
}

}  // namespace

graph_model::graph_model(const host_rows& rows) {
  for (vertex_id v = 0; v + 1 < rows.offsets.size(); ++v) lists_.push_back(rows.list(v));
}

std::string graph_model::follow(const list& sources, const list& targets, bool adds, const edge_counts& counts,
                                const host_rows& after) {
  std::vector<std::pair<vertex_id, vertex_id>> batch;
  edge_counts expected{.offered = sources.size()};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] == targets[i]) {
      ++expected.loops;
    } else {
      batch.emplace_back(sources[i], targets[i]);
    }
  }
  std::sort(batch.begin(), batch.end());
  const auto unique_end = std::unique(batch.begin(), batch.end());
  expected.repeated = static_cast<std::uint64_t>(batch.end() - unique_end);
  batch.erase(unique_end, batch.end());
  for (auto at = batch.begin(); at != batch.end();) {
    const vertex_id source = at->first;
    list run;
    for (; at != batch.end() && at->first == source; ++at) run.push_back(at->second);
    list& own = lists_[source];
    const std::uint64_t known = common(own, run), others = run.size() - known;
    (adds ? expected.present : expected.removed) += known;
    list next;
    if (adds) {
      std::set_union(own.begin(), own.end(), run.begin(), run.end(), std::back_inserter(next));
    } else {
      std::set_difference(own.begin(), own.end(), run.begin(), run.end(), std::back_inserter(next));
    }
    // A refused run leaves the list as it was; the comparison of all lists judges every other one.
    const bool is_refused = adds && others != 0 && after.list(source) == own;
    (is_refused ? expected.refused : adds ? expected.added : expected.absent) += others;
    if (!is_refused) own = std::move(next);
  }
  const std::string wrong = difference(counts, expected);
  return wrong.empty() ? compare(after) : wrong;
}

std::string graph_model::compare_union(const list& sources, const list& targets, const host_rows& after) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    list& own = lists_[sources[i]];
    const auto place = std::lower_bound(own.begin(), own.end(), targets[i]);
    if (sources[i] != targets[i] && (place == own.end() || *place != targets[i])) own.insert(place, targets[i]);
  }
  return compare(after);
}

std::string graph_model::compare(const host_rows& rows) const {
  if (rows.offsets.size() != lists_.size() + 1) return "the number of vertices is another one";
  for (vertex_id v = 0; v < lists_.size(); ++v) {
    const list found = rows.list(v);
    if (found == lists_[v]) continue;
    return "the list of vertex " + std::to_string(v) + " is wrong: it has " + std::to_string(found.size()) +
           " neighbours, and should have " + std::to_string(lists_[v].size());
  }
  return {};
}

std::vector<double> graph_model::page_rank(double alpha, std::uint32_t iterations) const {
  const auto vertices = static_cast<double>(lists_.size());
  std::vector<double> ranks(lists_.size(), 1 / vertices);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    std::vector<double> next(ranks.size(), 0);
    double dangling = 0;
    for (std::size_t v = 0; v < ranks.size(); ++v) {
      if (lists_[v].empty()) dangling += ranks[v];
      for (const vertex_id other : lists_[v]) next[other] += ranks[v] / static_cast<double>(lists_[v].size());
    }
    for (double& rank : next) rank = (1 - alpha) / vertices + alpha * (rank + dangling / vertices);
    ranks = std::move(next);
  }
  return ranks;
}

std::uint64_t graph_model::triangles() const {
  std::uint64_t found = 0;
  for (vertex_id a = 0; a < lists_.size(); ++a) {
    const auto above = [](const list& from, vertex_id v) {
      return list(std::upper_bound(from.begin(), from.end(), v), from.end());
    };
    for (const vertex_id b : above(lists_[a], a)) found += common(above(lists_[a], b), above(lists_[b], b));
  }
  return found;
}

std::uint64_t graph_model::edges() const {
  std::uint64_t sum = 0;
  for (const list& each : lists_) sum += each.size();
  return sum;
}

std::string difference(const edge_counts& counts, const edge_counts& expected) {
  std::string text;
  const auto check = [&](const char* name, std::uint64_t is, std::uint64_t should) {
    if (is != should && text.empty()) {
      text = std::string{"the batch counts "} + std::to_string(is) + " edges as " + name + ", and should count " +
             std::to_string(should);
    }
  };
  check("offered", counts.offered, expected.offered);
  check("added", counts.added, expected.added);
  check("present", counts.present, expected.present);
  check("removed", counts.removed, expected.removed);
  check("absent", counts.absent, expected.absent);
  check("repeated", counts.repeated, expected.repeated);
  check("loops", counts.loops, expected.loops);
  check("refused", counts.refused, expected.refused);
  check("invalid", counts.invalid, expected.invalid);
  return text;
}

}  // namespace warpheap::bench
