// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A ring of chunk headers: blocks never overlap, whatever threads split and merge; what is given is found again, chunks
// merge as requests need it, and null is true.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test::header_ring_test {
namespace {

using place_type = std::uint32_t;

// Makes a ring of chunks of `chunk` units; the last one may be shorter. Cursors begin spread over the ring.
struct make_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring, std::uint32_t units, std::uint32_t chunk) const {
    for (std::uint32_t at = 0; at < units; at += chunk) ring.lay(at, at + chunk < units ? at + chunk : units);
    ring.finish(units);
    const std::uint32_t chunks = (units + chunk - 1) / chunk;
    for (std::uint32_t i = 0; i < ring.cursors().count(); ++i) ring.place_cursor(i, i % chunks * chunk);
  }
};

/// A ring and its memory.
template <class Ring>
class ring_memory {
 public:
  ring_memory(std::uint32_t units, std::uint32_t chunk) : memory_(Ring::bytes(units) + 128) {
    launch({1, 1}, make_kernel{}, view(), units, chunk);
    synchronise();
  }
  Ring view() const {
    const std::uint64_t at = align_up(reinterpret_cast<std::uint64_t>(memory_.data()), 128);
    return Ring{reinterpret_cast<typename Ring::state*>(at)};
  }

 private:
  device_array<std::byte> memory_;
};

template <class Ring>
class header_ring_of : public ::testing::Test {};
using rings = testing::Types<header_ring<locked_header, 1>, header_ring<fused_header, 1>, header_ring<locked_header, 7>,
                             header_ring<fused_header, 7>>;
TYPED_TEST_SUITE(header_ring_of, rings);

TEST(ring_request, fits_where_a_plain_search_says) {
  for (std::uint32_t units = 1; units < 9; ++units) {
    for (std::uint32_t at = 0; at < 20; ++at) {
      for (std::uint32_t end = at; end < 32; ++end) {
        const auto expected = [&](std::uint32_t step, std::uint32_t phase) {
          std::uint32_t first = phase;
          while (first < at) first += step;
          return first + units <= end ? first : ~0u;
        };
        std::uint32_t first = 0;
        EXPECT_EQ((ring_request{units}.fits(at, end, first) ? first : ~0u), expected(units, 0));
        EXPECT_EQ((aligned_ring_request{units, 12, 5}.fits(at, end, first) ? first : ~0u), expected(12, 5));
      }
    }
  }
}

// One lane, and the results are known: a ring of 16 units in chunks of one.
struct steps_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring) const {
    const auto take = [ring](std::uint32_t units) { return ring.take(ring_request{units}); };
    require(take(17) == ring.none && (ring.look(1) & ring_word::free) != 0, "merges for nothing");
    const place_type whole = take(16);
    require(whole == 0 && take(1) == ring.none, "16 chunks merge into one");
    ring.give(whole);
    const place_type five = take(5);
    require(five == 0 && ring_word::next(ring.look(five)) == 5, "the first place");
    require(take(16) == ring.none && take(5) == 5 && take(5) == 10, "multiples of five");
    require(take(5) == ring.none && take(2) == ring.none && take(1) == 15 && take(1) == ring.none, "what is left");
    ring.give(5);
    require(take(4) == ring.none, "no multiple of four lies in five units from 5 on with four after it");
    require(take(3) == 6, "what lies before and after a block is free");
    require(take(1) == 9 && take(1) == 5 && take(1) == ring.none, "both");
    ring.give(0);
    ring.give(5);
    ring.give(6);
    ring.give(9);
    require(take(10) == 0, "four chunks merge into one");
    require(ring.take(aligned_ring_request{1, 8, 3}) == ring.none, "no room");
    ring.give(10);
    require(ring.take(aligned_ring_request{2, 8, 3}) == 11, "a place of a phase");
    require(take(1) == 13 && take(1) == 14 && take(1) == 10 && take(1) == ring.none, "what lies around it");
  }
};

TEST(header_ring, one_lane_knows_what_it_gets) {
  const ring_memory<header_ring<locked_header, 1>> locked{16, 1};
  const ring_memory<header_ring<fused_header, 1>> fused{16, 1};
  launch({1, 1}, steps_kernel{}, locked.view());
  launch({1, 1}, steps_kernel{}, fused.view());
}

// A give that connects leaves fewer chunks.
struct connect_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring) const {
    for (std::uint32_t i = 0; i < 4; ++i) require(ring.take(ring_request{2}) % 2 == 0, "room");
    ring.give_and_connect(4);
    ring.give_and_connect(2);
    require(ring.look(2) == (ring_word::free | 6), "the chunk after it was free");
    require((ring.look(4) & (ring_word::free | ring_word::allocated)) == 0, "and is absorbed");
    ring.give_and_connect(6);
    ring.give_and_connect(0);
    require(ring.look(0) == (ring_word::free | 6), "not more than one chunk");
    require(ring.take(ring_request{8}) == 0, "nothing is lost");
  }
};

