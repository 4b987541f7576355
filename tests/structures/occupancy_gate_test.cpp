// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What an occupancy gate promises: no more occupants than the limit, none while the gate is closed, a last one that
// closes it, refusals that change nothing, and order between occupants and those that hold the gate.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::occupancy_gate_test {
namespace {

struct steps_kernel {
  WARPHEAP_FN void operator()(std::uint32_t* word) const {
    const occupancy_gate gate{*word};
    std::uint32_t before = 7;
    require(gate.try_enter(3, 5, before) && before == 0 && gate.look() == 3, "room for three of five");
    require(!gate.try_enter(3, 5, before) && before == 3 && gate.look() == 3, "no room for three more");
    require(!gate.try_enter(1, 2, before) && before == 3, "a smaller limit");
    require(gate.enter(3, 5, before) == 2 && before == 3 && gate.look() == 5, "room for two of three");
    require(gate.enter(1, 5, before) == 0 && before == 5, "full");
    require(!gate.try_close() && gate.look() == 5, "occupied");
    require(!gate.leave(4) && gate.look() == 1, "one is left");
    require(gate.leave(1) && gate.look() == occupancy_gate::closed, "the last one closes");
    require(!gate.try_enter(1, occupancy_gate::most, before) && before == occupancy_gate::closed, "closed to all");
    require(gate.enter(1, occupancy_gate::most, before) == 0 && !gate.try_close(), "closed to all others");
    gate.reopen();
    require(gate.look() == 0 && gate.try_close() && !gate.try_close(), "closed from outside, once");
    gate.reopen();
    require(gate.try_enter(occupancy_gate::most, occupancy_gate::most, before), "as many as can be");
    require(!gate.try_enter(1, occupancy_gate::most, before) && gate.leave(occupancy_gate::most), "and no more");
    gate.reopen(2);
    constexpr std::uint32_t heavy = 16;
    require(gate.look() == 2 && gate.try_enter(heavy, 100, before) && before == 2, "beside the holder's");
    require(gate.settle(heavy, 9, 5) == 3 && gate.look() == 5, "a heavy one becomes as many as there is room for");
    require(gate.try_enter(heavy, 100, before) && gate.settle(heavy, 1, 5) == 0 && gate.look() == 5 + heavy, "full");
    require(!gate.leave(5) && gate.leave(heavy), "the heavy one is the last");
    gate.reopen();
  }
};

TEST(occupancy_gate, counts_as_it_says) {
  const device_array<std::uint32_t> word(1);
  launch({1, 1}, steps_kernel{}, word.data());
  EXPECT_EQ(word.at(0), 0u);
}

constexpr std::uint32_t limit = 6;

struct guarded {
  std::uint32_t gate;
  std::uint32_t inside;  // counted by the test, without order
  std::uint32_t kind;    // occupants agree on one by an atomic; a holder ends it by a plain write
  std::uint32_t stamp;   // plain: holders change it, occupants read it
};

/// Threads enter, agree on a kind, and leave.
struct churn_kernel {
  WARPHEAP_FN void operator()(guarded* all, std::uint32_t count, std::uint64_t seed, int rounds) const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      guarded& at = all[random.below(count)];
      const occupancy_gate gate{at.gate};
      if (random.below(8) == 0) {
        if (gate.try_close()) hold(at);
        continue;
      }
      std::uint32_t before = 0;
      const auto wanted = static_cast<std::uint32_t>(1 + random.below(3));
      std::uint32_t in = 0;
      switch (random.below(3)) {
        case 0: in = gate.enter(wanted, limit, before); break;
        case 1: in = gate.try_enter(wanted, limit, before) ? wanted : 0; break;
        default: in = visit(at, wanted);
      }
      if (in == 0) continue;
      stay(at, in, random);
      if (gate.leave(in)) hold(at);
    }
  }

  /// Enters as a heavy occupant, for which there is always room, and stays as some light ones if there is room.
  WARPHEAP_FN static std::uint32_t visit(guarded& at, std::uint32_t wanted) {
    constexpr std::uint32_t heavy = 1024;
    const occupancy_gate gate{at.gate};
    std::uint32_t before = 0;
    if (!gate.try_enter(heavy, occupancy_gate::most, before)) return 0;
    const std::uint32_t in = gate.settle(heavy, wanted, limit);
    if (in == 0 && gate.leave(heavy)) hold(at);
    return in;
  }

  WARPHEAP_FN static void stay(guarded& at, std::uint32_t in, random_stream& random) {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t here = atomic_view{at.inside}.fetch_add(in, relaxed, device);
    require(here + in <= limit, "a crowd");
    const auto mine = static_cast<std::uint32_t>(1 + random.below(3));
    std::uint32_t kind = 0;
    if (atomic_view{at.kind}.compare_exchange(kind, mine, acq_rel, device)) kind = mine;
    const std::uint32_t stamp = at.stamp;
    backoff().pause();
    require(atomic_view{at.kind}.load(relaxed, device) == kind && at.stamp == stamp, "changed with occupants inside");
    atomic_view{at.inside}.fetch_sub(in, relaxed, device);
  }

  WARPHEAP_FN static void hold(guarded& at) {
    using enum memory_order;
    using enum thread_scope;
    require(atomic_view{at.inside}.load(relaxed, device) == 0, "closed with occupants inside");
    at.kind = 0;
    at.stamp = at.stamp + 1;
    backoff().pause();
    require(atomic_view{at.inside}.load(relaxed, device) == 0, "entered a closed gate");
    occupancy_gate{at.gate}.reopen();
  }
};

