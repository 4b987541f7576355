// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/allocators/concept.hpp>
#include <warpheap/floor.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// The coarse-grained half of the throughput-oriented allocator: blocks of 1, 2, 4, … pages of `PageBytes`, each
/// aligned to its own size. It is an allocator by itself, if all requests are of a page and more; smaller ones get a
/// page.
///
/// `Buddy` is the buddy system that keeps the pages: `buddy_tree`, or `state_buddy`, the paper's form. Lanes that ask
/// or free together do so as a group. The order of a block is in a byte of its first page, so a block is freed by its
/// address alone. The arena may lie anywhere, have any size, and grow; what is no whole page at its ends is not used,
/// nor is what lies more than three times 2^24 pages behind its begin (192 GiB of 4 KiB pages). When all blocks came
/// back, the largest block that the arena holds is to be had again.
///
/// TBuddy of Gelado & Garland, Throughput-oriented GPU memory allocation, PPoPP 2019, section 4.1.
template <class Buddy = buddy_tree, std::uint64_t PageBytes = 4096>
class tbuddy {
  static_assert(is_power_of_two(PageBytes) && PageBytes >= 16, "tbuddy: a page is a power of two, of 16 bytes or more");

 public:
  static constexpr const char* name = "tbuddy";
  static constexpr std::uint64_t page_bytes = PageBytes;
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .alignment = PageBytes < 4096 ? PageBytes : 4096,
                                                       .largest_alignment = PageBytes << Buddy::largest_order,
                                                       .largest_bytes = PageBytes << Buddy::largest_order};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    // The pages can begin within a span.
    const std::uint64_t pages = bytes / page_bytes < most_pages ? bytes / page_bytes : most_pages;
    return sizeof(control) + (divide_up(pages, Buddy::span_pages) + 1) * sizeof(typename Buddy::span);
  }

  explicit tbuddy(const arena& from);

  WARPHEAP_FN void initialise() const { grow(initial_bytes_); }
  WARPHEAP_FN void grow(std::uint64_t bytes) const;

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return aligned_malloc(1, bytes); }
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const { return page_bytes << buddy().tag(page_of(block)); }
  WARPHEAP_FN void count(allocator_counts& counts) const;

 private:
  // Pages are numbered from an address on that is aligned to the largest block, so that all blocks are aligned.
  static constexpr std::uint64_t base_alignment = page_bytes << Buddy::largest_order;
  static constexpr std::uint32_t to_free = ~std::uint32_t{0};
  static constexpr std::uint64_t most_pages = Buddy::most_pages - (std::uint64_t{1} << Buddy::largest_order);

  struct control {
    typename Buddy::state pages;
    std::uint32_t end;  // behind the last page; 0 at first
  };

  WARPHEAP_FN Buddy buddy() const { return {&control_->pages, spans_, first_page_ / Buddy::span_pages}; }
  WARPHEAP_FN lane_mask together(std::uint32_t purpose) const;
  WARPHEAP_FN std::uint32_t page_of(const void* block) const {
    return static_cast<std::uint32_t>((reinterpret_cast<std::uint64_t>(block) - base_) / page_bytes);
  }

  std::uint64_t base_;  // address of page 0, at or in front of the arena
  std::uint64_t data_;  // address of the arena
  control* control_;
  typename Buddy::span* spans_;
  std::uint64_t initial_bytes_;
  std::uint32_t first_page_;  // the first whole page of the arena
};

static_assert(device_allocator<tbuddy<>> && device_allocator<tbuddy<state_buddy>>);

}  // namespace warpheap

#include <warpheap/allocators/bulk/detail/tbuddy.hpp>
