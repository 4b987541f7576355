// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The owner of a heap, from the host: how it is made, what it says of itself, how it grows, moves and ends.

#include <gtest/gtest.h>

#include <algorithm>
#include <allocator/reference.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include <warpheap.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/cuda_malloc/cuda_malloc.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap::test::heap_test {
namespace {

template <class A>
class heap_of : public testing::Test {};
using designs = testing::Types<bump, locked_list<>>;
TYPED_TEST_SUITE(heap_of, designs, );

constexpr std::uint64_t mebibyte = 1 << 20;

/// One thread takes a block and leaves its address; null if it was refused.
struct take_one_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** block, std::uint64_t bytes) const {
    *block = heap.malloc(bytes);
  }
};

// A block taken by a kernel of one thread.
template <class A>
std::byte* take_one(heap_ref<A> heap, std::uint64_t bytes) {
  const device_array<void*> block(1);
  launch({1, 1}, take_one_kernel{}, heap, block.data(), bytes);
  return static_cast<std::byte*>(block.at(0));
}

TYPED_TEST(heap_of, no_bytes_is_refused_with_advice) {
  try {
    const heap<TypeParam> none{0};
    FAIL() << "a heap of 0 bytes was made";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string{error.what()}.find("at least 1 byte"), std::string::npos) << error.what();
  }
}

TYPED_TEST(heap_of, sizes_that_no_machine_has_are_refused_by_name) {
  const auto expect_name = [](const char* number, std::uint64_t bytes, heap_options options) {
    try {
      const heap<TypeParam> none{bytes, options};
      ADD_FAILURE() << "a heap of " << number << " bytes was made";
    } catch (const std::length_error& error) {
      EXPECT_NE(std::string{error.what()}.find(number), std::string::npos) << error.what();
    }
  };
  for (const bool plain : {false, true}) {
    expect_name("18446744073709551615", unlimited, {.plain = plain});
    expect_name("9223372036854775809", most_bytes + 1, {.plain = plain});
  }
  expect_name("18446744073709551615", mebibyte, {.reserve_bytes = unlimited});
}

TYPED_TEST(heap_of, a_heap_that_would_serve_nothing_is_refused_with_advice) {
  if constexpr (!names_least_heap<TypeParam>) {
    GTEST_SKIP() << "the design does not name the least heap";
  } else {
    try {
      const heap<TypeParam> tiny{1};
      FAIL() << "a heap of 1 byte was made";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string{error.what()}.find("bytes at least"), std::string::npos) << error.what();
    }
  }
}

TYPED_TEST(heap_of, more_than_the_machine_has_is_refused) {
  EXPECT_THROW(heap<TypeParam>{std::uint64_t{1} << 62}, std::runtime_error);
  // A refusal leaves nothing that could disturb the next heap.
  const heap<TypeParam> modest{mebibyte};
  EXPECT_NE(take_one(modest.ref(), 16), nullptr);
}

TYPED_TEST(heap_of, reserves_the_device_or_what_was_asked_for) {
  if (!device_can_map()) GTEST_SKIP() << "this device cannot map memory";
  const heap<TypeParam> open{mebibyte};
  EXPECT_GE(open.statistics().reserved_bytes, describe_machine().memory_bytes);
  const heap<TypeParam> bounded{mebibyte, {.reserve_bytes = 8 * mebibyte}};
  EXPECT_GE(bounded.statistics().reserved_bytes, 8 * mebibyte);
  EXPECT_LT(bounded.statistics().reserved_bytes, describe_machine().memory_bytes);
  // A reserve below the size is no reserve, but no error either.
  const heap<TypeParam> closed{mebibyte, {.reserve_bytes = 1}};
  EXPECT_GE(closed.statistics().reserved_bytes, mebibyte);
}

TYPED_TEST(heap_of, plain_memory_serves_as_well) {
  const heap<TypeParam> plain{mebibyte, {.plain = true}};
  EXPECT_EQ(plain.statistics().reserved_bytes, plain.statistics().committed_bytes);
  std::byte* const block = take_one(plain.ref(), 1000);
  ASSERT_NE(block, nullptr);
  device_fill(block, 7, 1000);
}

