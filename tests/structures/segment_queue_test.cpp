// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What a segment queue promises with each kind of segments: what was pushed comes out once, and with it what its pusher
// wrote; who finds no room is told; storage comes back.

#include <gtest/gtest.h>

#include <cstdint>
#include <structures/queue_user.hpp>
#include <support/random.hpp>
#include <support/random_groups.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test::segment_queue_test {
namespace {

template <class Kind>
struct segment_queues : ::testing::Test {};
using kinds = ::testing::Types<static_ring, virtual_array, virtual_list>;
TYPED_TEST_SUITE(segment_queues, kinds);

/// One warp pushes values in order, part of it last, and the leader takes them out.
template <class Kind>
struct order_kernel {
  WARPHEAP_FN static void fill(const queue_user<Kind>& user, std::uint64_t from, std::uint64_t to) {
    const auto lane = static_cast<std::uint64_t>(lane_index());
    for (std::uint64_t at = from; at < to; at += warp_width) {
      const lane_mask some = low_bits(to - at < warp_width ? static_cast<int>(to - at) : warp_width);
      if (at + lane < to) require(user.push(0, some, at + lane), "no room");
      sync(full_warp);
    }
  }
  WARPHEAP_FN static std::uint64_t free_chunks(const Kind& kind, std::uint64_t chunks) {
    std::uint64_t free = 0;
    if constexpr (std::is_base_of_v<virtual_queue, Kind>) {
      for (std::uint32_t i = 0; i * std::uint64_t{64} < chunks; ++i) {
        free += static_cast<std::uint64_t>(popcount(kind.free_chunks.leaf_word(i)));
      }
    }
    return free;
  }

  WARPHEAP_FN void operator()(queue_user<Kind> user, std::uint64_t chunks, std::uint64_t count, int rounds) const {
    const segment_queue<Kind> queue = user.queue(0);
    for (std::uint64_t from = 0; from < count * static_cast<std::uint64_t>(rounds); from += count) {
      fill(user, from, from + count);
      if (is_leader(full_warp)) {
        require(queue.has_entries() && queue.size() == count, "another size");
        require(free_chunks(user.kind, chunks) + queue.chunks() == chunks, "another number of chunks");
        std::uint64_t next = from;
        while (next < from + count) {
          require(queue.has_entries(), "no entries, and some are left");
          const adopted_segment some = queue.adopt();
          const std::uint64_t left = from + count - next;
          const std::uint64_t capacity = segment_capacity(some.segment.size);
          require(some.count == (left < capacity ? left : capacity), "not the oldest segment, with all that is in it");
          for (std::uint32_t i = 0; i < some.count; ++i) {
            require(user.kind.segments().entry(some.segment.id, i) == next++, "out of order");
          }
          require(queue.size() == from + count - next, "another size after a segment was adopted");
          user.read(0, some);
        }
        require(!queue.has_entries() && queue.adopt().count == 0 && queue.size() == 0, "an entry too many");
      }
      sync(full_warp);
    }
    // By then segments are as large as they become, so the last one is kept.
    const bool keeps = std::is_base_of_v<virtual_queue, Kind> && rounds >= 20;
    if (is_leader(full_warp)) require((queue.chunks() != 0) >= keeps, "nothing in reserve after many rounds");
  }
};

TYPED_TEST(segment_queues, give_back_in_order) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint64_t count : {1, 33, 700, 4000}) {
      const int rounds = count < 100 ? 20 : 3;  // the static ring goes round
      const queue_memory<TypeParam> memory{1, 4000};
      const device_array<spin_lock> locks(1);
      const device_array<value_log> values(count * static_cast<std::uint64_t>(rounds));
      const queue_user<TypeParam> user{memory.kind(), memory.states(), locks.data(), values.data()};
      launch({1, warp_width}, order_kernel<TypeParam>{}, user, memory.chunks(), count, rounds);
      EXPECT_EQ(expect_each_once(values), 0u);
      launch({1, 1}, drain_kernel<TypeParam>{}, user);
      memory.expect_all_back();
    }
  });
}

constexpr std::uint64_t nobody = std::uint64_t{1} << 40;
constexpr std::uint64_t plenty = nobody;  // even while segments of the largest size that were adopted are read

/// Each thread pushes and, now and then, takes. A thread that drained after its push can be sure that its value came
/// out.
template <class Kind>
struct storm_kernel {
  queue_user<Kind> user;
  std::uint64_t queues;
  std::uint64_t seed;
  std::uint64_t takers;  // one in so many, or `nobody`
  int rounds;
  bool drains;

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t value =
          grid_thread_index() * static_cast<std::uint64_t>(rounds) + static_cast<unsigned>(round);
      const std::uint64_t which = random.below(queues);
      bool pushed = false;
      random_groups::draw(random, 5, which).in_turns([&](lane_mask lanes) {
        pushed = user.push(which, lanes, value);
        return true;
      });
      if (random.below(takers) != 0) continue;
      if (drains) {
        user.drain(which);
        const atomic_view seen{user.values[value].seen};
        // An earlier holder of the lock read the value, or this one did.
        require(!pushed || seen.load(memory_order::relaxed, thread_scope::device) == 1, "a value is missing");
      } else {
        user.take_one(random.below(queues));
      }
    }
  }
};

