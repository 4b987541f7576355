// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/random_walk/detail/line_word.hpp>
#include <warpheap/designs/random_walk/statistics.hpp>
#include <warpheap/designs/untested_on_gpu.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// The baseline without structure: pages of 16 bytes with bitmap words, and a request that looks at words at random
/// places until it finds free pages.
///
/// No list, tree, queue, slab or size class exists, so this is what such a structure must be better than. A line of 32
/// pages has one word, and a block is a run of pages of it that one atomic operation takes and one gives back. Larger
/// blocks are runs of lines. A request that found nothing in a few random places reads all words, and returns null if
/// it finds nothing there either and no block came back meanwhile.
///
/// The idea is that of Pham et al., Dynamic Memory Management in Massively Parallel Systems: A Case on GPUs, ICS 2022:
/// random walks over the bitmap of equal pages, by a warp together. There all requests are of one page; here they have
/// any size up to 1 MiB, and a refusal is certain. docs/design/random_walk.md explains it.
///
/// The price is fragmentation: blocks lie anywhere, so long runs of free lines get rare as the heap fills, and no part
/// of the heap stays empty that `trim` could give back.
///
/// `Cells`: counters that the multiprocessors share; `RandomSteps`: random places that a request tries before it reads
/// all words.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
class basic_random_walk {
 public:
  static constexpr const char* name = "random_walk";
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .stack_bytes = 1024,
                                                       .largest_bytes = std::uint64_t{1} << 20};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return sizeof(control) + bytes / line_word::line_bytes * sizeof(std::uint64_t);
  }

  WARPHEAP_FN explicit basic_random_walk(const arena& from)
      : data_(from.data),
        control_(reinterpret_cast<control*>(from.metadata)),
        words_(reinterpret_cast<std::uint64_t*>(from.metadata + sizeof(control))),
        initial_bytes_(from.bytes) {}

  /// Bytes of an arena from which on there is room for a block: a line.
  WARPHEAP_FN std::uint64_t least_bytes() const { return line_word::line_bytes; }
  WARPHEAP_FN void initialise() const { set_size(initial_bytes_); }
  WARPHEAP_FN void grow(std::uint64_t bytes) const { set_size(bytes); }
#if WARPHEAP_COMPILES_HOST
  void relocate(const arena& from, const arena& to) const;
  random_walk_statistics statistics() const;
#endif

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return aligned_malloc(line_word::page_bytes, bytes); }
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  WARPHEAP_FN void tally(random_walk_statistics& sums) const;
  WARPHEAP_FN block_location locate(const void* pointer) const;

 private:
  static constexpr std::uint32_t most_lines =
      static_cast<std::uint32_t>(capabilities.largest_bytes / line_word::line_bytes);
  static constexpr std::uint32_t read_ahead = 4;  // words that a lane reads at once when it reads all

  // Counters of a few multiprocessors. Sums over all cells are what matters.
  //
  // Invariant: a thread that gives pages back adds to `returns` after they are free and before its call returns. A
  // thread that takes pages which it may have to put back does so between `begin` and `end` of `runs`.
  struct cell {
    change_counter<std::uint64_t> runs;
    std::uint64_t returns;
    std::uint64_t walks;  // only where random places must be the same each time: on the host
  };

  // For each size the returns that a search had seen which proved that no place for that size is free: while no more
  // have come, none is.
  //
  // Invariant: a refusal is 0, or 32 (r + 1) + d, and at one moment when `returns` summed up to r no run of the size of
  // index i, or of d pages more than the least size of that index, was free.
  static constexpr std::uint32_t size_indices = line_word::pages + most_lines - 1;

  struct control {
    alignas(128) probe_space space{1};  // the lines; the size of the heap changes between launches only
    typename per_multiprocessor<cell>::cell counters[Cells];
    std::uint64_t refusals[size_indices];
    std::uint64_t unused;  // words begin at a multiple of 128 bytes all the same
  };

  // What a request asks for, the same in all lanes of a group that search together.
  struct request {
    std::uint32_t pages;   // of the block
    std::uint32_t lines;   // that it lies in
    std::uint32_t stride;  // lines between two places of a block that has lines of its own
    std::uint32_t phase;   // the line of the first such place
    bool noted;            // its refusals are noted

    WARPHEAP_FN std::uint32_t index() const { return lines == 1 ? pages - 1 : line_word::pages + lines - 2; }
    WARPHEAP_FN std::uint32_t above_least() const { return lines == 1 ? 0 : (pages - 1) % line_word::pages; }
  };
  // What a search knows of the heap when it begins.
  struct quiescence {
    bool quiet;  // no run was being taken
    std::uint64_t begun, returns;
  };

  WARPHEAP_FN per_multiprocessor<cell> counters() const { return {control_->counters, Cells}; }
  WARPHEAP_FN atomic_view<std::uint64_t> line(std::uint32_t index) const { return atomic_view{words_[index]}; }
  WARPHEAP_FN std::uint64_t look(std::uint32_t index) const {
    return line(index).load(memory_order::relaxed, thread_scope::device);  // a guess: exchanges decide
  }
  WARPHEAP_FN void* address(std::uint32_t line, std::uint32_t page) const {
    return data_ + std::uint64_t{line} * line_word::line_bytes + page * line_word::page_bytes;
  }
  WARPHEAP_FN void set_size(std::uint64_t bytes) const;
  WARPHEAP_FN std::uint64_t random_seed() const;

  WARPHEAP_FN bool understand(std::uint64_t alignment, std::uint64_t bytes, request& wanted) const;
  WARPHEAP_FN std::uint32_t take_in_line(std::uint32_t index, std::uint32_t size, std::uint32_t most) const;
  struct found_place {
    std::uint32_t line, page;
    bool served;
  };
  WARPHEAP_FN bool take_in_lines(lane_mask group, lane_mask& waiting, std::uint32_t first, std::uint32_t size,
                                 found_place& place) const;
  WARPHEAP_FN void* malloc_in_line(lane_mask group, const request& wanted) const;
  WARPHEAP_COLD_FN found_place search_lines(lane_mask group, lane_mask waiting, request wanted,
                                            std::uint32_t start) const;

  WARPHEAP_FN static std::uint64_t word_of(std::uint32_t nth, const request& wanted);
  WARPHEAP_FN bool take_run(std::uint32_t first, const request& wanted) const;
  WARPHEAP_COLD_FN void* malloc_run(request wanted) const;
  WARPHEAP_COLD_FN void free_run(std::uint32_t index) const;

  WARPHEAP_FN quiescence observe() const;
  WARPHEAP_FN bool was_refused(const request& wanted, const quiescence& now) const;
  WARPHEAP_FN bool refuses(const request& wanted, const quiescence& before) const;

  std::byte* data_;
  control* control_;
  std::uint64_t* words_;
  std::uint64_t initial_bytes_;
};

/// The design as the registry lists it.
using random_walk = basic_random_walk<32, 16>;

static_assert(device_allocator<random_walk>);

}  // namespace warpheap

#include <warpheap/designs/random_walk/detail/random_walk.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/random_walk/detail/host.hpp>
#endif
