// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A heap that was made on another device than the one that is current when it is used. Needs two devices.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <warpheap.hpp>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap::test::other_device {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

template <class A>
class other_device : public testing::Test {};
using designs = testing::Types<bump, warp_slab, bulk, ouroboros_va_p>;
TYPED_TEST_SUITE(other_device, designs, );

struct write_block {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint32_t* served) const {
    auto* const block = static_cast<std::uint32_t*>(heap.malloc(64));
    if (block == nullptr) return;
    *block = 1;
    atomic_view{*served}.fetch_add(*block, memory_order::relaxed, thread_scope::device);
  }
};

// Threads of a kernel on the heap's device that got a block.
template <class A>
std::uint32_t served(const device_context& device, heap_ref<A> heap) {
  const scoped_device there{device};
  const device_array<std::uint32_t> count(1);
  launch({2, 64}, write_block{}, heap, count.data());
  return count.at(0);
}

TYPED_TEST(other_device, each_member_uses_the_heap_s_device) {
  if (device_count() < 2) GTEST_SKIP() << "this machine has one device";
  const device_context here = device_context::current();
  const device_context there = device_context::of(here.device() == 0 ? 1 : 0);
  std::optional<heap<TypeParam>> tested;
  {
    const scoped_device other{there};
    tested.emplace(8 * mebibyte, heap_options{.reserve_bytes = 64 * mebibyte});
  }
  const auto expect_serving = [&](const char* after) {
    EXPECT_EQ(served(there, tested->ref()), 128u) << "after " << after;
    EXPECT_EQ(device_context::current().device(), here.device()) << "after " << after;
    synchronise();  // throws if an access failed
  };
  expect_serving("construction");
  if constexpr (TypeParam::capabilities.counts_live) {
    EXPECT_GT(tested->statistics().live_bytes, 0u);
  }
  if constexpr (TypeParam::capabilities.trim_bytes != 0) {
    tested->trim();
    expect_serving("trim");
    tested->restore();
    expect_serving("restore");
  }
  if constexpr (TypeParam::capabilities.grow) {
    tested->grow(16 * mebibyte);
    expect_serving("grow");
  }
  if constexpr (TypeParam::capabilities.relocate) {
    tested->relocate(32 * mebibyte);
    expect_serving("relocate");
  }
  if constexpr (reports_statistics<TypeParam>) {
    static_cast<void>(tested->allocator_statistics());
  }
  if constexpr (TypeParam::capabilities.reset) {
    tested->reset();
    expect_serving("reset");
  }
  heap<TypeParam> moved{std::move(*tested)};
  tested.emplace(mebibyte, heap_options{.reserve_bytes = mebibyte});
  *tested = std::move(moved);
  expect_serving("a move");
  tested.reset();
  EXPECT_EQ(device_context::current().device(), here.device()) << "after the end of the heap";
}

}  // namespace
}  // namespace warpheap::test::other_device
