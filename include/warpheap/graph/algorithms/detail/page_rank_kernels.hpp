// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/algorithms/detail/list_spans.hpp>
#include <warpheap/platform.hpp>

// The kernels of page_rank. Shares of ranks are added as integers, in units of 2^-62: such sums are exact, so neither
// the order of threads nor the in-degree of a hub changes them. All ranks together are 1, up to rounding, and the
// change of an iteration is at most 2, so no sum reaches 2^64. A float could not hold the sum: a million equal shares,
// added to it one by one, are off by half a percent.

namespace warpheap::detail {

inline constexpr double rank_unit = 0x1p62;

/// A rank or a part of one, from 0 to 2, in units of 2^-62.
WARPHEAP_FN inline std::uint64_t to_units(double rank) { return static_cast<std::uint64_t>(rank * rank_unit); }
/// The number that `units` stand for.
WARPHEAP_FN inline double from_units(std::uint64_t units) { return static_cast<double>(units) / rank_unit; }

/// What an iteration sums over all vertices, in units.
struct rank_totals {
  std::uint64_t dangling;  ///< ranks of vertices without edges
  std::uint64_t change;    ///< |change| of ranks
};

/// The largest number that a warm start may hold.
inline constexpr float largest_rank = std::numeric_limits<float>::max();

/// What a warm start sums.
struct start_totals {
  double sum;             ///< of the given numbers
  std::uint64_t invalid;  ///< numbers that are negative, infinite or not numbers
};

/// What the kernels of one iteration share.
struct rank_step {
  float* ranks;
  std::uint64_t* sums;      ///< shares that arrive at each vertex; 0 between iterations, but for `pull`
  float* shares;            ///< rank / degree of each vertex, for `pull`
  rank_totals* totals;      ///< of all iterations
  std::uint32_t iteration;  ///< from 0 on
  std::uint64_t enough;     ///< the iteration ends once the change is below; 0 never ends it
  double alpha;

  // An iteration that is not run leaves the change 0, so all after it are not run either.
  WARPHEAP_FN bool has_ended() const { return iteration != 0 && totals[iteration - 1].change < enough; }
};

WARPHEAP_FN inline void add_units(std::uint64_t& sum, std::uint64_t units) {
  // Relaxed: the next launch reads the sum. Nobody needs the value before, so a GPU does not wait for it.
  static_cast<void>(atomic_view(sum).fetch_add(units, memory_order::relaxed, thread_scope::device));
}

// The part that push and pull share: what vertices without edges have.
struct rank_job {
  rank_step step_of;

  WARPHEAP_FN void add_dangling(const list_share& share) {
    const bool is_dangling = share.is_there && share.degree == 0;
    add_to_total(step_of.totals[step_of.iteration].dangling,
                 is_dangling ? to_units(static_cast<double>(step_of.ranks[share.vertex])) : 0);
  }
};

struct push_job : rank_job {
  std::uint64_t part;  // of the rank of the caller's vertex, for each neighbour

  WARPHEAP_FN void begin(const list_share& share) {
    part = share.degree == 0 ? 0 : to_units(static_cast<double>(step_of.ranks[share.vertex]) / share.degree);
  }
  WARPHEAP_FN void step(vertex_id id, const shared_item& item) {
    const std::uint64_t units = shuffle(whole_warp, part, item.owner);
    if (item.is_there) add_units(step_of.sums[id], units);
  }
  WARPHEAP_FN void end(const list_share& share) {
    if (!share.is_span) add_dangling(share);
  }
};

struct pull_job : rank_job {
  std::uint64_t sum;  // of what the caller's ids gave

