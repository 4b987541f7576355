// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What the batch ring promises: each ticket gets the unit of its number, however batches and groups are cut; one
// publisher at a time; one who finishes a batch, and sees what all others did; a rest that goes to one taker.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/random_groups.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <sync/numbered_units.hpp>
#include <vector>
#include <warpheap/sync.hpp>

namespace warpheap::test::batch_ring_test {
namespace {

/// Draws `start` tickets for nobody, in `turns` small steps and large ones, so that what follows wraps around.
struct advance_kernel {
  WARPHEAP_FN void operator()(source* from, std::uint32_t start, std::uint32_t turns) const {
    batch_ring& ring = from[block_index()].ring;
    for (std::uint32_t done = 0; done < start || turns != 0;) {
      std::uint32_t step = start - done < batch_ring::all ? start - done : batch_ring::all;
      if (turns != 0 && done < start) step = 1;
      const batch_ring::batch newest = ring.newest();
      require(ring.draw(step) == done && newest.end() == done, "tickets are not drawn in order");
      require(ring.demand(newest) == step, "demand");
      ring.publish(newest, nobodys, step, 0);
      done += step;
      if (turns != 0) --turns;
    }
  }
};

/// Every thread draws three times, from another ring each time, alone or with whom is there.
struct storm_kernel {
  source* from;
  unit* units;
  std::uint64_t total;  // tickets of each ring
  std::uint32_t start;
  std::uint32_t largest;
  std::uint64_t seed;

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    for (std::uint64_t round = 0; round < 3; ++round) {
      const std::uint64_t which = (grid_thread_index() + round) % 3;
      random_groups::draw(random, 4, which).in_turns([&](lane_mask lanes) { return get(which, lanes, random); });
    }
  }

  WARPHEAP_FN bool get(std::uint64_t which, lane_mask group, random_stream& random) const {
    source& mine = from[which];
    unit* const log = units + which * total;
    std::uint32_t ticket = 0;
    if (is_leader(group)) ticket = mine.ring.draw(static_cast<std::uint32_t>(group_size(group)));
    ticket = shuffle(group, ticket, leader(group));
    const std::uint64_t expected = (ticket + static_cast<std::uint32_t>(group_rank(group)) - start) & ticket_mask;
    const auto bring = [&](lane_mask lanes, batch_ring::batch newest) {
      if (is_leader(lanes)) {
        const std::uint64_t left = total - mine.next;
        require(left != 0, "a batch that nobody lacks");
        const std::uint64_t size = 1 + mix(mine.next ^ seed) % largest;
        mine.bring(newest, static_cast<std::uint32_t>(size < left ? size : left), log);
      }
      sync(lanes);
    };
    return mine.ring.resolve(group, ticket, bring, [&](lane_mask served, batch_ring::place at) {
      require((served & lane_bit()) != 0 && (served & ~group) == 0 && match(served, at.in.word) == served,
              "a group of several batches");
      require(at.what == mine.ring.what(at.in), "another batch's word");
      const std::uint64_t number = at.what + at.index;
      require(at.index < at.in.size() && number == expected, "units are not in the order of tickets");
      source::use(log[number], number);
      const std::uint64_t pauses = random.below(8) == 0 ? random.below(12) : 0;
      if (at.in.turn() % 2 == 0) {
        sync(served);
        if (is_leader(served)) {
          linger(pauses);
          mine.close(log, at.in, static_cast<std::uint32_t>(group_size(served)));
        }
      } else {
        linger(pauses);
        mine.close(log, at.in, 1);
      }
      return true;
    });
  }
};

TEST(batch_ring, tickets_get_units_in_order) {
  for_each_schedule([](std::uint64_t seed) {
    for (const std::uint32_t start : {0u, ticket_mask - 36, (1u << 27) - 5}) {
      for (const std::uint32_t largest : {1u, 3u, 40u, 1000u}) {
        SCOPED_TRACE("from ticket " + std::to_string(start) + ", batches up to " + std::to_string(largest));
        // Small batches are published one after another.
        const grid_shape grid = grid_shape::covering(scaled(192, largest < 40 ? 1 << 11 : 1 << 16), 64);
        const std::uint64_t total = grid.blocks * grid.threads;
        const device_array<source> from(3);
        const device_array<unit> units(3 * total);
        // Near the end of the tickets it is near the end of the turns, too.
        launch({3, 1}, advance_kernel{}, from.data(), start, start == ticket_mask - 36 ? 4050u : 0u);
        launch(grid, storm_kernel{from.data(), units.data(), total, start, largest, seed});
        expect_each_once(units, 3 * total);
        for (const source& each : from.to_host()) {
          EXPECT_EQ(each.next, total);
          EXPECT_EQ(each.ring.newest().end(), (start + total) & ticket_mask);
          EXPECT_EQ(each.ring.balance(), 0);
        }
        if (HasFailure()) return;
      }
    }
  });
}

/// One warp draws as one, and is cut exactly where batches end.
struct split_kernel {
  WARPHEAP_FN void operator()(source* from, unit* units, std::uint32_t size) const {
    const auto width = static_cast<std::uint32_t>(warp_width);
    const auto lane = static_cast<std::uint32_t>(lane_index());
    lane_mask group = low_bits(warp_width);
    std::uint32_t ticket = 0;
    if (is_leader(group)) ticket = from->ring.draw(width);
    ticket = shuffle(group, ticket, leader(group));
    const auto bring = [&](lane_mask lanes, batch_ring::batch newest) {
      // As publishers do that must not miss what a holder may put back.
      if (is_leader(lanes)) from->ring.await_all_finished();
      if (is_leader(lanes)) from->bring(newest, size, units);
      sync(lanes);
    };
    from->ring.resolve(group, ticket, bring, [&](lane_mask served, batch_ring::place at) {
      const std::uint32_t begin = lane / size * size;
      const std::uint32_t end = begin + size < width ? begin + size : width;
      require(served == (low_bits(static_cast<int>(end)) & ~low_bits(static_cast<int>(begin))), "cut elsewhere");
      require(at.index == lane % size && from->ring.what(at.in) == begin && at.in.size() == size, "another unit");
      source::use(units[lane], lane);
      from->close(units, at.in, 1);
      return true;
    });
    // As lanes do at the reconvergence barrier after the call.
    sync(low_bits(warp_width));
  }
};

TEST(batch_ring, small_batches_split_a_group) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint32_t size : {1u, 3u, 5u, 16u, 31u, 32u, 100u}) {
      const device_array<source> from(1);
      const device_array<unit> units(256);
      launch({1, warp_width}, split_kernel{}, from.data(), units.data(), size);
      EXPECT_EQ(from.at(0).ring.balance(), static_cast<std::int32_t>(divide_up(warp_width, size) * size - warp_width))
          << size;
      for (std::uint64_t i = 0; i < warp_width; ++i) EXPECT_EQ(units.at(i).drawn, 1u) << i;
    }
  });
}

