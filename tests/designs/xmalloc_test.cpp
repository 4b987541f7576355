// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What is special to xmalloc and xmalloc_flat: lanes that share a basic block, blocks aligned to their size, memory of
// one class that gives way to others, and other constants than the usual ones, by which what is rare becomes common.

#include <gtest/gtest.h>

#include <allocator/conformance/churn.hpp>
#include <allocator/conformance/exhaustion.hpp>
#include <allocator/conformance/returns.hpp>
#include <cstdint>
#include <designs/fill_in_turn.hpp>
#include <string>
#include <support/masks.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/xmalloc/xmalloc.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::xmalloc_test {
namespace {

// Facts about a design. nvcc cannot write options as an argument outside a template, so a template names them.
template <class A>
struct facts_of;
template <class Kind, xmalloc_options Options>
struct facts_of<xmalloc_allocator<Kind, Options>> {
  using layout = typename Kind::template layout<Options>;
  static constexpr std::size_t bytes_of_addresses = sizeof(detail::xmalloc_pages<layout>);
};
using usual_layout = facts_of<xmalloc>::layout;
// Kernels carry the addresses once, whatever the number of parts.
static_assert(std::is_trivially_copyable_v<xmalloc> && sizeof(xmalloc) == facts_of<xmalloc>::bytes_of_addresses);

TEST(xmalloc, sizes_go_to_the_smallest_class) {
  for (std::uint64_t bytes = 1; bytes <= 8192; ++bytes) {
    const std::uint32_t c = usual_layout::class_of(bytes);
    ASSERT_GE(usual_layout::bytes(c), bytes);
    ASSERT_TRUE(c == 0 || usual_layout::bytes(c - 1) < bytes) << bytes;
  }
  EXPECT_EQ(usual_layout::classes, 5u);
}

template <class A>
class xmalloc_family : public ::testing::Test {
 protected:
  static std::uint64_t live(const heap<A>& of) { return *of.statistics().live_bytes; }
};
using designs = ::testing::Types<xmalloc, xmalloc_flat>;
TYPED_TEST_SUITE(xmalloc_family, designs);

struct take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks, std::uint64_t bytes) const {
    sync(full_warp);
    void* const block = heap.malloc(bytes);
    require(block != nullptr && heap.usable_size(block) >= bytes, "refused, or too small");
    blocks[grid_thread_index()] = block;
  }
};
struct free_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void* const* blocks, lane_mask which) const {
    if ((which & lane_bit()) != 0) heap.free(blocks[grid_thread_index()]);
  }
};

/// A warp whose lanes ask for 16 bytes has one block of 1 KiB, with a header in front of each piece. The block is back
/// when the last piece is.
TYPED_TEST(xmalloc_family, a_warp_shares_a_block_until_its_last_piece_is_back) {
  const heap<TypeParam> of{1 << 20};
  const device_array<void*> blocks(warp_width);
  launch({1, warp_width}, take_kernel{}, of.ref(), blocks.data(), std::uint64_t{16});
  const std::vector<void*> got = blocks.to_host();
  const auto first = reinterpret_cast<std::uint64_t>(got[0]);
  EXPECT_EQ(first % 1024, 16u);
  for (int lane = 0; lane < warp_width; ++lane) {
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(got[lane]), first + 32 * static_cast<std::uint64_t>(lane));
  }
  EXPECT_EQ(this->live(of), 1024u);
  void* const* const all = blocks.data();
  launch({1, warp_width}, free_kernel{}, of.ref(), all, ~lane_mask{0x20});
  EXPECT_EQ(this->live(of), 1024u) << "a piece is left";
  launch({1, warp_width}, free_kernel{}, of.ref(), all, lane_mask{0x20});
  EXPECT_EQ(this->live(of), 0u);
}

