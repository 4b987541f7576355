// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What the bulk semaphore promises when producers fail: all who waited end, nobody fails whom the rest would serve, and
// the parent is asked again when a unit came.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>

#include "bulk_semaphore_supply.hpp"

namespace warpheap::test::bulk_semaphore_failure_test {
namespace {

using outcome = bulk_semaphore::outcome;
using production = bulk_semaphore::production;
using standing = bulk_semaphore::standing;

void expect_nothing_left(const device_array<supply>& shared) {
  const bulk_semaphore::counts counts = counts_of(shared);
  EXPECT_EQ(counts.available, 0);
  EXPECT_EQ(counts.expected, 0u);
  EXPECT_EQ(counts.reserved, 0u);
}

/// Threads ask for random sizes, and then for one unit at a time until they are refused one.
struct drain_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t batch, std::uint64_t seed, std::uint64_t largest,
                              production why) const {
    random_stream random{seed, grid_thread_index()};
    shared->get_together(static_cast<std::uint32_t>(1 + random.below(largest)), batch, why);
    for (bool more = true; more;) {
      more = random.below(2) == 0 ? shared->get(1, batch, why) : shared->get_together(1, batch, why);
    }
  }
};

TEST(bulk_semaphore_failure, every_unit_is_granted_before_one_is_refused) {
  const grid_shape grid = grid_shape::covering(scaled(384, 1 << 15), 128);
  for_each_schedule([&](std::uint64_t seed) {
    for (const std::uint64_t batch : {1, 5, 64}) {
      for (const production why : {production::parent_empty, production::passing}) {
        const std::uint64_t batches = divide_up(scaled(1000, batch < 8 ? 1 << 14 : 1 << 17), batch);
        const device_array<supply> shared = supply_of(batches);
        const std::uint64_t largest = batch < 8 ? batch : 8;
        // Without the hint each request asks the parent, one after the other.
        if (why == production::passing && this_backend == backend::cuda && batch != 64) continue;
        launch(grid, drain_kernel{}, shared.data(), batch, seed, largest, why);
        const supply after = shared.at(0);
        EXPECT_EQ(after.granted, batches * batch) << "batches of " << batch;
        EXPECT_EQ(after.batches, batches);
        EXPECT_GE(after.failed, grid.blocks * grid.threads);
        expect_nothing_left(shared);
      }
    }
  });
}

/// The first producer fails when all others wait for it.
struct all_wait_kernel {
  WARPHEAP_FN void operator()(supply* shared, production why) const {
    const std::uint64_t batch = grid_threads();
    bulk_semaphore& semaphore = shared->semaphore;
    const outcome what = semaphore.wait(1, batch, [&] {
      const atomic_view producers{shared->producers};
      if (producers.fetch_add(1, memory_order::relaxed, thread_scope::device) == 0) {
        backoff wait;
        while (semaphore.count().reserved != batch) wait.pause();
      }
      return why;
    });
    require(what == outcome::failed, "granted a unit of nothing");
    supply::tally(shared->failed);
  }
};

TEST(bulk_semaphore_failure, an_empty_parent_wakes_all_who_wait) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    launch({4, 64}, all_wait_kernel{}, shared.data(), production::parent_empty);
    EXPECT_EQ(shared.at(0).failed, 256u);
    EXPECT_EQ(shared.at(0).producers, 1u) << "the hint kept nobody from the empty parent";
    expect_nothing_left(shared);
    EXPECT_TRUE(counts_of(shared).parent_empty);
  });
}

TEST(bulk_semaphore_failure, after_a_passing_failure_the_next_produces) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    launch({4, 64}, all_wait_kernel{}, shared.data(), production::passing);
    EXPECT_EQ(shared.at(0).failed, 256u);
    EXPECT_EQ(shared.at(0).producers, 256u);
    expect_nothing_left(shared);
    EXPECT_FALSE(counts_of(shared).parent_empty);
  });
}

