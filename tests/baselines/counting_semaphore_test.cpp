// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The counting semaphore: exact grants, one thread at a time that grows, every unit granted before one is refused, and
// an order between signal and grant.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/baselines.hpp>

namespace warpheap::test::counting_semaphore_test {
namespace {

using outcome = counting_semaphore::outcome;
using cause = counting_semaphore::cause;

/// A semaphore, the units that it can grow by, and tallies.
struct stock {
  counting_semaphore semaphore;
  std::uint64_t parent;   // batches that are left
  std::uint64_t growths;  // that went well
  std::uint64_t granted;  // units
  std::uint64_t failed;   // requests
  std::uint64_t growing;  // threads that grow now
  std::uint64_t message;  // plain memory that a signal publishes

  WARPHEAP_FN static void tally(std::uint64_t& counter, std::uint64_t by = 1) {
    atomic_view{counter}.fetch_add(by, memory_order::relaxed, thread_scope::device);
  }

  /// Gets `lacking` units from the parent, in whole batches, or all that it has; returns how many.
  WARPHEAP_FN std::uint64_t grow(std::uint64_t lacking, std::uint64_t batch) {
    const atomic_view now{growing};
    require(now.fetch_add(1, memory_order::relaxed, thread_scope::device) == 0, "two threads grow at once");
    const atomic_view left{parent};
    // Only who grows takes from the parent, and the semaphore orders one after the other.
    const std::uint64_t seen = left.load(memory_order::relaxed, thread_scope::device);
    const std::uint64_t batches = divide_up(lacking, batch) < seen ? divide_up(lacking, batch) : seen;
    left.store(seen - batches, memory_order::relaxed, thread_scope::device);
    tally(growths, batches);
    now.fetch_sub(1, memory_order::relaxed, thread_scope::device);
    return batches * batch;
  }

  WARPHEAP_FN bool get(std::uint32_t n, std::uint64_t batch, cause why) {
    const counting_semaphore::answer got = semaphore.wait(n);
    bool served = got.what == outcome::granted;
    if (got.what == outcome::grow) {
      require(got.units < n, "told to grow with enough");
      const std::uint64_t all_of_it = got.units + grow(n - got.units, batch);
      served = all_of_it >= n;
      if (served) {
        semaphore.deliver(all_of_it - n);
      } else {
        semaphore.give_up(static_cast<std::uint32_t>(all_of_it), why);
      }
    }
    tally(served ? granted : failed, served ? n : 1);
    return served;
  }

