// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/detail/batch.hpp>
#include <warpheap/platform/device.hpp>

// Sifts unique edges into wanted ones for lists that cannot be searched: each neighbour of a touched list is searched
// in the sorted run of its source. Measure, (prefix sum), walk, judge again, (prefix sum), gather again.

namespace warpheap::detail {

// Counts the chunks of each touched list.
template <class Layout>
struct measure_lists {
  batch_view<Layout> batch;

  WARPHEAP_FN void operator()() const {
    for_each_thread(batch.count + 1, [&](std::uint32_t r) {
      batch.extra[r] = r < batch.totals->runs ? further_chunks_of<Layout>(batch.records[batch.vertex_of(r)].degree) : 0;
    });
  }
};

// Sets `is_member[edge]` for edges that the graph has, and their places. In ascending lists also the place of each
// other edge: the number of neighbours below it.
template <class Layout, batch_kind Kind>
struct walk_lists {
  batch_view<Layout> batch;
  std::uint8_t* is_member;

  WARPHEAP_FN void operator()() const {
    const std::uint32_t runs = batch.totals->runs;
    for_each_group(runs + batch.extra[runs], [&](std::uint32_t item) {
      const list_chunk work = chunk_at(item, runs, batch.extra);
      const std::uint32_t first = batch.first[work.list];
      const std::uint32_t length = batch.run_length(work.list);
      const vertex_id* const run = batch.ids + first;
      const auto vertex = batch.records[batch.vertex_of(work.list)];
      if constexpr (Layout::is_ascending) {
        walk_ascending(vertex, run, length, first);
      } else {
        for_each_neighbour<Layout>(vertex, work.chunk, [&](std::uint32_t i, vertex_id id, const auto&, std::uint32_t) {
          const std::uint32_t at = lower_bound(run, length, id);
          if (at == length || run[at] != id) return;
          is_member[first + at] = 1;
          batch.place[first + at] = i;
        });
      }
    });
  }

  // Neighbour `i` is the first that is not below the edges of the run between neighbour `i - 1` and itself. Such gaps
  // are disjoint; the lanes of the group fill a long one together.
  template <class Record>
  WARPHEAP_FN void walk_ascending(const Record& vertex, const vertex_id* run, std::uint32_t length,
                                  std::uint32_t first) const {
    const lane_mask group = list_group();
    std::uint32_t begin = 0;
    std::uint32_t below = 0;  // edges of the run up to the last neighbour of earlier windows
    for (auto piece = Layout::first_piece(vertex); piece.count != 0; piece = Layout::next_piece(piece)) {
      for (std::uint32_t at = 0; at < piece.count; at += list_lanes) {
        const std::uint32_t j = at + list_rank();
        const bool is_there = j < piece.count;
        std::uint32_t gap_end = length;
        bool member = false;
        if (is_there) {
          gap_end = lower_bound(run, length, piece.ids[j]);
          member = gap_end < length && run[gap_end] == piece.ids[j];
        }
        const std::uint32_t upto = is_there ? gap_end + member : length;
        const int lane = lane_index();
        const std::uint32_t left = shuffle(group, upto, list_rank() == 0 ? lane : lane - 1);
        std::uint32_t gap = list_rank() == 0 ? below : left;
        if (member) {
          is_member[first + gap_end] = 1;
          batch.place[first + gap_end] = begin + j;
        }
        constexpr std::uint32_t short_gap = 16;
        const bool is_long = is_there && gap_end > gap + short_gap;
        if (is_there && !is_long) {
          for (; gap < gap_end; ++gap) batch.place[first + gap] = begin + j;
        }
        for (lane_mask open = ballot(group, is_long); open != 0; open &= open - 1) {
          const int owner = lowest_bit(open);
          const std::uint32_t from = shuffle(group, gap, owner);
          const std::uint32_t end = shuffle(group, gap_end, owner);
          const std::uint32_t place = shuffle(group, begin + j, owner);
          for (std::uint32_t i = from + list_rank(); i < end; i += list_lanes) batch.place[first + i] = place;
        }
        const std::uint32_t in_window = piece.count - at < list_lanes ? piece.count - at : list_lanes;
        below = shuffle(group, upto, leader(group) + static_cast<int>(in_window) - 1);
      }
      begin += piece.count;
    }
  }
};

// Counts unique edges that the graph has, and ranks the wanted ones.
template <class Layout, batch_kind Kind>
struct judge_members {
  batch_view<Layout> batch;
  const std::uint8_t* is_member;
  std::uint32_t* wanted_before;  // count + 1

  WARPHEAP_FN void operator()() const {
    std::uint32_t found = 0;
    std::uint32_t missing = 0;
    const std::uint32_t edges = batch.totals->wanted;
    for_each_thread(batch.count + 1, [&](std::uint32_t i) {
      bool wanted = false;
      if (i < edges) {
        const bool member = is_member[i] != 0;
        ++(member ? found : missing);
        wanted = member == (Kind == batch_kind::remove);
      }
      wanted_before[i] = wanted ? 1 : 0;
    });
    add_up(batch.totals->found, found);
    add_up(batch.totals->missing, missing);
  }
};

// Writes what is wanted to the arrays of `to`, and where its runs begin. `from.totals` keeps the number of unique edges
// until the stage after.
template <class Layout>
struct gather_wanted {
  batch_view<Layout> from;
  batch_view<Layout> to;
  const std::uint32_t* wanted_before;

  WARPHEAP_FN void operator()() const {
    const std::uint32_t edges = from.totals->wanted;
    for_each_thread(edges, [&](std::uint32_t i) {
      const std::uint32_t at = wanted_before[i];
      if (wanted_before[i + 1] == at) return;
      to.ids[at] = from.ids[i];
      to.place[at] = from.place[i];
      to.run_of[at] = from.run_of[i];
      if (to.batch_of != nullptr) to.batch_of[at] = from.batch_of[i];
    });
    for_each_thread(from.totals->runs + 1, [&](std::uint32_t r) { to.first[r] = wanted_before[from.first[r]]; });
  }
};

// Makes the number of wanted edges that of the new arrays.
struct settle_wanted {
  batch_totals* totals;
  const std::uint32_t* wanted_before;
  std::uint32_t count;
  WARPHEAP_FN void operator()() const {
    if (grid_thread_index() == 0) totals->wanted = wanted_before[count];
  }
};

// Gives edges that the graph has the weights of the batch, for lists that cannot be searched. The neighbours are walked
// again, since a page is known by its chain alone. Leaves the lists of refused sources alone.
template <class Layout>
struct replace_walked_weights {
  batch_view<Layout> unique;  // before the sift: its runs hold the edges that the graph has
  const list_plan* plans;

  WARPHEAP_FN void operator()() const {
    const std::uint32_t runs = unique.totals->runs;
    for_each_group(runs, [&](std::uint32_t r) {
      if (plans[r].action == list_action::refused) return;
      const std::uint32_t first = unique.first[r];
      const std::uint32_t length = unique.run_length(r);
      const auto vertex = unique.records[unique.vertex_of(r)];
      const std::uint32_t chunks = 1 + further_chunks_of<Layout>(vertex.degree);
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        for_each_neighbour<Layout>(vertex, chunk, [&](std::uint32_t, vertex_id id, const auto& piece, std::uint32_t j) {
          const std::uint32_t at = lower_bound(unique.ids + first, length, id);
          if (at == length || unique.ids[first + at] != id) return;
          using weight = typename Layout::weight_type;
          const_cast<weight*>(piece.weights)[j] = unique.weight_of(first + at);
        });
      }
    });
  }
};

}  // namespace warpheap::detail
