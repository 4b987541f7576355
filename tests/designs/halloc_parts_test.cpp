// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What is special of Halloc, part by part: its sizes and slabs, draws that cross a threshold, heads that are replaced,
// sets by fill, the throttle, slabs and large blocks in one heap, and the trim kernel.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <designs/part_stage.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/halloc/halloc.hpp>
#include <warpheap/designs/halloc/statistics.hpp>

namespace warpheap::test::halloc_parts_test {
namespace {

// Slabs of four pages, one head of a class, and one thread that makes slabs.
constexpr halloc_options small{.slab_bytes = 4 * 4096, .slabs_of_heap = 1, .heads = 1, .slabs_at_once = 1};
using allocator = basic_halloc<small>;
using layout = detail::halloc_layout<small>;
using heads = detail::halloc_heads<layout>;
using slabs = detail::halloc_slabs<layout>;
using search = detail::halloc_search<layout>;
using outcome = heads::outcome;
using detail::halloc_draw;

static_assert(std::is_trivially_copyable_v<search>);
// Kernels carry the addresses once, whatever the number of parts.
static_assert(sizeof(search) == sizeof(detail::halloc_pages<layout>) && sizeof(allocator) == sizeof(search));

constexpr std::uint32_t c = 8;  // 256 bytes: 63 in a slab
constexpr std::uint32_t capacity = 63;

struct initialise_kernel {
  WARPHEAP_FN void operator()(allocator of) const { of.initialise(); }
};

/// Memory of a heap of some slabs, and the words that a kernel reports.
class stage {
 public:
  explicit stage(std::uint64_t slabs_of_heap)
      : metadata_bytes_(align_up(allocator::metadata_bytes(slabs_of_heap * small.slab_bytes), alignment)),
        bytes_(slabs_of_heap * small.slab_bytes),
        memory_(metadata_bytes_ + bytes_ + alignment) {
    launch({1, 32}, initialise_kernel{}, self());
  }
  arena from() const {
    const auto first = reinterpret_cast<std::uint64_t>(memory_.data());
    std::byte* const begin = memory_.data() + (align_up(first, alignment) - first);
    return {begin + metadata_bytes_, bytes_, bytes_, begin};
  }
  allocator self() const { return allocator{from()}; }
  /// Runs `kernel(arena, out)` in `threads` threads of blocks of 64; out is zero at first.
  template <class Kernel>
  std::vector<std::uint64_t> run(Kernel kernel, std::uint64_t threads = 1) {
    device_array<std::uint64_t> out(16);
    launch(threads == 1 ? grid_shape{1, 1} : grid_shape::covering(threads, 64), kernel, from(), out.data());
    return out.to_host();
  }