TEST(occupancy_gate, keeps_kinds_apart_under_churn) {
  for_each_schedule(
      [](std::uint64_t seed) {
        const grid_shape grid = grid_shape::covering(scaled(192, 1 << 14), 64);
        const std::uint32_t count = static_cast<std::uint32_t>(divide_up(grid.blocks * grid.threads, 32));
        const device_array<guarded> all(count);
        launch(grid, churn_kernel{}, all.data(), count, seed, static_cast<int>(scaled(40, 100)));
        for (const guarded& each : all.to_host()) {
          ASSERT_EQ(each.gate, 0u) << "occupants are left, or the gate is closed";
          ASSERT_EQ(each.kind, 0u) << "the last occupant did not close the gate";
        }
      },
      4);
}

/// Occupants write what a holder reads: two threads at one gate, each with a plain word of its own.
struct hand_over_kernel {
  WARPHEAP_FN void operator()(std::uint32_t* gate_word, std::uint32_t* notes, int rounds) const {
    const occupancy_gate gate{*gate_word};
    const auto thread = static_cast<std::uint32_t>(grid_thread_index());
    const auto threads = static_cast<std::uint32_t>(grid_threads());
    for (int round = 0; round < rounds; ++round) {
      std::uint32_t before = 0;
      if (!gate.try_enter(1, threads, before)) continue;
      notes[thread] = notes[thread] + 1;  // an occupant's own until the gate is closed
      if (!gate.leave(1)) continue;
      for (std::uint32_t i = 0; i < threads; ++i) notes[i] = 0;
      gate.reopen();
    }
  }
};

TEST(occupancy_gate, holders_see_what_occupants_wrote) {
  for_each_schedule(
      [](std::uint64_t) {
        constexpr std::uint32_t threads = 48;
        const device_array<std::uint32_t> word(1);
        const device_array<std::uint32_t> notes(threads);
        launch({threads, 1}, hand_over_kernel{}, word.data(), notes.data(), 40);
        ASSERT_EQ(word.at(0), 0u);
        for (const std::uint32_t note : notes.to_host()) ASSERT_EQ(note, 0u) << "a note that no holder read";
      },
      4);
}

}  // namespace
}  // namespace warpheap::test::occupancy_gate_test
