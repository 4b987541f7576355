// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The entry of a slab: permits are taken up to what is free, a slab keeps its class while a permit is held, one caller
// sees each crossing of a threshold, and the thread that retires a slab owns it alone.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test::slab_entry_test {
namespace {

struct steps_kernel {
  WARPHEAP_FN static bool is(const slab_entry& entry, std::uint32_t size_class, std::uint32_t capacity,
                             std::uint32_t free, std::uint32_t generation) {
    const slab_entry::contents seen = entry.look();
    return seen.size_class == size_class && seen.capacity == capacity && seen.free == free &&
           seen.generation == generation;
  }
  WARPHEAP_FN void operator()(slab_entry* entries) const {
    constexpr std::uint32_t last = slab_entry::most_classes - 1;
    slab_entry& entry = entries[0];
    require(is(entry, slab_entry::unowned, 0, 0, 0) && !entry.look().is_assigned(), "zero bytes are unowned");
    require(entry.try_take(0, 1).amount() == 0 && !entry.try_retire(), "an unowned slab");
    require(entry.try_reserve() && !entry.try_reserve(), "reserved by one");
    require(is(entry, slab_entry::reserved, 0, 0, 0) && entry.try_take(0, 1).amount() == 0, "a reserved slab");
    entry.assign(0, 10, 3);
    require(is(entry, 0, 10, 7, 0), "assigned, with what the owner kept");
    require(entry.try_take(1, 1).amount() == 0, "another class");
    const slab_step some = entry.try_take(0, 5);
    require(some.amount() == 5 && some.before == 7 && some.after == 2 && some.capacity == 10, "a take");
    require(some.fell_below(3) && some.fell_below(7) && !some.fell_below(2) && !some.fell_below(8), "what it crossed");
    require(!some.rose_to(5) && !some.none_left(), "what it did not");
    const slab_step rest = entry.try_take(0, 5);
    require(rest.amount() == 2 && rest.none_left(), "all that is left");
    require(entry.try_take(0, 5).amount() == 0 && !entry.try_take(0, 5).none_left(), "an exhausted slab");
    const slab_step first = entry.give(1);
    require(first.first_free() && !first.all_free() && first.amount() == 1, "the first that is free again");
    require(!entry.give(8).first_free() && !entry.try_retire(), "one is missing");
    const slab_step all = entry.give(1);
    require(all.all_free() && all.rose_to(10) && !all.rose_to(9), "the last that is free again");
    require(!entry.try_retire(1, 0) && !entry.try_retire(0, 1), "another class or generation");
    require(entry.try_retire(0, 0) && is(entry, slab_entry::reserved, 0, 0, 1), "retired");
    entry.assign(last, slab_entry::most_blocks);
    require(is(entry, last, slab_entry::most_blocks, slab_entry::most_blocks, 1), "the largest figures");
    require(entry.try_take(last, ~0u).amount() == slab_entry::most_blocks, "all of the largest slab");
    require(entry.give(slab_entry::most_blocks).all_free() && entry.try_retire(), "and back");
    entry.vacate();
    require(is(entry, slab_entry::unowned, 0, 0, 2), "unowned again");
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
      entry.assign(7, 1);
      require(entry.try_retire(7, i + 2), "the generation goes round");
      entry.vacate();
    }
    require(is(entry, slab_entry::unowned, 0, 0, 2), "round once");
    require(is(entries[1], slab_entry::unowned, 0, 0, 0), "the neighbour");
  }
};

TEST(slab_entry, one_lane_goes_through_its_states) {
  const device_array<slab_entry> entries(2);
  launch({1, 1}, steps_kernel{}, entries.data());
}

constexpr std::uint32_t most_slots = 100;
constexpr std::uint32_t classes = 3;

WARPHEAP_FN constexpr std::uint32_t capacity_of(std::uint32_t size_class) {
  constexpr std::uint32_t capacities[classes] = {most_slots, 33, 5};
  return capacities[size_class];
}

/// A slab as a design has it: what its owner prepares is plain memory, and the entry orders who may touch it.
struct slab {
  slab_entry entry;
  std::uint32_t size_class;  // plain: written by who owns the slab, read by who holds a permit of it
  std::uint32_t owners[most_slots];
  std::uint32_t words[slot_bits<>::words_for(most_slots)];

  WARPHEAP_FN slot_bits<> slots(std::uint32_t of_class) { return {words, capacity_of(of_class)}; }
};

struct counts {
  std::uint64_t served, retired, low, high;  // low and high: crossings of a threshold down and up
};

/// Threads take blocks of a random class of random slabs, and give them back. Slabs change their class on the way.
struct storm_kernel {
  slab* slabs;
  std::uint64_t slab_count;
  counts* seen;
  std::uint64_t seed;
  int rounds;

