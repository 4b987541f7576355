// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The fields of the bulk semaphore's word do not run into each other: at its limits it refuses or waits.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/schedules.hpp>

#include "bulk_semaphore_supply.hpp"

namespace warpheap::test::bulk_semaphore_limits_test {
namespace {

using production = bulk_semaphore::production;
using standing = bulk_semaphore::standing;

/// As many lanes at once as the limits take.
schedule roomy(schedule plan) {
  plan.resident_lanes = 4096;
  return plan;
}

struct capacity_kernel {
  WARPHEAP_FN void operator()(supply* shared) const {
    bulk_semaphore& semaphore = shared->semaphore;
    const std::uint64_t full = bulk_semaphore::capacity;
    const auto available = [&] { return static_cast<std::uint64_t>(semaphore.count().available); };
    semaphore.initialise(full - 10);
    require(!semaphore.signal(11) && available() == full - 10, "a small signal beyond the capacity");
    require(!semaphore.signal(5000) && available() == full - 10, "a large signal beyond the capacity");
    require(!semaphore.signal(full + 1) && !semaphore.signal(~std::uint64_t{0}), "a signal beyond any capacity");
    require(semaphore.signal(10) && !semaphore.signal(1) && available() == full, "the last units");
    require(!semaphore.try_wait(full + 1) && semaphore.try_wait(full) && available() == 0, "all units");
    require(!semaphore.try_wait(~std::uint64_t{0}), "more than fit the word");
    require(semaphore.signal(full) && semaphore.try_wait(full), "all units at once");

    // A batch that does not fit beside what came while it was made: the producer keeps all of it.
    for (const std::uint64_t batch : {std::uint64_t{100}, std::uint64_t{100'000}, std::uint64_t{1'000'000}}) {
      bulk_semaphore::request mine = ask_for(semaphore, 3, batch, standing::produces, "nothing is there");
      require(semaphore.signal(full - 90), "room for nearly all");
      require(!semaphore.deliver(mine), "a batch beyond the capacity");
      const bulk_semaphore::counts counts = semaphore.count();
      require(counts.expected == 0 && counts.reserved == 0 && available() == full - 90, "only the batch was refused");
      require(semaphore.try_wait(full - 90) && available() == 0, "all units");
    }
    bulk_semaphore::request largest = ask_for(semaphore, 3, full, standing::produces, "nothing is there");
    require(semaphore.deliver(largest), "the largest batch");
    require(available() == full - 3 && semaphore.try_wait(full - 3), "all but what was kept");
  }
};

TEST(bulk_semaphore_limits, units_beyond_the_capacity_are_refused) {
  const device_array<supply> shared = supply_of(0);
  launch({1, 1}, capacity_kernel{}, shared.data());
  synchronise();
}

/// Threads put in and take out at the brim; what was refused stays with them.
struct brim_kernel {
  WARPHEAP_FN void operator()(supply* shared, int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      if (shared->semaphore.signal(7)) supply::tally(shared->granted, 7);
      if (shared->semaphore.try_wait(5)) supply::tally(shared->failed, 5);
    }
  }
};

struct fill_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t units) const { shared->semaphore.initialise(units); }
};

TEST(bulk_semaphore_limits, units_are_conserved_at_the_brim) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    const std::uint64_t start = bulk_semaphore::capacity - 100;
    launch({1, 1}, fill_kernel{}, shared.data(), start);
    launch({4, 64}, brim_kernel{}, shared.data(), 4);
    const supply after = shared.at(0);
    EXPECT_EQ(after.semaphore.count().available, static_cast<std::int64_t>(start + after.granted - after.failed));
    EXPECT_LE(after.semaphore.count().available, static_cast<std::int64_t>(bulk_semaphore::capacity));
  });
}

/// Each thread needs a batch of its own, and producers deliver only when as many are at work as are elected at once.
/// Those at work are counted here, since a field that has overflowed tells no more.
struct crowd_of_producers_kernel {
  WARPHEAP_FN void operator()(supply* shared) const {
    shared->semaphore.wait(1, 1, [&] {
      const atomic_view at_work{shared->waiting};
      const std::uint64_t others = at_work.fetch_add(1, memory_order::relaxed, thread_scope::device);
      require(others < detail::bulk_word::max_expected, "more producers than the field can count");
      supply::arrive(shared->producers);
      supply::wait_for(shared->producers, detail::bulk_word::max_at_once);
      require(!shared->semaphore.count().parent_empty, "the fields ran together");
      at_work.fetch_sub(1, memory_order::relaxed, thread_scope::device);
      return production::made;
    });
  }
};

TEST(bulk_semaphore_limits, producers_beyond_the_limit_wait) {
  const scoped_schedule guard{roomy(current_schedule())};
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    launch({16, 128}, crowd_of_producers_kernel{}, shared.data());
    const bulk_semaphore::counts counts = counts_of(shared);
    EXPECT_EQ(counts.available, 0);
    EXPECT_EQ(counts.expected, 0u);
    EXPECT_EQ(counts.reserved, 0u);
    EXPECT_EQ(shared.at(0).producers, 2048u);
  });
}

/// Requests for more than a unit each fill the field of reserved units; the producer delivers when it is full.
struct crowd_of_requests_kernel {
  WARPHEAP_FN void operator()(supply* shared) const {
    bulk_semaphore& semaphore = shared->semaphore;
    const std::uint32_t n = 2000;
    const std::uint64_t batch = grid_threads() * n;
    semaphore.wait(n, batch, [&] {
      backoff wait;
      while (semaphore.count().reserved + n <= detail::bulk_word::crowded_reserved) wait.pause();
      require(semaphore.count().expected == 1 && !semaphore.count().parent_empty, "the fields ran together");
      return production::made;
    });
    supply::tally(shared->granted, n);
  }
};

TEST(bulk_semaphore_limits, requests_beyond_the_limit_wait) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    launch({8, 64}, crowd_of_requests_kernel{}, shared.data());
    const bulk_semaphore::counts counts = counts_of(shared);
    EXPECT_EQ(counts.available, 0);
    EXPECT_EQ(counts.expected, 0u);
    EXPECT_EQ(counts.reserved, 0u);
    EXPECT_EQ(shared.at(0).granted, 512u * 2000);
  });
}

/// What callers get wrong ends the launch.
struct misuse_kernel {
  WARPHEAP_FN void operator()(supply* shared, int which) const {
    bulk_semaphore& semaphore = shared->semaphore;
    const auto make = [] { return production::made; };
    const auto make_units = [](std::uint32_t) { return production::made; };
    bulk_semaphore::request unasked = bulk_semaphore::producer_of(1, 8);
    if (which == 0) semaphore.wait(0, 8, make);
    if (which == 1) semaphore.wait(9, 8, make);
    if (which == 2) semaphore.wait(bulk_semaphore::largest_request + 1, 1 << 20, make);
    if (which == 3) semaphore.wait_together(9, 8, make_units);
    if (which == 4) semaphore.deliver(unasked);
    if (which == 5) semaphore.give_up(unasked, production::passing);
    if (which == 6) semaphore.initialise(bulk_semaphore::capacity + 1);
  }
};

TEST(bulk_semaphore_limits, misuse_is_reported) {
  if (this_backend == backend::cuda) GTEST_SKIP() << "a trap ends the CUDA context";
  for (int which = 0; which < 7; ++which) {
    const device_array<supply> shared = supply_of(0);
    EXPECT_THROW(launch({1, 1}, misuse_kernel{}, shared.data(), which), launch_failure) << which;
  }
}

}  // namespace
}  // namespace warpheap::test::bulk_semaphore_limits_test