  WARPHEAP_FN void begin(const list_share&) { sum = 0; }
  // A scan sums the shares of all lanes; the difference at the ends of a lane's own run is what it gets. Differences of
  // integers are exact, where those of floats would lose small shares beside large ones.
  WARPHEAP_FN void step(vertex_id id, const shared_item& item) {
    const std::uint64_t units = item.is_there ? to_units(static_cast<double>(step_of.shares[id])) : 0;
    const std::uint64_t upto = inclusive_scan(whole_warp, units, plus{});
    const bool has_some = item.of_caller != 0;
    const int first = has_some ? lowest_bit(item.of_caller) : 0;
    const std::uint64_t last = shuffle(whole_warp, upto, has_some ? highest_bit(item.of_caller) : 0);
    const std::uint64_t before = shuffle(whole_warp, upto, first != 0 ? first - 1 : 0);
    if (has_some) sum += last - (first != 0 ? before : 0);
  }
  // The sum of a long list is 0 before the launch, and each of its spans adds to it.
  WARPHEAP_FN void end(const list_share& share) {
    if (share.is_short()) step_of.sums[share.vertex] = sum;
    if (share.is_span && share.is_there) add_units(step_of.sums[share.vertex], sum);
    if (!share.is_span) add_dangling(share);
  }
};

// First half of an iteration: the shares of ranks arrive in `sums`.
template <class Job>
struct move_ranks {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, span_index_ref index, rank_step step) const {
    if (step.has_ended()) return;
    Job job{{step}, 0};
    run_over_lists(graph, index, job);
  }
};

/// Vertices of a thread of `settle_ranks`. All warps add to one total, so a warp takes 512 vertices to do so seldom.
inline constexpr std::uint32_t vertices_a_thread = 16;

// Second half: ranks from sums, and what they changed.
struct settle_ranks {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, rank_step step) const {
    if (step.has_ended()) return;
    const double vertices = graph.vertices();
    const double dangling = from_units(step.totals[step.iteration].dangling);
    const double base = (1 - step.alpha + step.alpha * dangling) / vertices;
    std::uint64_t change = 0;
    for (std::uint64_t at = grid_thread_index(); at < graph.vertices(); at += grid_threads()) {
      const auto rank = static_cast<float>(base + step.alpha * from_units(step.sums[at]));
      const double before = static_cast<double>(step.ranks[at]);
      const double moved = static_cast<double>(rank) - before;
      change += to_units(moved < 0 ? -moved : moved);
      step.ranks[at] = rank;
      step.sums[at] = 0;
      if (step.shares != nullptr) set_share(graph, static_cast<vertex_id>(at), rank, step.shares);
    }
    add_to_total(step.totals[step.iteration].change, change);
  }

  template <adjacency G>
  WARPHEAP_FN static void set_share(const G& graph, vertex_id v, float rank, float* shares) {
    const std::uint32_t degree = graph.degree(v);
    shares[v] = degree == 0 ? 0 : rank / static_cast<float>(degree);
  }
};

// Sums the numbers of a warm start: one warp, as a call does it once. Doubles in a fixed order, so it repeats exactly.
struct sum_start {
  WARPHEAP_FN void operator()(const float* ranks, vertex_id vertices, start_totals* totals) const {
    double sum = 0;
    std::uint64_t invalid = 0;
    for (std::uint64_t at = grid_thread_index(); at < vertices; at += grid_threads()) {
      const float rank = ranks[at];
      if (rank >= 0 && rank <= largest_rank) {
        sum += static_cast<double>(rank);
      } else {
        ++invalid;
      }
    }
    sum = reduce(whole_warp, sum, plus{});
    invalid = reduce(whole_warp, invalid, plus{});
    if (lane_index() == 0) totals[grid_warp_index()] = {sum, invalid};
  }
};

// Ranks at the start: 1/V, or the given numbers divided by `sum` if it is not 0.
struct start_ranks {
  template <adjacency G>
  WARPHEAP_FN void operator()(G graph, double sum, rank_step step) const {
    const std::uint64_t at = grid_thread_index();
    if (at >= graph.vertices()) return;
    const float rank =
        static_cast<float>(sum == 0 ? 1.0 / graph.vertices() : static_cast<double>(step.ranks[at]) / sum);
    step.ranks[at] = rank;
    step.sums[at] = 0;
    if (step.shares != nullptr) settle_ranks::set_share(graph, static_cast<vertex_id>(at), rank, step.shares);
  }
};

}  // namespace warpheap::detail
