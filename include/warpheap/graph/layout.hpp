// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <warpheap/graph/adjacency.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Order of the neighbours in a list.
enum class list_order {
  ascending,  ///< by id: edges are found by binary search, and intersections merge
  unordered   ///< none: additions append, removals fill the holes from the tail
};

/// Growth of a contiguous list: room for the next power of two of neighbours, at least four.
struct power_of_two {
  /// Neighbours to take room for if a list has `degree` of them.
  WARPHEAP_FN static std::uint64_t capacity(std::uint64_t degree) {
    return degree <= 4 ? 4 : next_power_of_two(degree);
  }
  /// True if a list uses all that the heap's block has.
  static constexpr bool fills_block = false;
};

/// Growth of a contiguous list: room for `Numerator / Denominator` of its degree, and all that the heap's block has.
template <std::uint32_t Numerator = 5, std::uint32_t Denominator = 4>
struct slack {
  static_assert(Numerator >= Denominator, "slack: a list needs room for all of its neighbours");
  /// Neighbours to take room for if a list has `degree` of them: a multiple of four.
  WARPHEAP_FN static std::uint64_t capacity(std::uint64_t degree) {
    return align_up(degree * Numerator / Denominator, 4);
  }
  /// True if a list uses all that the heap's block has.
  static constexpr bool fills_block = true;
};

namespace detail {

template <class Weight>
constexpr std::uint32_t weight_bytes() {
  if constexpr (std::is_void_v<Weight>) {
    return 0;
  } else {
    static_assert(std::is_trivially_copyable_v<Weight> && alignof(Weight) <= 8,
                  "a weight is copied bit by bit, and blocks are aligned to 8 bytes");
    return sizeof(Weight);
  }
}

}  // namespace detail

/// Layout of a graph: each vertex has one block, with room for ids and, after them, for as many weights.
template <class Growth = power_of_two, list_order Order = list_order::ascending, class Weight = void>
struct contiguous {
  using weight_type = Weight;                                           ///< void without weights
  using growth = Growth;                                                ///< how much room a list takes
  static constexpr bool is_ascending = Order == list_order::ascending;  ///< ids of a list rise
  static constexpr bool is_contiguous = true;                           ///< one piece a list
  /// Bytes of a neighbour.
  static constexpr std::uint32_t edge_bytes = sizeof(vertex_id) + detail::weight_bytes<Weight>();

  /// What a vertex has. A vertex without neighbours has no block.
  struct alignas(16) record {
    void* block;             ///< ids, then weights; null without neighbours
    std::uint32_t degree;    ///< neighbours
    std::uint32_t capacity;  ///< neighbours that the block has room for, a multiple of four
  };

  /// The ids in a block.
  WARPHEAP_FN static vertex_id* ids(void* block) { return static_cast<vertex_id*>(block); }
  /// The weights in a block of room for `capacity` neighbours.
  WARPHEAP_FN static Weight* weights(void* block, std::uint32_t capacity)
    requires(!std::is_void_v<Weight>)
  {
    return reinterpret_cast<Weight*>(ids(block) + capacity);
  }
  /// Copies neighbour `from` of one list to place `to` of another, or of the same.
  WARPHEAP_FN static void copy(const record& source, std::uint32_t from, const record& target, std::uint32_t to) {
    ids(target.block)[to] = ids(source.block)[from];
    if constexpr (!std::is_void_v<Weight>) {
      weights(target.block, target.capacity)[to] = weights(source.block, source.capacity)[from];
    }
  }

  /// The list of a vertex as a piece.
  WARPHEAP_FN static list_piece<Weight> first_piece(const record& vertex) {
    list_piece<Weight> piece;
    piece.ids = ids(vertex.block);
    piece.count = vertex.degree;
    if constexpr (!std::is_void_v<Weight>) piece.weights = weights(vertex.block, vertex.capacity);
    return piece;
  }
  /// No piece: a list has one.
  WARPHEAP_FN static list_piece<Weight> next_piece(const list_piece<Weight>&) { return {}; }
};

/// Layout of a graph: the neighbours of a vertex are in a chain of pages, all full but the last. This is faimGraph's.
template <std::uint32_t PageBytes = 64, list_order Order = list_order::ascending, class Weight = void>
struct paged {
  static_assert(PageBytes == 64 || PageBytes == 128, "paged: a page has 64 or 128 bytes");
  using weight_type = Weight;                                           ///< void without weights
  static constexpr bool is_ascending = Order == list_order::ascending;  ///< ids of a list rise
  static constexpr bool is_contiguous = false;                          ///< a piece a page
  /// Bytes of a neighbour.
  static constexpr std::uint32_t edge_bytes = sizeof(vertex_id) + detail::weight_bytes<Weight>();
  /// Neighbours of a full page. The link to the next page takes 8 bytes; ids are an even number, so weights of 8 bytes
  /// are aligned.
  static constexpr std::uint32_t page_edges = (PageBytes - 8) / edge_bytes / 2 * 2;
  static_assert(page_edges > 0, "paged: a weight is too large for a page");
  static constexpr std::uint32_t page_bytes = PageBytes;  ///< bytes of a page

  /// What a vertex has.
  struct record {
    void* first;           ///< the first page; null without neighbours
    void* last;            ///< the last page, to which additions append
    std::uint32_t degree;  ///< neighbours
  };

  /// The ids in a page.
  WARPHEAP_FN static vertex_id* ids(void* page) { return static_cast<vertex_id*>(page); }
  /// The weights in a page.
  WARPHEAP_FN static Weight* weights(void* page)
    requires(!std::is_void_v<Weight>)
  {
    return reinterpret_cast<Weight*>(ids(page) + page_edges);
  }
  /// The link in a page to the next one.
  WARPHEAP_FN static void*& next(void* page) {
    return *reinterpret_cast<void**>(static_cast<char*>(page) + (PageBytes - sizeof(void*)));
  }

  /// The first page of a vertex as a piece.
  WARPHEAP_FN static list_piece<Weight> first_piece(const record& vertex) { return piece(vertex.first, vertex.degree); }
  /// The page after.
  WARPHEAP_FN static list_piece<Weight> next_piece(const list_piece<Weight>& before) {
    return before.rest == 0 ? list_piece<Weight>{} : piece(const_cast<void*>(before.next), before.rest);
  }

 private:
  // A page with `degree` neighbours in it and after it. The link of the last page is not read.
  WARPHEAP_FN static list_piece<Weight> piece(void* page, std::uint32_t degree) {
    list_piece<Weight> made;
    if (degree == 0) return made;
    made.ids = ids(page);
    made.count = degree < page_edges ? degree : page_edges;
    made.rest = degree - made.count;
    if (made.rest != 0) made.next = next(page);
    if constexpr (!std::is_void_v<Weight>) made.weights = weights(page);
    return made;
  }
};

}  // namespace warpheap
