// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What is special to kma, part by part and as a whole: classes that fill a superblock, names of current superblocks
// that are out of date, lists that are struck off and set again, the ring over the source, superblocks that serve
// another class once they are free, and other constants than the usual ones, by which what is rare becomes common.

#include <gtest/gtest.h>

#include <allocator/conformance/churn.hpp>
#include <allocator/conformance/exhaustion.hpp>
#include <cstddef>
#include <cstdint>
#include <designs/fill_in_turn.hpp>
#include <designs/part_stage.hpp>
#include <set>
#include <string>
#include <support/masks.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/kma/kma.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::kma_test {
namespace {

// One current superblock of a class, as in the original, and a ring that is soon full.
struct one_current {
  static constexpr kma_options options{.currents = 1, .ring_capacity = 2};
};
// nvcc cannot write options as an argument outside a template, so a template names the types.
template <class Options>
struct types_of {
  using allocator = basic_kma<Options::options>;
  using layout = detail::kma_layout<Options::options>;
};
using allocator = types_of<one_current>::allocator;
using layout = types_of<one_current>::layout;
using search = detail::kma_search<layout>;
using stage = part_stage<allocator, (1u << 21), 16>;
using detail::kma_draw;

static_assert(std::is_trivially_copyable_v<kma> && std::is_trivially_copyable_v<search>);
// Kernels carry the addresses once, whatever the number of parts.
static_assert(sizeof(search) == sizeof(detail::kma_pages<layout>) && sizeof(allocator) == sizeof(search));

constexpr std::uint64_t page_bytes = 4096;

TEST(kma_classes, sizes_go_to_the_smallest_class_and_blocks_fill_the_superblock) {
  constexpr std::uint32_t capacities[] = {254, 127, 63, 36, 17, 8, 4, 2, 1};
  for (std::uint32_t c = 0; c < kma_classes::count; ++c) {
    const std::uint32_t bytes = kma_classes::bytes(c);
    const std::uint32_t blocks = kma_classes::capacity(c);
    EXPECT_EQ(blocks, capacities[c]);
    EXPECT_EQ(bytes % 16, 0u);
    EXPECT_LE(blocks * bytes + 4 * ((blocks + 31) / 32), kma_classes::superblock_bytes) << "the bitmap has no room";
    for (std::uint32_t slot = 0; slot < blocks; ++slot) ASSERT_EQ(kma_classes::slot_at(slot * bytes, c), slot);
  }
  for (std::uint32_t bytes = 1; bytes <= kma_classes::largest_bytes; ++bytes) {
    const std::uint32_t c = kma_classes::of(bytes);
    ASSERT_GE(kma_classes::bytes(c), bytes);
    ASSERT_TRUE(c == 0 || kma_classes::bytes(c - 1) < bytes) << bytes;
  }
}

/// The ring takes two superblocks, and the source the third. A flush gives all back to the source, in one block.
struct ring_kernel {
  WARPHEAP_FN void operator()(search of, std::uint64_t* out) const {
    const auto& superblocks = of.superblocks();
    const page_source source = of.pages().source();
    std::uint32_t pages[4];
    for (std::uint32_t& page : pages) page = superblocks.take(lane_bit());
    out[0] = superblocks.take(lane_bit()) == superblocks.none;
    out[1] = superblocks.may_have_free();
    for (std::uint32_t i = 0; i < 3; ++i) superblocks.give(lane_bit(), pages[i]);
    out[2] = of.pages().ring().size();
    out[3] = source.free_pages(of.pages().control().end);
    out[4] = superblocks.take(lane_bit()) == pages[0];
    superblocks.give(lane_bit(), pages[0]);
    superblocks.give(lane_bit(), pages[3]);
    out[5] = superblocks.flush(lane_bit());
    out[6] = superblocks.flush(lane_bit());
    out[7] = source.free_pages(of.pages().control().end);
    out[8] = source.take(2) != page_source::none;
  }
};
TEST(kma_superblocks, the_ring_is_first_in_first_out_and_overflows_into_the_source) {
  stage on{4 * page_bytes};
  expect_words(on.run<search>(ring_kernel{}), {1, 0, 2, 1, 1, 1, 0, 4, 1});
}

/// A superblock is listed with the first block that comes back, given up with the last, and serves another class then.
struct list_kernel {
  WARPHEAP_FN void operator()(search of, std::uint64_t* out) const {
    constexpr std::uint32_t c = 4;  // 17 blocks
    const auto& lists = of.lists();
    std::uint32_t left = 0;
    const std::uint32_t page = lists.superblocks().take(lane_bit());
    lists.superblocks().assign(page, c, 17);
    out[0] = lists.take(c, 1, 0, left).permits;
    for (std::uint32_t slot : {5u, 9u}) {
      lists.pages().bits(page, c).release(slot);
      lists.give(lane_bit(), page, c, 1);
    }
    out[1] = lists.take(c - 1, 32, 0, left).permits;  // another class
    kma_draw got = lists.take(c, 1, 7, left);
    out[2] = got.permits * 100 + left;
    out[3] = lists.pages().listed(c).leaf_word(page / 64) != 0;
    got = lists.take(c, 32, 7, left);
    out[4] = got.permits * 100 + left;
    out[5] = lists.pages().listed(c).leaf_word(page / 64) != 0;  // the take of the last permit struck it off
    out[6] = lists.take(c, 1, 7, left).permits;
    lists.give(lane_bit(), page, c, 1);
    out[11] = lists.pages().listed(c).leaf_word(page / 64) != 0;
    lists.give(lane_bit(), page, c, 16);
    out[12] = lists.pages().listed(c).leaf_word(page / 64) != 0;  // what was given up is not listed
    out[7] = lists.pages().state(page).look().is_assigned();
    out[8] = lists.pages().ring().size();
    // Another class has the page now; what is listed of the former one is struck off.
    lists.list(page, c);
    lists.superblocks().assign(lists.superblocks().take(lane_bit()), c + 1, 1);
    out[9] = lists.take(c, 1, 0, left).permits;
    out[10] = lists.pages().listed(c).leaf_word(page / 64) != 0;
  }
};
TEST(kma_lists, a_superblock_is_listed_with_its_first_free_block_and_given_up_with_its_last) {
  stage on{1 * page_bytes};
  expect_words(on.run<search>(list_kernel{}), {0, 0, 101, 1, 100, 0, 0, 0, 1, 0, 0, 1, 0});
}

/// Pages that are listed and have no permit: a take passes a few of them, which another thread may be striking off, and
/// strikes the others off.
struct idle_kernel {
  WARPHEAP_FN void operator()(search of, std::uint64_t* out) const {
    constexpr std::uint32_t c = 6;  // 4 blocks
    constexpr std::uint32_t pages = 12;
    const auto& lists = of.lists();
    std::uint32_t left = 0;
    const auto listed = [&lists] {
      std::uint64_t count = 0;
      const std::uint32_t first = lists.pages().first_page();
      for (std::uint32_t page = first; page < first + pages; ++page) {
        count += lists.pages().listed(c).leaf_word(page / 64) >> page % 64 & 1;
      }
      return count;
    };
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < pages; ++i) {
      last = lists.superblocks().take(lane_bit());
      lists.superblocks().assign(last, c, 4);
      lists.list(last, c);
      if (i == 2) {
        out[0] = lists.take(c, 1, 7, left).permits;
        out[1] = listed();
      }
    }
    out[2] = listed();
    out[3] = lists.take(c, 1, 7, left).permits;
    out[4] = listed() <= 8;
    lists.pages().bits(last, c).release(2);
    lists.give(lane_bit(), last, c, 1);
    out[5] = lists.take(c, 1, 7, left).permits;
  }
};
TEST(kma_lists, a_take_strikes_off_all_but_a_few_pages_without_units) {
  stage on{12 * page_bytes};
  expect_words(on.run<search>(idle_kernel{}), {0, 3, 12, 0, 1, 1});
}

