// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/warp_slab/detail/layout.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

struct warp_slab_statistics;  // statistics.hpp, with the host half

/// warpheap's own design: slabs of equal blocks with a bitmap word for each 32 of them, and a place of its own for each
/// warp to begin looking at.
///
/// A warp whose lanes ask together takes the word at its seat: where it found blocks of the size before. Seats begin
/// apart, so as long as there are as many words as warps, that is one atomic operation which nobody contends, whatever
/// the size. Frees of a warp into one word are one operation, too. A warp that finds nothing at its seat looks, with
/// the help of all lanes that called with it, at words anywhere, then follows hints, then extends the size's slabs,
/// then takes whole slabs back from other sizes. A size that is crowded gets slabs ahead of need. Sizes:
/// `slab_classes`; larger blocks are runs of 16 KiB units, and so is a smaller one in a heap in which no slab of its
/// size can lie. docs/design/warp_slab.md explains it all.
///
/// The lanes that call `malloc` of one heap together return together.
///
/// With WARPHEAP_COLD_LINKED a translation unit has the hot part alone (<warpheap/device_hot.hpp>). It then calls five
/// functions that the device library has: `take_elsewhere`, `take_without_slab`, `malloc_run`, `show_of` and
/// `free_run_of`.
///
/// Blocks are aligned to 16 bytes and powers of two up to 4 KiB to their size. Null means that at one moment of the
/// call there was no block to be had.
class warp_slab {
 public:
  static constexpr const char* name = "warp_slab";
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .trim_bytes = slab_classes::unit_bytes,
                                                       .stack_bytes = 2688};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return warp_slab_layout::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit warp_slab(const arena& from);

  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;

#if WARPHEAP_COMPILES_HOST
  void relocate(const arena& from, const arena& to) const;
  warp_slab_statistics statistics() const;
