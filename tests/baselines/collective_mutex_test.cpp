// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The collective mutex: one group at a time, all of whose lanes are in at once, and which is out only when the last of
// them has left; who enters sees what all before did.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/baselines.hpp>

namespace warpheap::test::collective_mutex_test {
namespace {

constexpr std::uint32_t block_size = 64;

/// A lock and what it guards: plain memory.
struct guarded {
  collective_mutex mutex;
  std::uint64_t owner;  // of the group that is in, 0 when none is
  std::uint64_t groups;
  std::uint32_t by_rank[block_size];
  std::uint32_t last_by_rank[warp_width];
};

/// Stays a while.
WARPHEAP_FN void linger(std::uint64_t turns) {
  backoff wait;
  for (std::uint64_t i = 0; i < turns; ++i) wait.pause();
}

/// Lanes enter in random groups, do their own part, and leave one by one, or together.
struct group_kernel {
  WARPHEAP_FN void operator()(guarded* shared, std::uint64_t seed, int times) const {
    random_stream random{seed, grid_thread_index()};
    for (int i = 0; i < times; ++i) {
      guarded& mine = shared[random.below(3)];
      const lane_mask group = mine.mutex.acquire_together();
      const std::uint64_t self = 1 + grid_thread_index() / block_size * block_size * 64 +
                                 (grid_thread_index() / warp_width * 64 + static_cast<std::uint64_t>(leader(group)));
      if (is_leader(group)) {
        require(mine.owner == 0, "a group entered beside another");
        mine.owner = self;
        ++mine.groups;
      }
      sync(group);
      linger(random.below(3));
      require(mine.owner == self, "another group entered before all had left");
      ++mine.by_rank[group_rank(group)];
      sync(group);
      require(mine.mutex.inside() >= 1, "inside and not counted");
      // The leader clears the mark before the first lane leaves. The other lanes have done their writes.
      if (is_leader(group)) mine.owner = 0;
      const bool together = shuffle(group, static_cast<std::uint32_t>(random.below(2)), leader(group)) != 0;
      if (!together) linger(random.below(4));
      mine.last_by_rank[group_rank(group)] += 1;  // plain, and the last thing before it leaves
      if (together) {
        mine.mutex.leave(group);
      } else {
        mine.mutex.leave();
      }
    }
  }
};

TEST(collective_mutex, one_group_is_in_at_a_time) {
  for_each_schedule([](std::uint64_t seed) {
    const grid_shape grid = grid_shape::covering(scaled(256, 1 << 13), block_size);
    const device_array<guarded> shared(3);
    launch(grid, group_kernel{}, shared.data(), seed, 4);
    std::uint64_t total = 0;
    for (const guarded& each : shared.to_host()) {
      for (int rank = 0; rank < warp_width; ++rank) {
        total += each.by_rank[rank];
        EXPECT_EQ(each.by_rank[rank], each.last_by_rank[rank]);
      }
      EXPECT_EQ(each.mutex.inside(), 0u);
      EXPECT_EQ(each.owner, 0u);
    }
    EXPECT_EQ(total, grid.blocks * grid.threads * 4);
  });
}

/// One lane leaves late; the next group is not in before.
struct last_leaves_kernel {
  WARPHEAP_FN void operator()(guarded* shared) const {
    const lane_mask group = shared->mutex.acquire_together();
    if (is_leader(group)) {
      linger(6);
      ++shared->groups;  // plain: a race if another group came in when only the others had left
      shared->by_rank[0] += static_cast<std::uint32_t>(group_size(group));
    }
    shared->mutex.leave();
  }
};

TEST(collective_mutex, is_held_until_the_last_leaves) {
  for_each_schedule(
      [](std::uint64_t) {
        const device_array<guarded> shared(1);
        launch({4, block_size}, last_leaves_kernel{}, shared.data());
        EXPECT_EQ(shared.at(0).by_rank[0], 4 * block_size);
        EXPECT_LE(shared.at(0).groups, 4 * block_size);
        EXPECT_EQ(shared.at(0).mutex.inside(), 0u);
      },
      6);
}

/// A group that does not get in at once goes on.
struct try_kernel {
  WARPHEAP_FN void operator()(guarded* shared, std::uint32_t* entered) const {
    for (int i = 0; i < 5; ++i) {
      const lane_mask group = active_group();
      if (!shared->mutex.try_acquire(group)) continue;
      require(shared->mutex.inside() == static_cast<std::uint32_t>(group_size(group)), "others are in, too");
      if (is_leader(group)) shared->groups += static_cast<std::uint64_t>(group_size(group));
      ++entered[grid_thread_index()];
      ++shared->by_rank[group_rank(group)];
      shared->mutex.leave(group);
    }
  }
};

TEST(collective_mutex, is_not_waited_for_by_who_only_tries) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid = grid_shape::covering(scaled(96, 1 << 10), 48);
    const device_array<guarded> shared(1);
    const device_array<std::uint32_t> entered(grid.blocks * grid.threads);
    launch(grid, try_kernel{}, shared.data(), entered.data());
    std::uint64_t all_entered = 0;
    for (const std::uint32_t each : entered.to_host()) all_entered += each;
    EXPECT_EQ(shared.at(0).groups, all_entered);
    std::uint64_t written = 0;
    for (const std::uint32_t each : shared.at(0).by_rank) written += each;
    EXPECT_EQ(written, all_entered);
    EXPECT_NE(all_entered, 0u);
  });
}

/// A block enters as one, and its threads leave when they like.
struct block_kernel {
  WARPHEAP_FN void operator()(guarded* shared, int times) const {
    for (int i = 0; i < times; ++i) {
      shared->mutex.acquire_block();
      if (thread_index() == 0) ++shared->groups;
      linger(thread_index() % 3);
      ++shared->by_rank[thread_index()];
      shared->mutex.leave();
    }
  }
};

TEST(collective_mutex, blocks_enter_as_one) {
  for_each_schedule([](std::uint64_t) {
    const device_array<guarded> shared(1);
    launch({5, block_size}, block_kernel{}, shared.data(), 3);
    const guarded after = shared.at(0);
    EXPECT_EQ(after.groups, 15u);
    for (const std::uint32_t each : after.by_rank) EXPECT_EQ(each, 15u);
    EXPECT_EQ(after.mutex.inside(), 0u);
  });
}

}  // namespace
}  // namespace warpheap::test::collective_mutex_test
