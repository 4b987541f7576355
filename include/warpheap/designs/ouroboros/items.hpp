// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures.hpp>

namespace warpheap {

/// Compile-time settings of an Ouroboros.
struct ouroboros_options {
  std::uint32_t chunk_bytes = 8192;        ///< 4096 or 8192; a heap has at most 2^25 chunks
  std::uint32_t largest_page = 65536;      ///< the largest size that has queues; larger ones are runs of chunks
  std::uint32_t queue_entries = 1u << 21;  ///< entries of one static queue, at most; the paper used 2,000,000
};

/// Queues hold pages (P): one entry for each free page.
struct page_items {
  WARPHEAP_FN static constexpr bool stores_pages(std::uint32_t) { return true; }
};

/// Queues hold chunks (C): one entry for each chunk that has free pages.
struct chunk_items {
  WARPHEAP_FN static constexpr bool stores_pages(std::uint32_t) { return false; }
};

/// Both, as in the paper's Algorithm 7: pages up to `Limit` bytes are queued one by one, larger ones by their chunk.
template <std::uint32_t Limit>
struct pages_up_to {
  WARPHEAP_FN static constexpr bool stores_pages(std::uint32_t page_bytes) { return page_bytes <= Limit; }
};

/// True for queues that live in chunks of the heap.
template <class Kind>
inline constexpr bool uses_chunks = std::is_base_of_v<virtual_queue, Kind>;

/// The registry's name of a mix; the six of the paper have one, others are `ouroboros`.
template <class Items, class Kind>
inline constexpr const char* ouroboros_name = "ouroboros";
template <>
inline constexpr const char* ouroboros_name<page_items, static_ring> = "ouroboros_s_p";
template <>
inline constexpr const char* ouroboros_name<page_items, virtual_array> = "ouroboros_va_p";
template <>
inline constexpr const char* ouroboros_name<page_items, virtual_list> = "ouroboros_vl_p";
template <>
inline constexpr const char* ouroboros_name<chunk_items, static_ring> = "ouroboros_s_c";
template <>
inline constexpr const char* ouroboros_name<chunk_items, virtual_array> = "ouroboros_va_c";
template <>
inline constexpr const char* ouroboros_name<chunk_items, virtual_list> = "ouroboros_vl_c";

}  // namespace warpheap
