// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Pages of Ouroboros on their way from free to where a search finds them, under every schedule of two threads with few
// switches. The oracle is that of refusals: a thread that has freed a page while nobody else takes one is not refused.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::ouroboros_exploration_test {
namespace {

constexpr std::uint64_t chunk_bytes = ouroboros_options{}.chunk_bytes;

// A heap of one chunk, all of whose pages are in use.
template <class A>
class full_heap {
 public:
  explicit full_heap(std::uint64_t page_bytes) : page_bytes_(page_bytes), memory_(metadata() + 2 * chunk_bytes) {
    in_one_lane([self = allocator()] { self.initialise(); });
    in_one_lane([self = allocator(), page_bytes, to = &pages_] {
      for (std::uint64_t at = 0; at < chunk_bytes; at += page_bytes) (*to)[at / page_bytes] = self.malloc(page_bytes);
    });
    memory_.freeze();
  }
  A allocator() const {
    auto* const data = reinterpret_cast<std::byte*>(
        align_up(reinterpret_cast<std::uint64_t>(memory_.data()) + metadata(), chunk_bytes));
    return A{arena{data, chunk_bytes, chunk_bytes, memory_.data()}};
  }
  const snapshot& memory() const { return memory_; }
  void* page(std::uint32_t index) const { return pages_[index]; }
  std::uint64_t page_bytes() const { return page_bytes_; }

 private:
  static std::uint64_t metadata() { return align_up(A::metadata_bytes(chunk_bytes), 256); }
  std::uint64_t page_bytes_;
  snapshot memory_;
  std::vector<void*> pages_ = std::vector<void*>(16);
};

// Each lane frees a page of the one chunk; lane 1 wants one then. The lane that counts the first page puts a hint to
// the chunk where a search finds it, and the lane that counts the last page gives the chunk back. In between, pages of
// both lanes are out of sight.
template <class A>
struct free_against_free_and_malloc {
  A self;
  void* first;
  void* second;
  std::uint64_t page_bytes;
  void operator()(std::uint64_t* out, unsigned lane) const {
    self.free(lane == 0 ? first : second);
    if (lane == 0) return;
    void* const got = self.malloc(page_bytes);
    require(got != nullptr, "refused with a free page");
    out[1] = reinterpret_cast<std::uint64_t>(got);
  }
};

template <class A>
void expect_no_refusal(std::uint64_t page_bytes) {
  const full_heap<A> heap(page_bytes);
  for (std::uint32_t i = 0; i < chunk_bytes / page_bytes; ++i) ASSERT_NE(heap.page(i), nullptr);
  exploration_options options;
  options.preemptions = 1;
  options.most_steps = 20'000;
  expect_all_clean(explore_snapshot(
      heap.memory(), 2, free_against_free_and_malloc<A>{heap.allocator(), heap.page(0), heap.page(1), page_bytes},
      [&](const results& out) -> std::string {
        const auto first = reinterpret_cast<std::uint64_t>(heap.page(0));
        const auto second = reinterpret_cast<std::uint64_t>(heap.page(1));
        return out[1] == first || out[1] == second ? "" : "a page in use was handed out";
      },
      options));
}

// Four pages a chunk, of which two stay in use: the hint is on its way.
TEST(explored_ouroboros, a_page_on_its_way_is_found) {
  expect_no_refusal<ouroboros_s_c>(chunk_bytes / 4);
  expect_no_refusal<ouroboros_va_c>(chunk_bytes / 4);
  expect_no_refusal<ouroboros_vl_c>(chunk_bytes / 4);
}

// Two pages a chunk: the chunk is on its way.
TEST(explored_ouroboros, a_chunk_on_its_way_is_found) {
  expect_no_refusal<ouroboros_s_c>(chunk_bytes / 2);
  expect_no_refusal<ouroboros_va_c>(chunk_bytes / 2);
  expect_no_refusal<ouroboros_vl_c>(chunk_bytes / 2);
}

}  // namespace
}  // namespace warpheap::test::ouroboros_exploration_test
