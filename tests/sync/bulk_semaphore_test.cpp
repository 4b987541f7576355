// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What the bulk semaphore promises while its parent has enough: exact grants, as many producers as batches are lacking
// and all of them at once, and an order between signal and grant.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>

#include "bulk_semaphore_supply.hpp"

namespace warpheap::test::bulk_semaphore_test {
namespace {

using outcome = bulk_semaphore::outcome;
using production = bulk_semaphore::production;
using standing = bulk_semaphore::standing;

constexpr std::uint64_t plenty = std::uint64_t{1} << 40;

void expect_idle(const device_array<supply>& shared, std::uint64_t available) {
  const bulk_semaphore::counts counts = counts_of(shared);
  EXPECT_EQ(counts.available, static_cast<std::int64_t>(available));
  EXPECT_EQ(counts.expected, 0u);
  EXPECT_EQ(counts.reserved, 0u);
}

struct steps_kernel {
  WARPHEAP_FN void operator()(supply* shared) const {
    bulk_semaphore& semaphore = shared->semaphore;
    semaphore.initialise(5);
    ask_for(semaphore, 3, 8, standing::granted, "3 of 5");
    require(semaphore.count().available == 2, "3 of 5");
    require(!semaphore.try_wait(3) && semaphore.try_wait(2) && !semaphore.try_wait(1), "2 are left");
    require(semaphore.signal(1) && semaphore.count().available == 1, "1 came back");
    bulk_semaphore::request three = ask_for(semaphore, 3, 8, standing::produces, "1 and nothing in the making");
    require(semaphore.count().expected == 1 && semaphore.count().reserved == 3, "a batch is in the making");
    require(!semaphore.try_wait(1), "the unit on hand is spoken for");
    require(semaphore.deliver(three) && semaphore.count().available == 6, "1 and 8 less 3");
    require(three.what() == standing::granted, "who delivers has its units");
    ask_for(semaphore, 6, 8, standing::granted, "all that is left");
    bulk_semaphore::request eight = ask_for(semaphore, 8, 8, standing::produces, "a whole batch");
    require(semaphore.deliver(eight) && semaphore.count().available == 0, "nothing is left of it");
  }
};

TEST(bulk_semaphore, counts_as_it_says) {
  const device_array<supply> shared = supply_of(0);
  launch({1, 1}, steps_kernel{}, shared.data());
  expect_idle(shared, 0);
}

/// Every thread asks for `n` units a round, together or alone.
struct storm_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint32_t n, std::uint64_t batch, int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      const bool alone = (grid_thread_index() + static_cast<std::uint64_t>(round)) % 7 == 0;
      require(alone ? shared->get(n, batch) : shared->get_together(n, batch), "failed beside a full parent");
    }
  }
};

TEST(bulk_semaphore, as_many_batches_are_made_as_are_lacking) {
  const int rounds = 3;
  for_each_schedule([&](std::uint64_t) {
    for (const std::uint64_t batch : {1, 2, 3, 7, 32, 500}) {
      for (const std::uint32_t n : {1, 3}) {
        if (n > batch) continue;
        // Small batches mean an election for nearly each request.
        const grid_shape grid = grid_shape::covering(scaled(512, batch < 8 ? 1 << 13 : 1 << 17), 128);
        const device_array<supply> shared = supply_of(plenty);
        launch(grid, storm_kernel{}, shared.data(), n, batch, rounds);
        const supply after = shared.at(0);
        const std::uint64_t demand = grid.blocks * grid.threads * static_cast<std::uint64_t>(rounds) * n;
        EXPECT_EQ(after.granted, demand) << "batches of " << batch << ", requests of " << n;
        EXPECT_EQ(after.batches, divide_up(demand, batch)) << "batches of " << batch << ", requests of " << n;
        expect_idle(shared, after.batches * batch - demand);
      }
    }
  });
}

/// Producers deliver only when all are at it: this ends only if nobody waits for the first of them.
struct parallel_producers_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t batch, std::uint64_t producers) const {
    shared->semaphore.wait_together(1, batch, [&](std::uint32_t) {
      supply::arrive(shared->waiting);
      supply::wait_for(shared->waiting, producers);
      return production::made;
    });
  }
};

TEST(bulk_semaphore, producers_work_at_once) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint64_t batch : {4, 16, 48}) {
      const device_array<supply> shared = supply_of(0);
      launch({3, 64}, parallel_producers_kernel{}, shared.data(), batch, 192 / batch);
      expect_idle(shared, 0);
      EXPECT_EQ(shared.at(0).waiting, 192 / batch);
    }
  });
}

/// One thread makes the only batch, of units for all threads or more, and writes down plainly that it did.
struct message_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t* message, std::uint64_t batch) const {
    const bulk_semaphore::turn turn = shared->semaphore.wait_together(1, batch, [&](std::uint32_t) {
      *message = 42;
      return production::made;
    });
    if (turn.what == outcome::granted && *message != 42) check_failed("granted before it was delivered");
  }
};

TEST(bulk_semaphore, a_grant_sees_what_was_done_before_delivery) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint64_t batch : {256, 5000}) {
      const device_array<supply> shared = supply_of(0);
      const device_array<std::uint64_t> message(1);
      launch({4, 64}, message_kernel{}, shared.data(), message.data(), batch);
      expect_idle(shared, batch - 256);
    }
  });
}

/// A unit that goes round as a lock: it guards plain memory.
struct lock_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t* count, int times) const {
    for (int i = 0; i < times; ++i) {
      {
        backoff wait;
        while (!shared->semaphore.try_wait(1)) wait.pause();
      }
      ++*count;
      require(shared->semaphore.signal(1), "a unit was refused");
    }
  }
};

