// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/detail/chunk_size.hpp>
#include <warpheap/designs/scatter/detail/pages.hpp>
#include <warpheap/designs/scatter/detail/quiescence.hpp>
#include <warpheap/designs/scatter/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The page table of `flatter_scatter`: two arrays, chunk sizes and filling levels, and the bits of the chunks. A
/// filling level is an `occupancy_gate`: a thread enters the page before it touches anything of it.
///
/// Occupants of a page are chunks that are in use, which weigh 1, and visitors, which weigh `visit`: threads that
/// entered to look whether the page is what they want. The last occupant that leaves holds the gate closed. It wipes
/// the chunk size, so the page is any size's again.
///
/// Invariant: the chunk size of a page changes only while a thread holds its gate closed, but for pages that are the
/// page source's or come from there. So a thread that is inside reads a size that stays.
///
/// Invariant: a page has a free chunk for each chunk that is missing to its capacity, and for each occupant whose chunk
/// is not yet claimed. The occupant enters before the bit is sought, and leaves after it is clear.
///
/// Orders. The gate orders all: what a holder wrote comes before what occupants read, and what occupants did before
/// what the holder does. Sizes are read and written relaxed, under the gate or as guesses. The exception is a page that
/// is opened, which no gate guards: the opener releases what it acquired with the page, by the size `no_size`, and the
/// thread that then makes it a page of chunks, or closes it, acquires that.
template <scatter_options Options>
class scatter_flat_table {
 public:
  static constexpr scatter_options options = Options;
  static constexpr const char* design_name = "flatter_scatter";
  static constexpr std::uint32_t least_page_shift = 12;
  static constexpr std::uint64_t largest_page_bytes = std::uint64_t{1} << Options.largest_page_shift;
  static constexpr std::uint32_t most_pages = 1u << 25;  // of the smallest size
  static constexpr std::uint32_t words_of_least = (1u << least_page_shift) / scatter_chunk_size::unit_bytes / 32;
  using chunk_bits = slot_bits<std::uint32_t>;

  // State of 16 MiB of the heap: as many pages as there are at most, and the bits of all chunks. The page source, whose
  // pages can be larger, uses the span of every so many records.
  struct alignas(128) record {
    page_source::span source;
    std::uint32_t gates[page_source::span_pages];
    std::uint32_t sizes[page_source::span_pages];
    std::uint32_t chunks[page_source::span_pages * words_of_least];
  };
  static constexpr std::uint64_t span_bytes = sizeof(record);
  struct state {};

  /// Pages are the largest of which a heap of `bytes` has 64.
  WARPHEAP_FN static std::uint32_t page_shift_for(std::uint64_t bytes) {
    const std::uint64_t wanted = bytes / 64;
    if (wanted >> least_page_shift == 0) return least_page_shift;
    const auto shift = static_cast<std::uint32_t>(highest_bit(wanted));
    return shift < Options.largest_page_shift ? shift : Options.largest_page_shift;
  }

  WARPHEAP_FN scatter_flat_table(state&, std::byte* spans, scatter_quiescence, std::uint32_t shift)
      : records_(reinterpret_cast<record*>(spans)), shift_(shift) {}
  WARPHEAP_FN static page_source source(page_source::state& of, std::byte* spans, std::uint32_t shift) {
    const auto apart = static_cast<std::uint32_t>(span_bytes << (shift - least_page_shift));
    return {&of, &reinterpret_cast<record*>(spans)->source, 0, apart};
  }

  // --- searching

  /// The next pages from `at` on and below `end`; with `sparse` one less of `budget`. One answer for all lanes.
  WARPHEAP_FN scatter_row row(lane_mask group, std::uint32_t at, std::uint32_t end, bool sparse,
                              std::uint32_t& budget) const {
    if (sparse && budget != 0) --budget;
    return row_at(group, at, end);
  }

  /// The next pages from `at` on and below `end`.
  WARPHEAP_FN scatter_row row_at(lane_mask, std::uint32_t at, std::uint32_t end) const {
    return {bit_range(0, end - at < 64 ? end - at : 64), at};
  }

  WARPHEAP_FN scatter_look look(std::uint32_t page) const {
    // Guesses; the gate decides.
    const std::uint32_t size = size_of(page);
    const std::uint32_t level = gate(page).look();
    if (size == closed_size) return {0, 0, true};
    if (size == no_size) return {0, level == 0 ? page_units() : 0, level == 0};
    if (level == occupancy_gate::closed) return {0, 0, false};
    const std::uint32_t capacity = page_units() / size;
    const std::uint32_t room = room_beside(level, capacity);
    // Visitors may take a chunk each, and thousands would come for one that was freed. A page whose last chunk came
    // back is about to lose its size.
    const std::uint32_t visitors = level / visit;
    return {size, visitors < room ? room - visitors : 0, level % visit != 0 && (room == 0 || visitors < room)};
  }

