// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Graphs that do not change, in each form of list that algorithms meet: contiguous, paged, and without order.

#include <algorithm>
#include <cstdint>
#include <support/random.hpp>
#include <utility>
#include <vector>
#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/csr.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// Neighbours of each vertex, in ascending order without repeats, on the host.
using neighbour_lists = std::vector<std::vector<vertex_id>>;

/// A directed edge, or an undirected one.
using vertex_pair = std::pair<vertex_id, vertex_id>;

/// The lists of `vertices` vertices with the given edges; repeats and loops are dropped.
inline neighbour_lists lists_of(vertex_id vertices, const std::vector<vertex_pair>& edges, bool undirected) {
  neighbour_lists lists(vertices);
  for (const auto& [from, to] : edges) {
    if (from == to) continue;
    lists[from].push_back(to);
    if (undirected) lists[to].push_back(from);
  }
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return lists;
}

/// A page of 15 neighbours and the number of the page that follows.
struct static_page {
  static constexpr std::uint32_t room = 15;           ///< neighbours in a page
  static constexpr std::uint32_t last = 0xffffffffu;  ///< ends the list

  vertex_id ids[room];
  std::uint32_t next;
};

/// A graph whose lists are linked pages, as faimGraph's. Pages are full but for the last of a list.
template <bool Ascending = true>
class paged_view {
 public:
  using weight_type = void;
  static constexpr bool is_ascending = Ascending;
  static constexpr bool is_contiguous = false;

  paged_view(vertex_id vertices, const std::uint32_t* heads, const std::uint32_t* degrees, const static_page* pages)
      : heads_(heads), degrees_(degrees), pages_(pages), vertices_(vertices) {}

  WARPHEAP_FN vertex_id vertices() const { return vertices_; }
  WARPHEAP_FN std::uint32_t degree(vertex_id v) const { return degrees_[v]; }
  WARPHEAP_FN list_piece<> first_piece(vertex_id v) const {
    return heads_[v] == static_page::last ? list_piece<>{} : piece_in(pages_[heads_[v]], degrees_[v]);
  }
  WARPHEAP_FN list_piece<> next_piece(const list_piece<>& now) const {
    return now.rest == 0 ? list_piece<>{} : piece_in(*static_cast<const static_page*>(now.next), now.rest);
  }

 private:
  // A page with `degree` neighbours in it and after it.
  WARPHEAP_FN list_piece<> piece_in(const static_page& page, std::uint32_t degree) const {
    list_piece<> piece;
    piece.ids = page.ids;
    piece.count = degree < static_page::room ? degree : static_page::room;
    piece.rest = degree - piece.count;
    if (piece.rest != 0) piece.next = pages_ + page.next;
    return piece;
  }

  const std::uint32_t* heads_;
  const std::uint32_t* degrees_;
  const static_page* pages_;
  vertex_id vertices_;
};
static_assert(adjacency<paged_view<>> && adjacency<paged_view<false>>);

/// A contiguous graph without order.
class unordered_view : public csr_view<> {
 public:
  static constexpr bool is_ascending = false;
  using csr_view<>::csr_view;
};
static_assert(adjacency<unordered_view>);

/// Owns a graph in device memory, in each form. Lists of the forms without order are shuffled.
class static_graph {
 public:
  explicit static_graph(const neighbour_lists& lists)
      : vertices_(static_cast<vertex_id>(lists.size())), ordered_(lists), shuffled_(shuffle_all(lists)) {}

  csr_view<> contiguous() const { return {vertices_, ordered_.offsets.data(), ordered_.ids.data()}; }
  paged_view<> paged() const { return ordered_.paged<true>(vertices_); }
  unordered_view unordered() const { return {vertices_, shuffled_.offsets.data(), shuffled_.ids.data()}; }
  paged_view<false> unordered_paged() const { return shuffled_.paged<false>(vertices_); }

 private:
  struct arrays {
    explicit arrays(const neighbour_lists& lists) {
      std::vector<std::uint64_t> offset_of{0};
      std::vector<vertex_id> all;
      std::vector<std::uint32_t> head_of;
      std::vector<std::uint32_t> degree_of;
      for (const auto& list : lists) {
        all.insert(all.end(), list.begin(), list.end());
        offset_of.push_back(all.size());
        degree_of.push_back(static_cast<std::uint32_t>(list.size()));
      }
      const std::vector<static_page> pages_of = pages_for(lists, head_of);
      offsets = device_array<std::uint64_t>(offset_of);
      ids = device_array<vertex_id>(all);
      heads = device_array<std::uint32_t>(head_of);
      degrees = device_array<std::uint32_t>(degree_of);
      pages = device_array<static_page>(pages_of);
    }

    // Pages of all lists are mixed: first the first page of each list, then the second ones, so links lead far.
    static std::vector<static_page> pages_for(const neighbour_lists& lists, std::vector<std::uint32_t>& head_of) {
      std::vector<static_page> made;
      std::vector<std::uint32_t> tail_of(lists.size(), static_page::last);
      head_of.assign(lists.size(), static_page::last);
      std::vector<std::size_t> open;  // vertices whose list goes on
      for (std::size_t v = 0; v < lists.size(); ++v) {
        if (!lists[v].empty()) open.push_back(v);
      }
      for (std::size_t first = 0; !open.empty(); first += static_page::room) {
        for (const std::size_t v : open) {
          static_page page;
          for (std::uint32_t i = 0; i < static_page::room; ++i) {
            page.ids[i] = first + i < lists[v].size() ? lists[v][first + i] : static_page::last;
          }
          page.next = static_page::last;
          const auto number = static_cast<std::uint32_t>(made.size());
          (tail_of[v] == static_page::last ? head_of[v] : made[tail_of[v]].next) = number;
          tail_of[v] = number;
          made.push_back(page);
        }
        std::erase_if(open, [&](std::size_t v) { return lists[v].size() <= first + static_page::room; });
      }
      return made;
    }

    template <bool Ascending>
    paged_view<Ascending> paged(vertex_id vertices) const {
      return {vertices, heads.data(), degrees.data(), pages.data()};
    }

    device_array<std::uint64_t> offsets{0};
    device_array<vertex_id> ids{0};
    device_array<std::uint32_t> heads{0};
    device_array<std::uint32_t> degrees{0};
    device_array<static_page> pages{0};
  };

  static neighbour_lists shuffle_all(neighbour_lists lists) {
    random_stream random{1977, 0};
    for (auto& list : lists) {
      for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
    }
    return lists;
  }

  vertex_id vertices_;
  arrays ordered_;
  arrays shuffled_;
};

/// A random graph: most ends are any vertex, and a fifth of all edges leave one of `hubs` vertices. The last eighth of
/// the vertices has no edges.
inline std::vector<vertex_pair> random_edges(vertex_id vertices, std::uint64_t count, vertex_id hubs,
                                             std::uint64_t seed) {
  random_stream random{seed, 7};
  const vertex_id used = vertices - vertices / 8;
  std::vector<vertex_pair> edges;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto from = static_cast<vertex_id>(random.below(hubs != 0 && random.below(5) == 0 ? hubs : used));
    edges.emplace_back(from, static_cast<vertex_id>(random.below(used)));
  }
  return edges;
}

/// The centre 0 and its `leaves`.
inline std::vector<vertex_pair> star_edges(vertex_id leaves) {
  std::vector<vertex_pair> edges;
  for (vertex_id leaf = 1; leaf <= leaves; ++leaf) edges.emplace_back(0, leaf);
  return edges;
}

}  // namespace warpheap::test
