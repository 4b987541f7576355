// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/detail/chunk_size.hpp>
#include <warpheap/designs/scatter/detail/page_word.hpp>
#include <warpheap/designs/scatter/detail/pages.hpp>
#include <warpheap/designs/scatter/detail/quiescence.hpp>
#include <warpheap/designs/scatter/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The page table of `scatter`: an entry for each page, a word for each region of 64 pages that says which of them are
/// worth a look, and the bits of the chunks.
///
/// Invariant: of each open page there is one *token*. It is the page's bit in its region; or the page is full and not
/// `listed`, and its entry stands for it; or one thread has it, which cleared the bit or is about to set it. A thread
/// that clears the bit has the token. A thread that gives a chunk of a full page that is not listed back has it, by the
/// change that makes the page listed. A page is closed by a thread that has both the page, `preparing`, and its token.
///
/// So a bit may be set without need, which costs time, but after all calls have returned it is set for each page that
/// has room. Meanwhile the thread that has a token has begun a change (`scatter_quiescence`).
///
/// Invariant: a sized page has a free chunk for each unit of its count, and for each unit that a thread took off the
/// count and has not yet turned into a chunk. The count is taken before the bit, and given after the bit.
///
/// Orders. The entry is changed by read-modify-writes that acquire and release, but for stores that release, by the
/// only owner of the page. So a taker sees the bits that were prepared, and the thread that empties a page releases to
/// the next what all owners of chunks did. The thread that opens a page releases what the owners of the block of pages
/// did.
template <scatter_options Options>
class scatter_region_table {
 public:
  static constexpr scatter_options options = Options;
  static constexpr std::uint32_t region_pages = bit_tree::leaf_bits;
  static constexpr std::uint32_t page_bytes = 4096;
  static constexpr std::uint32_t page_units = page_bytes / scatter_chunk_size::unit_bytes;
  static constexpr std::uint32_t words_of_page = page_units / 32;
  using word = scatter_page_word;
  using chunk_bits = slot_bits<std::uint32_t>;

  // A region: its bits, its pages and their chunks. So many regions lie side by side, and then the page source's state
  // for the pages of them all, in the place of a few more.
  struct alignas(128) region {
    std::uint64_t with_room;
    std::uint32_t pages[region_pages];
    std::uint32_t chunks[region_pages][words_of_page];
  };
  static constexpr std::uint32_t span_regions = page_source::span_pages / region_pages;
  static constexpr std::uint32_t source_regions =
      static_cast<std::uint32_t>(divide_up(sizeof(page_source::span), sizeof(region)));
  static constexpr std::uint32_t regions_apart = span_regions + source_regions;
  static constexpr std::uint64_t span_bytes = std::uint64_t{regions_apart} * sizeof(region);
  static constexpr std::uint32_t most_pages = bit_tree::most_leaves / regions_apart * page_source::span_pages;

  struct state {
    bit_tree::levels with_room;
  };

  /// All heaps have pages of this size.
  WARPHEAP_FN static constexpr std::uint32_t page_shift_for(std::uint64_t) { return 12; }
  static constexpr std::uint32_t least_page_shift = 12;
  static constexpr std::uint64_t largest_page_bytes = page_bytes;
  static constexpr const char* design_name = "scatter";

  WARPHEAP_FN scatter_region_table(state& of, std::byte* spans, scatter_quiescence changes, std::uint32_t)
      : state_(&of), regions_(reinterpret_cast<region*>(spans)), changes_(changes) {}

  WARPHEAP_FN const scatter_quiescence& changes() const { return changes_; }
  WARPHEAP_FN static page_source source(page_source::state& of, std::byte* spans, std::uint32_t) {
    auto* const first = reinterpret_cast<page_source::span*>(spans + span_regions * sizeof(region));
    return {&of, first, 0, static_cast<std::uint32_t>(span_bytes)};
  }
  WARPHEAP_FN static constexpr std::uint32_t units_of_page() { return page_units; }

  // --- searching