/// A storm over `queues` queues with room for `room` per cent of the values, or for all of them. Expects that each
/// value came out or was refused: none, if there is room for more than all of them.
template <class Kind>
void storm(std::uint64_t queues, std::uint64_t room, std::uint64_t takers, bool drains, int rounds,
           std::uint64_t seed) {
  const grid_shape grid = grid_shape::covering(scaled(256, 1 << 14), 64);
  const std::uint64_t count = grid.blocks * grid.threads * static_cast<std::uint64_t>(rounds);
  const queue_memory<Kind> memory{queues, room == plenty ? 1'000'000 + 4 * count : room * count / 100};
  const device_array<spin_lock> locks(queues);
  const device_array<value_log> values(count);
  const queue_user<Kind> user{memory.kind(), memory.states(), locks.data(), values.data()};
  launch(grid, storm_kernel<Kind>{user, queues, seed, takers, rounds, drains});
  launch({queues, 1}, drain_kernel<Kind>{}, user);
  memory.expect_all_back();
  const std::uint64_t refused = expect_each_once(values);
  if (room == plenty) {
    EXPECT_EQ(refused, 0u);
  }
  // Without takers only so many fit.
  if (takers == nobody && count > memory.too_many()) {
    EXPECT_GE(refused, count - memory.too_many());
  }
}

TYPED_TEST(segment_queues, values_come_out_once) {
  for_each_schedule([](std::uint64_t seed) { storm<TypeParam>(1, plenty, 40, true, 8, seed); });
}

TYPED_TEST(segment_queues, lanes_push_to_different_queues) {
  for_each_schedule([](std::uint64_t seed) { storm<TypeParam>(4, 200, 24, false, 8, seed); });
}

TYPED_TEST(segment_queues, values_without_room_are_refused) {
  for_each_schedule([](std::uint64_t seed) {
    for (const std::uint64_t takers : {nobody, std::uint64_t{60}}) {
      for (const std::uint64_t queues : {1, 3}) storm<TypeParam>(queues, 20, takers, false, 24, seed);
    }
    // Hardly any room: takers of the only segment meet openers that have none to open.
    for (std::uint64_t i = 0; i < 6; ++i) storm<TypeParam>(1, 1, 60, false, 8, 10 * seed + i);
  });
}

/// Thread 0 pushes nothing and takes all, when the others are done; what orders them is the queue alone.
template <class Kind>
struct taker_kernel {
  WARPHEAP_FN void operator()(queue_user<Kind> user, std::uint64_t* done, std::uint64_t rounds) const {
    const atomic_view count{*done};
    const std::uint64_t pushers = grid_threads() - 1;
    if (grid_thread_index() != 0) {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        require(user.push(0, active_group(), round * pushers + grid_thread_index() - 1), "no room");
      }
      count.fetch_add(1, memory_order::relaxed, thread_scope::device);
      return;
    }
    for (backoff wait; count.load(memory_order::relaxed, thread_scope::device) != pushers;) wait.pause();
    user.drain(0);
  }
};

TYPED_TEST(segment_queues, order_pushers_before_a_taker) {
  for_each_schedule([](std::uint64_t) {
    const std::uint64_t rounds = 8;
    const queue_memory<TypeParam> memory{1, 4000};
    const device_array<spin_lock> locks(1);
    const device_array<value_log> values(255 * rounds);
    const device_array<std::uint64_t> done(1);
    const queue_user<TypeParam> user{memory.kind(), memory.states(), locks.data(), values.data()};
    launch({4, 64}, taker_kernel<TypeParam>{}, user, done.data(), rounds);
    EXPECT_EQ(expect_each_once(values), 0u);
    memory.expect_all_back();
  });
}

/// One warp pushes until there is no room, then takes a segment, and finds room again.
template <class Kind>
struct refusal_kernel {
  /// Pushes whole warps from value `from` on until one is refused; returns how many went in.
  WARPHEAP_FN static std::uint64_t fill(const queue_user<Kind>& user, std::uint64_t& from) {
    std::uint64_t went_in = 0;
    for (lane_mask refused = 0; refused == 0; from += warp_width) {
      const bool pushed = user.push(0, full_warp, from + static_cast<std::uint64_t>(lane_index()));
      refused = ballot(full_warp, !pushed);
      went_in += static_cast<std::uint64_t>(popcount(full_warp & ~refused));
    }
    return went_in;
  }