 private:
  static constexpr std::uint64_t alignment = 4 * small.slab_bytes;  // a block of four slabs begins there
  std::uint64_t metadata_bytes_;
  std::uint64_t bytes_;
  device_array<std::byte> memory_;
};

TEST(halloc_sizes, each_request_gets_the_smallest_block_that_is_aligned) {
  for (std::uint32_t bytes = 1; bytes <= halloc_classes::largest_bytes; ++bytes) {
    std::uint32_t expected = 0;
    while (halloc_classes::bytes(expected) < bytes || halloc_classes::bytes(expected) % 16 != 0) ++expected;
    ASSERT_EQ(halloc_classes::of(bytes), expected) << bytes;
  }
  for (std::uint32_t of = 0; of < halloc_classes::count; ++of) {
    const std::uint32_t bytes = halloc_classes::bytes(of);
    EXPECT_EQ(bytes, halloc_classes::chunks(of) * halloc_classes::chunk_bytes(halloc_classes::chunk_size(of)));
    for (std::uint32_t offset = 0; offset < 8 * bytes; offset += 5) {
      ASSERT_EQ(halloc_classes::divide(offset, of), offset / bytes) << bytes;
    }
  }
}

TEST(halloc_slabs, no_block_begins_at_a_page) {
  for (const std::uint32_t order : {0u, 1u, 2u, 6u, 10u}) {
    for (std::uint32_t of = 0; of < halloc_classes::count; ++of) {
      const layout::class_figures figures = layout::figures(of, order);
      const std::uint32_t bytes = halloc_classes::bytes(of);
      std::uint32_t blocks = 0;
      for (std::uint32_t slot = 0; slot < figures.slots; ++slot) {
        const std::uint32_t at = figures.first + slot * bytes;
        blocks += at % 4096 != 0;
        ASSERT_EQ(layout::is_absent(of, figures.first, slot), at % 4096 == 0);
      }
      EXPECT_EQ(blocks, figures.capacity) << bytes;
      EXPECT_GE(figures.first, (figures.slots + 31) / 32 * 4) << "the bitmap lies before the blocks";
      EXPECT_LE(figures.first + figures.slots * bytes, 4096u << order);
      EXPECT_EQ(figures.first % 64, 0u);
      if (order < 2) continue;
      EXPECT_GE(std::uint64_t{figures.capacity} * bytes, (4096u << order) * std::uint64_t{3} / 5);
    }
  }
}

// All blocks of a heap are taken and given back; none begins at a page, though in a heap without room for slabs that
// are left over pages are blocks.
struct fill_and_empty {
  std::uint32_t bytes;
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const allocator self{from};
    void* last = nullptr;
    for (void* block = self.malloc(bytes); block != nullptr; block = self.malloc(bytes)) {
      out[1] += reinterpret_cast<std::uint64_t>(block) % 4096 == 0;
      out[2] += self.usable_size(block) < bytes;
      out[3] += self.locate(block) != block_location::block;
      *static_cast<void**>(block) = last;
      last = block;
      ++out[0];
    }
    while (last != nullptr) {
      void* const next = *static_cast<void**>(last);
      self.free(last);
      last = next;
    }
  }
};

TEST(halloc_slabs, each_class_fills_its_slabs) {
  for (std::uint32_t of = 0; of < halloc_classes::count; ++of) {
    if (of == 1) continue;  // no request has it
    stage heap{3};
    const auto out = heap.run(fill_and_empty{halloc_classes::bytes(of)});
    EXPECT_EQ(out[0], 3 * layout::figures(of, 2).capacity) << halloc_classes::bytes(of);
    EXPECT_EQ(out[1] + out[2] + out[3], 0u) << halloc_classes::bytes(of);
  }
}

struct replace_kernel {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    outcome how{};
    const halloc_draw got = heads{from}.replace(lane_bit(), c, 0, 5, how);
    out[0] = static_cast<std::uint64_t>(how);
    out[1] = got.permits;
  }
};

// Each thread draws `each` permits. Reports draws that got something, permits, and draws that crossed the threshold.
struct draw_kernel {
  std::uint64_t threads;
  std::uint32_t each;
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    if (grid_thread_index() >= threads) return;
    const halloc_draw got = heads{from}.draw(c, 0, each);
    const auto add = [](std::uint64_t& sum, std::uint64_t more) {
      atomic_view{sum}.fetch_add(more, memory_order::relaxed, thread_scope::device);
    };
    add(out[0], got.permits != 0);
    add(out[1], got.permits);
    add(out[2], got.permits != 0 && got.crossed);
  }
};

// A head loses its tickets once, however many draw, and one draw alone tells that the head is to be replaced.
TEST(halloc_heads, one_draw_crosses_the_threshold) {
  EXPECT_EQ(layout::figures(c, 2).capacity, capacity);
  for (const std::uint32_t each : {1u, 2u, 7u}) {
    stage heap{2};
    EXPECT_EQ(heap.run(replace_kernel{})[1], 5u);
    const auto out = heap.run(draw_kernel{512, each}, 512);
    EXPECT_EQ(out[1], capacity - 5) << "tickets of the head";
    EXPECT_EQ(out[0], divide_up(capacity - 5, each));
    EXPECT_EQ(out[2], 1u) << "draws of " << each << " that crossed the threshold";
  }
}

// What the entry of a slab has, and in which set the slab is.
struct slab_view {
  std::uint32_t free, set;
};
WARPHEAP_FN inline slab_view view_of(const slabs& of, std::uint32_t slab) {
  for (std::uint32_t set = 0; set <= layout::sets; ++set) {
    if (of.sets().contains(slab, set)) return {of.entry(slab).look().free, set};
  }
  return {of.entry(slab).look().free, ~0u};
}

