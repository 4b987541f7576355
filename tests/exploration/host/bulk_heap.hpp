// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small heaps of bulk whose bins a test sets up itself: two chunks that are bins of one class. All others are taken.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/private_member.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::bulk_heap {

using allocator = bulk_allocator<buddy_tree, 4>;
using layout = detail::bulk_layout<buddy_tree, 4>;

WARPHEAP_TEST_PRIVATE(take_quickly, allocator::take_quickly)
WARPHEAP_TEST_PRIVATE(parts_of, allocator::search)

using list_units = detail::bulk_list_units;
using bin_units = detail::bulk_bin_units;

inline constexpr std::uint32_t arena_index = 0;
inline constexpr std::uint32_t c = layout::classes - 2;  // the largest blocks, of which a chunk has 7
inline constexpr std::uint32_t units = layout::units(c);
static_assert(units == 7);
inline constexpr std::uint64_t all_units = layout::all_bits(c, 0);
inline constexpr std::uint64_t heap_bytes = 18 * layout::chunk_bytes;

inline layout::header& header_at(const allocator& self, std::uint32_t page) {
  return parts_of(self).pages().header_at(page);
}
inline layout::bin_list& list_of(const allocator& self) { return parts_of(self).lists().list_at(arena_index, c); }
inline void free_units(const allocator& self, std::uint32_t page, std::uint32_t of_class, std::uint32_t word,
                       std::uint64_t bits) {
  parts_of(self).lists().free_units(page, of_class, word, bits);
}

// Two chunks that are bins of class `c`, on the same list or on none. All others are taken.
struct bins {
  std::uint32_t first;
  std::uint32_t second;
};

class heap_memory {
 public:
  heap_memory() : memory_(metadata() + heap_bytes + layout::page_bytes) {
    in_one_lane([self = self()] { self.initialise(); });
  }
  // `body(self, bins)` sets up the two bins.
  template <class Body>
  bins set_up(Body body) {
    bins made{};
    in_one_lane([self = self(), body, to = &made] {
      std::uint32_t found[18];
      std::uint32_t count = 0;
      while (count < 18 && parts_of(self).pages().take_chunk(found[count])) ++count;
      for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t j = 0; j < i; ++j) {
          if (layout::stack_of(found[i]) == layout::stack_of(found[j])) *to = {found[i], found[j]};
        }
      }
      body(self, *to);
    });
    EXPECT_NE(made.first, made.second);
    memory_.freeze();
    return made;
  }
  allocator self() const {
    return allocator{arena{memory_.data() + metadata(), heap_bytes, heap_bytes, memory_.data()}};
  }
  const snapshot& memory() const { return memory_; }

 private:
  static std::uint64_t metadata() { return align_up(allocator::metadata_bytes(heap_bytes), layout::page_bytes); }
  snapshot memory_;
};

// A bin with `free` units to be had; the others are blocks in use.
inline void make_bin(const allocator& self, std::uint32_t page, std::uint32_t free) {
  parts_of(self).source().set_up(arena_index, c, page, units - free);
  header_at(self, page).bits[0] = (std::uint64_t{1} << free) - 1;
  if (free != 0) list_of(self).count.signal(free);
}
inline bool count_off_top_of(const allocator& self, std::uint32_t page) {
  bin_units got{0, 0, 0};
  return parts_of(self).lists().count_off_top(arena_index, c, layout::stack_of(page), 1u, got);
}

// What a list should hold: each bin with units, once, and each of them with the listed bit.
inline std::string expect_listed(const allocator& self, bins which, std::int32_t first_units,
                                 std::int32_t second_units) {
  const std::uint32_t stack = layout::stack_of(which.first);
  std::uint32_t seen_first = 0;
  std::uint32_t seen_second = 0;
  auto at = static_cast<std::uint32_t>(list_of(self).top[stack]);
  for (int i = 0; at != 0; ++i) {
    if (i == 4) return "the list goes round in a circle";
    seen_first += at == which.first + 1;
    seen_second += at == which.second + 1;
    at = header_at(self, at - 1).next;
  }
  const auto expect = [&](std::uint32_t page, std::uint32_t seen, std::int32_t has) -> std::string {
    const detail::bin_state state{header_at(self, page).state};
    if (state.units() != has) return "a bin has " + std::to_string(state.units()) + " units";
    if (seen > 1) return "a bin is twice on the list";
    if (state.listed() != (seen == 1))
      return seen == 1 ? "a bin on the list has no listed bit" : "a bin with the listed bit is on no list";
    return has > 0 && seen == 0 ? "a bin with units is on no list" : "";
  };
  const std::string first = expect(which.first, seen_first, first_units);
  return !first.empty() ? first : expect(which.second, seen_second, second_units);
}

}  // namespace warpheap::test::bulk_heap
