// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What sets of slabs promise: a slab is in one set or in one thread's hands, it ends in the set that its word tells,
// whatever order the moves came in, and a pick finds a slab if there is one.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/masks.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::slab_sets_test {
namespace {

constexpr std::uint32_t sets = 3;

/// The set of a slab by its fill: sparse, roomy, busy, and full ones that nobody is to find.
struct by_fill {
  static constexpr std::uint32_t full = 12;
  const std::uint32_t* fill;

  WARPHEAP_FN static std::uint32_t of(std::uint32_t count) { return count == full ? sets : count / 4; }
  WARPHEAP_FN std::uint32_t operator()(std::uint32_t slab) const {
    const atomic_view word{const_cast<std::uint32_t&>(fill[slab])};
    return of(word.load(memory_order::relaxed, thread_scope::device));
  }
};

class sets_memory {
 public:
  explicit sets_memory(std::uint32_t slabs) : slabs_(slabs), memory_(slab_sets::bytes(sets, slabs)), fill_(slabs) {}
  slab_sets view() const { return {memory_.data(), sets, slabs_}; }
  std::uint32_t* fill() const { return fill_.data(); }
  /// Slabs that somebody is to find.
  std::uint32_t open() const {
    std::uint32_t count = 0;
    for (const std::uint32_t each : fill_.to_host()) count += each != by_fill::full ? 1 : 0;
    return count;
  }

 private:
  std::uint32_t slabs_;
  device_array<std::byte> memory_;
  device_array<std::uint32_t> fill_;
};

struct steps_kernel {
  WARPHEAP_FN void operator()(slab_sets all, std::uint32_t* fill, std::uint32_t slabs) const {
    const by_fill where{fill};
    constexpr std::uint32_t none = slab_sets::none;
    const lane_mask me = lane_bit();
    require(all.rest() == sets && all.pick(me, set_order::of(0, 1, 2), 5).slab == none, "sets of nothing");
    fill[3] = 5;
    fill[slabs - 1] = 2;
    all.put(3, where);
    all.put(slabs - 1, where);
    require(all.contains(3, 1) && !all.contains(3, 0) && all.contains(slabs - 1, 0), "put where they belong");
    require(all.search(0, 0) == slabs - 1 && all.search(0, slabs - 1) == slabs - 1, "searched for upwards");
    require(all.search(1, 3) == 3 && all.search(1, 4) == 3 && all.search(2, 4) == none, "searched for cyclically");
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
      require(all.find(0, seed) == slabs - 1 && all.find(1, seed) == 3 && all.find(2, seed) == none, "found from all");
    }
    auto got = all.pick(me, set_order::of(2, 1, 0), 9);
    require(got.slab == 3 && got.set == 1, "the first set of the order that has one");
    require(all.pick(me, set_order::of(1, 2), 9).slab == none, "one that was picked is in no set");
    fill[3] = by_fill::full;
    all.moved(3, 1, where);
    require(!all.contains(3, 1) && !all.contains(3, sets), "its holder moves it");
    all.put(3, where);
    require(all.contains(3, sets) && all.pick(me, set_order::of(1, 2), 0).slab == none, "full ones are not found");
    fill[3] = 11;
    all.moved(3, sets, where);
    require(all.contains(3, 2) && !all.contains(3, sets), "it has room again");
    fill[3] = 0;
    all.moved(3, 1, where);
    require(all.contains(3, 2), "a move from a set that it is not in is another thread's");
    all.moved(3, 2, where);
    require(all.contains(3, 0) && !all.take(3, 2) && all.take(3, 0) && !all.take(3, 0), "taken by name");
    got = all.pick(me, set_order::of(0), 1);
    require(got.slab == slabs - 1 && got.set == 0 && all.find(0, 1) == none, "the last");
    const auto before = all.begin_snapshot();
    require(before.quiescent && all.was_quiescent(before), "nothing moves");
    all.put(3, where);
    require(!all.was_quiescent(before) && all.take(3, 0), "a slab was moved");
    all.add(0, 0x6, 0);
    require(all.search(0, 2) == 2 && all.search(0, 3) == 1 && !all.contains(0, 0), "slabs that were added together");
    constexpr std::uint32_t next_leaf = bit_tree::leaf_bits;
    require(all.search(0, next_leaf + 2) == 2 && all.search(0, next_leaf + 1) == 1,
            "from its place in another leaf on");
    require(all.search_leaf(0, 2) == 2 && all.search_leaf(0, 3) == 1 && all.search_leaf(1, 3) == none, "in one leaf");
    require(!all.transfer(1, 1, [] { require(false, "a change of a slab in another set"); }, where), "not from there");
    require(
        all.transfer(1, 0, [&] { fill[1] = 9; }, where) && all.contains(1, 2) && !all.contains(1, 0), "transferred");
  }
};

TEST(slab_sets, keep_slabs_where_they_belong) {
  for (const std::uint32_t slabs : {5u, 64u, 300u, 5000u}) {
    const sets_memory memory{slabs};
    launch({1, 1}, steps_kernel{}, memory.view(), memory.fill(), slabs);
  }
}