// The old head gets its tickets back and is listed by its fill: it is the next head, when it is the best.
struct replaced_head {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const heads of{from};
    outcome how{};
    const halloc_draw first = of.replace(lane_bit(), c, 0, 40, how);
    require(how == outcome::replaced && first.permits == 40, "a first head");
    require(view_of(of.slabs(), 0).free == 0 && view_of(of.slabs(), 0).set == layout::sets, "a head is not listed");
    require(of.draw(c, 0, 16).permits == 16, "permits of the head");
    const halloc_draw second = of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::replaced && second.page != first.page, "another slab, since none is roomy");
    require(view_of(of.slabs(), 0).free == capacity - 56, "the tickets of the old head");
    require(view_of(of.slabs(), 0).set == layout::set_of(layout::busy, c), "56 of 63 are busy");
    // 30 blocks come back: the slab is roomy, and preferred to a free one.
    of.slabs().give(of.pages().name_at(first.page), 30);
    require(view_of(of.slabs(), 0).set == layout::set_of(layout::roomy, c), "26 of 63 are roomy");
    require(of.draw(c, 0, capacity).permits == capacity - 1, "the rest of the second head");
    const halloc_draw third = of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::replaced && third.page == first.page, "a roomy slab becomes the head");
    require(of.draw(c, 0, capacity).permits == 36, "what it has but for one");
    // All come back: the slab is free, and another class has it.
    of.slabs().give(of.pages().name_at(first.page), capacity);
    require(view_of(of.slabs(), 0).set == layout::free_set, "a slab without blocks");
    const halloc_draw other = of.replace(lane_bit(), c + 1, 0, 1, how);
    require(how == outcome::replaced && other.page == first.page, "a free slab changes its class");
    require(of.slabs().entry(0).look().generation == 1, "a new generation");
    out[0] = 1;
  }
};

TEST(halloc_heads, a_replaced_head_is_listed_by_its_fill) { EXPECT_EQ(stage{2}.run(replaced_head{})[0], 1u); }

// A head that has enough tickets is not replaced, and nobody replaces a head that another thread replaces.
struct second_replacement {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const heads of{from};
    outcome how{};
    of.replace(lane_bit(), c, 0, 1, how);
    of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::waits, "a head with tickets");
    require(of.draw(c, 0, capacity).permits == capacity - 1, "all but one");
    of.head(c, 0).replacing = 1;
    of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::waits, "another thread is there");
    of.head(c, 0).replacing = 0;
    of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::replaced, "nobody is there");
    out[0] = 1;
  }
};

TEST(halloc_heads, one_thread_replaces_a_head) { EXPECT_EQ(stage{2}.run(second_replacement{})[0], 1u); }

// While as many threads as may make a slab of the class do, another thread is told to come again; a slab that is there
// already is had all the same.
struct throttle {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const heads of{from};
    outcome how{};
    const occupancy_gate making{of.slabs().figures(c).making};
    std::uint32_t before = 0;
    require(making.try_enter(1, small.slabs_at_once, before), "an open gate");
    of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::waits, "the gate is full");
    of.replace(lane_bit(), c + 1, 0, 1, how);
    require(how == outcome::replaced, "another class has another gate");
    if (making.leave(1)) making.reopen();
    const halloc_draw got = of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::replaced, "the gate is open");
    require(of.draw(c, 0, capacity).permits == capacity - 1, "all but one");
    of.slabs().give(of.pages().name_at(got.page), 40);
    require(making.try_enter(1, small.slabs_at_once, before), "nobody has stayed in the gate");
    of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::replaced, "a roomy slab");
    out[0] = 1;
  }
};

TEST(halloc_heads, few_threads_make_slabs_at_once) { EXPECT_EQ(stage{4}.run(throttle{})[0], 1u); }

