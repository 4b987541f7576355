// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <warpheap/graph/detail/batch.hpp>
#include <warpheap/platform/device.hpp>

// The chains of runs change: plan (how many pages), (prefix sum), take pages, move, insert, settle. The pages before
// the first change stay; the others are written anew into fresh pages, so the old chain is whole until it is replaced.
// An addition after all neighbours fills the last page and leaves all pages. `extra` counts fresh pages here.

namespace warpheap::detail {

template <class Layout, class HeapRef>
struct paged_batch {
  using record = typename Layout::record;
  static constexpr std::uint32_t page_edges = Layout::page_edges;

  batch_view<Layout> batch;
  void** pages;           // the fresh pages of all runs
  std::uint32_t* failed;  // of each run: not 0 if the heap refused a page
  HeapRef heap;

  WARPHEAP_FN bool is_added(std::uint32_t r) const {
    return batch.totals->malformed == 0 && batch.run_length(r) != 0 && failed[r] == 0;
  }
  WARPHEAP_FN std::uint32_t fresh_pages(std::uint32_t r) const { return batch.extra[r + 1] - batch.extra[r]; }
  // The page for neighbour `place` of the list as it is to be: a fresh one, or the last one of those that stay.
  WARPHEAP_FN void* page_for(std::uint32_t r, const record& vertex, std::uint32_t place) const {
    const std::uint32_t kept = batch.plans[r].capacity;
    const std::uint32_t page = place / page_edges;
    return page < kept ? vertex.last : pages[batch.extra[r] + page - kept];
  }
};

// One thread a run counts the pages that stay and the fresh ones.
template <class Layout, class HeapRef>
struct plan_pages {
  paged_batch<Layout, HeapRef> of;

  WARPHEAP_FN void operator()() const {
    const auto& batch = of.batch;
    constexpr std::uint32_t page_edges = Layout::page_edges;
    const std::uint32_t runs = batch.totals->malformed == 0 ? batch.totals->runs : 0;
    for_each_thread(batch.count + 1, [&](std::uint32_t r) {
      batch.extra[r] = 0;
      if (r >= runs) return;
      of.failed[r] = 0;
      const std::uint32_t length = batch.run_length(r);
      list_plan plan{nullptr, 0, list_action::none};
      if (length != 0) {
        const auto vertex = batch.records[batch.vertex_of(r)];
        const std::uint32_t place = batch.place_of(batch.first[r]);
        const bool appends = place == vertex.degree;
        plan.capacity = appends ? static_cast<std::uint32_t>(divide_up(place, page_edges)) : place / page_edges;
        plan.action = appends ? list_action::in_place : list_action::fresh;
        batch.extra[r] = static_cast<std::uint32_t>(divide_up(vertex.degree + length, page_edges)) - plan.capacity;
      }
      batch.plans[r] = plan;
    });
  }
};

// One thread a fresh page takes it. A run that misses one is refused as a whole.
template <class Layout, class HeapRef>
struct take_pages {
  paged_batch<Layout, HeapRef> of;

  WARPHEAP_FN void operator()() const {
    const auto& batch = of.batch;
    const std::uint32_t runs = batch.totals->runs;
    for_each_thread(batch.extra[runs], [&](std::uint32_t slot) {
      void* const page = of.heap.malloc(Layout::page_bytes);
      of.pages[slot] = page;
      if (page != nullptr) return;
      const std::uint32_t r = upper_bound(batch.extra, runs + 1, slot) - 1;
      // Relaxed: read after the kernel.
      atomic_view{of.failed[r]}.store(1, memory_order::relaxed, thread_scope::device);
    });
  }
};

// The refusals, as the stages that follow know them.
template <class Layout, class HeapRef>
struct judge_pages {
  paged_batch<Layout, HeapRef> of;

  WARPHEAP_FN void operator()() const {
    std::uint32_t refused = 0;
    for_each_thread(of.batch.totals->malformed == 0 ? of.batch.totals->runs : 0, [&](std::uint32_t r) {
      if (of.failed[r] == 0) return;
      of.batch.plans[r].action = list_action::refused;
      refused += of.batch.run_length(r);
    });
    add_up(of.batch.totals->refused, refused);
  }
};

// Copies the neighbours from the first changed page on, and inserts the added edges; links the fresh pages. All three
// write disjoint places.
template <class Layout, class HeapRef>
struct fill_pages {
  paged_batch<Layout, HeapRef> of;