  WARPHEAP_FN bool get_together(std::uint32_t n, std::uint64_t batch, cause why) {
    counting_semaphore::turn turn = semaphore.wait_together(n);
    if (turn.what == outcome::grow) {
      bool grown = false;
      if (is_leader(turn.group)) {
        const std::uint64_t all_of_it = turn.units + grow(turn.wanted - turn.units, batch);
        grown = all_of_it >= turn.wanted;
        if (grown) semaphore.deliver(all_of_it - turn.wanted);
        if (!grown) turn.units = static_cast<std::uint32_t>(all_of_it);
      }
      grown = any(turn.group, grown);
      if (!grown) turn = semaphore.give_up_together(turn, n, why);
      if (grown) turn.what = outcome::granted;
    }
    require(turn.what != outcome::grow, "asked to grow without a duty");
    const bool served = turn.what == outcome::granted;
    tally(served ? granted : failed, served ? n : 1);
    return served;
  }
};

device_array<stock> stock_of(std::uint64_t batches) {
  stock start{};
  start.parent = batches;
  return device_array<stock>{std::vector<stock>{start}};
}

struct steps_kernel {
  WARPHEAP_FN void operator()(stock* shared) const {
    counting_semaphore& semaphore = shared->semaphore;
    semaphore.initialise(5);
    require(semaphore.wait(3).what == outcome::granted && semaphore.count().available == 2, "3 of 5");
    require(!semaphore.try_wait(3) && semaphore.try_wait(1) && semaphore.count().available == 1, "1 is left");
    const counting_semaphore::answer lacking = semaphore.wait(4);
    require(lacking.what == outcome::grow && lacking.units == 1 && semaphore.count().growing, "3 are lacking");
    semaphore.signal(2);
    require(semaphore.wait(2).what == outcome::granted, "who grows keeps nobody from units that came back");
    semaphore.deliver(7);
    require(!semaphore.count().growing && semaphore.count().available == 7, "a batch of 10 less 3");
    require(semaphore.try_wait(6), "6 of 7");
    require(semaphore.wait(2).units == 1, "1 of 2");
    semaphore.give_up(1, cause::parent_empty);
    require(semaphore.count().parent_empty && semaphore.wait(2).what == outcome::failed, "the hint did not stick");
    require(semaphore.wait(1).what == outcome::granted, "what was given up is not there");
    semaphore.parent_refilled();
    require(semaphore.wait(2).what == outcome::grow, "a refilled parent was not asked");
    semaphore.give_up(0, cause::passing);
    require(!semaphore.count().parent_empty && semaphore.wait(1).what == outcome::grow, "a passing failure stuck");
    semaphore.give_up(0, cause::parent_empty);
    semaphore.signal(1);
    require(!semaphore.count().parent_empty && semaphore.wait(1).what == outcome::granted, "a signal left the hint");
  }
};

TEST(counting_semaphore, counts_as_it_says) {
  const device_array<stock> shared = stock_of(0);
  launch({1, 1}, steps_kernel{}, shared.data());
  const counting_semaphore::counts counts = shared.at(0).semaphore.count();
  EXPECT_EQ(counts.available, 0);
  EXPECT_FALSE(counts.growing);
}

/// Every thread asks for `n` units a round, together or alone.
struct storm_kernel {
  WARPHEAP_FN void operator()(stock* shared, std::uint32_t n, std::uint64_t batch, int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      const bool alone = (grid_thread_index() + static_cast<std::uint64_t>(round)) % 7 == 0;
      require(alone ? shared->get(n, batch, cause::passing) : shared->get_together(n, batch, cause::passing),
              "failed beside a full parent");
    }
  }
};

TEST(counting_semaphore, grows_no_more_than_is_asked_for) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid = grid_shape::covering(scaled(512, 1 << 14), 64);
    const std::uint64_t asked = grid.blocks * grid.threads * 3;
    for (const std::uint32_t n : {1u, 3u}) {
      for (const std::uint64_t batch : {1, 7, 512}) {
        const device_array<stock> shared = stock_of(std::uint64_t{1} << 40);
        launch(grid, storm_kernel{}, shared.data(), n, batch, 3);
        const stock after = shared.at(0);
        EXPECT_EQ(after.granted, asked * n) << "batches of " << batch;
        EXPECT_EQ(after.growths, divide_up(asked * n, batch)) << "batches of " << batch;
        EXPECT_EQ(after.semaphore.count().available, static_cast<std::int64_t>(after.growths * batch - asked * n));
        EXPECT_FALSE(after.semaphore.count().growing);
      }
    }
  });
}

/// Threads ask for random sizes, and then for one unit at a time until they are refused one.
struct drain_kernel {
  WARPHEAP_FN void operator()(stock* shared, std::uint64_t batch, std::uint64_t seed, cause why) const {
    random_stream random{seed, grid_thread_index()};
    shared->get_together(static_cast<std::uint32_t>(1 + random.below(5)), batch, why);
    for (bool more = true; more;) {
      more = random.below(2) == 0 ? shared->get(1, batch, why) : shared->get_together(1, batch, why);
    }
  }
};

TEST(counting_semaphore, every_unit_is_granted_before_one_is_refused) {
  const grid_shape grid = grid_shape::covering(scaled(384, 1 << 13), 128);
  for_each_schedule([&](std::uint64_t seed) {
    for (const std::uint64_t batch : {1, 5, 64}) {
      for (const cause why : {cause::parent_empty, cause::passing}) {
        const std::uint64_t batches = divide_up(scaled(1000, 1 << 13), batch);
        const device_array<stock> shared = stock_of(batches);
        launch(grid, drain_kernel{}, shared.data(), batch, seed, why);
        const stock after = shared.at(0);
        EXPECT_EQ(after.granted, batches * batch) << "batches of " << batch;
        EXPECT_EQ(after.growths, batches);
        EXPECT_GE(after.failed, grid.blocks * grid.threads);
        EXPECT_EQ(after.semaphore.count().available, 0);
        EXPECT_FALSE(after.semaphore.count().growing);
      }
    }
  });
}

