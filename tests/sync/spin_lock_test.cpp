// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The spin lock: one holder at a time, who sees what the holders before wrote; lanes of one warp included.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/sync.hpp>

namespace warpheap::test::spin_lock_test {
namespace {

/// A lock and what it guards: plain memory.
struct guarded {
  spin_lock lock;
  std::uint32_t count;
  std::uint32_t by_rank[warp_width];
};

/// Each lane takes it for itself.
struct lane_kernel {
  WARPHEAP_FN void operator()(guarded* shared, int times) const {
    for (int i = 0; i < times; ++i) {
      shared->lock.hold([&] {
        const std::uint32_t before = shared->count;
        if (i % 3 == 0) {
          backoff wait;
          wait.pause();  // other lanes come while it is held
        }
        shared->count = before + 1;
      });
    }
  }
};

TEST(spin_lock, lanes_of_a_warp_hold_it_in_turn) {
  for_each_schedule([](std::uint64_t) {
    const device_array<guarded> shared(1);
    launch({1, warp_width}, lane_kernel{}, shared.data(), 20);
    EXPECT_EQ(shared.at(0).count, 20u * warp_width);
  });
}

TEST(spin_lock, blocks_hold_it_in_turn) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid = grid_shape::covering(scaled(256, 1 << 12), 64);
    const device_array<guarded> shared(1);
    launch(grid, lane_kernel{}, shared.data(), 3);
    EXPECT_EQ(shared.at(0).count, grid.blocks * grid.threads * 3);
  });
}

/// A thread that does not get the lock at once goes on.
struct try_kernel {
  WARPHEAP_FN void operator()(guarded* shared, std::uint32_t* taken, int times) const {
    for (int i = 0; i < times; ++i) {
      if (!shared->lock.try_acquire()) continue;
      require(!shared->lock.try_acquire(), "taken twice");
      ++shared->count;
      ++taken[grid_thread_index()];
      shared->lock.release();
    }
  }
};

TEST(spin_lock, is_not_waited_for_by_who_only_tries) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid = grid_shape::covering(scaled(96, 1 << 10), 48);
    const device_array<guarded> shared(1);
    const device_array<std::uint32_t> taken(grid.blocks * grid.threads);
    launch(grid, try_kernel{}, shared.data(), taken.data(), 5);
    std::uint32_t all = 0;
    for (const std::uint32_t each : taken.to_host()) all += each;
    EXPECT_EQ(shared.at(0).count, all);
    EXPECT_NE(all, 0u);
  });
}

/// Groups take one of several locks, and all lanes of a group write.
struct group_kernel {
  WARPHEAP_FN void operator()(guarded* shared, std::uint64_t seed, int times) const {
    random_stream random{seed, grid_thread_index()};
    for (int i = 0; i < times; ++i) {
      const std::uint64_t which = random.below(3);
      guarded& mine = shared[which];
      const lane_mask group = match(active_group(), which);
      mine.lock.hold(group, [&] {
        ++mine.by_rank[group_rank(group)];
        if (is_leader(group)) mine.count += static_cast<std::uint32_t>(group_size(group));
      });
    }
  }
};

TEST(spin_lock, groups_hold_it_in_turn) {
  for_each_schedule([](std::uint64_t seed) {
    const grid_shape grid = grid_shape::covering(scaled(256, 1 << 13), 64);
    const device_array<guarded> shared(3);
    launch(grid, group_kernel{}, shared.data(), seed, 4);
    std::uint64_t total = 0;
    for (const guarded& each : shared.to_host()) {
      std::uint64_t written = 0;
      for (const std::uint32_t count : each.by_rank) written += count;
      EXPECT_EQ(written, each.count);
      total += each.count;
    }
    EXPECT_EQ(total, grid.blocks * grid.threads * 4);
  });
}

/// Groups try to take one of several locks once, and count how often each of their lanes was told that they did.
struct try_group_kernel {
  WARPHEAP_FN void operator()(guarded* shared, std::uint32_t* told, std::uint64_t seed, int times) const {
    random_stream random{seed, grid_thread_index()};
    for (int i = 0; i < times; ++i) {
      const std::uint64_t which = random.below(3);
      guarded& mine = shared[which];
      const lane_mask group = match(active_group(), which);
      const bool held = mine.lock.try_hold(group, [&] {
        require(!mine.lock.try_acquire(), "the body runs without the lock");
        ++mine.by_rank[group_rank(group)];
        if (is_leader(group)) mine.count += static_cast<std::uint32_t>(group_size(group));
      });
      if (held) ++told[grid_thread_index()];
    }
  }
};