  WARPHEAP_FN void operator()() const {
    const auto& batch = of.batch;
    if (batch.totals->malformed != 0) return;
    const std::uint32_t runs = batch.totals->runs;
    for_each_group(runs, [&](std::uint32_t r) {
      if (batch.plans[r].action == list_action::fresh) copy_tail(r);
    });
    for_each_thread(batch.totals->wanted, [&](std::uint32_t edge) {
      const std::uint32_t r = batch.run_with(edge);
      if (!of.is_added(r)) return;
      const std::uint32_t to = batch.place_of(edge) + (edge - batch.first[r]);
      void* const page = of.page_for(r, batch.records[batch.vertex_of(r)], to);
      Layout::ids(page)[to % Layout::page_edges] = batch.ids[edge];
      if constexpr (!std::is_void_v<typename Layout::weight_type>) {
        Layout::weights(page)[to % Layout::page_edges] = batch.weight_of(edge);
      }
    });
    for_each_thread(batch.extra[runs], [&](std::uint32_t slot) {
      const std::uint32_t r = upper_bound(batch.extra, runs + 1, slot) - 1;
      if (!of.is_added(r)) return;
      Layout::next(of.pages[slot]) = slot + 1 < batch.extra[r + 1] ? of.pages[slot + 1] : nullptr;
    });
  }

  WARPHEAP_FN void copy_tail(std::uint32_t r) const {
    const auto& batch = of.batch;
    const auto vertex = batch.records[batch.vertex_of(r)];
    const std::uint32_t kept = batch.plans[r].capacity * Layout::page_edges;
    const std::uint32_t* const place = batch.place + batch.first[r];
    const std::uint32_t length = batch.run_length(r);
    for_each_neighbour<Layout>(vertex, 0, [&](std::uint32_t i, vertex_id id, const auto& piece, std::uint32_t j) {
      if (i < kept) return;
      const std::uint32_t to = i + upper_bound(place, length, i);
      void* const page = of.page_for(r, vertex, to);
      Layout::ids(page)[to % Layout::page_edges] = id;
      if constexpr (!std::is_void_v<typename Layout::weight_type>) {
        Layout::weights(page)[to % Layout::page_edges] = piece.weights[j];
      }
    });
  }
};

// Links the fresh pages into the chain, publishes it, and gives back the pages that they replace. A refused run gives
// back what it took. One group of lanes a run.
template <class Layout, class HeapRef>
struct settle_pages {
  paged_batch<Layout, HeapRef> of;

  WARPHEAP_FN void operator()() const {
    const auto& batch = of.batch;
    if (batch.totals->malformed != 0) return;
    for_each_group(batch.totals->runs, [&](std::uint32_t r) {
      const list_plan plan = batch.plans[r];
      const std::uint32_t fresh = of.fresh_pages(r);
      void** const pages = of.pages + batch.extra[r];
      if (plan.action == list_action::refused) {
        for (std::uint32_t i = list_rank(); i < fresh; i += list_lanes) {
          if (pages[i] != nullptr) of.heap.free(pages[i]);
        }
        return;
      }
      if (plan.action == list_action::none) return;
      const vertex_id v = batch.vertex_of(r);
      auto vertex = batch.records[v];
      const lane_mask group = list_group();
      const bool leads = list_rank() == 0;
      // The last page that stays, and the first that goes.
      void* before = nullptr;
      void* old = nullptr;
      if (plan.action == list_action::in_place) {
        before = vertex.last;
      } else {
        old = vertex.first;
        for (std::uint32_t i = 0; i < plan.capacity; ++i) {
          before = old;
          old = Layout::next(old);
        }
      }
      const std::uint32_t gone =
          plan.action == list_action::in_place
              ? 0
              : static_cast<std::uint32_t>(divide_up(vertex.degree, Layout::page_edges)) - plan.capacity;
      sync(group);  // all lanes have read the record and the link before the leader writes them
      if (leads) {
        if (fresh != 0) {
          if (before == nullptr) {
            vertex.first = pages[0];
          } else {
            Layout::next(before) = pages[0];
          }
          vertex.last = pages[fresh - 1];
        }
        vertex.degree += batch.run_length(r);
        batch.records[v] = vertex;
        insert_bit(batch.changed, v);
      }
      free_chain<Layout>(of.heap, old, gone);
    });
  }