TYPED_TEST(heap_of, statistics_follow_what_happens) {
  heap<TypeParam> heap{mebibyte, {.reserve_bytes = 8 * mebibyte}};
  const heap_statistics before = heap.statistics();
  EXPECT_EQ(before.live_bytes, 0u);
  EXPECT_GE(before.committed_bytes, mebibyte);
  EXPECT_GE(before.metadata_bytes, TypeParam::metadata_bytes(mebibyte));
  ASSERT_NE(take_one(heap.ref(), 1000), nullptr);
  EXPECT_EQ(heap.statistics().live_bytes, 1008u);
  heap.reset();
  EXPECT_EQ(heap.statistics().live_bytes, 0u);
  if (!device_can_map()) return;
  heap.grow(8 * mebibyte);
  EXPECT_GE(heap.statistics().committed_bytes, 8 * mebibyte);
  EXPECT_GE(heap.statistics().metadata_bytes, TypeParam::metadata_bytes(8 * mebibyte));
}

TYPED_TEST(heap_of, grows_in_place) {
  if (!device_can_map()) GTEST_SKIP() << "this device cannot map memory";
  heap<TypeParam> heap{mebibyte, {.reserve_bytes = 8 * mebibyte}};
  const heap_ref<TypeParam> before = heap.ref();
  std::byte* const first = take_one(before, mebibyte - 64);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(take_one(before, 1024), nullptr);
  heap.grow(3 * mebibyte);
  EXPECT_EQ(heap.size(), 3 * mebibyte);
  std::byte* const second = take_one(before, mebibyte);
  ASSERT_NE(second, nullptr) << "the handle from before the growth does not reach the new memory";
  EXPECT_GE(second, first + (mebibyte - 64));
}

TYPED_TEST(heap_of, a_refused_growth_changes_nothing) {
  if (!device_can_map()) GTEST_SKIP() << "this device cannot map memory";
  heap<TypeParam> heap{mebibyte, {.reserve_bytes = 2 * mebibyte}};
  const std::uint64_t committed = heap.statistics().committed_bytes;
  EXPECT_THROW(heap.grow(heap.statistics().reserved_bytes + 1), std::length_error);
  EXPECT_THROW(heap.grow(unlimited), std::length_error);
  EXPECT_EQ(heap.size(), mebibyte);
  EXPECT_EQ(heap.statistics().committed_bytes, committed);
  EXPECT_NE(take_one(heap.ref(), 16), nullptr);
}

TYPED_TEST(heap_of, relocates_plain_memory) {
  for (const std::uint64_t size : {mebibyte, mebibyte + 1, 3 * mebibyte}) {
    heap<TypeParam> heap{mebibyte, {.plain = true}};
    const relocation empty = heap.relocate(mebibyte);  // a heap without blocks
    EXPECT_NE(empty.distance, 0);
    EXPECT_EQ(heap.statistics().live_bytes, 0u);
    std::byte* const block = take_one(heap.ref(), mebibyte - 64);
    ASSERT_NE(block, nullptr);
    const std::vector<unsigned char> contents(mebibyte - 64, 0x5a);
    device_copy(block, contents.data(), contents.size());
    const relocation by = heap.relocate(size);
    EXPECT_EQ(heap.size(), size);
    EXPECT_EQ(heap.statistics().live_bytes, mebibyte - 64);
    EXPECT_EQ(heap.statistics().reserved_bytes, heap.statistics().committed_bytes) << "it is plain no more";
    EXPECT_GE(heap.statistics().metadata_bytes, TypeParam::metadata_bytes(size));
    std::byte* const moved = by.moved(block);
    EXPECT_EQ(moved - block, by.distance);
    std::vector<unsigned char> there(contents.size());
    device_copy(there.data(), moved, there.size());
    EXPECT_EQ(there, contents);
    std::byte* const added = take_one(heap.ref(), std::max<std::uint64_t>(size - mebibyte, 128));
    EXPECT_EQ(added != nullptr, size > 2 * mebibyte);
    EXPECT_TRUE(added == nullptr || added >= moved + contents.size());
    heap.reset();
    EXPECT_NE(take_one(heap.ref(), size - 64), nullptr) << "a reset gives not all of the new place";
  }
}