  /// The next pages that are worth a look, from `at` on and below `end`: those with room of the first region that has
  /// any. With `sparse` the search passes by regions that are nearly full, and takes one from `budget` for each region,
  /// down to 0. Collective; `at`, `end` and `sparse` are one for all lanes, and so are the result and `budget`.
  WARPHEAP_FN scatter_row row(lane_mask group, std::uint32_t at, std::uint32_t end, bool sparse,
                              std::uint32_t& budget) const {
    found_region got{0, end, 0};
    if (is_leader(group)) got = region_with_room(at, end, sparse, budget);
    if (sparse) budget = shuffle(group, got.budget, leader(group));
    return {shuffle(group, got.pages, leader(group)), shuffle(group, got.first, leader(group))};
  }

  /// The pages that are worth a look, from `at` on and below `end`, of the region of `at`. None if the region is nearly
  /// full. Collective; one answer for all lanes.
  WARPHEAP_FN scatter_row row_at(lane_mask group, std::uint32_t at, std::uint32_t end) const {
    std::uint64_t pages = 0;
    if (is_leader(group)) pages = pages_of_region(with_room(), leaf_of(at), at, end, true);
    return {shuffle(group, pages, leader(group)), first_page_of(leaf_of(at))};
  }

  WARPHEAP_FN scatter_look look(std::uint32_t page) const {
    // Relaxed: a guess; the takes decide.
    const word seen{entry(page).load(memory_order::relaxed, thread_scope::device)};
    switch (seen.what()) {
      case word::kind::empty: return {0, page_units, true};
      case word::kind::sized: return {seen.units(), seen.free(), true};
      // A page that is closed while its bit is set is just being closed.
      default: return {0, 0, false};
    }
  }

  /// Takes up to `count` chunks off the count of a page that `seen` tells of: of its size, or of `size` if it has none.
  /// Fewer, or 0, if others came first. One lane.
  WARPHEAP_FN scatter_share try_take(std::uint32_t page, scatter_look seen, scatter_chunk_size size,
                                     std::uint32_t count) const {
    if (seen.units() == 0) return prepare(page, size, count);
    const atomic_view at = entry(page);
    word now = word::sized(seen.units(), seen.room());  // a page with room is listed
    for (;;) {  // not a spin: each turn means that another thread changed the entry
      if (now.what() != word::kind::sized || now.units() != seen.units() || now.free() == 0)
        return {0, 0, false, false};
      const std::uint32_t takes = count < now.free() ? count : now.free();
      if (at.compare_exchange(now.bits, now.with_free(now.free() - takes).bits, memory_order::acq_rel,
                              thread_scope::device)) {
        return {takes, now.units(), false, takes == now.free()};
      }
    }
  }

  /// Tells that the caller took the last chunk of `page`: takes its bit out of the region. One lane.
  static constexpr bool notes_full = true;
  WARPHEAP_COLD_FN void note_full(std::uint32_t page) const {
    changes_.begin_change();
    if (with_room().erase(member(page))) {
      const atomic_view at = entry(page);
      word now{at.load(memory_order::relaxed, thread_scope::device)};
      for (;;) {  // not a spin: each turn means that another thread changed the entry
        if (now.what() != word::kind::sized || now.free() != 0) {
          with_room().insert(member(page));
          break;
        }
        if (at.compare_exchange(now.bits, now.unlisted().bits, memory_order::acq_rel, thread_scope::device)) break;
      }
    }
    changes_.end_change();
  }

  // --- owners of chunks

  /// Size of the chunks of `page`, of which the caller has one; 0: the caller's block is one of pages.
  WARPHEAP_FN std::uint32_t units_of(std::uint32_t page) const {
    const word seen{entry(page).load(memory_order::relaxed, thread_scope::device)};
    return seen.what() == word::kind::sized ? seen.units() : 0;
  }
  WARPHEAP_FN chunk_bits bits(std::uint32_t page, std::uint32_t units) const {
    return {region_of(page).chunks[page % region_pages], page_units / units};
  }

  WARPHEAP_FN std::uint32_t& bit_word(std::uint32_t page, std::uint32_t word) const {
    return region_of(page).chunks[page % region_pages][word];
  }

