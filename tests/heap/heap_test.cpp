// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The owner of a heap, from the host: how it is made, what it says of itself, how it grows, moves and ends.

#include <gtest/gtest.h>

#include <allocators/reference.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <warpheap.hpp>

namespace warpheap::test {
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

TYPED_TEST(heap_of, one_byte_makes_a_heap_that_serves_nothing) {
  const heap<TypeParam> tiny{1};
  EXPECT_EQ(tiny.size(), 1u);
  EXPECT_EQ(take_one(tiny.ref(), 1), nullptr);
}

TYPED_TEST(heap_of, more_than_the_machine_has_is_refused) {
  EXPECT_THROW(heap<TypeParam>{std::uint64_t{1} << 62}, std::runtime_error);
  // A refusal leaves nothing behind that the next heap could trip over.
  const heap<TypeParam> modest{mebibyte};
  EXPECT_NE(take_one(modest.ref(), 16), nullptr);
}

TYPED_TEST(heap_of, reserves_the_device_or_what_was_asked_for) {
  if (!device_can_map()) GTEST_SKIP() << "this device cannot map memory";
  const heap<TypeParam> open{mebibyte};
  EXPECT_GE(open.stats().reserved_bytes, describe_machine().memory_bytes);
  const heap<TypeParam> bounded{mebibyte, {.reserve_bytes = 8 * mebibyte}};
  EXPECT_GE(bounded.stats().reserved_bytes, 8 * mebibyte);
  EXPECT_LT(bounded.stats().reserved_bytes, describe_machine().memory_bytes);
  // A reserve below the size is no reserve, but no error either.
  const heap<TypeParam> closed{mebibyte, {.reserve_bytes = 1}};
  EXPECT_GE(closed.stats().reserved_bytes, mebibyte);
}

TYPED_TEST(heap_of, plain_memory_serves_as_well) {
  const heap<TypeParam> plain{mebibyte, {.plain = true}};
  EXPECT_EQ(plain.stats().reserved_bytes, plain.stats().committed_bytes);
  std::byte* const block = take_one(plain.ref(), 1000);
  ASSERT_NE(block, nullptr);
  device_fill(block, 7, 1000);
}

TYPED_TEST(heap_of, statistics_follow_what_happens) {
  heap<TypeParam> heap{mebibyte, {.reserve_bytes = 8 * mebibyte}};
  const heap_statistics before = heap.stats();
  EXPECT_EQ(before.live_bytes, 0u);
  EXPECT_GE(before.committed_bytes, mebibyte);
  EXPECT_GE(before.metadata_bytes, TypeParam::metadata_bytes(mebibyte));
  ASSERT_NE(take_one(heap.ref(), 1000), nullptr);
  EXPECT_EQ(heap.stats().live_bytes, 1008u);
  heap.reset();
  EXPECT_EQ(heap.stats().live_bytes, 0u);
  if (!device_can_map()) return;
  heap.grow(8 * mebibyte);
  EXPECT_GE(heap.stats().committed_bytes, 8 * mebibyte);
  EXPECT_GE(heap.stats().metadata_bytes, TypeParam::metadata_bytes(8 * mebibyte));
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
  const std::uint64_t committed = heap.stats().committed_bytes;
  EXPECT_THROW(heap.grow(heap.stats().reserved_bytes + 1), std::length_error);
  EXPECT_THROW(heap.grow(unlimited), std::length_error);
  EXPECT_EQ(heap.size(), mebibyte);
  EXPECT_EQ(heap.stats().committed_bytes, committed);
  EXPECT_NE(take_one(heap.ref(), 16), nullptr);
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
  EXPECT_EQ(second.stats().live_bytes, 1008u);
  ASSERT_NE(take_one(handle, 1000), nullptr);
  heap_type third{2 * mebibyte};
  third = std::move(second);
  EXPECT_EQ(third.size(), mebibyte);
  EXPECT_EQ(third.stats().live_bytes, 2016u);
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
template <class Handle>
concept can_realloc = requires(Handle handle, void* block) { handle.realloc(block, 1); };
template <class Handle>
concept can_tell_sizes = requires(Handle handle, void* block) { handle.usable_size(block); };

TEST(heap, designs_without_a_promise_lack_its_members) {
  static_assert(!can_realloc<heap_ref<bump>> && !can_tell_sizes<heap_ref<bump>>);
  static_assert(can_realloc<heap_ref<locked_list<>>> && can_tell_sizes<heap_ref<locked_list<>>>);
  static_assert(!can_reset<heap<cuda_malloc>> && !can_grow<heap<cuda_malloc>>);
  static_assert(can_reset<heap<locked_list<>>> && can_grow<heap<locked_list<>>>);
}

TEST(heap, has_a_default_design) { static_assert(std::is_same_v<heap<>, heap<default_allocator>>); }

}  // namespace
}  // namespace warpheap::test