TYPED_TEST(heap_of, moves_by_a_multiple_of_the_alignment) {
  for (const bool plain : {true, false}) {
    heap<TypeParam> heap{mebibyte, {.reserve_bytes = mebibyte, .plain = plain}};
    for (const std::uint64_t alignment : {std::uint64_t{1}, mebibyte / 16, 4 * mebibyte, 16 * mebibyte}) {
      const relocation by = heap.relocate(mebibyte, {.reserve_bytes = mebibyte, .alignment = alignment});
      EXPECT_NE(by.distance, 0);
      EXPECT_EQ(by.distance % static_cast<std::ptrdiff_t>(alignment), 0);
      EXPECT_EQ(by.distance % static_cast<std::ptrdiff_t>(relocation_options::least_alignment), 0);
      device_fill(take_one(heap.ref(), 1000), 7, 1000);
    }
    EXPECT_EQ(heap.statistics().live_bytes, 4032u);
  }
}

TYPED_TEST(heap_of, relocates_to_addresses_that_it_can_grow_into) {
  if (!device_can_map()) GTEST_SKIP() << "this device cannot map memory";
  heap<TypeParam> heap{mebibyte, {.reserve_bytes = mebibyte}};
  std::byte* const block = take_one(heap.ref(), mebibyte - 64);
  ASSERT_NE(block, nullptr);
  EXPECT_THROW(heap.grow(heap.statistics().reserved_bytes + 1), std::length_error);
  const relocation by = heap.relocate(2 * mebibyte, {.reserve_bytes = 64 * mebibyte, .alignment = 32 * mebibyte});
  EXPECT_LT(heap.statistics().reserved_bytes, describe_machine().memory_bytes);
  EXPECT_NE(take_one(heap.ref(), mebibyte), nullptr);
  EXPECT_EQ(take_one(heap.ref(), 1024), nullptr);
  heap.grow(64 * mebibyte);
  std::byte* const last = take_one(heap.ref(), 61 * mebibyte);
  ASSERT_NE(last, nullptr) << "growth does not reach the end of the addresses";
  device_fill(last, 7, 61 * mebibyte);
  EXPECT_GT(last, by.moved(block));
  EXPECT_THROW(heap.grow(128 * mebibyte), std::length_error);
}

TYPED_TEST(heap_of, a_refused_relocation_changes_nothing) {
  for (const bool plain : {true, false}) {
    heap<TypeParam> heap{mebibyte, {.plain = plain}};
    const heap_ref<TypeParam> handle = heap.ref();
    std::byte* const block = take_one(handle, 1000);
    ASSERT_NE(block, nullptr);
    device_fill(block, 7, 1000);
    const heap_statistics before = heap.statistics();
    try {
      heap.relocate(mebibyte - 1);
      ADD_FAILURE() << "a heap moved to a smaller place";
    } catch (const std::length_error& error) {
      EXPECT_NE(std::string{error.what()}.find("of 1048575 bytes; ask for its size() or more"), std::string::npos)
          << error.what();
    }
    EXPECT_THROW(heap.relocate(unlimited), std::length_error);
    EXPECT_THROW(heap.relocate(2 * mebibyte, {.alignment = 3 * mebibyte}), std::invalid_argument);
    EXPECT_THROW(heap.relocate(2 * mebibyte, {.alignment = 0}), std::invalid_argument);
    // AddressSanitizer ends a program that asks for too much plain memory.
    if (!plain && device_can_map()) {
      EXPECT_THROW(heap.relocate(std::uint64_t{1} << 62), std::runtime_error);
    }
    EXPECT_EQ(heap.size(), mebibyte);
    EXPECT_EQ(heap.statistics().committed_bytes, before.committed_bytes);
    EXPECT_EQ(heap.statistics().metadata_bytes, before.metadata_bytes);
    EXPECT_EQ(heap.statistics().live_bytes, 1008u);
    std::vector<unsigned char> contents(1000);
    device_copy(contents.data(), block, 1000);
    EXPECT_EQ(contents, std::vector<unsigned char>(1000, 7));
    EXPECT_NE(take_one(handle, 16), nullptr);
  }
}