struct put_kernel {
  WARPHEAP_FN void operator()(slab_sets all, const std::uint32_t* fill, std::uint32_t slabs) const {
    for (auto i = static_cast<std::uint32_t>(grid_thread_index()); i < slabs; i += grid_threads()) {
      all.put(i, by_fill{fill});
    }
  }
};

/// Threads fill and empty slabs, and pick some for a while.
struct churn_kernel {
  slab_sets all;
  std::uint32_t* fill;
  std::uint32_t* owners;  // plain: a slab that was picked is its picker's
  std::uint32_t slabs;
  std::uint64_t seed;
  int rounds;

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      if (random.below(3) == 0) {
        pick(random);
      } else {
        change(static_cast<std::uint32_t>(random.below(slabs)), random.below(2) == 0);
      }
    }
  }

  WARPHEAP_FN void change(std::uint32_t slab, bool rises) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view word{fill[slab]};
    std::uint32_t seen = word.load(relaxed, device);
    std::uint32_t next = 0;
    do {  // not a spin: each turn means that another thread changed the word
      if (rises ? seen == by_fill::full : seen == 0) return;
      next = rises ? seen + 1 : seen - 1;
    } while (!word.compare_exchange(seen, next, relaxed, device));
    if (by_fill::of(next) != by_fill::of(seen)) all.moved(slab, by_fill::of(seen), by_fill{fill});
  }

  WARPHEAP_FN void pick(random_stream& random) const {
    const lane_mask group = active_group();
    const auto first = shuffle(group, static_cast<std::uint32_t>(random.below(sets)), leader(group));
    const set_order order = set_order::of(first, (first + 1) % sets);
    const auto got = all.pick(group, order, static_cast<std::uint32_t>(random.below(1000)));
    require(got.slab == slab_sets::none || (got.slab < slabs && (got.set == first || got.set == (first + 1) % sets)),
            "a slab of another set");
    if (!is_leader(group) || got.slab == slab_sets::none) return;
    require(owners[got.slab] == 0, "one slab, two holders");
    owners[got.slab] = 1;
    backoff().pause();
    if (random.below(2) == 0) change(got.slab, true);
    owners[got.slab] = 0;
    all.put(got.slab, by_fill{fill});
  }
};

struct look_kernel {
  WARPHEAP_FN void operator()(slab_sets all, const std::uint32_t* fill, std::uint32_t slabs) const {
    for (auto i = static_cast<std::uint32_t>(grid_thread_index()); i < slabs; i += grid_threads()) {
      for (std::uint32_t set = 0; set <= sets; ++set) {
        require(all.contains(i, set) == (by_fill{fill}(i) == set), "a slab is not where it belongs");
      }
    }
  }
};

/// Takes all that can be found, which is all that is there.
struct drain_kernel {
  WARPHEAP_FN void operator()(slab_sets all, std::uint32_t* found) const {
    while (all.pick(lane_bit(), set_order::of(1, 0, 2), static_cast<std::uint32_t>(grid_thread_index())).slab !=
           slab_sets::none) {
      atomic_view{*found}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

TEST(slab_sets, end_where_the_words_tell) {
  for_each_schedule(
      [](std::uint64_t seed) {
        for (const std::uint32_t slabs : {3u, 100u}) {
          const sets_memory memory{slabs};
          const device_array<std::uint32_t> owners(slabs);
          launch({1, 64}, put_kernel{}, memory.view(), memory.fill(), slabs);
          launch(
              grid_shape::covering(scaled(128, 1 << 13), 64),
              churn_kernel{memory.view(), memory.fill(), owners.data(), slabs, seed, static_cast<int>(scaled(40, 60))});
          launch({1, 64}, look_kernel{}, memory.view(), memory.fill(), slabs);
          const device_array<std::uint32_t> found(1);
          launch({2, 32}, drain_kernel{}, memory.view(), found.data());
          ASSERT_EQ(found.at(0), memory.open()) << "a slab was lost, or made";
        }
      },
      4);
}

/// Each thread holds one slab at most, and there are two for each: so each set of all is never empty.
struct just_enough_kernel {
  WARPHEAP_FN void operator()(slab_sets all, const std::uint32_t* fill, std::uint64_t seed, int rounds) const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      const auto got = all.pick(lane_bit(), set_order::of(0), static_cast<std::uint32_t>(random.below(100)));
      require(got.slab != slab_sets::none, "none was found with a slab for each");
      all.put(got.slab, by_fill{fill});
    }
  }
};

TEST(slab_sets, a_pick_finds_what_is_there) {
  for_each_schedule(
      [](std::uint64_t seed) {
        const grid_shape grid = grid_shape::covering(scaled(96, 1 << 12), 32);
        const auto slabs = static_cast<std::uint32_t>(2 * grid.blocks * grid.threads);
        const sets_memory memory{slabs};
        launch({1, 64}, put_kernel{}, memory.view(), memory.fill(), slabs);
        launch(grid, just_enough_kernel{}, memory.view(), memory.fill(), seed, static_cast<int>(scaled(16, 32)));
        launch({1, 64}, look_kernel{}, memory.view(), memory.fill(), slabs);
      },
      4);
}

}  // namespace
}  // namespace warpheap::test::slab_sets_test
