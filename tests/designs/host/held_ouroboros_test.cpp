// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Ouroboros while a lane that frees a page is held: between the bit and the count of the page, and between the count
// and the hint to the chunk.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <support/few_lanes.hpp>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test::held_ouroboros_test {
namespace {

constexpr std::uint64_t chunk_bytes = ouroboros_options{}.chunk_bytes;
constexpr std::uint64_t page_bytes = chunk_bytes / 4;
constexpr std::uint32_t pages = 4;

// A heap of one chunk, whose four pages are in use.
template <class A>
class full_heap {
 public:
  full_heap() : memory_(metadata() + 2 * chunk_bytes) {
    in_one_lane([self = allocator(), to = page_] {
      self.initialise();
      for (std::uint32_t i = 0; i < pages; ++i) to[i] = self.malloc(page_bytes);
    });
    memory_.freeze();
  }
  A allocator() const {
    auto* const data = reinterpret_cast<std::byte*>(
        align_up(reinterpret_cast<std::uint64_t>(memory_.data()) + metadata(), chunk_bytes));
    return A{arena{data, chunk_bytes, chunk_bytes, memory_.data()}};
  }
  void reset() const { memory_.reset(); }
  void* page(std::uint32_t index) const { return page_[index]; }

 private:
  static std::uint64_t metadata() { return align_up(A::metadata_bytes(chunk_bytes), 256); }
  snapshot memory_;
  void* page_[pages] = {};
};

template <class A>
class held_ouroboros : public testing::Test {};
using designs = testing::Types<ouroboros_s_c, ouroboros_va_c, ouroboros_vl_c>;
TYPED_TEST_SUITE(held_ouroboros, designs);

// A lane has counted a page, and no search finds it yet. Another lane, whose free has returned, is not refused.
TYPED_TEST(held_ouroboros, a_page_on_its_way_is_waited_for) {
  const full_heap<TypeParam> heap;
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane freeing{"ouroboros.defer.counted", {.thread = 0, .turns = 5000}};
    void* got = nullptr;
    lanes.run([self = heap.allocator(), first = heap.page(0), second = heap.page(1), freeing = &freeing,
               got = &got](unsigned lane) {
      if (lane == 0) return self.free(first);
      freeing->await();
      self.free(second);
      *got = self.malloc(page_bytes);
      freeing->release();
    });
    EXPECT_NE(got, nullptr) << "refused with a free page";
  });
}

// A lane has set the bit of its page and not counted it. Another lane frees all other pages and wants some of another
// size, for which the chunk would have to change its class.
TYPED_TEST(held_ouroboros, a_late_free_does_not_meet_the_next_class) {
  const full_heap<TypeParam> heap;
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane freeing{"ouroboros.count_pages.bits_set", {.thread = 0, .turns = 5000}};
    void* first = nullptr;
    lanes.run([self = heap.allocator(), &heap, freeing = &freeing, first = &first](unsigned lane) {
      if (lane == 0) return self.free(heap.page(0));
      freeing->await();
      for (std::uint32_t i = 1; i < pages; ++i) self.free(heap.page(i));
      *first = self.malloc(2 * page_bytes);
      freeing->release();
    });
    void* second = nullptr;
    void* again = nullptr;
    in_one_lane([self = heap.allocator(), first = &first, second = &second, again = &again] {
      if (*first == nullptr) *first = self.malloc(2 * page_bytes);
      *second = self.malloc(2 * page_bytes);
      self.free(*second);
      *again = self.malloc(2 * page_bytes);
    });
    EXPECT_NE(first, nullptr);
    EXPECT_NE(second, nullptr) << "the chunk has two pages of this size";
    EXPECT_NE(second, first);
    EXPECT_EQ(again, second) << "the only free page";
  });
}

}  // namespace
}  // namespace warpheap::test::held_ouroboros_test