  WARPHEAP_FN static void add(std::uint64_t& count) {
    atomic_view{count}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN static void prepare(slab& some, std::uint32_t size_class, std::uint32_t taken) {
    some.slots(size_class).reset(lane_bit());
    some.size_class = size_class;
    some.entry.assign(size_class, capacity_of(size_class), taken);
  }
  WARPHEAP_FN void use(slab& some, std::uint32_t size_class, std::uint32_t start) const {
    const auto thread = static_cast<std::uint32_t>(grid_thread_index()) + 1;
    require(some.size_class == size_class, "another class than that of the entry");
    const slot_bits<> slots = some.slots(size_class);
    const std::uint32_t slot = slots.claim_counted(lane_bit(), start % slots.capacity());
    require(slot < capacity_of(size_class) && some.owners[slot] == 0, "a slot with two owners");
    some.owners[slot] = thread;
    add(seen->served);
    require(some.owners[slot] == thread, "another owner in between");
    some.owners[slot] = 0;
    require(slots.release(slot), "a double release");
  }

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      slab& some = slabs[random.below(slab_count)];
      const auto size_class = static_cast<std::uint32_t>(random.below(classes));
      const std::uint32_t threshold = capacity_of(size_class) / 2;
      const auto start = static_cast<std::uint32_t>(random.below(most_slots));
      if (some.entry.try_reserve()) {
        prepare(some, size_class, 1);
      } else {
        const slab_step took = some.entry.try_take(size_class, 1);
        if (took.amount() == 0) continue;
        if (took.fell_below(threshold)) add(seen->low);
      }
      use(some, size_class, start);
      const slab_step gave = some.entry.give(1);
      if (gave.rose_to(threshold)) add(seen->high);
      if (!gave.all_free() || !some.entry.try_retire()) continue;
      add(seen->retired);
      if (random.below(2) == 0) {
        some.entry.vacate();
      } else {
        prepare(some, static_cast<std::uint32_t>(random.below(classes)), 0);
      }
    }
  }
};

TEST(slab_entry, guards_a_slab_that_changes_its_class) {
  for_each_schedule([](std::uint64_t seed) {
    for (const std::uint64_t slab_count : {1, 4, 40}) {
      const grid_shape grid = grid_shape::covering(scaled(256, 1 << 13), 64);
      const device_array<slab> slabs(slab_count);
      const device_array<counts> seen(1);
      launch(grid, storm_kernel{slabs.data(), slab_count, seen.data(), seed, 12});
      const counts found = seen.at(0);
      EXPECT_EQ(found.low, found.high) << "one crossing up for each one down";
      EXPECT_NE(found.served, 0u);
      for (const slab& some : slabs.to_host()) {
        const slab_entry::contents last = some.entry.look();
        EXPECT_EQ(last.free, last.capacity);
      }
    }
  });
}

/// Groups take several permits at once, and each lane is served: a search that finds nothing is repeated.
struct groups_kernel {
  WARPHEAP_FN void operator()(slab_entry* entry, slot_bits<> slots, std::uint32_t* owners, int rounds) const {
    const auto thread = static_cast<std::uint32_t>(grid_thread_index()) + 1;
    for (int round = 0; round < rounds; ++round) {
      const lane_mask group = active_group();
      slab_step took{};
      if (is_leader(group)) took = entry->try_take(0, static_cast<std::uint32_t>(group_size(group)));
      const std::uint32_t got = shuffle(group, took.amount(), leader(group));
      sync(group);
      const bool served = static_cast<std::uint32_t>(group_rank(group)) < got;
      const lane_mask holders = ballot(group, served);
      if (!served) continue;
      const std::uint32_t slot = slots.claim_counted(holders, spread(grid_warp_index()) % slots.capacity());
      require(owners[slot] == 0, "a slot with two owners");
      owners[slot] = thread;
      require(owners[slot] == thread, "another owner in between");
      owners[slot] = 0;
      require(slots.release(slot), "a double release");
      entry->give(1);
    }
  }
};

struct prepare_kernel {
  WARPHEAP_FN void operator()(slab_entry* entry, slot_bits<> slots) const {
    slots.reset(lane_bit());
    entry->assign(0, slots.capacity());
  }
};

TEST(slab_entry, each_unit_finds_its_slot) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint32_t count : {1u, 6u, 40u, 150u}) {
      const device_array<slab_entry> entry(1);
      const device_array<std::uint32_t> words(slot_bits<>::words_for(count));
      const device_array<std::uint32_t> owners(count);
      const slot_bits<> slots{words.data(), count};
      launch({1, 1}, prepare_kernel{}, entry.data(), slots);
      launch(grid_shape::covering(scaled(256, 1 << 13), 64), groups_kernel{}, entry.data(), slots, owners.data(), 6);
      EXPECT_EQ(entry.at(0).look().free, count);
    }
  });
}

}  // namespace
}  // namespace warpheap::test::slab_entry_test