  /// Gives `count` chunks of `page` back, whose bits are clear. True if the page is empty now. One lane.
  WARPHEAP_FN bool give(std::uint32_t page, std::uint32_t count) const {
    const atomic_view at = entry(page);
    word now{at.load(memory_order::relaxed, thread_scope::device)};
    bool lists = false;  // the caller is about to get the token
    word then{0};
    do {  // not a spin: each turn means that another thread changed the entry
      const bool unlisted = !now.listed();
      if (unlisted && !lists) changes_.begin_change();
      if (!unlisted && lists) changes_.end_change();
      lists = unlisted;
      const std::uint32_t free = now.free() + count;
      then = free == page_units / now.units() ? word::empty() : now.with_free(free).relisted();
    } while (!at.compare_exchange(now.bits, then.bits, memory_order::acq_rel, thread_scope::device));
    const bool emptied = then.what() == word::kind::empty;
    if (!lists) return emptied;
    cold_call([part = *this, page] {
      part.with_room().insert(part.member(page));
      part.changes_.end_change();
    });
    return emptied;
  }

  // --- opening and closing

  /// Opens the pages [first, first + count), which the caller has. Collective over `group`.
  WARPHEAP_COLD_FN void open(lane_mask group, std::uint32_t first, std::uint32_t count) const {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    open_share(first, count, rank, lanes, [group] { sync(group); });
  }
  /// The share of the caller, one of `lanes`, of the pages that a new heap opens, when nobody else uses it.
  WARPHEAP_FN void open_first(std::uint32_t first, std::uint32_t count, std::uint64_t rank, std::uint64_t lanes) const {
    open_share(first, count, rank, lanes, [] {});
  }

  /// Closes the pages of [at, end) that are empty, and gives each to `source`. Returns how many. The caller has begun a
  /// change. Collective over `group`.
  WARPHEAP_COLD_FN std::uint32_t close(lane_mask group, page_source source, std::uint32_t at, std::uint32_t end) const {
    std::uint32_t closed = 0;
    for (std::uint32_t budget = 0; at < end;) {  // not a spin: each turn goes on to later pages
      const scatter_row here = row(group, at, end, false, budget);
      const std::uint32_t page = here.page(static_cast<std::uint32_t>(group_rank(group)));
      const lane_mask done = ballot(group, page != scatter_row::none && try_close(page));
      if ((done & lane_bit()) != 0) source.add_each(done, page);
      closed += static_cast<std::uint32_t>(popcount(done));
      at = here.next(static_cast<std::uint32_t>(group_size(group)), end);
    }
    sync(group);
    return closed;
  }

  /// Bytes that chunks of `page` take. For statistics.
  WARPHEAP_FN std::uint64_t live_bytes(std::uint32_t page) const {
    const word seen{entry(page).load(memory_order::relaxed, thread_scope::device)};
    if (seen.what() != word::kind::sized || seen.units() == 0) return 0;
    return std::uint64_t{page_units / seen.units() - seen.free()} * seen.units() * scatter_chunk_size::unit_bytes;
  }
  /// Size of the chunks of `page`, and whether chunk `index` is in use. Hints for a thread that has none of them.
  WARPHEAP_FN bool is_taken(std::uint32_t page, std::uint32_t units, std::uint32_t index) const {
    return index < page_units / units && bits(page, units).is_taken(index);
  }

 private:
  // Regions are numbered with the gaps between spans; so these are the numbers of leaves.
  WARPHEAP_FN static std::uint32_t leaf_of(std::uint32_t page) {
    const std::uint32_t number = page / region_pages;
    return number + number / span_regions * source_regions;
  }
  WARPHEAP_FN static std::uint32_t first_page_of(std::uint32_t leaf) {
    return (leaf - leaf / regions_apart * source_regions) * region_pages;
  }
  WARPHEAP_FN static std::uint32_t member(std::uint32_t page) {
    return leaf_of(page) * region_pages + page % region_pages;
  }
  WARPHEAP_FN bit_tree with_room() const {
    return {&state_->with_room, reinterpret_cast<std::byte*>(&regions_->with_room), sizeof(region)};
  }
  WARPHEAP_FN region& region_of(std::uint32_t page) const { return regions_[leaf_of(page)]; }
  WARPHEAP_FN atomic_view<std::uint32_t> entry(std::uint32_t page) const {
    return atomic_view{region_of(page).pages[page % region_pages]};
  }

