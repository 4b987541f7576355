// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/detail/batch.hpp>
#include <warpheap/platform/device.hpp>

// From the edges that a caller gives to runs of wanted edges: pack, (sort), judge, (prefix sum), gather.

namespace warpheap::detail {

// Makes a key of each edge, and the key `vertices << bits` of one that is no edge of the graph. It is above all others.
// With `twice` keys from `offered` on are the edges in the other direction.
template <class Layout>
struct pack_edges {
  batch_view<Layout> batch;
  const vertex_id* sources;
  const vertex_id* targets;
  std::uint32_t offered;
  bool keep_loops;
  std::uint64_t* keys;
  std::uint32_t* origin;

  WARPHEAP_FN void operator()() const {
    std::uint32_t invalid = 0;
    std::uint32_t loops = 0;
    for_each_thread(batch.count, [&](std::uint32_t i) {
      const bool mirrored = i >= offered;
      const std::uint32_t at = mirrored ? i - offered : i;
      const vertex_id source = mirrored ? targets[at] : sources[at];
      const vertex_id target = mirrored ? sources[at] : targets[at];
      std::uint64_t key = std::uint64_t{batch.vertices} << batch.bits;
      if (!is_there(source) || !is_there(target)) {
        ++invalid;
      } else if (source == target && !keep_loops) {
        ++loops;
      } else {
        key = std::uint64_t{source} << batch.bits | target;
      }
      keys[i] = key;
      if (origin != nullptr) origin[i] = i;
    });
    add_up(batch.totals->invalid, invalid);
    add_up(batch.totals->loops, loops);
  }

  WARPHEAP_FN bool is_there(vertex_id v) const {
    return v < batch.vertices && (batch.gone == nullptr || !has_bit(batch.gone, v));
  }
};

// Finds the first of equal keys and the first key of each source. In ascending contiguous lists it also looks the edge
// up, so `wanted` is exact; otherwise each unique edge is wanted, and the stages of the walk sift them.
template <class Layout, batch_kind Kind>
struct judge_edges {
  batch_view<Layout> batch;

  static constexpr bool searches = Layout::is_ascending && Layout::is_contiguous;

  WARPHEAP_FN void operator()() const {
    std::uint32_t repeated = 0;
    std::uint32_t found = 0;
    std::uint32_t missing = 0;
    for_each_thread(batch.count + 1, [&](std::uint32_t i) {
      batch.extra[i] = 0;
      bool wanted = false;
      bool head = false;
      if (i < batch.count && batch.is_valid(batch.keys[i])) {
        const std::uint64_t key = batch.keys[i];
        const std::uint64_t before = i == 0 ? ~std::uint64_t{0} : batch.keys[i - 1];
        head = i == 0 || batch.source_of(before) != batch.source_of(key);
        if (i != 0 && before == key) {
          ++repeated;
        } else if constexpr (searches) {
          const auto vertex = batch.records[batch.source_of(key)];
          const vertex_id target = batch.target_of(key);
          const vertex_id* const ids = Layout::ids(vertex.block);
          const std::uint32_t place = lower_bound(ids, vertex.degree, target);
          const bool is_present = place < vertex.degree && ids[place] == target;
          ++(is_present ? found : missing);
          wanted = is_present == (Kind == batch_kind::remove);
          batch.found_at[i] = place;
        } else {
          wanted = true;
        }
      }
      batch.ranks[i] = std::uint64_t{head} << 32 | std::uint64_t{wanted};
    });
    add_up(batch.totals->repeated, repeated);
    add_up(batch.totals->found, found);
    add_up(batch.totals->missing, missing);
  }
};

// Writes wanted edges and runs to the places that the prefix sums name.
template <class Layout>
struct gather_runs {
  batch_view<Layout> batch;

  WARPHEAP_FN void operator()() const {
    for_each_thread(batch.count + 1, [&](std::uint32_t i) {
      const word_halves own = split(batch.ranks[i]);
      if (i == batch.count) {
        batch.first[own.high] = own.low;
        batch.totals->wanted = own.low;
        batch.totals->runs = own.high;
        return;
      }
      const word_halves after = split(batch.ranks[i + 1]);
      const std::uint64_t key = batch.keys[i];
      if (after.high != own.high) {
        batch.source[own.high] = static_cast<vertex_id>(batch.source_of(key));
        batch.first[own.high] = own.low;
      }
      if (after.low == own.low) return;
      batch.ids[own.low] = batch.target_of(key);
      batch.run_of[own.low] = after.high - 1;
      if constexpr (judge_edges<Layout, batch_kind::add>::searches) {
        batch.place[own.low] = batch.found_at[i];
      } else {
        // Until the walk finds an edge of the list that is not below, the edge is after all of them.
        batch.place[own.low] = batch.records[batch.source_of(key)].degree;
      }
      if (batch.batch_of != nullptr) batch.batch_of[own.low] = batch.origin[i];
    });
  }
};

// Gives edges that the graph has the weights of the batch. Runs before any list moves, and leaves the lists of refused
// sources alone.
template <class Layout>
struct replace_weights {
  batch_view<Layout> batch;

  WARPHEAP_FN void operator()() const
    requires(judge_edges<Layout, batch_kind::add>::searches)
  {
    for_each_thread(batch.count, [&](std::uint32_t i) {
      const std::uint64_t key = batch.keys[i];
      if (!batch.is_valid(key) || (i != 0 && batch.keys[i - 1] == key)) return;
      const word_halves own = split(batch.ranks[i]);
      const word_halves after = split(batch.ranks[i + 1]);
      if (after.low != own.low) return;  // an edge to add
      if (batch.plans[after.high - 1].action == list_action::refused) return;
      const auto vertex = batch.records[batch.source_of(key)];
      Layout::weights(vertex.block, vertex.capacity)[batch.found_at[i]] = batch.weight_at(batch.origin[i]);
    });
  }
};

}  // namespace warpheap::detail