  /// Enters with up to `count` chunks a page that `seen` tells of: of its size, or of `size` if it has none. Fewer, or
  /// 0, if others came first. One lane.
  WARPHEAP_FN scatter_share try_take(std::uint32_t page, scatter_look seen, scatter_chunk_size size,
                                     std::uint32_t count) const {
    if (seen.units() == 0) return prepare(page, size, count);
    const occupancy_gate at = gate(page);
    std::uint32_t before = 0;
    // As many visitors as free chunks: more would leave with nothing.
    const std::uint32_t room = room_beside(at.look(), page_units() / seen.units());
    if (!at.try_enter(visit, (room < most_visitors ? room + 1 : most_visitors) * visit - 1, before)) {
      return {0, 0, false, false};
    }
    const std::uint32_t got = size_of(page) == seen.units() ? at.settle(visit, count, page_units() / seen.units()) : 0;
    if (got == 0) leave(page, visit);
    return {got, seen.units(), false, false};
  }

  /// Nothing is kept of full pages.
  static constexpr bool notes_full = false;
  WARPHEAP_FN void note_full(std::uint32_t) const {}

  // --- owners of chunks

  /// Size of the chunks of `page`, of which the caller has one; 0: the caller's block is one of pages.
  WARPHEAP_FN std::uint32_t units_of(std::uint32_t page) const {
    const std::uint32_t size = size_of(page);
    return size == no_size ? 0 : size;
  }
  WARPHEAP_FN std::uint32_t& bit_word(std::uint32_t page, std::uint32_t word) const {
    return record_of(page).chunks[unit_in_record(page) * words_of_least + word];
  }
  WARPHEAP_FN chunk_bits bits(std::uint32_t page, std::uint32_t units) const {
    return {&bit_word(page, 0), page_units() / units};
  }
  /// Leaves `page` with `count` chunks, whose bits are clear. True if the page is empty now. One lane.
  WARPHEAP_FN bool give(std::uint32_t page, std::uint32_t count) const { return leave(page, count); }

  // --- opening and closing

  /// Opens the pages [first, first + count), which the caller has. Collective over `group`.
  WARPHEAP_COLD_FN void open(lane_mask group, std::uint32_t first, std::uint32_t count) const {
    open_first(first, count, static_cast<std::uint64_t>(group_rank(group)),
               static_cast<std::uint64_t>(group_size(group)));
    sync(group);
  }
  /// The share of the caller, one of `lanes`, of pages that are opened.
  WARPHEAP_FN void open_first(std::uint32_t first, std::uint32_t count, std::uint64_t rank, std::uint64_t lanes) const {
    for (std::uint64_t i = rank; i < count; i += lanes) {
      // Release: what the former owners of the page did comes before what those of its chunks do.
      size_view(first + static_cast<std::uint32_t>(i)).store(no_size, memory_order::release, thread_scope::device);
    }
  }

  /// Closes the pages of [at, end) that are empty, and gives each to `source`. Returns how many. The caller has begun a
  /// change. Collective over `group`.
  WARPHEAP_COLD_FN std::uint32_t close(lane_mask group, page_source source, std::uint32_t at, std::uint32_t end) const {
    std::uint32_t closed = 0;
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    for (; at < end; at += lanes) {  // not a spin: each turn goes on to later pages
      const std::uint32_t page = at + static_cast<std::uint32_t>(group_rank(group));
      const lane_mask done = ballot(group, page < end && try_close(page));
      if ((done & lane_bit()) != 0) source.add_each(done, page);
      closed += static_cast<std::uint32_t>(popcount(done));
    }
    sync(group);
    return closed;
  }

  /// Bytes that chunks of `page` take. For statistics.
  WARPHEAP_FN std::uint64_t live_bytes(std::uint32_t page) const {
    const std::uint32_t level = gate(page).look();
    if (level == occupancy_gate::closed) return 0;
    return std::uint64_t{level % visit} * units_of(page) * scatter_chunk_size::unit_bytes;
  }
  /// True if chunk `index` of `page`, whose chunks have `units`, is in use. A hint for a thread that does not have it.
  WARPHEAP_FN bool is_taken(std::uint32_t page, std::uint32_t units, std::uint32_t index) const {
    return index < page_units() / units && bits(page, units).is_taken(index);
  }

