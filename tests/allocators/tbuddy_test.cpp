// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// TBuddy as an allocator: the conformance suite with pages of 16 bytes, so that small blocks are blocks of a few pages;
// then what is special to it.

#include <gtest/gtest.h>

#include <allocators/conformance/fixture.hpp>
#include <cstdint>
#include <warpheap/allocators/bulk/tbuddy.hpp>

namespace warpheap::test {
namespace {

/// The default form, with pages that the suite's blocks fill.
using fine_tbuddy = tbuddy<buddy_tree, 16>;
const bool registered = register_conformance<fine_tbuddy>();

struct take_kernel_of_one {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t bytes, std::uint64_t* address) const {
    *address = reinterpret_cast<std::uint64_t>(heap.malloc(bytes));
  }
};
struct give_kernel_of_one {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t address) const {
    heap.free(reinterpret_cast<void*>(address));
  }
};
/// Threads fill the heap with blocks of one to four pages, and give them back.
struct storm_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t bytes) const {
    constexpr int most = 8;
    void* held[most] = {};
    for (int round = 0; round < 3; ++round) {
      for (void*& each : held) each = heap.malloc(bytes << round);
      for (void* const each : held) heap.free(each);
    }
  }
};

template <class A>
std::uint64_t take_one(const heap<A>& heap, std::uint64_t bytes) {
  const device_array<std::uint64_t> address(1);
  launch({1, 1}, take_kernel_of_one{}, heap.ref(), bytes, address.data());
  return address.at(0);
}

template <class A>
void largest_block_is_there_again() {
  for_each_schedule(
      [](std::uint64_t) {
        for (const std::uint64_t bytes : {std::uint64_t{1} << 20, std::uint64_t{3} << 20, std::uint64_t{5'000'000}}) {
          heap<A> pages{bytes, {.reserve_bytes = 4 * bytes}};
          std::uint64_t size = bytes;
          for (int grown = 0; grown < 2; ++grown) {
            launch(grid_shape::covering(scaled(128, 1 << 12), 64), storm_kernel{}, pages.ref(), std::uint64_t{4096});
            ASSERT_EQ(*pages.stats().live_bytes, 0u);
            int bits = 40;
            std::uint64_t block = 0;
            while (block == 0 && bits > 12) block = take_one(pages, std::uint64_t{1} << --bits);
            ASSERT_NE(block, 0u);
            EXPECT_EQ(block % (std::uint64_t{1} << bits), 0u) << "a block is aligned to its size";
            // Any range has a block of more than a quarter of it.
            EXPECT_GT(std::uint64_t{4} << bits, size - 8192) << "in a heap of " << size;
            EXPECT_EQ(*pages.stats().live_bytes, std::uint64_t{1} << bits);
            launch({1, 1}, give_kernel_of_one{}, pages.ref(), block);
            if (!device_can_map()) break;
            size = 2 * bytes;
            pages.grow(size);
          }
        }
      },
      2);
}

TEST(tbuddy, largest_block_is_there_again) { largest_block_is_there_again<tbuddy<>>(); }
TEST(tbuddy, largest_block_is_there_again_in_the_paper_s_form) { largest_block_is_there_again<tbuddy<state_buddy>>(); }

}  // namespace
}  // namespace warpheap::test
