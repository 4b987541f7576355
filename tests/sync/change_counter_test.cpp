// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The counter of changes: a search that found nothing while everything stood still is right, and one that can have
// missed something is told so.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/schedules.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test::change_counter_test {
namespace {

/// Something lies in one of two places at each moment but those of a change.
template <class Count>
struct moved {
  change_counter<Count> changes;
  std::uint32_t place[2];
  std::uint64_t missed;   // searches that found nothing and were told that nothing moved
  std::uint64_t unsure;   // searches that found nothing and were told that something moved
  std::uint64_t settled;  // searches that were told that nothing moved
};

template <class Count>
struct prepare_kernel {
  WARPHEAP_FN void operator()(moved<Count>* shared, Count first) const {
    shared->changes.reset_to(first);
    shared->place[0] = 1;
  }
};

/// The first thread moves it to and fro; the others search both places, in either order.
template <class Count>
struct search_kernel {
  WARPHEAP_FN void operator()(moved<Count>* shared, int times) const {
    using enum memory_order;
    using enum thread_scope;
    if (grid_thread_index() == 0) {
      for (int i = 0; i < times; ++i) {
        shared->changes.begin();
        fence(release, device);
        atomic_view{shared->place[i % 2]}.store(0, after_release_fence, device);
        atomic_view{shared->place[(i + 1) % 2]}.store(1, release, device);
        shared->changes.end();
      }
      return;
    }
    const std::uint64_t first = grid_thread_index() % 2;
    const auto count = [](std::uint64_t& sum) { atomic_view{sum}.fetch_add(1, relaxed, device); };
    for (int i = 0; i < 2 * times; ++i) {  // some of them when the last move is over
      const auto before = shared->changes.quiescence();
      const bool found = atomic_view{shared->place[first]}.load(acquire, device) != 0 ||
                         atomic_view{shared->place[1 - first]}.load(acquire, device) != 0;
      const bool still = shared->changes.stood_still(before);
      if (still) count(shared->settled);
      if (!found) count(still ? shared->missed : shared->unsure);
    }
  }
};

template <class T>
class change_counters : public testing::Test {};
using counts = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(change_counters, counts);

// From 0, and across the wrap.
TYPED_TEST(change_counters, no_search_that_saw_all_stand_still_missed_something) {
  std::uint64_t unsure = 0;
  for (const TypeParam first : {TypeParam{0}, static_cast<TypeParam>(-5)}) {
    for_each_schedule([&](std::uint64_t) {
      const device_array<moved<TypeParam>> shared(1);
      launch({1, 1}, prepare_kernel<TypeParam>{}, shared.data(), first);
      launch({2, 48}, search_kernel<TypeParam>{}, shared.data(), 40);
      const moved<TypeParam> after = shared.at(0);
      EXPECT_EQ(after.missed, 0u);
      EXPECT_NE(after.settled, 0u) << "no search was told that nothing moved";
      unsure += after.unsure;
    });
  }
  // A GPU's schedule is not ours to choose.
  if (this_backend == backend::host) {
    EXPECT_NE(unsure, 0u) << "no search fell into a change: the test shows nothing";
  }
}

}  // namespace
}  // namespace warpheap::test::change_counter_test
