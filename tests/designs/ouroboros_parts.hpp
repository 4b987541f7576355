// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <designs/part_stage.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

/// @file
/// What tests of the parts of Ouroboros share. Most use pages of 2 KiB, of which a chunk has four.
namespace warpheap::test::ouroboros_parts {

using detail::no_chunk;
using pending_action = detail::ouroboros_pending_action;
using source = ouroboros_source;

/// The parts of a design.
template <class Allocator>
struct parts_of;
template <class Items, class Kind, ouroboros_options Options>
struct parts_of<basic_ouroboros<Items, Kind, Options>> {
  using allocator = basic_ouroboros<Items, Kind, Options>;
  using layout = ouroboros_layout<Items, Kind, Options>;
  using chunks = detail::ouroboros_chunks<layout>;
  using queues = detail::ouroboros_queues<layout>;
  using page_bits = detail::ouroboros_page_bits<layout>;
  using partial_lists = detail::ouroboros_partial_lists<layout>;
  using deferral = detail::ouroboros_deferral<layout>;
  using hints = detail::ouroboros_hints<layout>;
  using reclamation = detail::ouroboros_reclamation<layout>;
  using batch_source = detail::ouroboros_batch_source<layout>;
  using refill = detail::ouroboros_refill<layout>;
  using inspector = detail::ouroboros_inspector<layout>;
};
using c = parts_of<ouroboros_va_c>;
using p = parts_of<ouroboros_s_p>;
/// Its static queues have room for fewer entries than its heap has chunks.
using tiny = parts_of<basic_ouroboros<chunk_items, static_ring, ouroboros_options{.queue_entries = 1}>>;

static_assert(std::is_trivially_copyable_v<c::refill> && std::is_trivially_copyable_v<p::refill>);
// Kernels carry the addresses once, whatever the number of parts.
static_assert(sizeof(c::refill) == sizeof(c::chunks) && sizeof(c::allocator) == sizeof(c::chunks));

constexpr std::uint32_t q = 7;  // pages of 2 KiB
constexpr std::uint32_t pages = c::layout::pages(q);
static_assert(c::layout::page_bytes(q) == 2048 && pages == 4);
constexpr std::uint64_t chunk_bytes = c::layout::chunk_bytes;
constexpr std::uint64_t words_out = 512;

/// Memory of a heap of `chunks` chunks, and the words that a kernel reports.
template <class Parts>
class stage : public part_stage<typename Parts::allocator, chunk_bytes, words_out> {
 public:
  explicit stage(std::uint64_t chunks)
      : part_stage<typename Parts::allocator, chunk_bytes, words_out>(chunks * chunk_bytes) {}
};

/// Takes all chunks of the heap, so that tests say which ones are free.
template <class Chunks>
WARPHEAP_FN void take_all_chunks(const Chunks& of) {
  const auto all = static_cast<std::uint32_t>(of.control().chunks);
  require(of.take_neighbours(all, all, 1).count == all, "chunks are missing");
}
template <class Chunks>
WARPHEAP_FN bool is_free(const Chunks& of, std::uint64_t chunk) {
  return (of.free_chunks().leaf_word(static_cast<std::uint32_t>(chunk / 64)) >> chunk % 64 & 1) != 0;
}
WARPHEAP_FN inline std::uint64_t offset_of(std::uint64_t chunk, std::uint64_t page) {
  return chunk * chunk_bytes + page * 2048;
}

/// Defers the free of a page of each of `count` chunks, and queues or lists the hints.
template <class Hints>
WARPHEAP_FN void defer_one_each(const Hints& of, std::uint64_t first, std::uint64_t count) {
  const lane_mask self = active_group();
  for (std::uint64_t chunk = first; chunk < first + count; ++chunk) {
    bool gives_back = false;
    const pending_action action = of.deferral().count_pages(self, q, offset_of(chunk, 1), gives_back);
    if (action == pending_action::queue) of.push_hint(q, self, chunk);
    of.deferral().finish_pending_action(q, self, chunk, action, gives_back);
  }
}

}  // namespace warpheap::test::ouroboros_parts