/// A listed superblock of which a warp leaves some becomes the current one, and is listed no more.
struct listed_current_kernel {
  WARPHEAP_FN void operator()(search of, std::uint64_t* out) const {
    constexpr std::uint32_t c = 2;  // 63 blocks
    const std::uint32_t page = of.superblocks().take(lane_bit());
    of.superblocks().assign(page, c, 1);
    of.lists().list(page, c);
    out[0] = of.find(lane_bit(), c) != nullptr;
    out[1] = of.pages().current(c, 0).load(memory_order::relaxed, thread_scope::device) == page + 1;
    out[2] = of.pages().listed(c).leaf_word(page / 64);
    out[3] = of.currents().draw(c, 0, 32).permits;
    const std::uint32_t other = of.superblocks().take(lane_bit());
    of.superblocks().assign(other, c, 1);
    of.currents().adopt(other, c);  // replaced, it is listed again
    out[4] = of.pages().listed(c).leaf_word(page / 64) == std::uint64_t{1} << page % 64;
  }
};
TEST(kma_search, a_listed_superblock_that_becomes_current_is_listed_no_more) {
  stage on{2 * page_bytes};
  expect_words(on.run<search>(listed_current_kernel{}), {1, 1, 0, 32, 1});
}

/// A current superblock is a name: it is removed with the last permit, it is refused where the page has another class,
/// and it is listed where another superblock takes its place and it has permits.
struct current_kernel {
  WARPHEAP_FN void operator()(search of, std::uint64_t* out) const {
    constexpr std::uint32_t c = 6;  // 4 blocks
    const auto& currents = of.currents();
    const auto& superblocks = of.superblocks();
    const auto name = [&currents] {
      return currents.pages().current(c, 0).load(memory_order::relaxed, thread_scope::device);
    };
    const std::uint32_t first = superblocks.take(lane_bit());
    superblocks.assign(first, c, 1);
    out[0] = currents.draw(c, 0, 1).permits;
    currents.adopt(first, c);
    kma_draw got = currents.draw(c, 0, 2);
    out[1] = got.page == first ? 100 * got.permits + got.start : 0;
    out[2] = name() == first + 1;
    got = currents.draw(c, 0, 2);
    out[3] = 100 * got.permits + got.start;
    out[4] = name();
    currents.adopt(first, c);
    currents.lists().give(lane_bit(), first, c, 4);
    const std::uint32_t again = superblocks.take(lane_bit());
    superblocks.assign(again, c + 1, 1);
    out[5] = again == first ? currents.draw(c, 0, 1).permits : 7;
    const std::uint32_t second = superblocks.take(lane_bit());
    superblocks.assign(second, c, 1);
    currents.adopt(second, c);
    const auto is_listed = [&currents](std::uint32_t page) {
      return (currents.pages().listed(c).leaf_word(page / 64) >> page % 64 & 1) != 0;
    };
    out[6] = is_listed(first);  // it has another class
    currents.adopt(second, c);
    out[7] = is_listed(second);  // it takes its own place
    currents.adopt(first, c);
    out[8] = is_listed(second);
    currents.adopt(second, c);
    out[9] = currents.draw_any(c, 32).permits;
    currents.pages().listed(c).erase(second);
    currents.adopt(second, c);
    currents.adopt(first, c);
    out[10] = is_listed(second);  // it has no permit
  }
};
TEST(kma_currents, a_name_owns_nothing) {
  stage on{2 * page_bytes};
  expect_words(on.run<search>(current_kernel{}), {0, 201, 1, 103, 0, 0, 0, 0, 1, 3, 0});
}