TEST(spin_lock, groups_that_only_try_are_told_whether_they_held_it) {
  std::uint64_t refused = 0;
  for_each_schedule([&](std::uint64_t seed) {
    const grid_shape grid = grid_shape::covering(scaled(256, 1 << 13), 64);
    const device_array<guarded> shared(3);
    const device_array<std::uint32_t> told(grid.blocks * grid.threads);
    launch(grid, try_group_kernel{}, shared.data(), told.data(), seed, 4);
    std::uint64_t counted = 0;
    std::uint64_t written = 0;
    for (const guarded& each : shared.to_host()) {
      for (const std::uint32_t count : each.by_rank) written += count;
      counted += each.count;
    }
    std::uint64_t all = 0;
    for (const std::uint32_t each : told.to_host()) all += each;
    EXPECT_EQ(written, counted);
    EXPECT_EQ(all, counted);
    EXPECT_NE(all, 0u);
    refused += grid.blocks * grid.threads * 4 - all;
  });
  if (this_backend == backend::host) {
    EXPECT_NE(refused, 0u) << "no group met a holder: the test shows nothing";
  }
}

/// A holder that keeps the lock until the lanes of another warp have left, who see that they need not have it.
struct service {
  spin_lock lock;
  std::uint32_t held;
  std::uint32_t served;
  std::uint32_t left;
  std::uint32_t entered;  // bodies of those lanes that ran
};

struct serve_kernel {
  WARPHEAP_FN void operator()(service* shared) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view held{shared->held};
    const atomic_view served{shared->served};
    const atomic_view left{shared->left};
    if (thread_index() < warp_width) {
      if (lane_index() != 0) return;
      shared->lock.hold([&] {
        held.store(1, relaxed, device);
        served.store(1, relaxed, device);
        for (backoff wait; left.load(relaxed, device) != std::uint32_t{warp_width};) wait.pause();
      });
      return;
    }
    for (backoff wait; held.load(relaxed, device) == 0;) wait.pause();
    shared->lock.hold_unless([&] { return served.load(relaxed, device) != 0; }, [&] { ++shared->entered; });
    left.fetch_add(1, relaxed, device);
  }
};

TEST(spin_lock, a_lane_that_is_served_meanwhile_waits_no_longer) {
  for_each_schedule([](std::uint64_t) {
    const device_array<service> shared(1);
    launch({1, 2 * warp_width}, serve_kernel{}, shared.data());
    EXPECT_EQ(shared.at(0).left, static_cast<std::uint32_t>(warp_width));
    EXPECT_EQ(shared.at(0).entered, 0u);
  });
}

/// Lanes that are never served, or from some count on.
struct count_up_kernel {
  WARPHEAP_FN void operator()(guarded* shared, std::uint32_t enough) const {
    shared->lock.hold_unless(
        [&] { return atomic_view{shared->by_rank[0]}.load(memory_order::relaxed, thread_scope::device) >= enough; },
        [&] {
          ++shared->count;
          atomic_view{shared->by_rank[0]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
        });
  }
};

TEST(spin_lock, lanes_that_are_not_served_hold_it_in_turn) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid = grid_shape::covering(scaled(256, 1 << 12), 64);
    const std::uint32_t threads = grid.blocks * grid.threads;
    for (const std::uint32_t enough : {threads + 1, threads / 4}) {
      const device_array<guarded> shared(1);
      launch(grid, count_up_kernel{}, shared.data(), enough);
      EXPECT_EQ(shared.at(0).count, shared.at(0).by_rank[0]);
      EXPECT_LE(shared.at(0).count, threads);
      EXPECT_GE(shared.at(0).count, enough < threads ? enough : threads);
    }
  });
}

/// Groups that hold one lock in turn, and go on afterwards.
struct passage {
  spin_lock lock;
  std::uint32_t done;     // groups whose body is done
  std::uint32_t gone_on;  // those of them that have gone on
};

/// The body of a group waits until each group whose body is done has gone on.
struct go_on_kernel {
  WARPHEAP_FN void operator()(passage* shared, std::uint64_t seed, int times) const {
    using enum memory_order;
    using enum thread_scope;
    random_stream random{seed, grid_thread_index()};
    for (int i = 0; i < times; ++i) {
      const lane_mask group = match(active_group(), random.below(3));
      shared->lock.hold(group, [&] {
        if (!is_leader(group)) return;
        const atomic_view gone_on{shared->gone_on};
        for (backoff wait; gone_on.load(relaxed, device) != shared->done;) wait.pause();
        ++shared->done;
      });
      if (is_leader(group)) atomic_view{shared->gone_on}.fetch_add(1, relaxed, device);
    }
  }
};

// A group that is done was held up by a vote with a group of its warp that had got the lock after it, and that one's
// body waited for it: a renewal of Ouroboros did. Seed 5, random, of a mixed churn with `ouroboros_va_p` showed it.
TEST(spin_lock, no_group_that_is_done_is_held_up) {
  for_each_schedule([](std::uint64_t seed) {
    const grid_shape grid = grid_shape::covering(scaled(128, 1 << 12), 64);
    const device_array<passage> shared(1);
    launch(grid, go_on_kernel{}, shared.data(), seed, 4);
    EXPECT_EQ(shared.at(0).done, shared.at(0).gone_on);
    EXPECT_NE(shared.at(0).done, 0u);
  });
}

}  // namespace
}  // namespace warpheap::test::spin_lock_test
