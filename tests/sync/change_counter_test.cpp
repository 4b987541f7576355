// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The counter of changes: a search that found nothing while everything stood still is right, and one that can have
// missed something is told so.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/sync.hpp>

namespace warpheap::test::change_counter_test {
namespace {

/// A counter of several stripes, with a count of its owner beside each.
template <class Count>
struct stripe : change_counter<Count> {
  Count beside;
};
template <class Count>
class striped : public striped_change_counter<stripe<Count>, 4> {
 public:
  WARPHEAP_FN void reset_to(Count count) {
    for (stripe<Count>& each : this->stripes()) each.reset_to(count);
  }
};

/// Something lies in one of two places at each moment but those of a change.
template <class Counter>
struct moved {
  Counter changes;
  std::uint32_t place[2];
  std::uint64_t missed;   // searches that found nothing and were told that nothing moved
  std::uint64_t unsure;   // searches that found nothing and were told that something moved
  std::uint64_t settled;  // searches that were told that nothing moved
};

struct prepare_kernel {
  template <class Counter, class Count>
  WARPHEAP_FN void operator()(moved<Counter>* shared, Count first) const {
    shared->changes.reset_to(first);
    shared->place[0] = 1;
  }
};

/// The first thread moves it to and fro; the others search both places, in either order.
struct search_kernel {
  template <class Counter>
  WARPHEAP_FN void operator()(moved<Counter>* shared, int times) const {
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
      fence(acquire, device);
      const bool found = atomic_view{shared->place[first]}.load(acquire, device) != 0 ||
                         atomic_view{shared->place[1 - first]}.load(acquire, device) != 0;
      fence(acquire, device);
      const bool still = shared->changes.was_quiescent(before);
      if (still) count(shared->settled);
      if (!found) count(still ? shared->missed : shared->unsure);
    }
  }
};

template <class T>
class change_counters : public testing::Test {};
using counters = testing::Types<change_counter<std::uint32_t>, change_counter<std::uint64_t>, striped<std::uint32_t>,
                                striped<std::uint64_t>>;
TYPED_TEST_SUITE(change_counters, counters);

// From 0, and across the wrap.
TYPED_TEST(change_counters, no_search_that_saw_all_stand_still_missed_something) {
  std::uint64_t unsure = 0;
  using count = decltype(typename TypeParam::snapshot{}.begun);
  for (const count first : {count{0}, static_cast<count>(-5)}) {
    for_each_schedule([&](std::uint64_t) {
      const device_array<moved<TypeParam>> shared(1);
      launch({1, 1}, prepare_kernel{}, shared.data(), first);
      launch({2, 48}, search_kernel{}, shared.data(), 40);
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

/// All threads count changes, and something beside them.
struct count_kernel {
  WARPHEAP_FN void operator()(striped<std::uint32_t>* changes, int times) const {
    for (int i = 0; i < times; ++i) {
      changes->begin();
      atomic_view{changes->mine().beside}.fetch_add(2, memory_order::relaxed, thread_scope::device);
    }
  }
};
struct end_kernel {
  WARPHEAP_FN void operator()(striped<std::uint32_t>* changes, int times) const {
    for (int i = 0; i < times; ++i) changes->end();
  }
};
struct ask_kernel {
  WARPHEAP_FN void operator()(striped<std::uint32_t>* changes, std::uint32_t* out) const {
    const auto before = changes->quiescence();
    fence(memory_order::acquire, thread_scope::device);
    out[0] = before.quiescent ? 1 : 0;
    out[1] = before.begun;
    out[2] = changes->was_quiescent(before) ? 1 : 0;
    out[3] = changes->sum(&stripe<std::uint32_t>::beside);
  }
};

// The threads that end changes may be on other multiprocessors than those that began them.
TEST(striped_change_counter, stripes_count_as_one_whoever_ends_a_change) {
  for_each_schedule([](std::uint64_t) {
    const device_array<striped<std::uint32_t>> changes(1);
    const device_array<std::uint32_t> out(4);
    launch({4, 32}, count_kernel{}, changes.data(), 3);
    launch({1, 1}, ask_kernel{}, changes.data(), out.data());
    EXPECT_EQ(out.to_host(), (std::vector<std::uint32_t>{0, 384, 0, 768}));
    launch({3, 127}, end_kernel{}, changes.data(), 1);
    launch({1, 1}, ask_kernel{}, changes.data(), out.data());
    EXPECT_EQ(out.to_host(), (std::vector<std::uint32_t>{0, 384, 0, 768})) << "three changes are under way";
    launch({1, 3}, end_kernel{}, changes.data(), 1);
    launch({1, 1}, ask_kernel{}, changes.data(), out.data());
    EXPECT_EQ(out.to_host(), (std::vector<std::uint32_t>{1, 384, 1, 768}));
  });
}

}  // namespace
}  // namespace warpheap::test::change_counter_test
