// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <warpheap/graph/detail/batch.hpp>
#include <warpheap/platform/device.hpp>

// The lists of runs change: plan (allocate), (prefix sum), move, settle (insert or fill, publish, free).
//
// Invariant: until `settle` the record of a source and its block describe the list as it was, or, of a list that
// changes in place, the record does and the group that owns the run alone reads the block. A refused source is left
// alone by all stages. So a batch that the heap cuts short leaves each list either as it was or as it is to be.

namespace warpheap::detail {

// One thread a run decides what becomes of the list, and takes the new block first, if it needs one.
template <class Layout, batch_kind Kind, class HeapRef>
struct plan_lists {
  using record = typename Layout::record;
  using growth = typename Layout::growth;
  batch_view<Layout> batch;
  HeapRef heap;

  WARPHEAP_FN void operator()() const {
    std::uint32_t refused = 0;
    const std::uint32_t runs = batch.totals->malformed == 0 ? batch.totals->runs : 0;
    for_each_thread(batch.count + 1, [&](std::uint32_t r) {
      batch.extra[r] = 0;
      if (r >= runs) return;
      const std::uint32_t length = batch.run_length(r);
      list_plan plan{nullptr, 0, list_action::none};
      if (length != 0) {
        const record vertex = batch.records[batch.vertex_of(r)];
        plan = Kind == batch_kind::add ? for_more(vertex, r, length) : for_fewer(vertex, r, length);
        if (plan.action == list_action::refused) refused += length;
        if (plan.action == list_action::fresh) batch.extra[r] = further_chunks(vertex.degree);
      }
      batch.plans[r] = plan;
    });
    add_up(batch.totals->refused, refused);
  }

  // Neighbours that change their place.
  WARPHEAP_FN std::uint32_t moved(const record& vertex, std::uint32_t r) const {
    if (!Layout::is_ascending) return 0;
    return vertex.degree - batch.place_of(batch.first[r]);
  }
  WARPHEAP_FN list_plan for_more(const record& vertex, std::uint32_t r, std::uint32_t length) const {
    const std::uint64_t degree = std::uint64_t{vertex.degree} + length;
    const list_plan in_place{vertex.block, vertex.capacity, list_action::in_place};
    if (degree <= vertex.capacity && moved(vertex, r) <= most_in_place) return in_place;
    const list_plan fresh = take(growth::capacity(degree));
    if (fresh.target != nullptr) return fresh;
    return degree <= vertex.capacity ? in_place : list_plan{nullptr, 0, list_action::refused};
  }
  WARPHEAP_FN list_plan for_fewer(const record& vertex, std::uint32_t r, std::uint32_t length) const {
    const std::uint32_t degree = vertex.degree - length;
    if (degree == 0) return {nullptr, 0, list_action::release};
    const list_plan in_place{vertex.block, vertex.capacity, list_action::in_place};
    const std::uint64_t capacity = growth::capacity(degree);
    const bool shrinks = degree <= vertex.capacity / 4 && capacity < vertex.capacity;
    if (!shrinks && moved(vertex, r) <= most_in_place) return in_place;
    const list_plan fresh = take(capacity);
    return fresh.target != nullptr ? fresh : in_place;
  }
  WARPHEAP_FN list_plan take(std::uint64_t capacity) const {
    if (capacity > ~std::uint32_t{0}) return {nullptr, 0, list_action::refused};
    void* const block = heap.malloc(capacity * Layout::edge_bytes);
    if (block == nullptr) return {nullptr, 0, list_action::refused};
    if constexpr (growth::fills_block && requires { heap.usable_size(block); }) {
      const std::uint64_t room = align_down(heap.usable_size(block) / Layout::edge_bytes, 4);
      if (room > capacity && room <= ~std::uint32_t{0}) capacity = room;
    }
    return {block, static_cast<std::uint32_t>(capacity), list_action::fresh};
  }
};

// Moves neighbours that stay to where they are to be. The place of one is its index plus the number of added edges
// before it, or less that of removed ones, so the chunks of a fresh list are independent.
template <class Layout, batch_kind Kind>
struct move_lists {
  using record = typename Layout::record;
  batch_view<Layout> batch;