TYPED_TEST(header_ring_of, a_give_may_connect) {
  const ring_memory<TypeParam> memory{8, 8};
  launch({1, 1}, connect_kernel{}, memory.view());
}

// Each thread takes chunks of some sizes, marks their units as its own, without an atomic, and gives them back: a ring
// of few chunks, so that threads split and merge the same ones.
struct churn_kernel {
  bool connect;

  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring, std::uint32_t* owners, std::uint64_t seed, int steps) const {
    random_stream random{seed, grid_thread_index()};
    const auto me = static_cast<std::uint32_t>(grid_thread_index()) + 1;
    constexpr int most = 3;
    place_type held[most];
    std::uint32_t sizes[most] = {};
    for (int step = 0; step < steps + most; ++step) {
      const auto slot = static_cast<int>(step < steps ? random.below(most) : step - steps);
      if (sizes[slot] != 0) {
        for (std::uint32_t i = 0; i < sizes[slot]; ++i) {
          require(owners[held[slot] + i] == me, "a unit has two owners");
          owners[held[slot] + i] = 0;
        }
        connect ? ring.give_and_connect(held[slot]) : ring.give(held[slot]);
        sizes[slot] = 0;
      } else if (step < steps) {
        const auto units = static_cast<std::uint32_t>(1 + random.below(4));
        held[slot] = ring.take(ring_request{units});
        if (held[slot] == ring.none) continue;
        sizes[slot] = units;
        require(held[slot] % units == 0 && ring_word::next(ring.look(held[slot])) == held[slot] + units, "its size");
        for (std::uint32_t i = 0; i < units; ++i) {
          require(owners[held[slot] + i] == 0, "a unit is taken twice");
          owners[held[slot] + i] = me;
        }
      }
    }
  }
};

struct whole_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring) const {
    require(ring.take(ring_request{ring.units()}) == 0, "after all gives the ring is not one chunk");
  }
};

template <class Ring>
void churn(std::uint32_t units, std::uint32_t chunk, std::uint64_t threads, bool connect, std::uint64_t seed) {
  const ring_memory<Ring> memory{units, chunk};
  const device_array<std::uint32_t> owners(units);
  launch(grid_shape::covering(threads, 32), churn_kernel{connect}, memory.view(), owners.data(), seed, 24);
  launch({1, 1}, whole_kernel{}, memory.view());
  synchronise();
}

// The regression test of the fault of the original C, which links with the size that it saw before it had the lock.
TYPED_TEST(header_ring_of, blocks_never_overlap) {
  for_each_schedule(
      [](std::uint64_t seed) {
        churn<TypeParam>(24, 24, 5, false, seed);
        churn<TypeParam>(64, 4, 32, false, seed);
        churn<TypeParam>(64, 4, 32, true, seed);
        churn<TypeParam>(static_cast<std::uint32_t>(scaled(512, 1 << 14)), 8, scaled(128, 1 << 12), false, seed);
      },
      20);
}

struct take_all_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring, std::uint32_t units, place_type* places) const {
    places[grid_thread_index()] = ring.take(ring_request{units});
  }
};

// A ring of more chunks than any limit of steps that a take could have: the one free unit lies before the cursor.
struct before_cursor_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring) const {
    for (std::uint32_t at = 0; at < ring.units(); ++at) require(ring.take(ring_request{1}) == at, "in turn");
    require(ring.take(ring_request{1}) == ring.none, "all units are taken");
    for (const std::uint32_t at : {0u, 5u, ring.units() - 1}) {
      ring.give(at);
      for (std::uint32_t i = 0; i < ring.cursors().count(); ++i) ring.place_cursor(i, at + 1);
      require(ring.take(ring_request{1}) == at, "refused with a free unit before the cursor");
    }
  }
};

TYPED_TEST(header_ring_of, a_long_ring_is_searched_to_its_end) {
  const auto units = static_cast<std::uint32_t>(scaled(1 << 17, 1 << 17) + 100);
  const ring_memory<TypeParam> memory{units, units};
  launch({1, 1}, before_cursor_kernel{}, memory.view());
  synchronise();
}

// In a ring that nobody has taken from, what lies before the cursor alone has room.
struct room_before_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring) const {
    for (std::uint32_t i = 0; i < ring.cursors().count(); ++i) ring.place_cursor(i, 4);
    require(ring.take(ring_request{3}) == 0, "a walk from a cursor on is taken for a proof");
  }
};

