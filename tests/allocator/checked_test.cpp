// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A checked heap finds each kind of fault, and says who did what to which block.

#include <gtest/gtest.h>

#include <allocator/checked_faults.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::checked_test {
namespace {

constexpr std::uint64_t heap_bytes = std::uint64_t{1} << 20;

template <class A>
class checked_heap : public testing::Test {
 protected:
  heap<A> heap_{heap_bytes};
};
using designs = testing::Types<checked<warp_slab>, checked<warp_slab, one_in_quarantine>,
                               checked<locked_list<>, four_in_quarantine>>;
TYPED_TEST_SUITE(checked_heap, designs, );

template <class A>
struct quarantine_of;
template <class A, checked_options Options>
struct quarantine_of<checked<A, Options>> {
  static constexpr int blocks = Options.quarantine;
};

// What a heap is for is no fault.
struct uses_well {
  template <class A>
  WARPHEAP_FN void* operator()(const heap_ref<A>& heap) const {
    for (const std::uint64_t bytes : {0, 1, 15, 16, 17, 100, 4096, 70'000}) {
      auto* const block = static_cast<std::byte*>(heap.malloc(bytes));
      for (std::uint64_t i = 0; i < bytes; ++i) block[i] = std::byte{0xff};
      heap.free(heap.realloc(block, bytes / 3));
      heap.free(heap.aligned_malloc(256, bytes));
      heap.free(heap.realloc(heap.calloc(3, bytes), bytes));
    }
    heap.free(nullptr);
    return nullptr;
  }
};

TYPED_TEST(checked_heap, finds_no_fault_where_there_is_none) {
  auto& heap = this->heap_;
  expect_no_fault(heap);
  err(heap, uses_well{});
  expect_no_fault(heap);
  EXPECT_EQ(heap.statistics().live_bytes, 0u);
  expect_whole(heap);
  expect_no_fault(heap);
}

TYPED_TEST(checked_heap, finds_a_double_free) {
  auto& heap = this->heap_;
  for (const std::uint64_t bytes : {1, 100, 200'000}) {
    void* const block = err(heap, takes{bytes});
    err(heap, frees{block});
    expect_no_fault(heap);
    err(heap, frees{block});
    expect_fault(heap, fault_kind::double_free, block, bytes);
    heap.clear_fault();
  }
  expect_whole(heap);
}

// By then the design knows that the block is free, and nobody knows its size any more.
TYPED_TEST(checked_heap, finds_a_double_free_after_the_quarantine) {
  auto& heap = this->heap_;
  for (const std::uint64_t bytes : {1, 100, 200'000}) {
    void* const block = err(heap, takes{bytes});
    err(heap, frees{block});
    err(heap, frees_others{quarantine_of<TypeParam>::blocks});
    expect_no_fault(heap);
    err(heap, frees{block});
    expect_fault(heap, fault_kind::double_free, block, 0);
    heap.clear_fault();
  }
  expect_whole(heap);
}

TYPED_TEST(checked_heap, finds_what_never_was_a_block) {
  auto& heap = this->heap_;
  auto* const block = static_cast<std::byte*>(err(heap, takes{100}));
  std::byte* const never = block + heap_bytes / 2;
  err(heap, frees{never});
  expect_fault(heap, fault_kind::double_free, never, 0);
}

TYPED_TEST(checked_heap, finds_a_foreign_pointer) {
  auto& heap = this->heap_;
  const device_array<std::uint64_t> array(8);
  err(heap, frees{array.data()});
  expect_fault(heap, fault_kind::foreign_pointer, array.data(), 0);
  // A block of another heap, too.
  const warpheap::heap<TypeParam> other{heap_bytes};
  void* const block = err(other, takes{100});
  heap.clear_fault();
  err(heap, frees{block});
  expect_fault(heap, fault_kind::foreign_pointer, block, 0);
  err(other, frees{block});
  expect_no_fault(other);
}

TYPED_TEST(checked_heap, finds_an_interior_pointer) {
  auto& heap = this->heap_;
  for (const std::uint64_t bytes : {40, 3000, 200'000}) {
    auto* const block = static_cast<std::byte*>(err(heap, takes{bytes}));
    for (const std::uint64_t at : {std::uint64_t{1}, std::uint64_t{16}, bytes / 2, bytes - 1}) {
      err(heap, frees{block + at});
      expect_fault(heap, fault_kind::interior_pointer, block + at, 0);
      heap.clear_fault();
    }
    err(heap, frees{block});
    expect_no_fault(heap);
  }
  expect_whole(heap);
}

// Takes a block, changes some bytes past its end, and frees it.
struct overruns {
  std::uint64_t bytes;
  std::uint64_t by;

  template <class A>
  WARPHEAP_FN void* operator()(const heap_ref<A>& heap) const {
    void* const block = heap.malloc(bytes);
    for (std::uint64_t i = 0; i < by; ++i) scribble(block, bytes + i);
    heap.free(block);
    return block;
  }
};

TYPED_TEST(checked_heap, finds_an_overrun_by_one_byte) {
  auto& heap = this->heap_;
  std::vector<std::uint64_t> sizes{1000, 4096, 65'520, 70'000};
  for (std::uint64_t bytes = 1; bytes <= 64; ++bytes) sizes.push_back(bytes);
  for (const std::uint64_t bytes : sizes) {
    void* const block = err(heap, overruns{bytes, 1});
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    expect_fault(heap, fault_kind::overrun, block, bytes);
    heap.clear_fault();
  }
  // They were taken back all the same, and nothing more is found when they leave the quarantine.
  EXPECT_EQ(heap.statistics().live_bytes, 0u);
  expect_whole(heap);
  expect_no_fault(heap);
}

// The size goes with the trailer's first word, and the state with its second.
TYPED_TEST(checked_heap, finds_an_overrun_of_the_trailer) {
  auto& heap = this->heap_;
  for (const std::uint64_t by : {2, 8, 9, 16}) {
    void* const block = err(heap, overruns{16, by});
    SCOPED_TRACE(std::to_string(by) + " bytes");
    expect_fault(heap, fault_kind::overrun, block, 0);
    heap.clear_fault();
  }
  EXPECT_EQ(heap.statistics().live_bytes, 0u);
  expect_whole(heap);
  expect_no_fault(heap);
}

TYPED_TEST(checked_heap, finds_a_use_after_free_when_the_block_leaves) {
  auto& heap = this->heap_;
  constexpr int quarantine = quarantine_of<TypeParam>::blocks;
  for (const std::uint64_t at : {0, 50, 99, 100, 127}) {  // its bytes, the guard, the trailer
    void* const block = err(heap, takes{100});
    err(heap, frees{block});
    err(heap, frees_others{quarantine - 1});
    err(heap, scribbles{block, at});
    expect_no_fault(heap);
    err(heap, frees_others{1});
    SCOPED_TRACE("byte " + std::to_string(at));
    expect_fault(heap, fault_kind::use_after_free, block, 100);
    heap.clear_fault();
  }
  expect_whole(heap);
  expect_no_fault(heap);
}

TYPED_TEST(checked_heap, finds_a_use_after_free_when_the_heap_is_full) {
  auto& heap = this->heap_;
  void* const block = err(heap, takes{1000});
  err(heap, frees{block});
  err(heap, scribbles{block, 999});
  expect_no_fault(heap);
  expect_whole(heap);
  expect_fault(heap, fault_kind::use_after_free, block, 1000);
}

TYPED_TEST(checked_heap, keeps_the_first_of_several) {
  auto& heap = this->heap_;
  auto* const block = static_cast<std::byte*>(err(heap, takes{100}));
  err(heap, frees{block + 8});
  err(heap, frees{block});
  err(heap, frees{block});
  expect_fault(heap, fault_kind::interior_pointer, block + 8, 0);
  heap.clear_fault();
  expect_no_fault(heap);
  err(heap, frees{block});
  expect_fault(heap, fault_kind::double_free, block, 100);
}

TYPED_TEST(checked_heap, begins_anew_after_a_reset) {
  auto& heap = this->heap_;
  void* const block = err(heap, takes{100});
  void* const other = err(heap, takes{100});
  err(heap, frees{block});
  err(heap, frees{block});
  err(heap, frees{other});
  heap.reset();
  expect_no_fault(heap);
  EXPECT_EQ(heap.statistics().live_bytes, 0u);
  expect_whole(heap);  // what was in quarantine must not come back a second time
  expect_no_fault(heap);
}

// Sizes of a block, of a pointer into it, and of the block after its free.
struct sizes_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t* sizes, std::uint64_t bytes) const {
    auto* const block = static_cast<std::byte*>(heap.malloc(bytes));
    sizes[0] = heap.usable_size(block);
    sizes[1] = heap.usable_size(block + 1);
    heap.free(block);
    sizes[2] = heap.usable_size(block);
    sizes[3] = heap.usable_size(sizes);
  }
};

TYPED_TEST(checked_heap, tells_the_size_that_was_asked_for) {
  auto& heap = this->heap_;
  for (const std::uint64_t bytes : {1, 16, 77, 5000, 100'000}) {
    const device_array<std::uint64_t> sizes(4);
    launch({1, 1}, sizes_kernel{}, heap.ref(), sizes.data(), bytes);
    EXPECT_EQ(sizes.at(0), bytes);
    EXPECT_EQ(sizes.at(1), 0u) << "of a pointer into a block";
    EXPECT_EQ(sizes.at(2), 0u) << "of a freed block";
    EXPECT_EQ(sizes.at(3), 0u) << "of what is not in the heap";
  }
  expect_no_fault(heap);
}

TYPED_TEST(checked_heap, counts_live_blocks_only) {
  auto& heap = this->heap_;
  void* const block = err(heap, takes{100});
  const std::uint64_t one = *heap.statistics().live_bytes;
  EXPECT_GE(one, 116u);
  void* const other = err(heap, takes{3000});
  EXPECT_GT(heap.statistics().live_bytes, one);
  err(heap, frees{other});
  EXPECT_EQ(heap.statistics().live_bytes, one);
  err(heap, frees{block});
  EXPECT_EQ(heap.statistics().live_bytes, 0u);
}

// Only so many bytes of a freed block are watched.
TEST(checked, watches_as_many_bytes_as_it_was_told) {
  heap<checked<warp_slab, checked_options{.quarantine = 1, .poison_bytes = 64}>> heap{heap_bytes};
  for (const std::uint64_t at : {64, 99, 63}) {
    void* const block = err(heap, takes{100});
    err(heap, frees{block});
    err(heap, scribbles{block, at});
    err(heap, frees_others{1});
    if (at >= 64) {
      expect_no_fault(heap);
    } else {
      expect_fault(heap, fault_kind::use_after_free, block, 100);
    }
  }
}

// Bytes past the end of a block and freed bytes are poisoned for AddressSanitizer too, although the adaptor writes and
// reads them.
#if defined(__SANITIZE_ADDRESS__)
struct reads {
  std::uint64_t bytes;
  std::uint64_t at;
  bool freed;

  template <class A>
  void* operator()(const heap_ref<A>& heap) const {
    auto* const block = static_cast<std::byte*>(heap.malloc(bytes));
    if (freed) heap.free(block);
    atomic_view{*reinterpret_cast<std::uint64_t*>(block + at)}.load(memory_order::relaxed, thread_scope::device);
    return nullptr;
  }
};
[[noreturn]] void read_and_exit(reads what) {
  const heap<checked<warp_slab>> heap{heap_bytes};
  err(heap, what);
  std::exit(0);
}
TEST(checked_deathtest, a_memory_checker_sees_it_first) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(read_and_exit({200, 192, false}), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(read_and_exit({200, 200, false}), testing::ExitedWithCode(1), "use-after-poison");
  EXPECT_EXIT(read_and_exit({200, 0, true}), testing::ExitedWithCode(1), "use-after-poison");
  EXPECT_EXIT(read_and_exit({100'000, 96'000, true}), testing::ExitedWithCode(1), "use-after-poison");
}
#endif

struct limited : locked_list<> {
  using locked_list::locked_list;
  static constexpr allocator_capabilities capabilities = [] {
    allocator_capabilities can = locked_list::capabilities;
    can.largest_bytes = 1000;
    return can;
  }();
};
static_assert(checked<limited>::capabilities.largest_bytes == 976);  // with its trailer in 992, the last multiple of 16
static_assert(checked<warp_slab>::capabilities.largest_bytes == unlimited);
static_assert(!checked<locked_list<>>::capabilities.relocate &&
              !checked<warp_slab>::capabilities.refuses_only_when_full);
static_assert(locates_blocks<warp_slab> && !locates_blocks<bump> && !locates_blocks<checked<warp_slab>>);
static_assert(records_faults<checked<warp_slab>> && !records_faults<warp_slab>);

TEST(checked, says_what_to_do) {
  const auto* const pointer = reinterpret_cast<const void*>(std::uintptr_t{0x7000});
  const auto said = [&](fault_kind kind, std::uint64_t bytes) {
    return warpheap::describe({.kind = kind, .thread_index = 37, .block_index = 2, .pointer = pointer, .bytes = bytes});
  };
  EXPECT_EQ(said(fault_kind::interior_pointer, 0),
            "thread 37 of block 2 freed 0x7000, which is inside of a block: free the pointer that malloc gave");
  EXPECT_EQ(said(fault_kind::overrun, 100),
            "thread 37 of block 2 freed the block at 0x7000 of 100 bytes and found bytes changed past its end: look "
            "for a write beyond the size that was asked for");
  EXPECT_NE(said(fault_kind::double_free, 0).find("the block at 0x7000, which is not live"), std::string::npos);
  EXPECT_NE(said(fault_kind::foreign_pointer, 0).find("not in this heap"), std::string::npos);
  EXPECT_NE(said(fault_kind::use_after_free, 8).find("of 8 bytes changed after it was freed"), std::string::npos);
}

}  // namespace
}  // namespace warpheap::test::checked_test
