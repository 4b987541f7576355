// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The machine refuses memory at each place where an operation of a heap asks for some. The heap is then as before: its
// figures, its blocks and what it still has room for; and the operation can be done later.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <support/fail_after.hpp>
#include <vector>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::failures_test {
namespace {

using host::device_calls;
using host::refused;

constexpr std::uint64_t heap_bytes = (std::uint64_t{512} << 10) + 8200;  // no multiple of a unit, a page or a piece
constexpr std::uint64_t block_bytes = 1024;
constexpr std::uint64_t held_blocks = 96;

/// Takes a block for each thread and writes the thread's number into it.
struct take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t** held) const {
    const std::uint64_t self = grid_thread_index();
    held[self] = static_cast<std::uint64_t*>(heap.malloc(block_bytes));
    if (held[self] != nullptr) *held[self] = self;
  }
};
/// Counts the held blocks, moved by `distance` bytes, that have lost their number.
struct check_kernel {
  WARPHEAP_FN void operator()(std::uint64_t* const* held, std::ptrdiff_t distance, std::uint64_t* lost) const {
    const std::uint64_t self = grid_thread_index();
    const auto at = reinterpret_cast<std::uint64_t>(held[self]) + static_cast<std::uint64_t>(distance);
    if (held[self] != nullptr && *reinterpret_cast<const std::uint64_t*>(at) == self) return;
    atomic_view{*lost}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};
/// Takes blocks until there are no more, writes to each of their pages, and counts them.
struct fill_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t* count) const {
    for (void* block = heap.malloc(block_bytes); block != nullptr; block = heap.malloc(block_bytes)) {
      static_cast<std::uint64_t*>(block)[0] = ~std::uint64_t{0};
      atomic_view{*count}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

/// A heap with blocks in it that are looked after.
template <class A>
class stage {
 public:
  stage() : of_(heap_bytes, {.reserve_bytes = 8 * heap_bytes}), held_(held_blocks) {
    launch({1, held_blocks}, take_kernel{}, of_.ref(), held_.data());
  }
  heap<A>& of() { return of_; }
  std::uint64_t lost(std::ptrdiff_t distance = 0) const {
    const device_array<std::uint64_t> lost(1);
    launch({1, held_blocks}, check_kernel{}, static_cast<std::uint64_t* const*>(held_.data()), distance, lost.data());
    return lost.at(0);
  }
  /// How many blocks there is room for, which has then been used up.
  std::uint64_t room() const {
    const device_array<std::uint64_t> count(1);
    launch({1, 64}, fill_kernel{}, of_.ref(), count.data());
    return count.at(0);
  }

 private:
  heap<A> of_;
  device_array<std::uint64_t*> held_;
};

/// What a heap says of itself.
template <class A>
std::vector<std::uint64_t> figures(const heap<A>& of) {
  const heap_statistics all = of.stats();
  return {of.size(), all.reserved_bytes, all.committed_bytes, all.metadata_bytes, all.live_bytes.value_or(0)};
}

/// Lets each request for memory of `change` fail in turn, after `prepare`. `moves` tells by how much blocks moved.
template <class A, class Prepare, class Change>
void expect_all_or_nothing(Prepare prepare, Change change, bool keeps_blocks = true) {
  stage<A> undisturbed;
  prepare(undisturbed.of());
  const std::uint64_t room_before = undisturbed.room();
  stage<A> changed;
  prepare(changed.of());
  change(changed.of());
  const std::uint64_t room_after = changed.room();
  std::uint64_t calls = 0;
  for (;; ++calls) {
    SCOPED_TRACE(std::string{A::name} + ": call " + std::to_string(calls) + " was refused");
    stage<A> tested;
    prepare(tested.of());
    const std::vector<std::uint64_t> before = figures(tested.of());
    std::ptrdiff_t distance = 0;
    const refused ended = host::with_failure_after(calls, [&] { distance = change(tested.of()); });
    if (ended == refused::never) break;
    EXPECT_EQ(ended, refused::thrown);
    EXPECT_EQ(figures(tested.of()), before);
    EXPECT_EQ(tested.lost(), 0u);
    {
      // The same heap either serves what it did, or does the operation and serves what that brings.
      stage<A> later;
      prepare(later.of());
      EXPECT_EQ(host::with_failure_after(calls, [&] { change(later.of()); }), refused::thrown);
      EXPECT_EQ(later.room(), room_before);
      EXPECT_EQ(later.lost(), 0u);
    }
    distance = change(tested.of());
    if (keeps_blocks) {
      EXPECT_EQ(tested.lost(distance), 0u);
    }
    EXPECT_EQ(tested.room(), room_after);
    if (::testing::Test::HasFailure()) return;
  }
}

template <class A>
class failures : public testing::Test {};
using designs = testing::Types<warp_slab, bulk, bump, ouroboros_s_p, ouroboros_va_c, ouroboros_vl_c>;
TYPED_TEST_SUITE(failures, designs);

constexpr auto nothing = [](auto&) {};
constexpr auto trimmed = [](auto& of) {
  if constexpr (requires { of.trim(); }) of.trim();
};

// With addresses that were asked for: those by default are a wish, and a heap takes fewer.
TYPED_TEST(failures, a_heap_that_cannot_be_made_takes_nothing) {
  for (std::uint64_t calls = 0;; ++calls) {
    const refused ended = host::with_failure_after(
        calls, [] { const heap<TypeParam> made{heap_bytes, {.reserve_bytes = 4 * heap_bytes}}; });
    if (ended == refused::never) break;
    EXPECT_EQ(ended, refused::thrown);
  }
}

TYPED_TEST(failures, growth) {
  const auto grow = [](auto& of) {
    of.grow(3 * heap_bytes + 5000);
    return std::ptrdiff_t{0};
  };
  expect_all_or_nothing<TypeParam>(nothing, grow);
  expect_all_or_nothing<TypeParam>(trimmed, grow);
}

TYPED_TEST(failures, reset) {
  const auto reset = [](auto& of) {
    of.reset();
    return std::ptrdiff_t{0};
  };
  expect_all_or_nothing<TypeParam>(nothing, reset, false);
  expect_all_or_nothing<TypeParam>(trimmed, reset, false);
}

TYPED_TEST(failures, relocation) {
  if constexpr (!TypeParam::capabilities.relocate) {
    GTEST_SKIP() << "does not relocate";
  } else {
    for (const std::uint64_t bytes : {heap_bytes, 2 * heap_bytes}) {
      const auto relocate = [bytes](auto& of) {
        return of.relocate(bytes, {.reserve_bytes = 8 * heap_bytes}).distance;
      };
      expect_all_or_nothing<TypeParam>(nothing, relocate);
      expect_all_or_nothing<TypeParam>(trimmed, relocate);
    }
  }
}

TYPED_TEST(failures, trimming_and_restoring) {
  if constexpr (TypeParam::capabilities.trim_bytes == 0) {
    GTEST_SKIP() << "does not trim";
  } else {
    const auto trim = [](auto& of) {
      of.trim();
      return std::ptrdiff_t{0};
    };
    const auto restore = [](auto& of) {
      of.restore();
      return std::ptrdiff_t{0};
    };
    expect_all_or_nothing<TypeParam>(nothing, trim);
    expect_all_or_nothing<TypeParam>(trimmed, trim);
    expect_all_or_nothing<TypeParam>(trimmed, restore);
    const auto grown = [](auto& of) {
      of.trim();
      of.grow(2 * heap_bytes);
    };
    expect_all_or_nothing<TypeParam>(grown, restore);
    expect_all_or_nothing<TypeParam>(grown, trim);
  }
}

}  // namespace
}  // namespace warpheap::test::failures_test