TYPED_TEST(header_ring_of, a_walk_from_a_cursor_on_proves_nothing) {
  const ring_memory<TypeParam> memory{5, 4};
  launch({1, 1}, room_before_kernel{}, memory.view());
  synchronise();
}

// Many threads that begin at one cursor take different units, and all that there are.
TYPED_TEST(header_ring_of, threads_that_leap_find_all_there_is) {
  for_each_schedule(
      [](std::uint64_t) {
        for (const std::uint32_t chunk : {1u, 8u, 96u}) {
          const ring_memory<TypeParam> memory{96, chunk};
          const device_array<place_type> places(96);
          launch({3, 32}, take_all_kernel{}, memory.view(), 1u, places.data());
          std::vector<bool> taken(96);
          for (const place_type each : places.to_host()) {
            ASSERT_LT(each, 96u);
            ASSERT_FALSE(taken[each]);
            taken[each] = true;
          }
        }
      },
      5);
}

// Each thread of a full ring gives its chunk and asks for another one: a place is free at each moment.
struct give_and_take_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring, std::uint32_t units, place_type* places, int rounds) const {
    place_type& mine = places[grid_thread_index()];
    for (int i = 0; i < rounds; ++i) {
      ring.give(mine);
      mine = ring.take(ring_request{units});
      require(mine != ring.none, "refused with a place for each");
    }
  }
};

TYPED_TEST(header_ring_of, null_is_true) {
  constexpr std::uint32_t threads = 12;
  for (const schedule::policy order : {schedule::policy::random, schedule::policy::stalling}) {
    for_each_seed(order, 30, [](std::uint64_t) {
      for (const std::uint32_t units : {1u, 3u}) {
        const ring_memory<TypeParam> memory{units * threads, units == 1 ? 12u : 1u};
        const device_array<place_type> places(threads);
        launch({3, 4}, take_all_kernel{}, memory.view(), units, places.data());
        for (const place_type each : places.to_host()) ASSERT_NE(each, TypeParam::none);
        launch({3, 4}, give_and_take_kernel{}, memory.view(), units, places.data(), 8);
        synchronise();
      }
    });
  }
}

// A full ring refuses many threads, and each of them in the end also while others take and give.
struct storm_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring, int rounds) const {
    const bool moves = grid_thread_index() == 0;
    for (int i = 0; i < rounds; ++i) {
      const place_type place = ring.take(ring_request{moves ? 1u : 2u});
      require(moves || place == ring.none, "two units, where single ones are free");
      if (place != ring.none) ring.give(place);
    }
  }
};

struct take_even_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring) const {
    for (std::uint32_t at = 0; at < ring.units(); ++at) require(ring.take(ring_request{1}) != ring.none, "room");
    for (std::uint32_t at = 0; at < ring.units(); at += 2) ring.give(at);
  }
};

TYPED_TEST(header_ring_of, a_storm_of_refusals_ends) {
  for_each_schedule([](std::uint64_t) {
    const ring_memory<TypeParam> memory{128, 1};
    launch({1, 1}, take_even_kernel{}, memory.view());
    launch({4, 64}, storm_kernel{}, memory.view(), 4);
    synchronise();
  });
}

// The first warp asks for what there is never a place for, and the others take and give until each lane of it has been
// refused several times. A place is free for each of the others at any moment.
struct refused_under_churn_kernel {
  std::uint32_t askers;  // threads of the first block
  int rounds;            // of the others at most, so that a failing test ends

  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring, std::uint32_t* refused) const {
    const atomic_view over{*refused};
    if (grid_thread_index() < askers) {
      for (int i = 0; i < 3; ++i) require(ring.take(ring_request{2}) == ring.none, "two units, where one is free");
      over.fetch_add(1, memory_order::relaxed, thread_scope::device);
      return;
    }
    for (int i = 0; over.load(memory_order::relaxed, thread_scope::device) != askers; ++i) {
      require(i != rounds, "a request that has no place was not refused while others took and gave");
      const place_type mine = ring.take(ring_request{1});
      require(mine != ring.none, "refused with a place for each");
      ring.give(mine);
    }
  }
};

// One worker: with two the system decides how many rounds the others make while the first warp is kept from running.
TYPED_TEST(header_ring_of, a_refusal_comes_while_others_take_and_give) {
  constexpr std::uint32_t warp = 8;  // threads of a block
  for_each_seed(schedule::policy::random, 3, [](std::uint64_t) {
    const ring_memory<TypeParam> memory{16 * warp, 1};
    const device_array<std::uint32_t> refused(1);
    launch({1, 1}, take_even_kernel{}, memory.view());
    launch({9, warp}, refused_under_churn_kernel{warp, this_backend == backend::host ? 1 << 13 : 1 << 20},
           memory.view(), refused.data());
    synchronise();
  });
}

}  // namespace
}  // namespace warpheap::test::header_ring_test