#endif

  /// Bytes of an arena that begins there from which on there is room for a block: a whole unit.
  WARPHEAP_FN std::uint64_t least_bytes() const { return lead_ + classes::unit_bytes; }
  WARPHEAP_FN std::uint64_t trim_begin() const { return lead_; }
  WARPHEAP_FN void coalesce() const;
  WARPHEAP_FN void withdraw(std::uint64_t* units) const;
  WARPHEAP_FN void restore(const std::uint64_t* units) const;

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  WARPHEAP_FN void tally(warp_slab_tally& sums) const;
  WARPHEAP_COLD_FN block_location locate(const void* pointer) const;

 private:
  friend struct warp_slab_cold_part;  // src/device/cold.cu

  using layout = warp_slab_layout;
  using classes = slab_classes;
  using unit_header = layout::unit_header;
  using unit_section = layout::unit_section;
  using class_state = layout::class_state;
  using unit_heap = page_heap<classes::unit_shift>;

  // Access to the parts.
  WARPHEAP_FN unit_section* sections() const {
    return reinterpret_cast<unit_section*>(reinterpret_cast<std::byte*>(control_) + layout::sections_at());
  }
  // Element `index` of the arrays of `each` elements that all sections have at byte `offset`. An address advances by
  // one element for each index, and by the rest of a section for each section.
  template <class T, std::uint32_t each>
  WARPHEAP_FN T& of_sections(std::uint64_t offset, std::uint32_t index) const {
    constexpr std::uint64_t rest = sizeof(unit_section) - each * sizeof(T);
    // In this order the constants are part of the access.
    std::byte* at = reinterpret_cast<std::byte*>(control_) + std::uint64_t{index / each} * rest;
    at += std::uint64_t{index} * sizeof(T);
    return *reinterpret_cast<T*>(at + (layout::sections_at() + offset));
  }
  WARPHEAP_FN unit_header& header(std::uint32_t unit) const {
    return of_sections<unit_header, unit_section::units>(offsetof(unit_section, header), unit);
  }
  WARPHEAP_FN std::uint64_t& word_of(std::uint32_t word) const {
    return of_sections<std::uint64_t, word_number::section_words>(offsetof(unit_section, word), word);
  }
  WARPHEAP_FN atomic_view<std::uint64_t> word(std::uint32_t word) const { return atomic_view{word_of(word)}; }
  WARPHEAP_FN atomic_view<std::uint32_t> table(std::uint32_t c, std::uint32_t place) const {
    constexpr std::uint32_t each = unit_section::units;
    return atomic_view{
        of_sections<std::uint32_t, each>(offsetof(unit_section, table) + c * each * sizeof(std::uint32_t), place)};
  }
  WARPHEAP_FN bit_tree free_units() const {
    return {&control_->free_units, reinterpret_cast<std::byte*>(&sections()->free), sizeof(unit_section)};
  }
  WARPHEAP_FN unit_heap units() const { return {data_, free_units()}; }
  WARPHEAP_FN bit_tree hints(std::uint32_t c) const {
    return {&of_class(c).hints, reinterpret_cast<std::byte*>(&sections()->hints[c]), sizeof(unit_section)};
  }
  WARPHEAP_FN class_state& of_class(std::uint32_t c) const { return control_->of_class[c]; }

  // Slabs of class `c` in this heap. How large it was at first decides, for good; `initialise` writes it down, since
  // the rare ways would need registers to work it out.
  WARPHEAP_FN bool is_small() const { return initial_units_ < layout::small_heap; }
  WARPHEAP_FN std::uint32_t units_of(std::uint32_t c) const { return of_class(c).slab_units; }
  WARPHEAP_FN std::uint32_t blocks_of(std::uint32_t c) const { return of_class(c).slab_blocks; }
  WARPHEAP_FN std::uint32_t words_of(std::uint32_t c) const { return (blocks_of(c) + 31) / 32; }
  // The bits of word `index` of a slab that stand for blocks, and whether the word says that all of these are free.
  WARPHEAP_FN std::uint32_t all_blocks(std::uint32_t c, std::uint32_t index) const {
    return layout::all_blocks(blocks_of(c), index);
  }
  WARPHEAP_FN bool is_whole_word(std::uint32_t c, std::uint32_t index, slab_word seen) const {
    return seen.is_of(c) && seen.free() == all_blocks(c, index);
  }

  // claim.hpp: blocks of slabs that are there
  WARPHEAP_FN atomic_view<std::uint64_t> seat(std::uint32_t c) const;
  WARPHEAP_FN void* take_block(lane_mask group, classes::fit fit) const;
  WARPHEAP_FN void take_anywhere(lane_mask group, std::uint32_t& c, slab_claim& got, void*& block) const;
  WARPHEAP_FN slab_look look_for(lane_mask group, lane_mask lacking, bool looks, std::uint32_t salt,
                                 std::uint32_t& c) const;
  WARPHEAP_FN static int whom_to_help(lane_mask lacking, bool looks);
  template <bool hot>
  WARPHEAP_FN void take_seen(lane_mask group, lane_mask lacking, std::uint32_t c, slab_look look, slab_claim& got,
                             void*& block) const;
  WARPHEAP_FN slab_look look_anywhere(std::uint32_t c, std::uint32_t number) const;
  WARPHEAP_FN slab_claim claim_at_seat(std::uint32_t c, std::uint32_t wanted) const;
  WARPHEAP_FN slab_claim claim_twice(std::uint32_t c, std::uint32_t at, std::uint32_t tried,
                                     std::uint32_t wanted) const;
  WARPHEAP_FN slab_claim claim_at_home(std::uint32_t c, std::uint32_t wanted) const;
  WARPHEAP_FN slab_claim claim_for_seat(std::uint32_t c, slab_look look, std::uint32_t wanted) const;
  WARPHEAP_FN slab_claim claim(std::uint32_t c, std::uint32_t at, std::uint32_t chosen, std::uint32_t& left) const;
  WARPHEAP_FN static slab_look freer(slab_look a, slab_look b);
  WARPHEAP_FN static std::uint32_t choose(std::uint32_t free, std::uint32_t wanted);
  WARPHEAP_FN static slab_claim tell(lane_mask group, warp_request peers, slab_claim got);
  WARPHEAP_FN void* block_of(std::uint32_t bytes, slab_claim from, int rank) const;

  // elsewhere.hpp: a few looks around
  static constexpr std::uint32_t looks_at_once = 4;
  enum class look_kind : std::uint32_t {
    quick,     // at one word anywhere
    anywhere,  // at several words
    latest     // at several of the latest slabs
  };
  WARPHEAP_COLD_FN void* take_elsewhere(lane_mask group, std::uint32_t c, slab_claim got, void* found) const;
  WARPHEAP_COLD_FN bool look_on(lane_mask group, look_kind kind, std::uint32_t round, std::uint32_t c,
                                void*& found) const;
  WARPHEAP_COLD_FN slab_look look_alone(lane_mask group, lane_mask lacking, look_kind kind, std::uint32_t round,
                                        std::uint32_t& c) const;
  WARPHEAP_COLD_FN void* take_seen_alone(lane_mask group, lane_mask lacking, std::uint32_t c, slab_look look,
                                         void* found) const;
  WARPHEAP_COLD_FN slab_claim go_to(std::uint32_t c, slab_look look, std::uint32_t wanted) const;
  WARPHEAP_COLD_FN slab_claim go_home(std::uint32_t c, std::uint32_t wanted) const;
  WARPHEAP_FN slab_claim without_foreign(slab_claim got) const;
  WARPHEAP_COLD_FN void* take_at_home(lane_mask group, std::uint32_t c, void* found) const;
  WARPHEAP_COLD_FN slab_look look_around(std::uint32_t c, look_kind kind, std::uint32_t round,
                                         std::uint32_t& free) const;
  WARPHEAP_FN slab_look look_at(std::uint32_t c, std::uint32_t unit, std::uint32_t from, std::uint32_t count) const;
  WARPHEAP_COLD_FN void* share(lane_mask group, lane_mask wanting, std::uint32_t c, slab_look look) const;

  struct dealt {
    int turn, finder;
  };
  WARPHEAP_COLD_FN static dealt part_of(int rank, int count);
  WARPHEAP_COLD_FN void* deal(lane_mask group, lane_mask finders, lane_mask wanting, std::uint32_t c,
                              slab_claim got) const;

  // ahead.hpp: more slabs for a class that is crowded
  WARPHEAP_COLD_FN void make_room(lane_mask group, std::uint32_t c, std::uint32_t free) const;
  static constexpr std::uint32_t room_within_launch = 8;  // free blocks a word, of 32
  static constexpr std::uint32_t room_between_launches = 4;
  WARPHEAP_COLD_FN std::uint32_t enough_room(lane_mask group) const;
  WARPHEAP_FN atomic_view<std::uint32_t> visit() const;
  WARPHEAP_COLD_FN bool may_have_room(std::uint32_t c) const;
  WARPHEAP_FN bool has_room() const;
  WARPHEAP_FN static bool has_more_threads_than_run();
  WARPHEAP_COLD_FN bool is_crowded(lane_mask group, std::uint32_t c, std::uint32_t enough) const;
  WARPHEAP_COLD_FN void add_room(lane_mask group, std::uint32_t c) const;
  WARPHEAP_FN static bool is_picked(std::uint32_t word);

  // search.hpp: where there may be more
  WARPHEAP_COLD_FN void* take_along_hints(lane_mask group, std::uint32_t c, void* found) const;
  enum class outcome : std::uint32_t { waits, holds, extended, served, refused };
  WARPHEAP_COLD_FN outcome take_or_extend(lane_mask group, std::uint32_t c, std::uint32_t turn, bool wants,
                                          void*& found) const;
  WARPHEAP_COLD_FN void* look_again(lane_mask group, std::uint32_t c, std::uint32_t turn, void* found) const;
  WARPHEAP_COLD_FN void* follow_hints(lane_mask group, std::uint32_t c, bool looks, void* found, bool& lost) const;
  WARPHEAP_COLD_FN void* search(lane_mask group, lane_mask wanting, std::uint32_t c) const;
  WARPHEAP_COLD_FN bool search_once(lane_mask group, lane_mask wanting, std::uint32_t c, void*& found) const;
  WARPHEAP_COLD_FN bit_tree::watch begin_watch(std::uint32_t c) const;
  WARPHEAP_COLD_FN bool was_quiet(std::uint32_t c, bit_tree::watch before) const;
  struct walk_part {  // in memory, so that it needs no registers
    std::uint32_t from, to;
    std::uint32_t patience;
    bool met;
    bool lost;
  };
  WARPHEAP_COLD_FN void* walk(lane_mask group, lane_mask wanting, std::uint32_t c, walk_part& part) const;
  WARPHEAP_COLD_FN void* follow_all(lane_mask group, lane_mask peers, std::uint32_t c, walk_part& part, void* found,
                                    bool& lost) const;
  WARPHEAP_COLD_FN bool walk_on(lane_mask group, lane_mask wanting, std::uint32_t c, walk_part& part,
                                void*& found) const;
  WARPHEAP_COLD_FN void* take_from_slabs(lane_mask group, lane_mask wanting, std::uint32_t c, std::uint32_t place,
                                         bool looks, bool& lost) const;
  WARPHEAP_COLD_FN bool is_without_place(lane_mask group, std::uint32_t c, bool asks) const;
  WARPHEAP_COLD_FN bool has_place(lane_mask group, std::uint32_t c) const;
  WARPHEAP_COLD_FN std::uint32_t next_place(std::uint32_t c, std::uint32_t from, std::uint32_t to,
                                            std::uint64_t& marked) const;
  static constexpr std::uint32_t no_unit = ~0u;
  WARPHEAP_COLD_FN slab_look look_through(std::uint32_t c, std::uint32_t place, std::uint32_t& unit) const;
  WARPHEAP_COLD_FN slab_look look_from(std::uint32_t c, std::uint32_t unit, std::uint32_t looked) const;

  // release.hpp: blocks that come back
  WARPHEAP_FN void put_back(slab_claim blocks) const;
  WARPHEAP_FN void show(std::uint32_t at, std::uint32_t c) const;
  WARPHEAP_COLD_FN static void put_back_of(warp_slab self, slab_claim blocks);
  WARPHEAP_COLD_FN static void show_of(warp_slab self, std::uint32_t at, std::uint32_t c);
  WARPHEAP_COLD_FN static void free_run_of(warp_slab self, std::uint32_t unit, std::uint32_t units);
  WARPHEAP_FN void set_hint(std::uint32_t unit, std::uint32_t c) const;
  WARPHEAP_COLD_FN void hide(std::uint32_t c, std::uint32_t place, std::uint32_t unit) const;
  WARPHEAP_COLD_FN void drop_place(std::uint32_t c, std::uint32_t place) const;
  WARPHEAP_FN void begin_change(std::uint32_t c) const;
  WARPHEAP_FN void end_change(std::uint32_t c) const;

  // need.hpp: how many slabs a class is given
  static constexpr std::uint64_t threads_at_once = std::uint64_t{1} << 18;  // that a large GPU runs
  WARPHEAP_COLD_FN std::uint32_t slabs_wanted(std::uint32_t c, std::uint32_t wanted, bool mixed) const;
  WARPHEAP_COLD_FN std::uint32_t slabs_in_store(std::uint32_t c, std::uint32_t wanted, bool mixed) const;
  WARPHEAP_COLD_FN void note_launch(std::uint32_t c, std::uint32_t places) const;
  WARPHEAP_COLD_FN std::uint32_t slabs_for_the_rest(std::uint32_t c, std::uint32_t used, bool mixed) const;
  WARPHEAP_COLD_FN std::uint64_t threads_begun() const;
  WARPHEAP_COLD_FN std::uint32_t slabs_for_variation(std::uint32_t c, std::uint32_t places, std::uint32_t wanted) const;
  WARPHEAP_COLD_FN void gather_demand(std::uint32_t c) const;
  WARPHEAP_COLD_FN bool has_units() const;
  WARPHEAP_COLD_FN std::int32_t take_demand(std::uint32_t c) const;

  // extend.hpp: more slabs for a class
  WARPHEAP_COLD_FN outcome extend(lane_mask group, std::uint32_t c, bool dry, std::uint32_t news, void*& found) const;
  struct extension_wait {   // in memory, so that it needs no registers
    lane_mask peers;        // those that want the class
    std::uint32_t news;     // of the class, before the looks that found nothing
    std::uint64_t earlier;  // attempts that had begun before the wait
    std::uint32_t times;    // the demand with which the caller's was counted
    outcome then;
  };
  WARPHEAP_COLD_FN bool wait_for_turn(lane_mask group, std::uint32_t c, extension_wait& mine) const;
  WARPHEAP_COLD_FN void ask(std::uint32_t c, extension_wait& mine) const;
  WARPHEAP_COLD_FN void look_for_turn(std::uint32_t c, extension_wait& mine) const;
  WARPHEAP_COLD_FN void extend_for_holder(lane_mask group, std::uint32_t c, extension_wait& mine, void*& found) const;
  WARPHEAP_COLD_FN outcome extend_alone(lane_mask group, lane_mask wanting, std::uint32_t c, void*& found) const;
  WARPHEAP_COLD_FN outcome add_or_search(lane_mask group, lane_mask wanting, std::uint32_t c, std::uint32_t slabs,
                                         void*& found) const;
  WARPHEAP_COLD_FN void withdraw_demand(std::uint32_t c, const extension_wait& mine) const;
  WARPHEAP_COLD_FN bool add_slabs(lane_mask group, std::uint32_t c, std::uint32_t slabs) const;
  WARPHEAP_COLD_FN bool add_neighbours(lane_mask group, std::uint32_t c, std::uint32_t& slabs) const;
  WARPHEAP_COLD_FN void make_slabs(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t slabs) const;
  WARPHEAP_COLD_FN void make_headers(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t place,
                                     std::uint32_t slabs) const;
  WARPHEAP_COLD_FN void open_slabs(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t place,
                                   std::uint32_t slabs) const;
  WARPHEAP_COLD_FN void make_words(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t slabs) const;
  WARPHEAP_COLD_FN void fill_table(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t place,
                                   std::uint32_t slabs) const;
  WARPHEAP_COLD_FN void mark_places(lane_mask group, std::uint32_t c, std::uint32_t begin, std::uint32_t end) const;
  WARPHEAP_COLD_FN void make_header(std::uint32_t c, std::uint32_t unit, std::uint32_t place) const;
  WARPHEAP_FN void make_word(std::uint32_t c, std::uint32_t at, std::uint32_t all) const;

  // reclaim.hpp: slabs without blocks, back to units
  struct reclaimed {
    std::uint32_t slabs;
    std::uint32_t lowest;  // place of one
  };
  WARPHEAP_COLD_FN bool reclaim(lane_mask group, std::uint32_t units) const;
  WARPHEAP_COLD_FN bool reclaim_class(lane_mask group, std::uint32_t c, std::uint32_t units) const;
  WARPHEAP_COLD_FN reclaimed reclaim_once(lane_mask group, std::uint32_t c, std::uint32_t units) const;
  WARPHEAP_COLD_FN void reclaim_hinted(lane_mask group, std::uint32_t c, std::uint32_t units, reclaimed& got) const;
  WARPHEAP_COLD_FN void reclaim_leaf(std::uint32_t c, std::uint32_t leaf, std::uint32_t places, reclaimed& got) const;
  WARPHEAP_COLD_FN void reclaim_some(std::uint32_t c, std::uint32_t first, std::uint64_t& marked, reclaimed& got) const;
  WARPHEAP_COLD_FN std::uint64_t take_whole_marks(std::uint32_t c, std::uint32_t at, std::uint64_t& marked) const;
  WARPHEAP_COLD_FN bool reclaim_slab(std::uint32_t c, std::uint32_t place) const;
  WARPHEAP_COLD_FN bool is_whole(std::uint32_t c, std::uint32_t unit) const;
  WARPHEAP_COLD_FN bool take_word(std::uint32_t c, std::uint32_t at, std::uint32_t whole) const;
  WARPHEAP_COLD_FN bool take_words(std::uint32_t c, std::uint32_t unit) const;
  WARPHEAP_COLD_FN void restore_words(std::uint32_t c, std::uint32_t unit, std::uint32_t count) const;
  WARPHEAP_COLD_FN void retire(std::uint32_t c, std::uint32_t place, std::uint32_t unit) const;

  // compact.hpp: no gaps in a table
  WARPHEAP_COLD_FN void compact(lane_mask group, std::uint32_t c, std::uint32_t lowest, std::uint32_t slabs) const;
  WARPHEAP_COLD_FN void fill_gaps(lane_mask group, std::uint32_t c, std::uint32_t from, bool moves, std::uint32_t slabs,
                                  std::uint32_t& gap) const;
  WARPHEAP_COLD_FN std::uint32_t next_gap(lane_mask group, std::uint32_t c, bool moves, std::uint32_t slabs,
                                          std::uint32_t& gap) const;
  WARPHEAP_COLD_FN void move_place(std::uint32_t c, std::uint32_t from, std::uint32_t to) const;

  // runs.hpp
  WARPHEAP_COLD_FN void* take_without_slab(std::uint32_t c) const;
  // Linked by name: std::uint64_t is `unsigned long` to nvcc and `unsigned long long` to NVRTC.
  WARPHEAP_COLD_FN void* malloc_run(unsigned long long bytes, unsigned long long alignment) const;
  WARPHEAP_COLD_FN bool take_run_at_once(lane_mask group, std::uint32_t count, std::uint32_t& first) const;
  WARPHEAP_COLD_FN bool take_run_by_turns(lane_mask group, std::uint32_t count, std::uint32_t alignment,
                                          std::uint32_t& first) const;
  WARPHEAP_COLD_FN index_run take_units_or_slabs(std::uint32_t count, std::uint32_t times,
                                                 std::uint32_t alignment) const;
  WARPHEAP_COLD_FN index_run take_units_now(std::uint32_t least, std::uint32_t most, std::uint32_t alignment) const;
  WARPHEAP_COLD_FN void free_run(std::uint32_t unit, std::uint32_t units) const;
  WARPHEAP_COLD_FN index_run take_units(std::uint32_t least, std::uint32_t most, std::uint32_t alignment) const;

  // statistics.hpp
  template <class OfSlab, class OfRun>
  WARPHEAP_FN void visit_units(OfSlab of_slab, OfRun of_run) const;
  // locate.hpp
  WARPHEAP_COLD_FN block_location locate_in_slab(std::uint64_t offset, std::uint32_t unit, unit_owner owner) const;
  WARPHEAP_COLD_FN block_location locate_in_run(std::uint32_t unit) const;

  // handle.hpp
  WARPHEAP_FN std::uint32_t units_in(std::uint64_t bytes) const {
    return static_cast<std::uint32_t>(unit_heap::pages_in(bytes, lead_));
  }

  // Kernels get it by value, so no byte of it is padding.
  std::byte* data_;
  layout::control* control_;
  std::uint64_t lead_;  // bytes of the arena before the first unit
  std::uint32_t initial_units_;
  std::uint32_t seat_mask_;  // warps whose numbers differ in other bits only share a seat
};

