// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Lanes throw and catch as threads do, although they share a system thread.

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <support/schedules.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test::lane_exceptions {
namespace {

// An exception of a lane, which has a count of those that live.
struct thrown {
  thrown(std::uint64_t of, std::int32_t* count) : lane(of), alive(count) { ++*alive; }
  thrown(const thrown& other) : lane(other.lane), alive(other.alive) { ++*alive; }
  thrown& operator=(const thrown&) = delete;
  ~thrown() { --*alive; }
  std::uint64_t lane;
  std::int32_t* alive;
};

// Switches to other lanes a number of times that differs between lanes, so handlers end in any order.
WARPHEAP_FN inline void let_others_run(std::uint32_t& word) {
  for (std::uint64_t i = 0; i <= grid_thread_index() * 7 % 5; ++i) {
    atomic_view{word}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
}

// In a handler: calls the others, throws once more, and handles that, too.
struct handling_kernel {
  WARPHEAP_FN void operator()(std::uint32_t* word, std::uint32_t* right, std::int32_t* counts) const {
    const std::uint64_t self = grid_thread_index();
    std::int32_t* const alive = &counts[self];
    std::uint32_t seen = 0;
    try {
      throw thrown(self, alive);
    } catch (const thrown& outer) {
      let_others_run(*word);
      seen += outer.lane == self ? 1 : 0;
      try {
        throw thrown(self + 1000, alive);
      } catch (const thrown& inner) {
        let_others_run(*word);
        seen += inner.lane == self + 1000 ? 1 : 0;
      }
      // `throw;` throws the exception whose handler this is.
      try {
        let_others_run(*word);
        throw;
      } catch (const thrown& again) {
        let_others_run(*word);
        seen += again.lane == self && &again == &outer ? 1 : 0;
      }
    }
    seen += std::current_exception() == nullptr ? 1 : 0;
    right[self] = seen;
  }
};

TEST(lane_exceptions, belong_to_their_lane_while_others_run) {
  schedule plan = current_schedule();
  plan.workers = 1;
  for (const auto order : {schedule::policy::round_robin, schedule::policy::random}) {
    plan.order = order;
    for (plan.seed = 1; plan.seed <= seeds_to_try(3); ++plan.seed) {
      const scoped_schedule guard{plan};
      const device_array<std::uint32_t> word(1);
      const device_array<std::uint32_t> right(64);
      const device_array<std::int32_t> alive(64);
      launch({2, 32}, handling_kernel{}, word.data(), right.data(), alive.data());
      for (const std::uint32_t each : right.to_host()) ASSERT_EQ(each, 4u);
      for (const std::int32_t each : alive.to_host()) EXPECT_EQ(each, 0) << "exceptions that were never destroyed";
    }
  }
}

// A destructor that runs because of an exception lets others run, and asks whether it is one that does.
struct unwinding_kernel {
  struct watcher {
    std::uint32_t* word;
    std::uint32_t* seen;
    WARPHEAP_FN ~watcher() {
      let_others_run(*word);
      *seen = static_cast<std::uint32_t>(std::uncaught_exceptions());
    }
  };
  WARPHEAP_FN void operator()(std::uint32_t* word, std::uint32_t* uncaught) const {
    const std::uint64_t self = grid_thread_index();
    try {
      const watcher here{word, &uncaught[self]};
      if (self % 2 == 0) throw std::runtime_error("even");
    } catch (const std::runtime_error&) {
    }
  }
};

TEST(lane_exceptions, are_counted_for_the_lane_that_unwinds) {
  schedule plan = current_schedule();
  plan.workers = 1;
  const scoped_schedule guard{plan};
  const device_array<std::uint32_t> word(1);
  const device_array<std::uint32_t> uncaught(64);
  launch({2, 32}, unwinding_kernel{}, word.data(), uncaught.data());
  const auto counts = uncaught.to_host();
  for (std::uint64_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts[i], i % 2 == 0 ? 1u : 0u) << "lane " << i;
}

// The host that launches within a handler keeps its exception.
TEST(lane_exceptions, leave_those_of_the_launching_thread_alone) {
  const device_array<std::uint32_t> word(1);
  const device_array<std::uint32_t> right(64);
  const device_array<std::int32_t> alive(64);
  schedule plan = current_schedule();
  plan.workers = 1;
  const scoped_schedule guard{plan};
  try {
    throw std::runtime_error("the host's");
  } catch (const std::runtime_error& mine) {
    launch({2, 32}, handling_kernel{}, word.data(), right.data(), alive.data());
    EXPECT_STREQ(mine.what(), "the host's");
    try {
      throw;
    } catch (const std::runtime_error& again) {
      EXPECT_EQ(&again, &mine);
    }
  }
  EXPECT_EQ(std::current_exception(), nullptr);
}

}  // namespace
}  // namespace warpheap::test::lane_exceptions
