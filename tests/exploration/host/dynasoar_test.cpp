// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The life of a block of DynaSOAr under every schedule of two or three threads: the last object goes while another one
// comes to the same block, and while the block is to become one of another type.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/designs/dynasoar/dynasoar.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::dynasoar_exploration_test {
namespace {

using detail::dynasoar_blocks;
using detail::dynasoar_layout;
using detail::dynasoar_slot;

constexpr std::uint32_t types = 2;
constexpr std::uint32_t most_slots = 4;

// A few blocks, and the owner of each slot: 0, or 1 more than the lane. Blocks of type 0 have two slots unless a test
// says otherwise, those of type 1 have one.
class stage {
 public:
  explicit stage(std::uint32_t count, std::uint32_t capacity = 2)
      : count_(count), capacity_(capacity), memory_(metadata_bytes() + count * most_slots * sizeof(std::uint32_t)) {}
  template <class Body>
  void set_up(Body body) {
    in_one_lane([here = blocks(), body] {
      here.initialise();
      body(here);
    });
    memory_.freeze();
  }
  dynasoar_blocks blocks() const { return {memory_.data(), types, count_, true}; }
  std::uint32_t* owners() const { return reinterpret_cast<std::uint32_t*>(memory_.data() + metadata_bytes()); }
  std::uint32_t capacity(std::uint32_t type) const { return type == 0 ? capacity_ : 1; }
  const snapshot& memory() const { return memory_; }

  // Says what is wrong when `objects` objects live: they are counted, each block of a type is in the bitmap of that
  // type alone, free blocks and free slots can be found, and when all objects have gone all blocks are free.
  std::string look(std::uint64_t objects) const {
    const dynasoar_blocks here = blocks();
    std::uint64_t live = 0;
    std::uint32_t used = 0;
    std::uint32_t open = 0;  // free slots of blocks that have objects
    for (std::uint32_t block = 0; block < count_; ++block) {
      const slab_entry::contents entry = here.header(block).entry.look();
      if (entry.size_class == slab_entry::reserved) return "a block is left reserved";
      if (entry.is_assigned() && entry.free == entry.capacity) return "a block without objects is not free";
      used += entry.is_assigned() ? 1 : 0;
      open += entry.free;
      for (std::uint32_t type = 0; type < types; ++type) {
        const bool listed = (here.allocated(type)[0] >> block & 1) != 0;
        if (listed != (entry.size_class == type)) return "a block is in the wrong bitmap";
      }
      std::uint32_t taken = 0;
      for (std::uint32_t slot = 0; entry.is_assigned() && slot < entry.capacity; ++slot) {
        taken += here.is_taken(block, slot) ? 1 : 0;
      }
      if (taken != here.taken_slots(block)) return "bits and permits differ";
      live += taken;
    }
    if (live != objects) return std::to_string(live) + " objects live";
    if (fill(here, 1, 1) != count_ - used) return "a free block cannot be found";
    if (fill(here, 0, capacity_) != open) return "a free slot cannot be found";
    in_one_lane([here, count = count_] {
      for (std::uint32_t block = 0; block < count; ++block) {
        here.give(block, here.slots_below(here.header(block).entry.look().capacity));
      }
    });
    return fill(here, 1, 1) == count_ ? "" : "a block is lost";
  }

 private:
  std::uint64_t metadata_bytes() const { return align_up(dynasoar_layout::bytes(types, count_, true), 128); }
  // Makes objects of `type` until there is no room, and returns how many that were.
  static std::uint32_t fill(const dynasoar_blocks& here, std::uint32_t type, std::uint32_t capacity) {
    std::uint32_t count = 0;
    in_one_lane([here, type, capacity, &count] {
      while (here.take(lane_bit(), type, capacity).block != dynasoar_slot::none) ++count;
    });
    return count;
  }

  std::uint32_t count_, capacity_;
  snapshot memory_;
};

// What a lane of a scenario does, with the rights of owners checked at each step.
struct actor {
  dynasoar_blocks blocks;
  std::uint32_t* owners;
  std::uint32_t capacity;  // of type 0

  std::uint32_t& owner(dynasoar_slot at) const { return owners[at.block * most_slots + at.slot]; }
  dynasoar_slot take(unsigned lane, std::uint32_t type) const {
    const dynasoar_slot got = blocks.take(lane_bit(), type, type == 0 ? capacity : 1);
    if (got.block == dynasoar_slot::none) return got;
    const slab_entry::contents entry = blocks.header(got.block).entry.look();
    require(entry.size_class == type && entry.generation == got.generation, "a block of another type or life");
    require(owner(got) == 0, "a slot with two owners");
    owner(got) = lane + 1;
    return got;
  }
  void give(dynasoar_slot at, unsigned lane) const {
    require(owner(at) == lane + 1, "another owner in between");
    owner(at) = 0;
    require(blocks.give_together(lane_bit(), at.block, at.slot), "a slot that was free");
  }
};

// Lane 0 ends the last object of the one block. Lane 1 makes an object of its type, lane 2 one of the other.
struct last_goes_one_comes {
  actor with;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) return with.give({0, 0, 0}, lane);
    out[lane] = with.take(lane, lane - 1).block != dynasoar_slot::none ? 1 : 0;
  }
};