/// Two batches are lacking. One producer fails when all wait, then the other delivers: exactly one batch of requests
/// fails, and the caller of `give_up` may be among the served.
struct one_of_two_fails_kernel {
  WARPHEAP_FN void operator()(supply* shared) const {
    const std::uint64_t batch = grid_threads() / 2;
    bulk_semaphore& semaphore = shared->semaphore;
    const outcome what = semaphore.wait(1, batch, [&] {
      const atomic_view producers{shared->producers};
      const bool first = producers.fetch_add(1, memory_order::relaxed, thread_scope::device) == 0;
      if (first) {
        backoff wait;
        while (semaphore.count().reserved != 2 * batch || semaphore.count().expected != 2) wait.pause();
        return production::parent_empty;
      }
      supply::wait_for(shared->failed, batch);
      return production::made;
    });
    supply::arrive(what == outcome::failed ? shared->failed : shared->granted);
  }
};

TEST(bulk_semaphore_failure, as_many_fail_as_lack_units) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    launch({4, 64}, one_of_two_fails_kernel{}, shared.data());
    EXPECT_EQ(shared.at(0).failed, 128u);
    EXPECT_EQ(shared.at(0).granted, 128u);
    expect_nothing_left(shared);
  });
}

/// A semaphore with some units and a parent that is known to be empty, or not.
struct leftovers_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t units, bool known_empty) const {
    bulk_semaphore& semaphore = shared[grid_thread_index()].semaphore;
    if (known_empty) {
      const bulk_semaphore::request mine = ask_for(semaphore, 1, 4, standing::produces, "nothing is there");
      // The units come before the failure, so that they do not clear the hint, and one of them serves the producer.
      require(semaphore.signal(units + 1), "units were refused");
      require(give_up_and_wait(semaphore, mine, production::parent_empty) == standing::granted, "a unit was there");
      require(semaphore.count().parent_empty, "the hint is not there");
    } else {
      semaphore.initialise(units);
    }
  }
};

struct share_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t batch) const { shared->get_together(1, batch); }
};

TEST(bulk_semaphore_failure, a_group_gets_what_is_left) {
  for_each_schedule([](std::uint64_t) {
    for (const bool known_empty : {true, false}) {
      for (const std::uint64_t batch : {4, 7, 100}) {
        const device_array<supply> shared = supply_of(0);
        launch({1, 1}, leftovers_kernel{}, shared.data(), std::uint64_t{10}, known_empty);
        launch({1, 32}, share_kernel{}, shared.data(), batch);
        EXPECT_EQ(shared.at(0).granted, 10u) << "batches of " << batch;
        EXPECT_EQ(shared.at(0).failed, 22u) << "batches of " << batch;
        EXPECT_EQ(shared.at(0).producers == 0, known_empty);
        expect_nothing_left(shared);
      }
    }
  });
}

/// Eight threads at each semaphore, which has five units: some ask for more than there is, five for one unit each.
struct doomed_neighbours_kernel {
  WARPHEAP_FN void operator()(supply* shared, bool trying) const {
    supply& mine = shared[grid_thread_index() / 8];
    const std::uint64_t place = grid_thread_index() % 8;
    if (place >= 5) {
      if (trying && place > 5) return;
      require(mine.get(10, 16) == false, "granted more than there is");
    } else if (trying) {
      require(mine.semaphore.try_wait(1), "a request in vain hid a free unit");
    } else {
      require(mine.get(1, 16), "a request in vain hid a unit");
    }
  }
};

TEST(bulk_semaphore_failure, a_request_in_vain_hides_no_unit) {
  const std::uint64_t semaphores = 64;
  for_each_schedule(
      [&](std::uint64_t) {
        for (const bool trying : {false, true}) {
          const device_array<supply> shared(semaphores);
          launch({1, static_cast<std::uint32_t>(semaphores)}, leftovers_kernel{}, shared.data(), std::uint64_t{5},
                 true);
          launch({4, static_cast<std::uint32_t>(semaphores * 2)}, doomed_neighbours_kernel{}, shared.data(), trying);
          for (const supply& each : shared.to_host()) EXPECT_EQ(each.semaphore.count().available, 0);
        }
      },
      8);
}