/// A warp that has a unit keeps it until seven more batches are out: then the eighth has to wait.
struct hold_kernel {
  WARPHEAP_FN void operator()(source* from, unit* units) const {
    if (lane_index() != 0) return;
    batch_ring& ring = from->ring;
    const std::uint64_t warps = grid_threads() / static_cast<std::uint64_t>(warp_width);
    ring.resolve(
        lane_bit(), ring.draw(1), [&](lane_mask, batch_ring::batch newest) { from->bring(newest, 1, units); },
        [&](lane_mask, batch_ring::place at) {
          const std::uint64_t number = ring.what(at.in);
          const std::uint32_t turn = at.in.turn();
          if (turn + 7 <= warps) {
            for (backoff wait; ring.newest().turn() < turn + 7;) wait.pause();
            linger(4);
            require(ring.newest().turn() == turn + 7 && ring.what(at.in) == number, "a slot was used again too early");
          }
          source::use(units[number], number);
          from->close(units, at.in, 1);
          return true;
        });
  }
};

TEST(batch_ring, a_slot_is_kept_until_its_units_are_finished) {
  for_each_schedule([](std::uint64_t) {
    // All warps run at once: they wait for each other.
    const grid_shape grid = grid_shape::covering(scaled(16, 256) * warp_width, 2 * warp_width);
    const device_array<source> from(1);
    const device_array<unit> units(grid.blocks * grid.threads / warp_width);
    launch(grid, hold_kernel{}, from.data(), units.data());
    expect_each_once(units, units.size());
  });
}

/// Thread 0 has no unit and waits for the first batch to be finished; thread 1 publishes the next ones, with units
/// that no thread has, until one uses the slot of the first.
struct await_kernel {
  WARPHEAP_FN void operator()(source* from, unit* units) const {
    batch_ring& ring = from->ring;
    const std::uint64_t others = grid_threads() - 1;
    if (grid_thread_index() == 0) {
      ring.await_newer({0});
      ring.await_finished(1);
      for (std::uint64_t i = 0; i < others; ++i) {
        require(units[i].note == static_cast<std::uint32_t>(mix(i)), "not finished, or not to be seen");
      }
      return;
    }
    one_group_at_a_time(active_group(), lane_bit(), [&](lane_mask alone) {
      const auto bring = [&](lane_mask, batch_ring::batch newest) {
        from->bring(newest, static_cast<std::uint32_t>(others), units);
      };
      return ring.resolve(alone, ring.draw(1), bring, [&](lane_mask, batch_ring::place at) {
        linger(grid_thread_index() % 5);
        source::use(units[at.index], at.index);
        ring.finish(at.in, 1);
        return true;
      });
    });
    if (grid_thread_index() != 1) return;
    for (int i = 0; i < 8; ++i) {
      batch_ring::batch found{0};
      std::uint32_t ticket = 0;
      for (backoff wait; ring.balance() > 0 || !ring.try_draw_all(found, ticket);) wait.pause();
      ring.publish(found, nobodys, batch_ring::all, 0);
    }
  }
};