  // Gives back `count` pages of a chain, by the lanes of the caller's group in turn.
  template <class L>
  WARPHEAP_FN static void free_chain(const HeapRef& heap, void* page, std::uint32_t count) {
    const lane_mask group = list_group();
    for (std::uint32_t begin = 0; begin < count; begin += list_lanes) {
      void* own = nullptr;
      for (std::uint32_t i = 0; i < list_lanes && begin + i < count; ++i) {
        if (i == list_rank()) own = page;
        if (begin + i + 1 < count) page = L::next(page);
      }
      sync(group);  // all lanes have read the links of these pages
      if (own != nullptr) heap.free(own);
    }
  }
};

// Removal: one group a run closes the gaps of its chain from front to back, and gives back the pages that remain.
template <class Layout, class HeapRef>
struct remove_paged {
  batch_view<Layout> batch;
  HeapRef heap;

  WARPHEAP_FN void operator()() const {
    constexpr std::uint32_t page_edges = Layout::page_edges;
    for_each_group(batch.totals->runs, [&](std::uint32_t r) {
      const std::uint32_t length = batch.run_length(r);
      if (length == 0) return;
      const vertex_id v = batch.vertex_of(r);
      auto vertex = batch.records[v];
      close_gaps(vertex, batch.ids + batch.first[r], length);
      const auto before = static_cast<std::uint32_t>(divide_up(vertex.degree, page_edges));
      vertex.degree -= length;
      const auto after = static_cast<std::uint32_t>(divide_up(vertex.degree, page_edges));
      void* page = vertex.first;
      void* last = nullptr;
      for (std::uint32_t i = 0; i < after; ++i) {
        last = page;
        if (i + 1 < before) page = Layout::next(page);
      }
      sync(list_group());  // all lanes have read the record before the leader writes it
      if (list_rank() == 0) {
        vertex.first = after == 0 ? nullptr : vertex.first;
        vertex.last = last;
        batch.records[v] = vertex;
        insert_bit(batch.changed, v);
      }
      settle_pages<Layout, HeapRef>::template free_chain<Layout>(heap, page, before - after);
    });
  }

  // Neighbours move down, window by window. What is written lies at or before the window, in the page `target` or the
  // one after, and all lanes read before one writes.
  template <class Record>
  WARPHEAP_FN void close_gaps(const Record& vertex, const vertex_id* run, std::uint32_t length) const {
    constexpr std::uint32_t page_edges = Layout::page_edges;
    const lane_mask group = list_group();
    void* target = vertex.first;
    std::uint32_t written = 0;  // in `target`
    for (auto piece = Layout::first_piece(vertex); piece.count != 0; piece = Layout::next_piece(piece)) {
      for (std::uint32_t at = 0; at < piece.count; at += list_lanes) {
        const std::uint32_t j = at + list_rank();
        bool stays = j < piece.count;
        vertex_id id = 0;
        std::conditional_t<std::is_void_v<typename Layout::weight_type>, char, typename Layout::weight_type> weight{};
        if (stays) {
          id = piece.ids[j];
          if constexpr (!std::is_void_v<typename Layout::weight_type>) weight = piece.weights[j];
          const std::uint32_t found = lower_bound(run, length, id);
          stays = found == length || run[found] != id;
        }
        const lane_mask staying = ballot(group, stays);
        sync(group);
        std::uint32_t to = written + static_cast<std::uint32_t>(popcount(lanes_below(staying)));
        written += static_cast<std::uint32_t>(popcount(staying));
        void* page = target;
        if (written > page_edges || (written == page_edges && (piece.rest != 0 || at + list_lanes < piece.count))) {
          // The link is read only if a page follows: more neighbours are to come, or are written now.
          target = Layout::next(target);
          written -= page_edges;
        }
        if (stays) {
          if (to >= page_edges) {
            page = target;
            to -= page_edges;
          }
          Layout::ids(page)[to] = id;
          if constexpr (!std::is_void_v<typename Layout::weight_type>) Layout::weights(page)[to] = weight;
        }
        sync(group);
      }
    }
  }
};

}  // namespace warpheap::detail