  WARPHEAP_FN void operator()() const {
    if (batch.totals->malformed != 0) return;
    const std::uint32_t runs = batch.totals->runs;
    for_each_group(runs + batch.extra[runs], [&](std::uint32_t item) {
      const list_chunk work = chunk_at(item, runs, batch.extra);
      const list_plan plan = batch.plans[work.list];
      if (plan.action != list_action::in_place && plan.action != list_action::fresh) return;
      const record vertex = batch.records[batch.vertex_of(work.list)];
      if (plan.action == list_action::fresh) {
        copy_chunk(vertex, plan, work);
      } else if constexpr (Layout::is_ascending) {
        if (Kind == batch_kind::add) {
          make_room(vertex, work.list);
        } else {
          close_gaps(vertex, work.list);
        }
      }
    });
  }

  WARPHEAP_FN const std::uint32_t* places(std::uint32_t r) const { return batch.place + batch.first[r]; }

  WARPHEAP_FN void copy_chunk(const record& vertex, const list_plan& plan, const list_chunk& work) const {
    const std::uint32_t begin = work.chunk * chunk_edges;
    std::uint32_t end = vertex.degree - begin < chunk_edges ? vertex.degree : begin + chunk_edges;
    if (begin >= end) return;
    const std::uint32_t length = batch.run_length(work.list);
    const record target{plan.target, vertex.degree, plan.capacity};
    if constexpr (!Layout::is_ascending) {
      // Additions come after; what is removed is overwritten from the tail later.
      const std::uint32_t kept = Kind == batch_kind::add ? vertex.degree : vertex.degree - length;
      if (end > kept) end = kept;
      for (std::uint32_t i = begin + list_rank(); i < end; i += list_lanes) Layout::copy(vertex, i, target, i);
    } else {
      const std::uint32_t* const place = places(work.list);
      const std::uint32_t low = lower_bound(place, length, begin);
      const std::uint32_t high = low + upper_bound(place + low, length - low, end - 1);
      for (std::uint32_t i = begin + list_rank(); i < end; i += list_lanes) {
        if (Kind == batch_kind::add) {
          Layout::copy(vertex, i, target, i + low + upper_bound(place + low, high - low, i));
        } else {
          const std::uint32_t before = low + lower_bound(place + low, high - low, i);
          if (before == length || place[before] != i) Layout::copy(vertex, i, target, i - before);
        }
      }
    }
  }

  // What a lane carries from one place of a list to another.
  struct carried {
    vertex_id id;
    std::conditional_t<std::is_void_v<typename Layout::weight_type>, char, typename Layout::weight_type> weight;
  };
  WARPHEAP_FN static carried lift(const record& vertex, std::uint32_t i) {
    carried edge{Layout::ids(vertex.block)[i], {}};
    if constexpr (!std::is_void_v<typename Layout::weight_type>) {
      edge.weight = Layout::weights(vertex.block, vertex.capacity)[i];
    }
    return edge;
  }
  WARPHEAP_FN static void put(const record& vertex, std::uint32_t i, const carried& edge) {
    Layout::ids(vertex.block)[i] = edge.id;
    if constexpr (!std::is_void_v<typename Layout::weight_type>) {
      Layout::weights(vertex.block, vertex.capacity)[i] = edge.weight;
    }
  }