// All permits of the heap's slabs of class `c` that are free go from the entry of a busy slab, which is no head.
struct draw_from_busy {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const heads of{from};
    outcome how{};
    require(of.draw_busy(lane_bit(), c, 1).permits == 0, "no slab");
    const halloc_draw first = of.replace(lane_bit(), c, 0, capacity, how);
    require(of.replace(lane_bit(), c, 0, capacity, how).permits == capacity, "the other slab");
    of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::nothing && of.head(c, 0).replacing == 0, "a full heap is seen without the lock");
    of.head(c, 0).replacing = 1;
    of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::waits, "the thread that has the lock may have permits");
    of.head(c, 0).replacing = 0;
    of.slabs().give(of.pages().name_at(first.page), 3);
    of.replace(lane_bit(), c, 0, 1, how);
    require(how == outcome::nothing, "a busy slab with few permits is no head");
    const halloc_draw two = of.draw_busy(lane_bit(), c, 2);
    require(two.permits == 2 && two.page == first.page && !two.crossed, "its permits are drawn from its entry");
    require(view_of(of.slabs(), 0).set == layout::set_of(layout::busy, c), "it stays listed");
    require(of.draw_busy(lane_bit(), c, 2).permits == 1, "what is left");
    require(view_of(of.slabs(), 0).free == 0 && view_of(of.slabs(), 0).set == layout::sets,
            "a full slab is not listed");
    out[0] = 1;
  }
};

TEST(halloc_heads, a_busy_slab_serves_without_being_a_head) { EXPECT_EQ(stage{2}.run(draw_from_busy{})[0], 1u); }

// A search of another class takes a slab from a head if none of its blocks is out, also if two heads share it. Other
// heads keep what they have.
struct flush_unused_heads {
  static constexpr halloc_options two_heads{.slab_bytes = 4096, .slabs_of_heap = 128, .heads = 2};
  using layout_type = detail::halloc_layout<two_heads>;
  static constexpr std::uint32_t all = 15;  // blocks of 256 bytes in a slab

  WARPHEAP_FN void operator()(const detail::halloc_heads<layout_type>& of, std::uint64_t* out) const {
    constexpr std::uint32_t no_class = layout_type::classes::count;
    typename detail::halloc_heads<layout_type>::outcome how{};
    const auto tickets = [&](std::uint32_t h) { return of.look(c, h).tickets(); };
    of.replace(lane_bit(), c, 0, 0, how);
    require(!of.flush_unused(lane_bit(), c, true) && tickets(0) == all, "a head of the class that searches");
    require(of.flush_unused(lane_bit(), no_class, false) && tickets(0) == 0, "a head that hands out no block");
    const halloc_draw ten = of.replace(lane_bit(), c, 0, 10, how);
    require(!of.flush_unused(lane_bit(), no_class, true) && tickets(0) == all - 10, "a head with blocks out");
    require(!of.any_serves(lane_bit(), no_class) && of.any_serves(lane_bit(), c), "it serves its class alone");
    of.slabs().give(of.pages().name_at(ten.page), 10);
    const halloc_draw none = of.replace(lane_bit(), c, 1, 0, how);
    require(none.page == ten.page && tickets(1) == 10, "two heads share a slab");
    require(!of.flush_unused(lane_bit(), no_class, false), "neither of them has all");
    require(of.any_serves(lane_bit(), no_class), "a search that looks closely sees it");
    require(of.flush_unused(lane_bit(), no_class, true) && tickets(0) == 0 && tickets(1) == 0, "both are taken back");
    require(of.slabs().take_free(0).page == ten.page, "and the slab is free");
    out[0] = 1;
  }
};

TEST(halloc_heads, those_that_hand_out_no_block_give_way) {
  part_stage<basic_halloc<flush_unused_heads::two_heads>, 4096, 4> heap{128 * 4096};
  EXPECT_EQ(heap.run<detail::halloc_heads<flush_unused_heads::layout_type>>(flush_unused_heads{})[0], 1u);
}

// Thread 0 asks for what a full heap does not have. The others give a block of another class back and take one again,
// so many of them that something comes back in each search of thread 0. It is refused while they still run.
struct ask_while_blocks_move {
  static constexpr std::uint32_t movers = 31;
  static constexpr int rounds = 2000;
  static constexpr std::uint32_t words_out = 2 + movers;  // thread 0 is done, movers that did not see it, and blocks

