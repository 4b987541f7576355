// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Pages of `scatter` and `flatter_scatter` that become full, empty, another size's or the page source's, under the
// schedules of two lanes. The oracle: at each moment there is a block for each lane that asks, so nobody may be
// refused; no block is handed out twice; and at the end all pages are to be had.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/designs/scatter/scatter.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::scatter_exploration_test {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t half_page = 2000;  // two of them fill a page
// All pages are open at first, and each search looks at all of them. So small a region counts as crowded: a quick look
// passes it by, and the sweeps are what serves. With `roomy` the quick look serves, which notes full pages late.
constexpr scatter_options tiny{.opened_part = 1};
constexpr scatter_options roomy{.opened_part = 1, .crowded = 1};

template <class A>
class heap_memory {
 public:
  explicit heap_memory(std::uint32_t pages) : bytes_(pages * page_bytes), memory_(metadata() + bytes_) {}
  /// `body(heap, out)` sets up; what it writes to `out` each execution finds.
  template <class Body>
  void set_up(Body body) {
    in_one_lane([self = self(), body, to = blocks_] {
      self.initialise();
      body(self, to);
    });
    memory_.freeze();
  }
  A self() const { return A{arena{memory_.data() + metadata(), bytes_, bytes_, memory_.data()}}; }
  void* block(std::uint32_t i) const { return blocks_[i]; }
  const snapshot& memory() const { return memory_; }

  /// All pages of the heap are to be had, and nothing else.
  std::string expect_whole() const {
    std::uint64_t pages = 0;
    in_one_lane([self = self(), to = &pages] {
      while (self.malloc(page_bytes) != nullptr) ++*to;
    });
    return pages == bytes_ / page_bytes ? "" : "the heap has " + std::to_string(pages) + " pages at the end";
  }

 private:
  std::uint64_t metadata() const { return align_up(A::metadata_bytes(bytes_), page_bytes); }
  std::uint64_t bytes_;
  snapshot memory_;
  void* blocks_[4] = {};
};

template <class A>
class explored_scatter : public ::testing::Test {};
using designs = ::testing::Types<basic_scatter<tiny>, basic_scatter<roomy>, basic_flatter_scatter<tiny>>;
TYPED_TEST_SUITE(explored_scatter, designs);

// Notes a block that no other lane may have. An exploration runs one lane at a time, so plain accesses are sound; an
// atomic one would be a step more in each schedule. ThreadSanitizer knows neither, so it is not told.
[[gnu::no_sanitize("thread"), gnu::noinline]] inline void use(std::uint64_t* out, unsigned lane, void* block) {
  require(block != nullptr, "refused with a block for each");
  out[lane] = reinterpret_cast<std::uint64_t>(block);
  require(out[0] != out[1], "one block, two owners");
}

// Each lane takes a chunk and gives it back; the page has two. It is prepared by one of them, maybe twice, and becomes
// full if both have theirs.
template <class A>
struct take_and_give {
  A self;
  std::uint64_t first_bytes;
  void operator()(std::uint64_t* out, unsigned lane) const {
    void* const block = self.malloc(lane == 0 ? first_bytes : half_page);
    use(out, lane, block);
    out[lane] = 0;
    self.free(block);
  }
};

TYPED_TEST(explored_scatter, two_chunks_fill_a_page_and_leave_it_empty) {
  heap_memory<TypeParam> memory{1};
  memory.set_up([](const TypeParam&, void**) {});
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, take_and_give<TypeParam>{memory.self(), half_page},
      [&](const results&) { return memory.expect_whole(); }, few_switches(2)));
}

TYPED_TEST(explored_scatter, a_page_for_each_of_two_sizes) {
  heap_memory<TypeParam> memory{2};
  memory.set_up([](const TypeParam&, void**) {});
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, take_and_give<TypeParam>{memory.self(), 16},
      [&](const results&) { return memory.expect_whole(); }, few_switches(2)));
}

// The page is full. Each lane gives one of its two chunks back and takes one: the page leaves its region and comes
// back.
template <class A>
struct give_and_take {
  A self;
  void* mine[2];
  std::uint64_t bytes[2];
  void operator()(std::uint64_t* out, unsigned lane) const {
    self.free(mine[lane]);
    void* const block = self.malloc(bytes[lane]);
    use(out, lane, block);
    out[lane] = 0;
    self.free(block);
  }
};

TYPED_TEST(explored_scatter, a_full_page_is_found_again) {
  heap_memory<TypeParam> memory{1};
  memory.set_up([](const TypeParam& self, void** blocks) {
    for (int i = 0; i < 2; ++i) blocks[i] = self.malloc(half_page);
  });
  const give_and_take<TypeParam> kernel{memory.self(), {memory.block(0), memory.block(1)}, {half_page, half_page}};
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, kernel, [&](const results&) { return memory.expect_whole(); }, few_switches(2)));
}

// Two full pages, one of a block of a page, and the other of two chunks, of which lane 1 has one. The lanes change what
// they have: lane 0 gives the block of a page and takes a chunk; lane 1 gives its chunk and takes a chunk.
TYPED_TEST(explored_scatter, a_page_comes_back_for_chunks) {
  heap_memory<TypeParam> memory{2};
  memory.set_up([](const TypeParam& self, void** blocks) {
    blocks[0] = self.malloc(page_bytes);
    for (int i = 1; i < 3; ++i) blocks[i] = self.malloc(half_page);
  });
  const give_and_take<TypeParam> kernel{memory.self(), {memory.block(0), memory.block(1)}, {half_page, half_page}};
  const auto look = [&](const results&) {
    in_one_lane([self = memory.self(), last = memory.block(2)] { self.free(last); });
    return memory.expect_whole();
  };
  expect_all_clean(explore_snapshot(memory.memory(), 2, kernel, look, few_switches(2)));
}

// Two empty pages that are open. Lane 0 wants a page as a block, which closes them; lane 1 wants a chunk. There is a
// page for each.
template <class A>
struct close_and_prepare {
  A self;
  void operator()(std::uint64_t* out, unsigned lane) const {
    void* const block = self.malloc(lane == 0 ? page_bytes : half_page);
    use(out, lane, block);
    out[lane] = 0;
    self.free(block);
  }
};

TYPED_TEST(explored_scatter, a_page_is_closed_while_another_lane_wants_one) {
  heap_memory<TypeParam> memory{2};
  memory.set_up([](const TypeParam&, void**) {});
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, close_and_prepare<TypeParam>{memory.self()},
      [&](const results&) { return memory.expect_whole(); }, few_switches(2)));
}

}  // namespace
}  // namespace warpheap::test::scatter_exploration_test