 private:
  static constexpr std::uint32_t visit = 1u << 14;  // weight of a visitor, more than a page has chunks
  static constexpr std::uint32_t most_visitors = occupancy_gate::most / visit;
  static_assert((1u << Options.largest_page_shift) / scatter_chunk_size::unit_bytes < visit);
  // Chunk sizes of pages without chunks.
  static constexpr std::uint32_t closed_size = 0;  // the page is the page source's, or in a block of pages
  static constexpr std::uint32_t no_size = ~std::uint32_t{0};

  // Chunks of a page that are free; visitors may be about to take them. The level is no closed gate's.
  WARPHEAP_FN static std::uint32_t room_beside(std::uint32_t level, std::uint32_t capacity) {
    const std::uint32_t used = level % visit;
    return used < capacity ? capacity - used : 0;
  }
  WARPHEAP_FN std::uint32_t page_units() const { return (1u << shift_) / scatter_chunk_size::unit_bytes; }
  // Records are for units of the smallest page.
  WARPHEAP_FN std::uint64_t unit_of(std::uint32_t page) const {
    return std::uint64_t{page} << (shift_ - least_page_shift);
  }
  WARPHEAP_FN record& record_of(std::uint32_t page) const { return records_[unit_of(page) / page_source::span_pages]; }
  WARPHEAP_FN std::uint32_t unit_in_record(std::uint32_t page) const {
    return static_cast<std::uint32_t>(unit_of(page) % page_source::span_pages);
  }
  WARPHEAP_FN std::uint32_t page_in_record(std::uint32_t page) const {
    return unit_in_record(page) >> (shift_ - least_page_shift);
  }
  WARPHEAP_FN occupancy_gate gate(std::uint32_t page) const {
    return occupancy_gate{record_of(page).gates[page_in_record(page)]};
  }
  WARPHEAP_FN atomic_view<std::uint32_t> size_view(std::uint32_t page) const {
    return atomic_view{record_of(page).sizes[page_in_record(page)]};
  }
  WARPHEAP_FN std::uint32_t size_of(std::uint32_t page) const {
    return size_view(page).load(memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN void set_size(std::uint32_t page, std::uint32_t size) const {
    size_view(page).store(size, memory_order::relaxed, thread_scope::device);
  }

  // True if `page`, whose gate the caller holds and which has been wiped, is open. Acquires from its opener.
  WARPHEAP_FN bool is_open(std::uint32_t page) const {
    return size_view(page).load(memory_order::acquire, thread_scope::device) == no_size;
  }

  // Leaves `page`; true if the caller was the last and the page is empty now. One lane.
  WARPHEAP_FN bool leave(std::uint32_t page, std::uint32_t count) const {
    const occupancy_gate at = gate(page);
    if (!at.leave(count)) return false;
    wipe(page);
    at.reopen();
    return true;
  }

  // Takes its size from a page whose gate the caller holds. All bits are clear but those that have no chunk, in the
  // last word: these, too.
  WARPHEAP_FN void wipe(std::uint32_t page) const {
    const std::uint32_t size = size_of(page);
    if (size == closed_size || size == no_size) return;
    set_last_word(page, page_units() / size, 0);
    set_size(page, no_size);
  }
  WARPHEAP_FN void set_last_word(std::uint32_t page, std::uint32_t capacity, std::uint32_t bits) const {
    atomic_view{bit_word(page, (capacity - 1) / 32)}.store(bits, memory_order::relaxed, thread_scope::device);
  }

  // Makes an empty page one of chunks of `size`, of which the caller has the first `count`, 32 at most. One lane.
  WARPHEAP_FN scatter_share prepare(std::uint32_t page, scatter_chunk_size size, std::uint32_t count) const {
    using enum memory_order;
    using enum thread_scope;
    const occupancy_gate at = gate(page);
    if (!at.try_close()) return {0, 0, false, false};
    wipe(page);  // the last occupant may not have come to it
    if (!is_open(page)) {
      at.reopen();
      return {0, 0, false, false};
    }
    const std::uint32_t capacity = size.capacity(page_units());
    if (count > capacity) count = capacity;
    if (capacity % 32 != 0) set_last_word(page, capacity, ~low_bits(static_cast<int>(capacity % 32)));
    // Relaxed, as the stores: the gate releases them.
    atomic_view{bit_word(page, 0)}.fetch_or(low_bits(static_cast<int>(count)), relaxed, device);
    set_size(page, size.units);
    at.reopen(count);
    return {count, size.units, true, false};
  }

  // Closes a page if it is empty. One lane.
  WARPHEAP_FN bool try_close(std::uint32_t page) const {
    const occupancy_gate at = gate(page);
    if (size_of(page) == closed_size || !at.try_close()) return false;
    wipe(page);
    const bool closes = is_open(page);
    if (closes) set_size(page, closed_size);
    at.reopen();
    return closes;
  }

  record* records_;
  std::uint32_t shift_;
};

}  // namespace warpheap::detail