/// What a current superblock of another stripe has left is found before a request is refused.
struct other_stripe {
  static constexpr kma_options options{.currents = 4};
};
using striped_search = detail::kma_search<types_of<other_stripe>::layout>;
struct stripe_kernel {
  WARPHEAP_FN void operator()(striped_search of, std::uint64_t* out) const {
    constexpr std::uint32_t c = 6;
    const std::uint32_t page = of.superblocks().take(lane_bit());
    of.superblocks().assign(page, c, 3);
    of.pages().current(c, of.currents().home() ^ 3).store(page + 1, memory_order::relaxed, thread_scope::device);
    out[0] = of.find(lane_bit(), c) != nullptr;
    out[1] = of.find(lane_bit(), c) != nullptr;
  }
};
TEST(kma_search, current_superblocks_of_other_stripes_serve_too) {
  part_stage<types_of<other_stripe>::allocator, (1u << 21), 16> on{1 * page_bytes};
  expect_words(on.run<striped_search>(stripe_kernel{}), {1, 0});
}

/// A note of a refusal ends with each free, also with one that reaches the ring alone.
struct old_note_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t* out) const {
    void* last = nullptr;  // the blocks are a list
    while (void* const block = heap.malloc(1008)) {
      *static_cast<void**>(block) = last;
      last = block;
    }
    out[0] = heap.malloc(page_bytes) == nullptr;
    while (last != nullptr) {
      void* const next = *static_cast<void**>(last);
      heap.free(last);
      last = next;
    }
    out[1] = heap.malloc(page_bytes) != nullptr;
  }
};
TEST(kma_search, a_free_ends_the_refusals_before_it) {
  const heap<kma> of{64 << 10};
  const device_array<std::uint64_t> out(2);
  launch({1, 1}, old_note_kernel{}, of.ref(), out.data());
  expect_words(out.to_host(), {1, 1});
}

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
  WARPHEAP_FN void operator()(heap_ref<A> heap, void* const* blocks) const {
    heap.free(blocks[grid_thread_index()]);
  }
};
/// A warp that asks together gets neighbours, of a superblock that has room for all, or of as many as it needs.
TEST(kma, a_warp_takes_neighbours) {
  constexpr std::uint64_t lanes = warp_width;
  for (const std::uint64_t bytes : {16, 64, 112, 240, 1008, 2032, 4080}) {
    const heap<kma> of{1 << 20};
    const device_array<void*> blocks(lanes);
    launch({1, warp_width}, take_kernel{}, of.ref(), blocks.data(), bytes);
    const std::vector<void*> got = blocks.to_host();
    const std::uint64_t capacity = kma_classes::capacity(kma_classes::of(bytes));
    for (std::uint64_t i = 0; i < lanes; ++i) {
      const auto address = reinterpret_cast<std::uint64_t>(got[i]);
      EXPECT_EQ(address % page_bytes, i % capacity * bytes) << bytes;
    }
    EXPECT_EQ(*of.statistics().live_bytes, lanes * bytes);
    launch({1, warp_width}, free_kernel{}, of.ref(), static_cast<void* const*>(blocks.data()));
    EXPECT_EQ(*of.statistics().live_bytes, 0u) << bytes;
  }
}