TEST(batch_ring, await_finished_sees_all_units_done) {
  for_each_schedule([](std::uint64_t seed) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      schedule plan = current_schedule();
      plan.seed = seed * 1000 + i;
      const scoped_schedule guard{plan};
      const device_array<source> from(1);
      const device_array<unit> units(32);
      launch({2, 8}, await_kernel{}, from.data(), units.data());
      EXPECT_EQ(from.at(0).ring.newest().turn(), 9u);
    }
  });
}

/// Every other batch is nothing, for all who wait when its publisher looks.
struct nothing_kernel {
  WARPHEAP_FN void operator()(source* from, unit* units, std::uint64_t seed, int rounds) const {
    random_stream random{seed, grid_thread_index()};
    const atomic_view out{from->epoch};
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t before = out.load(memory_order::acquire, thread_scope::device);
      random_groups::draw(random, 3).in_turns([&](lane_mask lanes) { return ask(from, units, lanes, before); });
    }
  }

  WARPHEAP_FN static bool ask(source* from, unit* units, lane_mask group, std::uint64_t before) {
    batch_ring& ring = from->ring;
    const auto bring = [&](lane_mask lanes, batch_ring::batch newest) {
      if (is_leader(lanes)) publish(from, newest, units);
      sync(lanes);
    };
    return ring.take(group, bring, [&](lane_mask served, batch_ring::place at) {
      const std::uint64_t what = at.what;
      if ((what & nothing) != 0) {
        require(before < (what & ~nothing), "told that there was nothing, by who looked before it asked");
        atomic_view{from->heard}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      } else {
        source::use(units[what + at.index], what + at.index);
      }
      sync(served);
      if (is_leader(served)) ring.leave(at.in, static_cast<std::uint32_t>(group_size(served)));
      return true;
    });
  }

  WARPHEAP_FN static void publish(source* from, batch_ring::batch newest, unit* units) {
    batch_ring& ring = from->ring;
    if (newest.turn() % 2 == 0) return from->bring(newest, 7, units);
    linger(3);
    const std::uint64_t number = ++from->nothings;
    const std::uint32_t waiting = ring.demand(newest);
    from->told += waiting;
    ring.publish(newest, nothing | number, waiting, waiting);
    // Says that it is out; the publisher after us may have said so before.
    atomic_view{from->epoch}.fetch_max(number, memory_order::release, thread_scope::device);
  }
};

TEST(batch_ring, nothing_reaches_those_who_waited) {
  const int rounds = 5;
  for_each_schedule([&](std::uint64_t seed) {
    const grid_shape grid = grid_shape::covering(scaled(256, 1 << 13), 64);
    const std::uint64_t asked = grid.blocks * grid.threads * rounds;
    const device_array<source> from(1);
    const device_array<unit> units(asked + 7);
    launch(grid, nothing_kernel{}, from.data(), units.data(), seed, rounds);
    const source after = from.at(0);
    EXPECT_GT(after.nothings, 0u);
    EXPECT_EQ(after.heard, after.told);
    const bool rest_is_real = (after.ring.what(after.ring.newest()) & nothing) == 0;
    const std::uint64_t served = after.next - (rest_is_real ? static_cast<std::uint64_t>(after.ring.balance()) : 0);
    EXPECT_EQ(served + after.heard, asked);
    const std::vector<unit> log = units.to_host();
    for (std::uint64_t i = 0; i < log.size(); ++i) ASSERT_EQ(log[i].drawn, i < served ? 1u : 0u) << "unit " << i;
  });
}

/// Thread 0 takes all that is left, time and again, while the others draw.
struct sweep_kernel {
  source* from;
  unit* units;
  std::uint64_t seed;
  int sweeps;
  int rounds;

  WARPHEAP_FN void operator()() const {
    if (grid_thread_index() == 0) {
      for (int i = 0; i < sweeps; ++i) sweep(static_cast<std::uint64_t>(i));
    } else {
      for (int round = 0; round < rounds; ++round) draw();
    }
  }