/// Units that another thread signals reach a group whose producer gives up, with what was written before.
struct late_message_kernel {
  WARPHEAP_FN void operator()(supply* shared, std::uint64_t* message) const {
    bulk_semaphore& semaphore = shared->semaphore;
    const std::uint64_t batch = warp_width;
    if (block_index() == 1) {
      if (thread_index() != 0) return;
      supply::wait_for(shared->waiting, 1);
      *message = 42;
      require(semaphore.signal(batch), "units were refused");
      return;
    }
    const outcome what = semaphore
                             .wait_together(1, batch,
                                            [&](std::uint32_t) {
                                              supply::arrive(shared->waiting);
                                              backoff wait;
                                              while (semaphore.count().available < 0) wait.pause();
                                              return production::passing;
                                            })
                             .what;
    require(what == outcome::granted && *message == 42, "granted without what was done before");
  }
};

TEST(bulk_semaphore_failure, a_late_grant_sees_what_was_done_before) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(0);
    const device_array<std::uint64_t> message(1);
    launch({2, static_cast<std::uint32_t>(warp_width)}, late_message_kernel{}, shared.data(), message.data());
    expect_nothing_left(shared);
  });
}

/// One after the other, in one thread.
struct hint_kernel {
  WARPHEAP_FN void operator()(supply* shared) const {
    bulk_semaphore& semaphore = shared->semaphore;
    const auto expect = [&](std::uint32_t n, standing expected, const char* otherwise) {
      return ask_for(semaphore, n, 4, expected, otherwise);
    };
    const auto expect_to_fail = [&](std::uint32_t n, const char* otherwise) {
      require(give_up_and_wait(semaphore, expect(n, standing::produces, otherwise), production::parent_empty) ==
                  standing::failed,
              otherwise);
    };
    expect_to_fail(2, "nothing came");
    expect(1, standing::failed, "the hint did not stick");
    require(semaphore.count().parent_empty, "the hint did not stick");
    require(semaphore.signal(1) && !semaphore.count().parent_empty, "a signal did not clear the hint");
    expect(1, standing::granted, "1 and a batch");
    expect_to_fail(1, "nothing came");
    semaphore.parent_refilled();
    expect_to_fail(1, "a refilled parent was not asked");
    // Too little for one request is enough for the next.
    require(semaphore.signal(1), "a unit was refused");
    expect_to_fail(2, "1 is less than 2");
    expect(1, standing::granted, "the hint kept a unit back");
    // A unit that comes while the producer works serves it when it gives up.
    semaphore.parent_refilled();
    const bulk_semaphore::request mine = expect(1, standing::produces, "the parent was refilled");
    require(semaphore.signal(1), "a unit was refused");
    require(give_up_and_wait(semaphore, mine, production::parent_empty) == standing::granted, "the unit was there");
  }
};

TEST(bulk_semaphore_failure, the_hint_lasts_until_a_unit_comes) {
  const device_array<supply> shared = supply_of(0);
  launch({1, 1}, hint_kernel{}, shared.data());
  expect_nothing_left(shared);
}

/// Those who wait when the hint is cleared become producers.
struct revived_kernel {
  WARPHEAP_FN void operator()(supply* shared) const {
    bulk_semaphore& semaphore = shared->semaphore;
    const std::uint64_t batch = grid_threads();
    const auto make = [&] {
      const atomic_view producers{shared->producers};
      const bool fails = producers.fetch_add(1, memory_order::relaxed, thread_scope::device) < 20;
      return fails ? production::parent_empty : production::made;
    };
    while (semaphore.wait(1, batch, make) == outcome::failed) {  // not a spin: each turn refills the parent
      supply::tally(shared->failed);
      semaphore.parent_refilled();
    }
  }
};

TEST(bulk_semaphore_failure, a_refilled_parent_is_asked_again) {
  for_each_schedule([](std::uint64_t) {
    const device_array<supply> shared = supply_of(1000);
    launch({4, 64}, revived_kernel{}, shared.data());
    const bulk_semaphore::counts counts = counts_of(shared);
    EXPECT_EQ(counts.expected, 0u);
    EXPECT_EQ(counts.reserved, 0u);
    EXPECT_GE(counts.available, 0);
    EXPECT_GT(shared.at(0).producers, 0u);
  });
}

}  // namespace
}  // namespace warpheap::test::bulk_semaphore_failure_test