/// A warp takes many blocks, gives each fourth back, and asks for as many again.
struct punch_holes_kernel {
  static constexpr std::uint64_t each = 8;
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks, void** again, std::uint64_t bytes) const {
    const auto lane = static_cast<std::uint64_t>(lane_index());
    for (std::uint64_t i = 0; i < each; ++i) {
      sync(full_warp);
      blocks[i * warp_width + lane] = heap.malloc(bytes);
    }
    for (std::uint64_t i = 0; i < each; ++i) {
      if (lane % 4 == i % 4) heap.free(blocks[i * warp_width + lane]);
    }
    for (std::uint64_t i = 0; i < each / 4; ++i) {
      sync(full_warp);
      again[i * warp_width + lane] = heap.malloc(bytes);
    }
  }
};
/// A warp takes what it needs of several listed superblocks, and makes no new one as long as these have blocks.
TEST(kma, a_warp_fills_the_holes_of_several_superblocks) {
  constexpr std::uint64_t each = punch_holes_kernel::each;
  for (const std::uint64_t bytes : {64, 112, 240, 496, 1008}) {
    const heap<kma> of{1 << 20};
    const device_array<void*> blocks(each * warp_width);
    const device_array<void*> again(each / 4 * warp_width);
    launch({1, warp_width}, punch_holes_kernel{}, of.ref(), blocks.data(), again.data(), bytes);
    std::set<std::uint64_t> pages;
    for (void* const block : blocks.to_host()) pages.insert(reinterpret_cast<std::uint64_t>(block) / page_bytes);
    for (void* const block : again.to_host()) {
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(pages.count(reinterpret_cast<std::uint64_t>(block) / page_bytes), 1u) << bytes;
    }
    EXPECT_EQ(*of.statistics().live_bytes, each * warp_width * bytes);
  }
}

/// One lane fills the heap with blocks of a size, frees all, and does so again with the next size.
struct fill_in_turn_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t bytes, std::uint64_t* counts) const {
    std::uint64_t* to = counts;
    for (std::uint32_t c = 0; c < kma_classes::count; ++c) *to++ = fill_and_empty(heap, kma_classes::bytes(c));
    *to++ = fill_and_empty(heap, page_bytes);
    *to++ = fill_and_empty(heap, bytes / 4);
    *to++ = fill_and_empty(heap, 16);
  }
};
template <class A>
class kma_family : public ::testing::Test {};
using designs = ::testing::Types<kma, allocator>;
TYPED_TEST_SUITE(kma_family, designs);

TYPED_TEST(kma_family, all_of_the_heap_serves_each_size_in_turn) {
  constexpr std::uint64_t bytes = 256 << 10;
  const heap<TypeParam> of{bytes};
  const device_array<std::uint64_t> counts(kma_classes::count + 3);
  launch({1, 1}, fill_in_turn_kernel{}, of.ref(), bytes, counts.data());
  const std::vector<std::uint64_t> got = counts.to_host();
  // The arena may begin within a page.
  const std::uint64_t superblocks = got[kma_classes::count];
  EXPECT_GE(superblocks, bytes / page_bytes - 1);
  for (std::uint32_t c = 0; c < kma_classes::count; ++c) {
    EXPECT_EQ(got[c], superblocks * kma_classes::capacity(c)) << kma_classes::bytes(c);
  }
  EXPECT_GE(got[kma_classes::count + 1], 2u);
  EXPECT_EQ(got[kma_classes::count + 2], got[0]);
  EXPECT_EQ(*of.statistics().live_bytes, 0u);
}

// Takes the options apart from the design, for the reason that `types_of` has.
template <class A>
void keeps_its_promises() {
  findings found;
  churn_when_full<A>(found);
  full_heap_serves_after_frees<A>(found);
  for (const std::string& text : found.texts()) ADD_FAILURE() << text;
}
TEST(kma, serves_with_one_current_superblock_and_a_small_ring) { keeps_its_promises<allocator>(); }

}  // namespace
}  // namespace warpheap::test::kma_test