  // One group moves neighbours up, window by window from the tail. A neighbour never moves below its window, so what
  // earlier windows hold is not overwritten; within a window all lanes read before one writes.
  WARPHEAP_FN void make_room(const record& vertex, std::uint32_t r) const {
    const lane_mask group = list_group();
    const std::uint32_t* const place = places(r);
    const std::uint32_t length = batch.run_length(r);
    const std::uint32_t least = place[0];
    for (std::uint32_t end = vertex.degree; end > least;) {
      const std::uint32_t begin = end - least < list_lanes ? least : end - list_lanes;
      const std::uint32_t i = begin + list_rank();
      const bool has_one = i < end;
      carried edge{};
      if (has_one) edge = lift(vertex, i);
      sync(group);
      if (has_one) put(vertex, i + upper_bound(place, length, i), edge);
      end = begin;
    }
  }
  // One group moves neighbours down, window by window from the first removed one: a neighbour never moves above its
  // window.
  WARPHEAP_FN void close_gaps(const record& vertex, std::uint32_t r) const {
    const lane_mask group = list_group();
    const std::uint32_t* const place = places(r);
    const std::uint32_t length = batch.run_length(r);
    for (std::uint32_t begin = place[0]; begin < vertex.degree; begin += list_lanes) {
      const std::uint32_t i = begin + list_rank();
      bool has_one = i < vertex.degree;
      const std::uint32_t before = has_one ? lower_bound(place, length, i) : 0;
      has_one = has_one && (before == length || place[before] != i);
      carried edge{};
      if (has_one) edge = lift(vertex, i);
      sync(group);
      if (has_one) put(vertex, i - before, edge);
    }
  }
};

// Puts the added edges into their places, a thread each, then publishes the lists, a thread a run: no thread reads a
// record or an old block any more. An old block goes back.
template <class Layout, batch_kind Kind, class HeapRef>
struct settle_lists {
  using record = typename Layout::record;
  batch_view<Layout> batch;
  HeapRef heap;

  WARPHEAP_FN void operator()() const {
    if (batch.totals->malformed != 0) return;
    if constexpr (Kind == batch_kind::add) {
      for_each_thread(batch.totals->wanted, [&](std::uint32_t edge) {
        const std::uint32_t r = batch.run_with(edge);
        const list_plan plan = batch.plans[r];
        if (plan.target == nullptr) return;
        const std::uint32_t to = batch.place_of(edge) + (edge - batch.first[r]);
        Layout::ids(plan.target)[to] = batch.ids[edge];
        if constexpr (!std::is_void_v<typename Layout::weight_type>) {
          Layout::weights(plan.target, plan.capacity)[to] = batch.weight_of(edge);
        }
      });
    }
    for_each_thread(batch.totals->runs, [&](std::uint32_t r) {
      const list_plan plan = batch.plans[r];
      if (plan.action == list_action::none || plan.action == list_action::refused) return;
      const vertex_id v = batch.vertex_of(r);
      const std::uint32_t length = batch.run_length(r);
      const record old = batch.records[v];
      batch.records[v] = {plan.target, Kind == batch_kind::add ? old.degree + length : old.degree - length,
                          plan.capacity};
      insert_bit(batch.changed, v);
      if (plan.action != list_action::in_place && old.block != nullptr) heap.free(old.block);
    });
  }
};

// Removal from unordered lists: neighbours of the tail that stay fill the holes before it. Three stages, each with a
// thread for each removed edge; `holes`, `tails` and `dead` have a place for each, the counters one for each run.
template <class Layout>
struct fill_holes {
  using record = typename Layout::record;
  batch_view<Layout> batch;
  std::uint32_t* holes;
  std::uint32_t* tails;
  std::uint8_t* dead;
  std::uint32_t* hole_count;
  std::uint32_t* tail_count;
  int stage;

  WARPHEAP_FN void operator()() const {
    for_each_thread(batch.totals->wanted, [&](std::uint32_t edge) {
      const std::uint32_t r = batch.run_with(edge);
      const list_plan plan = batch.plans[r];
      if (plan.target == nullptr) return;
      const std::uint32_t first = batch.first[r];
      const record old = batch.records[batch.vertex_of(r)];
      const std::uint32_t kept = old.degree - batch.run_length(r);
      if (stage == 0) {
        const std::uint32_t place = batch.place[edge];
        if (place < kept) {
          holes[first + next_of(hole_count[r])] = place;
        } else {
          dead[first + (place - kept)] = 1;
        }
      } else if (stage == 1) {
        if (dead[edge] == 0) tails[first + next_of(tail_count[r])] = kept + (edge - first);
      } else if (edge - first < hole_count[r]) {
        Layout::copy(old, tails[edge], {plan.target, 0, plan.capacity}, holes[edge]);
      }
    });
  }
  // Relaxed: the places that are handed out are read by the next stage.
  WARPHEAP_FN static std::uint32_t next_of(std::uint32_t& counter) {
    return atomic_view{counter}.fetch_add(1u, memory_order::relaxed, thread_scope::device);
  }
};

}  // namespace warpheap::detail
