// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The machine refuses memory at each place where an operation of a heap asks for some. The heap is then as before: its
// figures, its blocks and what it still has room for; and the operation can be done later.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <support/fail_after.hpp>
#include <support/masks.hpp>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/halloc/halloc.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/designs/random_walk/random_walk.hpp>
#include <warpheap/designs/reg_eff/reg_eff.hpp>
#include <warpheap/designs/scatter/scatter.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::failures_test {
namespace {

using host::device_calls;
using host::refused;

constexpr std::uint64_t heap_bytes = (std::uint64_t{512} << 10) + 8200;  // no multiple of a unit, a page or a piece
constexpr std::uint64_t block_bytes = 1024;
constexpr std::uint64_t held_blocks = 96;
constexpr std::uint64_t most_blocks = 4096;  // that a heap of these tests has room for

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
/// Takes blocks of one size after the other until there are no more, writes to them, and lists them. The large ones
/// come first, since a heap is soon full of them; the small ones find what is left beside the held blocks.
struct fill_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t** blocks, std::uint64_t* count,
                              std::uint64_t* bytes) const {
    for (const std::uint64_t size : {4 * block_bytes, block_bytes}) {
      for (void* block = heap.malloc(size); block != nullptr; block = heap.malloc(size)) {
        for (std::uint64_t at = 0; at < size; at += block_bytes) {
          static_cast<std::uint64_t*>(block)[at / sizeof(std::uint64_t)] = ~std::uint64_t{0};
        }
        atomic_view{*bytes}.fetch_add(size, memory_order::relaxed, thread_scope::device);
        const std::uint64_t index = atomic_view{*count}.fetch_add(1, memory_order::relaxed, thread_scope::device);
        require(index < most_blocks, "more blocks than the heap has bytes for");
        blocks[index] = static_cast<std::uint64_t*>(block);
      }
      sync(full_warp);
    }
  }
};
/// Frees the blocks that `fill_kernel` listed.
struct drain_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t* const* blocks, std::uint64_t count) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) heap.free(blocks[i]);
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
  /// Bytes of the blocks that there is room for. These are then used up or, if the design frees single blocks and
  /// `give_back` says so, free again.
  std::uint64_t room(bool give_back = false) const {
    const device_array<std::uint64_t> sums(2);
    const device_array<std::uint64_t*> blocks(most_blocks);
    launch({1, warp_width}, fill_kernel{}, of_.ref(), blocks.data(), sums.data(), sums.data() + 1);
    if constexpr (A::capabilities.individual_free) {
      const auto listed = static_cast<std::uint64_t* const*>(blocks.data());
      if (give_back) launch({1, warp_width}, drain_kernel{}, of_.ref(), listed, sums.at(0));
    }
    return sums.at(1);
  }

 private:
  heap<A> of_;
  device_array<std::uint64_t*> held_;
};

/// What a heap says of itself.
template <class A>
std::vector<std::uint64_t> figures(const heap<A>& of) {
  const heap_statistics all = of.statistics();
  return {of.size(), all.reserved_bytes, all.committed_bytes, all.metadata_bytes, all.live_bytes.value_or(0)};
}

/// A stage that `prepare` was done to.
template <class A, class Prepare>
std::unique_ptr<stage<A>> prepared(Prepare prepare) {
  auto made = std::make_unique<stage<A>>();
  prepare(made->of());
  return made;
}

/// Lets each request for memory of `change` fail in turn, after `prepare`. `change` returns by how much blocks moved.
///
/// All refusals come to one heap, which each time serves what it did, and after the last one does the operation. What
/// it has room for is taken to see it and given back; where a design cannot, each refusal gets a heap of its own.
/// Another heap does the operation right after its refusal: one for each refusal, or at a small scale for every eighth.
template <class A, class Prepare, class Change>
void expect_all_or_nothing(Prepare prepare, Change change, bool keeps_blocks = true) {
  const std::uint64_t stride = scale_in_force() == work_scale::small ? 8 : 1;
  const auto undisturbed = prepared<A>(prepare);
  const std::vector<std::uint64_t> before = figures(undisturbed->of());
  const std::uint64_t room_before = undisturbed->room();
  const auto changed = prepared<A>(prepare);
  change(changed->of());
  const std::uint64_t room_after = changed->room();
  const auto expect_changed = [&](const stage<A>& of, std::ptrdiff_t distance) {
    if (keeps_blocks) {
      EXPECT_EQ(of.lost(distance), 0u);
    }
    EXPECT_EQ(of.room(), room_after);
  };
  std::unique_ptr<stage<A>> refused_often;
  for (std::uint64_t calls = 0;; ++calls) {
    SCOPED_TRACE(std::string{A::name} + ": call " + std::to_string(calls) + " was refused");
    if (!refused_often || !A::capabilities.individual_free) refused_often = prepared<A>(prepare);
    std::ptrdiff_t distance = 0;
    const refused ended = host::with_failure_after(calls, [&] { distance = change(refused_often->of()); });
    if (ended == refused::never) {
      expect_changed(*refused_often, distance);
      break;
    }
    EXPECT_EQ(ended, refused::thrown);
    EXPECT_EQ(figures(refused_often->of()), before);
    EXPECT_EQ(refused_often->lost(), 0u);
    EXPECT_EQ(refused_often->room(true), room_before);
    EXPECT_EQ(refused_often->lost(), 0u);
    if (calls % stride == 0) {
      const auto refused_once = prepared<A>(prepare);
      EXPECT_EQ(host::with_failure_after(calls, [&] { change(refused_once->of()); }), refused::thrown);
      EXPECT_EQ(refused_once->lost(), 0u);
      distance = change(refused_once->of());
      expect_changed(*refused_once, distance);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

/// Upkeep of a heap starts thousands of lanes that do not meet. The fewer of them there are at once, the less each
/// access costs under ThreadSanitizer, whose clocks have an entry for each.
template <class A>
class failures : public testing::Test {
  static schedule few_at_once() {
    schedule plan = current_schedule();
    plan.resident_lanes = 256;
    return plan;
  }
  scoped_schedule guard_{few_at_once()};
};
using designs = testing::Types<warp_slab, bulk, scatter, flatter_scatter, halloc, bump, ouroboros_s_p, ouroboros_va_c,
                               ouroboros_vl_c, random_walk, reg_eff_c, reg_eff_cfm>;
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