  WARPHEAP_FN void sweep(std::uint64_t pauses) const {
    batch_ring& ring = from->ring;
    batch_ring::batch found{0};
    std::uint32_t ticket = 0;
    {
      backoff wait;
      while (!ring.try_draw_all(found, ticket)) wait.pause();
    }
    const std::int32_t rest = batch_ring::distance(ticket, found.end());
    require(rest >= 0 && static_cast<std::uint32_t>(rest) <= found.size(), "drawn while others wait");
    const auto left = static_cast<std::uint32_t>(rest);
    if (left != 0) {
      const std::uint64_t end = ring.what(found) + found.size();
      for (std::uint64_t i = end - left; i < end; ++i) source::use(units[i], i);
      from->close(units, found, left);
    }
    const std::uint64_t next = from->next;
    linger(pauses % 4);
    require(from->next == next && ring.newest().word == found.word, "two publishers");
    ring.publish(found, nobodys, batch_ring::all - left, 0);
    linger(pauses % 7);
  }

  WARPHEAP_FN void draw() const {
    batch_ring& ring = from->ring;
    const auto bring = [&](lane_mask lanes, batch_ring::batch newest) {
      if (is_leader(lanes)) from->bring(newest, static_cast<std::uint32_t>(1 + mix(from->next ^ seed) % 48), units);
      sync(lanes);
    };
    ring.take(active_group(), bring, [&](lane_mask served, batch_ring::place at) {
      const std::uint64_t what = at.what;
      require((what & nobodys) == 0, "a unit of nobody's");
      source::use(units[what + at.index], what + at.index);
      sync(served);
      if (is_leader(served)) from->close(units, at.in, static_cast<std::uint32_t>(group_size(served)));
      return true;
    });
  }
};

TEST(batch_ring, the_rest_goes_to_one_and_only_if_nobody_waits) {
  for_each_schedule([](std::uint64_t seed) {
    for (const std::uint32_t start : {0u, ticket_mask - 5 * batch_ring::all - 11}) {
      const grid_shape grid = grid_shape::covering(scaled(256, 1 << 12), 64);
      const int rounds = 4;
      const device_array<source> from(1);
      // A batch of up to 48 for each one who lacks a unit.
      const device_array<unit> units(grid.blocks * grid.threads * rounds * 48);
      launch({1, 1}, advance_kernel{}, from.data(), start, 0u);
      // 32 of them are once around.
      launch(grid, sweep_kernel{from.data(), units.data(), seed, 70, rounds});
      launch({1, 1}, sweep_kernel{from.data(), units.data(), seed, 1, 0});
      expect_each_once(units, from.at(0).next);
      if (HasFailure()) return;
    }
  });
}

struct steps_kernel {
  WARPHEAP_FN void operator()(batch_ring* rings) const {
    batch_ring& ring = *rings;
    batch_ring::batch newest = ring.newest();
    require(newest.end() == 0 && newest.size() == 0 && ring.balance() == 0 && ring.demand(newest) == 0, "empty");
    require(ring.draw(2) == 0 && ring.draw(3) == 2 && ring.demand(newest) == 5, "draws in a row");
    batch_ring::batch found{0};
    std::uint32_t ticket = 0;
    require(!ring.try_draw_all(found, ticket) && ring.demand(newest) == 5, "all, while others wait");
    ring.publish(newest, 77, 9, 9);
    newest = ring.newest();
    require(newest.begin() == 0 && newest.end() == 9 && newest.size() == 9 && newest.turn() == 1, "a batch of 9");
    require(ring.what(newest) == 77 && ring.balance() == 4, "4 are left");
    require(!ring.finish(newest, 2), "not the last");
    ring.pass(newest, 3);
    require(ring.try_draw_all(found, ticket) && ticket == 5 && found.word == newest.word, "takes 4");
    require(
        ring.balance() == 4 - static_cast<std::int32_t>(batch_ring::all) && ring.demand(newest) == batch_ring::all - 4,
        "all of them");
    require(ring.finish(newest, 4), "the last");
    ring.publish(found, 0, batch_ring::all - 4, 0);
    require(ring.balance() == 0 && ring.demand(ring.newest()) == 0, "nothing is left and nobody waits");
    require(ring.try_draw_all(found, ticket) && ticket == found.end(), "all of nothing");
    require(!ring.try_draw_all(found, ticket), "once");
    // The slot of the first batch gets another one; then nobody waits for the first any more.
    ring.publish(ring.newest(), 0, batch_ring::all, 0);
    for (int i = 0; i < 6; ++i) {
      ticket = ring.draw(1);
      ring.publish(ring.newest(), 0, 1, 1);
      require(ring.newest().begin() == ticket && (i == 5 || ring.finish(ring.newest(), 1)), "one by one");
    }
    require(ring.newest().turn() == 9, "turns count up");
    ring.await_finished(1);
    require(batch_ring::distance(0x0fffffff, 1) == 2 && batch_ring::distance(1, 0x0fffffff) == -2, "around the end");
  }
};

TEST(batch_ring, counts_as_it_says) {
  const device_array<batch_ring> ring(1);
  launch({1, 1}, steps_kernel{}, ring.data());
  synchronise();
}

}  // namespace
}  // namespace warpheap::test::batch_ring_test