/// Some ask for more than there is, five for one unit each, of five.
struct doomed_neighbours_kernel {
  WARPHEAP_FN void operator()(stock* shared) const {
    stock& mine = shared[grid_thread_index() / 8];
    if (grid_thread_index() % 8 >= 5) {
      require(mine.semaphore.wait(10).what == outcome::failed, "granted more than there is");
    } else {
      require(mine.semaphore.wait(1).what == outcome::granted, "a request in vain hid a unit");
    }
  }
};

struct leftovers_kernel {
  WARPHEAP_FN void operator()(stock* shared) const {
    counting_semaphore& semaphore = shared[grid_thread_index()].semaphore;
    require(semaphore.wait(1).what == outcome::grow, "nothing is there");
    semaphore.signal(5);
    semaphore.give_up(0, cause::parent_empty);
  }
};

TEST(counting_semaphore, a_request_in_vain_hides_no_unit) {
  for_each_schedule(
      [&](std::uint64_t) {
        const device_array<stock> shared(64);
        launch({1, 64}, leftovers_kernel{}, shared.data());
        launch({4, 128}, doomed_neighbours_kernel{}, shared.data());
        for (const stock& each : shared.to_host()) EXPECT_EQ(each.semaphore.count().available, 0);
      },
      8);
}

/// Units, beside a parent that is known to be empty, or not.
struct left_kernel {
  WARPHEAP_FN void operator()(stock* shared, std::uint64_t units, bool known_empty) const {
    counting_semaphore& semaphore = shared->semaphore;
    if (!known_empty) return semaphore.initialise(units);
    require(semaphore.wait(1).what == outcome::grow, "nothing is there");
    semaphore.give_up(static_cast<std::uint32_t>(units), cause::parent_empty);
  }
};

struct share_kernel {
  WARPHEAP_FN void operator()(stock* shared) const { shared->get_together(1, 64, cause::parent_empty); }
};

TEST(counting_semaphore, a_group_gets_what_is_left) {
  for_each_schedule([](std::uint64_t) {
    const std::uint64_t left = warp_width / 3;
    for (const bool known_empty : {false, true}) {
      // Known: nobody is told to grow. Not known: the group's leader is, gives up, and has taken all along for a while.
      const device_array<stock> shared = stock_of(0);
      launch({1, 1}, left_kernel{}, shared.data(), left, known_empty);
      launch({1, static_cast<std::uint32_t>(warp_width)}, share_kernel{}, shared.data());
      EXPECT_EQ(shared.at(0).granted, left);
      EXPECT_EQ(shared.at(0).failed, warp_width - left);
      EXPECT_EQ(shared.at(0).semaphore.count().available, 0);
      EXPECT_FALSE(shared.at(0).semaphore.count().growing);
    }
  });
}

/// A message that is written before the units come, by a thread of another block, is read after the grant.
struct message_kernel {
  bool by_signal;

  WARPHEAP_FN void operator()(stock* shared) const {
    if (block_index() == 0) {
      if (thread_index() != 0) return;
      require(shared->semaphore.wait(1).what == outcome::grow, "nothing was there");
      atomic_view{shared->growing}.store(1, memory_order::release, thread_scope::device);
      shared->message = 42;
      if (!by_signal) return shared->semaphore.deliver(grid_threads());
      shared->semaphore.signal(grid_threads());
      // The waiting threads get the units while this one grows, so its delivery orders nothing for them.
      for (backoff wait; shared->semaphore.count().available != warp_width;) wait.pause();
      shared->semaphore.deliver(0);
    } else {
      for (backoff wait; atomic_view{shared->growing}.load(memory_order::relaxed, thread_scope::device) == 0;) {
        wait.pause();
      }
      const counting_semaphore::turn turn = shared->semaphore.wait_together(1);
      require(turn.what == outcome::granted && shared->message == 42, "granted without what was done before");
    }
  }
};

TEST(counting_semaphore, a_grant_sees_what_was_done_before) {
  for_each_schedule([](std::uint64_t) {
    for (const bool by_signal : {false, true}) {
      const device_array<stock> shared = stock_of(0);
      launch({3, static_cast<std::uint32_t>(warp_width)}, message_kernel{by_signal}, shared.data());
      EXPECT_EQ(shared.at(0).semaphore.count().available, warp_width);
    }
  });
}

}  // namespace
}  // namespace warpheap::test::counting_semaphore_test