TYPED_TEST(heap_of, only_moves) {
  using heap_type = heap<TypeParam>;
  static_assert(!std::is_copy_constructible_v<heap_type> && !std::is_copy_assignable_v<heap_type>);
  static_assert(std::is_nothrow_move_constructible_v<heap_type> && std::is_nothrow_move_assignable_v<heap_type>);
  static_assert(!std::is_convertible_v<std::uint64_t, heap_type>);
  heap_type first{mebibyte};
  const heap_ref<TypeParam> handle = first.ref();
  ASSERT_NE(take_one(handle, 1000), nullptr);
  heap_type second{std::move(first)};
  EXPECT_EQ(second.statistics().live_bytes, 1008u);
  ASSERT_NE(take_one(handle, 1000), nullptr);
  heap_type third{2 * mebibyte};
  third = std::move(second);
  EXPECT_EQ(third.size(), mebibyte);
  EXPECT_EQ(third.statistics().live_bytes, 2016u);
}

TYPED_TEST(heap_of, many_heaps_come_and_go) {
  for (int round = 0; round < 20; ++round) {
    const heap<TypeParam> one{mebibyte};
    const heap<TypeParam> two{mebibyte};
    std::byte* const first = take_one(one.ref(), 1000);
    std::byte* const second = take_one(two.ref(), 1000);
    ASSERT_TRUE(first != nullptr && second != nullptr);
    EXPECT_NE(first, second);
  }
}

template <class Heap>
concept can_reset = requires(Heap owner) { owner.reset(); };
template <class Heap>
concept can_grow = requires(Heap owner) { owner.grow(1); };
template <class Heap>
concept can_relocate = requires(Heap owner) { owner.relocate(1); };
template <class Heap>
concept has_own_figures = requires(const Heap owner) { owner.allocator_statistics(); };
template <class Handle>
concept can_realloc = requires(Handle handle, void* block) { handle.realloc(block, 1); };
template <class Handle>
concept can_tell_sizes = requires(Handle handle, void* block) { handle.usable_size(block); };

TEST(heap, designs_without_a_promise_lack_its_members) {
  static_assert(!can_realloc<heap_ref<bump>> && !can_tell_sizes<heap_ref<bump>>);
  static_assert(can_realloc<heap_ref<locked_list<>>> && can_tell_sizes<heap_ref<locked_list<>>>);
  static_assert(!can_reset<heap<cuda_malloc>> && !can_grow<heap<cuda_malloc>>);
  static_assert(can_reset<heap<locked_list<>>> && can_grow<heap<locked_list<>>>);
  static_assert(!can_relocate<heap<cuda_malloc>> && can_relocate<heap<locked_list<>>>);
  static_assert(!has_own_figures<heap<bump>> && has_own_figures<heap<ouroboros_s_p>>);
}

TEST(relocation, leads_from_old_places_to_new_ones) {
  constexpr relocation by{-64};
  int* const nowhere = nullptr;
  EXPECT_EQ(by.moved(nowhere), nullptr);
  std::byte bytes[128];
  EXPECT_EQ(by.moved(bytes + 100), bytes + 36);
  const std::byte* const constant = bytes + 64;
  EXPECT_EQ(by.moved(constant), bytes);
}

TEST(heap, has_a_default_design) { static_assert(std::is_same_v<heap<>, heap<default_allocator>>); }

}  // namespace
}  // namespace warpheap::test::heap_test