  // The pages with room of the first region that has any, from `at` on and below `end`, and that region's first page. A
  // function of its own, with values instead of references, so that it takes no registers from the searches. One lane.
  struct found_region {
    std::uint64_t pages;
    std::uint32_t first;
    std::uint32_t budget;  // what is left of it
  };
  WARPHEAP_COLD_FN found_region region_with_room(std::uint32_t at, std::uint32_t end, bool sparse,
                                                 std::uint32_t budget) const {
    const bit_tree tree = with_room();
    std::uint32_t leaf = leaf_of(at);
    for (;;) {  // not a spin: each turn goes on to a later region
      const std::uint32_t first = first_page_of(leaf);
      if (first >= end || (sparse && budget == 0)) return {0, first, budget};
      if (sparse) --budget;
      const std::uint64_t open = pages_of_region(tree, leaf, at, end, sparse);
      if (open != 0) return {open, first, budget};
      std::uint32_t next = 0;
      if (!tree.next_leaf(leaf + 1, next)) return {0, first, budget};
      leaf = next;
    }
  }

  // The pages with room of the region of `leaf`, from `at` on and below `end`; with `sparse` none if it is nearly full.
  // One lane.
  WARPHEAP_FN static std::uint64_t pages_of_region(const bit_tree& tree, std::uint32_t leaf, std::uint32_t at,
                                                   std::uint32_t end, bool sparse) {
    const std::uint32_t first = first_page_of(leaf);
    std::uint64_t open = tree.leaf_word(leaf);
    if (sparse && static_cast<std::uint32_t>(popcount(open)) < Options.crowded) return 0;
    if (at > first) open &= ~std::uint64_t{0} << (at - first);
    if (end - first < region_pages) open &= bit_range(0, end - first);
    return open;
  }

  // Makes an empty page one of chunks of `size`, of which the caller takes the first `count`, 32 at most. One lane.
  WARPHEAP_FN scatter_share prepare(std::uint32_t page, scatter_chunk_size size, std::uint32_t count) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view at = entry(page);
    std::uint32_t expected = word::empty().bits;
    if (!at.compare_exchange(expected, word::preparing().bits, acq_rel, device)) return {0, 0, false, false};
    const std::uint32_t capacity = size.capacity(page_units);
    if (count > capacity) count = capacity;
    bits(page, size.units).reset(lane_bit());
    // Relaxed, as the bits of `reset`: the store of the entry releases them.
    atomic_view{region_of(page).chunks[page % region_pages][0]}.fetch_or(low_bits(static_cast<int>(count)), relaxed,
                                                                         device);
    at.store(word::sized(size.units, capacity - count).bits, release, device);
    return {count, size.units, true, count == capacity};
  }

  // Closes a page if it is empty. One lane.
  WARPHEAP_FN bool try_close(std::uint32_t page) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view at = entry(page);
    std::uint32_t expected = word::empty().bits;
    if (!at.compare_exchange(expected, word::preparing().bits, acq_rel, device)) return false;
    const bool has_token = with_room().erase(member(page));
    at.store(has_token ? word::closed().bits : word::empty().bits, release, device);
    return has_token;
  }

  // Entries first, then the bits by which others find them. `barrier` orders the two for all lanes that share.
  template <class Barrier>
  WARPHEAP_FN void open_share(std::uint32_t first, std::uint32_t count, std::uint64_t rank, std::uint64_t lanes,
                              Barrier barrier) const {
    for (std::uint64_t i = rank; i < count; i += lanes) {
      // Release: what the former owners of the page did comes before what those of its chunks do.
      entry(first + static_cast<std::uint32_t>(i))
          .store(word::empty().bits, memory_order::release, thread_scope::device);
    }
    barrier();
    const std::uint32_t from = first / region_pages;
    const auto regions = static_cast<std::uint32_t>(divide_up(first % region_pages + count, region_pages));
    for (std::uint64_t i = rank; i < regions; i += lanes) {
      const std::uint32_t begin = (from + static_cast<std::uint32_t>(i)) * region_pages;
      const std::uint32_t low = begin < first ? first - begin : 0;
      const std::uint32_t high = first + count - begin < region_pages ? first + count - begin : region_pages;
      with_room().add(leaf_of(begin), bit_range(low, high - low));
    }
  }

  state* state_;
  region* regions_;
  scatter_quiescence changes_;
};

}  // namespace warpheap::detail