struct initialise_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t units) const { shared->semaphore.initialise(units); }
};

TEST(bulk_semaphore, try_wait_sees_what_was_done_before_signal) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    const device_array<std::uint64_t> count(1);
    launch({1, 1}, initialise_kernel{}, shared.data(), std::uint64_t{1});
    launch({4, 32}, lock_kernel{}, shared.data(), count.data(), 4);
    EXPECT_EQ(count.at(0), 4u * 32 * 4);
    expect_idle(shared, 1);
  });
}

/// The producer holds on to its batch until others have tried without waiting.
struct try_beside_producer_kernel {
  WARPHEAP_FN void operator()(supply* shared) const {
    bulk_semaphore& semaphore = shared->semaphore;
    const std::uint64_t tries = 64;
    if (block_index() == 0) {
      semaphore.wait(1, 256, [&] {
        supply::wait_for(shared->waiting, tries);
        return production::made;
      });
    } else {
      backoff wait;
      while (semaphore.count().reserved == 0) wait.pause();
      require(!semaphore.try_wait(1), "there was no unit");
      supply::arrive(shared->waiting);
    }
  }
};

TEST(bulk_semaphore, try_wait_waits_for_no_producer) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    launch({2, 64}, try_beside_producer_kernel{}, shared.data());
    expect_idle(shared, 256 - 64);
  });
}

/// Lanes diverge over four semaphores and sizes, hold units for a while and give them back.
struct churn_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t batch, std::uint64_t seed, int rounds) const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      supply& mine = shared[random.below(4)];
      const auto n = static_cast<std::uint32_t>(1 + random.below(random.below(4) == 0 ? 20 : 2));
      bool served = false;
      if (random.below(4) == 0) {
        served = mine.semaphore.try_wait(n);
      } else if (random.below(3) == 0) {
        served = mine.get(n, batch);
      } else {
        served = mine.get_together(n, batch);
      }
      if (!served) continue;
      if (random.below(8) != 0) {
        require(mine.semaphore.signal(n), "units were refused");
      } else {
        supply::tally(mine.waiting, n);  // kept for good
      }
    }
  }
};

TEST(bulk_semaphore, divergent_lanes_conserve_units) {
  const std::uint64_t batch = 20;
  for_each_schedule([&](std::uint64_t seed) {
    std::vector<supply> start(4);
    for (supply& each : start) each.parent = scaled(12, 4000);
    const device_array<supply> shared{start};
    launch(grid_shape::covering(scaled(384, 1 << 15), 128), churn_kernel{}, shared.data(), batch, seed, 6);
    for (int i = 0; i < 4; ++i) {
      const supply after = shared.at(static_cast<std::uint64_t>(i));
      const bulk_semaphore::counts counts = after.semaphore.count();
      EXPECT_EQ(counts.expected, 0u);
      EXPECT_EQ(counts.reserved, 0u);
      EXPECT_EQ(counts.available, static_cast<std::int64_t>(after.batches * batch - after.waiting));
      EXPECT_EQ(after.batches + after.parent, scaled(12, 4000));
      EXPECT_GT(after.waiting, 0u);
    }
  });
}

/// Granted units are looked up: a bit for each, set before it is delivered and found after it was granted.
struct stock {
  static constexpr std::uint64_t words = 64;
  std::uint64_t bits[words];
};

struct find_kernel {
  WARPHEAP_FN static void place(stock* units, std::uint64_t index) {
    atomic_view{units->bits[index / 64]}.fetch_or(std::uint64_t{1} << index % 64, memory_order::release,
                                                  thread_scope::device);
  }
  /// Takes any unit. Each look at all words finds one, or another thread took one in the meantime.
  WARPHEAP_FN static std::uint64_t find(stock* units, std::uint64_t takers) {
    for (std::uint64_t sweep = 0; sweep <= takers; ++sweep) {
      for (std::uint64_t i = 0; i < stock::words; ++i) {
        const atomic_view word{units->bits[i]};
        std::uint64_t seen = word.load(memory_order::relaxed, thread_scope::device);
        while (seen != 0) {
          const std::uint64_t bit = seen & (~seen + 1);
          if (word.compare_exchange(seen, seen & ~bit, memory_order::acquire, thread_scope::device)) {
            return i * 64 + static_cast<std::uint64_t>(lowest_bit(bit));
          }
        }
      }
    }
    check_failed("granted a unit that is nowhere");
  }

  WARPHEAP_FN void operator()(supply* shared, stock* units, std::uint64_t* made, int rounds) const {
    const std::uint64_t batch = 16;
    for (int round = 0; round < rounds; ++round) {
      std::uint64_t unit = 0;
      const outcome what = shared->semaphore.wait(1, batch, [&] {
        // Which units the batch holds matters to nobody, as long as no two are one.
        unit = atomic_view{*made}.fetch_add(batch, memory_order::relaxed, thread_scope::device);
        require(unit + batch <= stock::words * 64, "more batches than threads");
        for (std::uint64_t i = 1; i < batch; ++i) place(units, unit + i);
        return production::made;
      });
      if (what == outcome::granted) unit = find(units, grid_threads() * static_cast<std::uint64_t>(rounds));
      place(units, unit);
      require(shared->semaphore.signal(1), "a unit was refused");
    }
  }
};

TEST(bulk_semaphore, each_grant_has_a_unit) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    const device_array<stock> units(1);
    const device_array<std::uint64_t> made(1);
    const grid_shape grid{scaled(3, 24), 128};
    launch(grid, find_kernel{}, shared.data(), units.data(), made.data(), 4);
    expect_idle(shared, made.at(0));
  });
}

}  // namespace
}  // namespace warpheap::test::bulk_semaphore_test