  std::uint64_t bytes;
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const allocator self{from};
    const atomic_view done{out[0]};
    const std::uint64_t thread = grid_thread_index();
    if (thread == 0) {
      require(self.malloc(bytes) == nullptr, "a block of a full heap");
      done.store(1, memory_order::relaxed, thread_scope::device);
      return;
    }
    void* block = reinterpret_cast<void*>(out[1 + thread]);
    for (int round = 0; done.load(memory_order::relaxed, thread_scope::device) == 0; ++round) {
      if (round == rounds) {
        atomic_view{out[1]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
        return;
      }
      if (block != nullptr) self.free(block);
      block = self.malloc(16);  // null if others took what came back in each of its searches
    }
  }
};
struct fill_kernel {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const allocator self{from};
    std::uint32_t next = 0;
    for (void* block = self.malloc(16); block != nullptr; block = self.malloc(16)) {
      out[2 + next++ % ask_while_blocks_move::movers] = reinterpret_cast<std::uint64_t>(block);
    }
  }
};
// One worker: with two the system decides how many rounds the others make while thread 0 is kept from running.
TEST(halloc_search, ends_though_blocks_come_back_for_ever) {
  for_each_seed(schedule::policy::random, 3, [](std::uint64_t) {
    for (const std::uint64_t bytes : {256u, 8192u}) {
      const stage heap{2};
      const device_array<std::uint64_t> out(ask_while_blocks_move::words_out);
      launch({1, 1}, fill_kernel{}, heap.from(), out.data());
      launch({1 + ask_while_blocks_move::movers, 1}, ask_while_blocks_move{bytes}, heap.from(), out.data());
      EXPECT_EQ(out.at(1), 0u) << bytes << " bytes were asked for as long as blocks moved";
    }
  });
}

struct free_pages_kernel {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const detail::halloc_pages<layout> of{from};
    out[0] = of.source().free_pages(of.control().end);
  }
};
struct coalesce_kernel {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t*) const { allocator{from}.coalesce(); }
};
struct large_kernel {
  std::uint64_t bytes;
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const allocator self{from};
    void* const block = self.malloc(bytes);
    out[0] = block != nullptr;
    if (block == nullptr) return;
    out[1] = self.usable_size(block);
    out[2] = self.malloc(bytes) != nullptr;
    out[3] = self.malloc(16) != nullptr;
    self.free(block);
  }
};

// Slabs without blocks stay what they are until the trim kernel makes pages of them.
TEST(halloc_trim, the_kernel_makes_pages_of_free_slabs) {
  stage heap{4};
  heap.run(fill_and_empty{256});
  heap.run(fill_and_empty{3000});
  EXPECT_EQ(heap.run(free_pages_kernel{})[0], 0u);
  heap.run(coalesce_kernel{});
  EXPECT_EQ(heap.run(free_pages_kernel{})[0], 16u);
}

// A request for pages takes the slabs without blocks, and those of heads; a small request takes pages.
TEST(halloc_trim, large_blocks_and_slabs_share_the_heap) {
  stage heap{4};
  heap.run(fill_and_empty{16});
  const auto large = heap.run(large_kernel{4 * 16384});
  EXPECT_EQ(large[0], 1u) << "a heap of empty slabs serves a block of its size";
  EXPECT_EQ(large[1], 4u * 16384);
  EXPECT_EQ(large[2] + large[3], 0u) << "nothing is left beside it";
  EXPECT_EQ(heap.run(fill_and_empty{256})[0], 4 * capacity);
}

// Threads take and give blocks of two sizes; nothing is lost.
struct churn {
  WARPHEAP_FN void operator()(const arena& from, std::uint64_t* out) const {
    const allocator self{from};
    for (std::uint32_t round = 0; round < 8; ++round) {
      const std::uint64_t bytes = (grid_thread_index() + round) % 3 == 0 ? 256 : 1024;
      auto* const block = static_cast<std::uint64_t*>(self.malloc(bytes));
      if (block == nullptr) continue;
      block[0] = block[15] = grid_thread_index();
      if (block[0] != block[15]) atomic_view{out[0]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      self.free(block);
    }
  }
};

TEST(halloc_trim, all_comes_back) {
  stage heap{8};
  EXPECT_EQ(heap.run(churn{}, 256)[0], 0u);
  const halloc_statistics seen = heap.self().statistics();
  std::uint64_t pages = seen.free_pages + seen.large_pages;
  for (const halloc_class_statistics& each : seen.classes) {
    EXPECT_EQ(each.blocks, each.free_blocks) << each.block_bytes;
    pages += each.slabs * 4;
  }
  EXPECT_EQ(pages, seen.pages);
  EXPECT_EQ(seen.large_pages, 0u);
  heap.run(coalesce_kernel{});
  EXPECT_EQ(heap.run(free_pages_kernel{})[0], 32u);
}

}  // namespace
}  // namespace warpheap::test::halloc_parts_test