  WARPHEAP_FN void operator()(queue_user<Kind> user, std::uint64_t chunks, std::uint64_t most,
                              std::uint64_t* used) const {
    const segment_queue<Kind> queue = user.queue(0);
    std::uint64_t from = 0;
    const std::uint64_t all = fill(user, from);
    require(all >= most, "refused too early");
    for (int round = 0; round < 8; ++round) {
      std::uint64_t none = from;
      require(fill(user, none) == 0, "room, and none before");
      from = none;
      std::uint64_t read = 0;
      if (is_leader(full_warp)) {
        if constexpr (std::is_base_of_v<virtual_queue, Kind>)
          require(queue.chunks() == chunks, "refused, with a chunk free");
        // One segment, or half of what is there.
        while (read == 0 || (round % 2 == 1 && read < all / 2)) {
          const adopted_segment some = queue.adopt();
          require(some.count != 0, "a full queue without entries");
          read += some.count;
          user.read(0, some);
        }
      }
      read = shuffle(full_warp, read, leader(full_warp));
      sync(full_warp);
      require(fill(user, from) != 0, "no room after a segment was retired");
    }
    if (is_leader(full_warp)) *used = from;
  }
};

TYPED_TEST(segment_queues, serve_again_when_segments_were_retired) {
  for_each_schedule([](std::uint64_t) {
    const std::uint64_t room = 4000;
    const queue_memory<TypeParam> memory{1, room};
    const device_array<spin_lock> locks(1);
    const device_array<value_log> values(100'000);
    const device_array<std::uint64_t> used(1);
    const queue_user<TypeParam> user{memory.kind(), memory.states(), locks.data(), values.data()};
    launch({1, warp_width}, refusal_kernel<TypeParam>{}, user, memory.chunks(), room, used.data());
    launch({1, 1}, drain_kernel<TypeParam>{}, user);
    memory.expect_all_back();
    const std::vector<value_log> log = values.to_host();
    for (std::uint64_t i = 0; i < log.size(); ++i)
      ASSERT_EQ(log[i].seen + log[i].refused, i < used.at(0) ? 1u : 0u) << i;
  });
}

/// The array of a virtualised array queue is full before memory is: each segment gets one chunk.
struct full_array_kernel {
  WARPHEAP_FN void operator()(queue_user<virtual_array> user) const {
    constexpr std::uint64_t most = virtual_array::ring_segments;
    std::uint64_t from = 0;
    for (std::uint64_t chunk = 0; chunk < most; ++chunk) {
      if (is_leader(full_warp)) user.kind.free_chunks.add({chunk, 1});
      sync(full_warp);
      require(refusal_kernel<virtual_array>::fill(user, from) != 0, "a chunk is free, and no room");
    }
    if (is_leader(full_warp)) user.kind.free_chunks.add({most, 1});
    sync(full_warp);
    require(refusal_kernel<virtual_array>::fill(user, from) == 0, "more segments than the array holds");
    if (is_leader(full_warp)) user.read(0, user.queue(0).adopt());
    sync(full_warp);
    require(refusal_kernel<virtual_array>::fill(user, from) != 0, "no room for a segment after one was adopted");
  }
};

TEST(segment_queue, an_array_that_is_full_refuses) {
  for_each_schedule(
      [](std::uint64_t) {
        const queue_memory<virtual_array> memory{virtual_array::ring_segments + 1};
        const device_array<spin_lock> locks(1);
        const device_array<value_log> values(memory.too_many() * 2);
        const queue_user<virtual_array> user{memory.kind(), memory.states(), locks.data(), values.data()};
        launch({1, warp_width}, full_array_kernel{}, user);
        launch({1, 1}, drain_kernel<virtual_array>{}, user);
        memory.expect_all_back();
        for (const value_log& each : values.to_host()) ASSERT_LE(each.seen + each.refused, 1u);
      },
      1);
}

/// Free chunks with gaps between them: segments are put together from leaves of which some are full and some are not.
struct gaps_kernel {
  WARPHEAP_FN void operator()(queue_user<virtual_list> user, std::uint64_t count) const {
    const std::uint32_t free[] = {64, 40, 64, 64, 64, 64, 64, 0, 64, 0, 10, 64, 21};  // of each leaf
    if (is_leader(full_warp)) {
      std::uint64_t leaf = 0;
      for (const std::uint32_t each : free) user.kind.free_chunks.add({leaf++ * bit_tree::leaf_bits, each});
    }
    sync(full_warp);
    for (std::uint64_t at = 0; at < count; at += warp_width) {
      require(user.push(0, full_warp, at + static_cast<std::uint64_t>(lane_index())), "no room");
    }
  }
};

TEST(segment_queue, gaps_between_chunks_do_no_harm) {
  for_each_schedule(
      [](std::uint64_t) {
        const std::uint64_t count = 90'112;
        const queue_memory<virtual_list> memory{13 * bit_tree::leaf_bits};
        const device_array<spin_lock> locks(1);
        const device_array<value_log> values(count);
        const queue_user<virtual_list> user{memory.kind(), memory.states(), locks.data(), values.data()};
        launch({1, warp_width}, gaps_kernel{}, user, count);
        launch({1, 1}, drain_kernel<virtual_list>{}, user);
        EXPECT_EQ(expect_each_once(values), 0u);
        EXPECT_EQ(memory.free(), 583u);
      },
      1);
}

}  // namespace
}  // namespace warpheap::test::segment_queue_test