/// What lanes ask for together may be more than the largest basic block has: then they share two.
TYPED_TEST(xmalloc_family, lanes_that_do_not_fit_share_another_block) {
  const heap<TypeParam> of{1 << 20};
  const device_array<void*> blocks(warp_width);
  launch({1, warp_width}, take_kernel{}, of.ref(), blocks.data(), std::uint64_t{255});
  // 30 pieces of 272 bytes in 8 KiB, and 2 in 1 KiB.
  EXPECT_EQ(this->live(of), 8192u + 1024u);
  launch({1, warp_width}, free_kernel{}, of.ref(), static_cast<void* const*>(blocks.data()), full_warp);
  EXPECT_EQ(this->live(of), 0u);
}

/// A block that no other lane shares is aligned to its size, and all of it is its owner's.
struct alone_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap) const {
    for (std::uint64_t bytes = 1; bytes <= 8192; bytes = 2 * bytes + 1) {
      void* const block = heap.malloc(bytes);
      const std::uint64_t usable = heap.usable_size(block);
      require(block != nullptr && usable == (bytes <= 512 ? 512 : next_power_of_two(bytes)), "another size");
      require(reinterpret_cast<std::uint64_t>(block) % usable == 0, "not aligned to its size");
      heap.free(block);
    }
  }
};
TYPED_TEST(xmalloc_family, a_block_of_one_lane_is_whole) {
  const heap<TypeParam> of{4 << 20};
  launch({1, 1}, alone_kernel{}, of.ref());
}

/// One lane fills the heap with blocks of `bytes`, frees all, and does so again with the next size.
struct fill_in_turn_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t bytes, std::uint64_t* counts) const {
    counts[0] = fill_and_empty(heap, bytes / 2);
    counts[1] = fill_and_empty(heap, 512);
    counts[2] = fill_and_empty(heap, 8192);
    counts[3] = fill_and_empty(heap, 1000);
    counts[4] = fill_and_empty(heap, bytes / 2);
    counts[5] = fill_and_empty(heap, 512);
  }
};
TYPED_TEST(xmalloc_family, free_blocks_of_a_class_give_way_to_other_requests) {
  constexpr std::uint64_t bytes = 256 << 10;
  const heap<TypeParam> of{bytes};
  const device_array<std::uint64_t> counts(6);
  launch({1, 1}, fill_in_turn_kernel{}, of.ref(), bytes, counts.data());
  const std::vector<std::uint64_t> got = counts.to_host();
  EXPECT_GE(got[0], 1u) << "half of the heap in one block";
  EXPECT_EQ(got[4], got[0]);
  EXPECT_GE(got[1], bytes / 512 * 3 / 4);
  EXPECT_EQ(got[5], got[1]);
  EXPECT_GE(got[2], bytes / 8192 * 3 / 4);
  EXPECT_GE(got[3], bytes / 1024 * 3 / 4);
  EXPECT_EQ(this->live(of), 0u);
}

/// Queues of two blocks are full or empty nearly always, so blocks go to superblocks and come from there.
constexpr xmalloc_options tiny{.superblock_blocks = 8, .lists = 1, .list_capacity = 2};
constexpr xmalloc_options few{.superblock_blocks = 32, .largest_block = 1024, .lists = 2, .list_capacity = 4};

// Takes the options apart from the design, for the reason that `facts_of` has.
template <template <xmalloc_options> class Design, const xmalloc_options& options>
void keeps_its_promises() {
  using A = Design<options>;
  findings found;
  churn_when_full<A>(found);
  everything_comes_back<A>(found);
  full_heap_serves_after_frees<A>(found);
  freed_memory_is_there_at_once<A>(found, 2);
  for (const std::string& text : found.texts()) ADD_FAILURE() << text;
}
TEST(xmalloc, serves_with_other_constants) {
  keeps_its_promises<basic_xmalloc, tiny>();
  keeps_its_promises<basic_xmalloc, few>();
}
TEST(xmalloc_flat, serves_with_other_constants) {
  keeps_its_promises<basic_xmalloc_flat, tiny>();
  keeps_its_promises<basic_xmalloc_flat, few>();
}

}  // namespace
}  // namespace warpheap::test::xmalloc_test