static_assert(device_allocator<warp_slab>);
static_assert(locates_blocks<warp_slab>);

}  // namespace warpheap

#include <warpheap/designs/warp_slab/detail/claim.hpp>
#include <warpheap/designs/warp_slab/detail/free.hpp>
#include <warpheap/designs/warp_slab/detail/handle.hpp>
#if !defined(WARPHEAP_COLD_LINKED)
#include <warpheap/designs/warp_slab/detail/ahead.hpp>
#include <warpheap/designs/warp_slab/detail/compact.hpp>
#include <warpheap/designs/warp_slab/detail/elsewhere.hpp>
#include <warpheap/designs/warp_slab/detail/extend.hpp>
#include <warpheap/designs/warp_slab/detail/locate.hpp>
#include <warpheap/designs/warp_slab/detail/need.hpp>
#include <warpheap/designs/warp_slab/detail/reclaim.hpp>
#include <warpheap/designs/warp_slab/detail/release.hpp>
#include <warpheap/designs/warp_slab/detail/runs.hpp>
#include <warpheap/designs/warp_slab/detail/search.hpp>
#include <warpheap/designs/warp_slab/detail/statistics.hpp>
#include <warpheap/designs/warp_slab/detail/trim.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/warp_slab/detail/host.hpp>
#endif
#endif