TEST(explored_dynasoar, the_last_object_goes_while_others_come) {
  for (const std::uint32_t capacity : {1u, 2u}) {
    for (const unsigned lanes : {2u, 3u}) {
      stage here{1, capacity};
      here.set_up([owners = here.owners(), capacity](const dynasoar_blocks& blocks) {
        blocks.take(lane_bit(), 0, capacity);
        owners[0] = 1;
      });
      expect_all_clean(explore_snapshot(
          here.memory(), lanes, last_goes_one_comes{{here.blocks(), here.owners(), capacity}},
          [&](const results& out) -> std::string {
            // A block of two slots has one free all the time, so one of the lanes is served.
            if (capacity == 2 && out[1] + out[2] == 0) return "nobody was served";
            return here.look(out[1] + out[2]);
          },
          few_switches(lanes == 2 ? 3 : 1)));
    }
  }
}

// Two lanes end the two objects of a full block, and a third one wants a block of another type.
struct two_go {
  actor with;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane < 2) return with.give({0, lane, 0}, lane);
    out[2] = with.take(lane, 1).block != dynasoar_slot::none ? 1 : 0;
  }
};

TEST(explored_dynasoar, a_full_block_becomes_free) {
  for (const unsigned lanes : {2u, 3u}) {
    stage here{1};
    here.set_up([owners = here.owners()](const dynasoar_blocks& blocks) {
      for (std::uint32_t i = 0; i < 2; ++i) {
        blocks.take(lane_bit(), 0, 2);
        owners[i] = i + 1;
      }
    });
    expect_all_clean(explore_snapshot(
        here.memory(), lanes, two_go{{here.blocks(), here.owners(), 2}},
        [&](const results& out) -> std::string { return here.look(out[2]); }, few_switches(lanes == 2 ? 3 : 1)));
  }
}

// Each lane ends its object, the only one of a block, and makes one of the other type: no lane may be refused.
struct change_type {
  actor with;
  void operator()(std::uint64_t* out, unsigned lane) const {
    with.give({lane, 0, 0}, lane);
    out[lane] = with.take(lane, 1).block != dynasoar_slot::none ? 1 : 0;
    require(out[lane] == 1, "refused though there is a block for each");
  }
};

TEST(explored_dynasoar, what_was_freed_is_there_at_once) {
  for (const std::uint32_t capacity : {1u, 2u}) {
    stage here{2, capacity};
    here.set_up([owners = here.owners(), capacity](const dynasoar_blocks& blocks) {
      for (std::uint32_t i = 0; i < 2; ++i) {
        // Slot by slot, so that a second block is begun; of two slots the second is given back.
        for (std::uint32_t slot = 0; slot < capacity; ++slot) blocks.take(lane_bit(), 0, capacity);
        owners[i * most_slots] = i + 1;
      }
      for (std::uint32_t i = 0; i < 2 && capacity == 2; ++i) blocks.give(i, 2);
    });
    expect_all_clean(explore_snapshot(
        here.memory(), 2, change_type{{here.blocks(), here.owners(), capacity}},
        [&](const results& out) -> std::string { return here.look(out[0] + out[1]); }, few_switches(3)));
  }
}

// Lane 0 ends the only object of a block, and lane 1 has objects of both types there, one after the other: the block
// may be in another life before lane 0 comes to retire it.
struct lives_follow {
  actor with;
  void operator()(std::uint64_t*, unsigned lane) const {
    if (lane == 0) return with.give({0, 0, 0}, lane);
    for (std::uint32_t type = 0; type < types; ++type) {
      const dynasoar_slot got = with.take(lane, type);
      if (got.block != dynasoar_slot::none) with.give(got, lane);
    }
  }
};

TEST(explored_dynasoar, a_block_has_another_life_before_it_is_retired) {
  stage here{1};
  here.set_up([owners = here.owners()](const dynasoar_blocks& blocks) {
    blocks.take(lane_bit(), 0, 2);
    owners[0] = 1;
  });
  expect_all_clean(explore_snapshot(
      here.memory(), 2, lives_follow{{here.blocks(), here.owners(), 2}},
      [&](const results&) -> std::string { return here.look(0); }, few_switches(2)));
}

// The last free slot is taken while the other one comes back: the block is full, or is listed.
struct take_and_give {
  actor with;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) return with.give({0, 0, 0}, lane);
    const dynasoar_slot got = with.take(lane, 0);
    require(got.block != dynasoar_slot::none, "refused with a free slot");
    out[lane] = 1;
    if (lane == 2) {
      with.give(got, lane);
      out[lane] = 0;
    }
  }
};

TEST(explored_dynasoar, the_last_slot_is_taken_while_another_comes_back) {
  for (const unsigned lanes : {2u, 3u}) {
    const std::uint32_t capacity = lanes;
    stage here{1, capacity};
    here.set_up([owners = here.owners(), capacity](const dynasoar_blocks& blocks) {
      blocks.take(lane_bit(), 0, capacity);
      owners[0] = 1;
    });
    expect_all_clean(explore_snapshot(
        here.memory(), lanes, take_and_give{{here.blocks(), here.owners(), capacity}},
        [&](const results& out) -> std::string { return here.look(out[1] + out[2]); },
        few_switches(lanes == 2 ? 3 : 1)));
  }
}

}  // namespace
}  // namespace warpheap::test::dynasoar_exploration_test
