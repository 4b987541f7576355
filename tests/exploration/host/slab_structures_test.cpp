// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Slots and entries of slabs under every schedule of two or three threads: a claim against a release, a run that is
// put back against a claim, two releases of one slot, a slab that is retired while others take of it.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::slab_structures_exploration_test {
namespace {

constexpr std::uint32_t none = slot_bits<>::none;

/// Slots and their owners: 0, or 1 more than the lane.
class slot_memory {
 public:
  explicit slot_memory(std::uint32_t count) : count_(count), memory_(words_bytes() + count * sizeof(std::uint32_t)) {}
  template <class Body>
  void set_up(Body body) {
    in_one_lane([bits = bits(), body] {
      bits.reset(lane_bit());
      body(bits);
    });
    memory_.freeze();
  }
  slot_bits<> bits() const { return {reinterpret_cast<std::uint32_t*>(memory_.data()), count_}; }
  std::uint32_t* owners() const { return reinterpret_cast<std::uint32_t*>(memory_.data() + words_bytes()); }
  std::uint32_t taken() const { return count_ - bits().free_slots(); }
  const snapshot& memory() const { return memory_; }

 private:
  std::size_t words_bytes() const { return slot_bits<>::words_for(count_) * sizeof(std::uint32_t); }
  std::uint32_t count_;
  snapshot memory_;
};

void own(std::uint32_t* owners, std::uint32_t slot, unsigned lane) {
  require(owners[slot] == 0, "a slot with two owners");
  owners[slot] = lane + 1;
}
void disown(std::uint32_t* owners, std::uint32_t slot, unsigned lane) {
  require(owners[slot] == lane + 1, "another owner in between");
  owners[slot] = 0;
}

// Each lane takes a slot and gives it back, `rounds` times, and there is one for each.
struct claim_and_release {
  slot_bits<> bits;
  std::uint32_t* owners;
  bool counted;
  int rounds;
  void operator()(std::uint64_t*, unsigned lane) const {
    for (int round = 0; round < rounds; ++round) {
      // The lanes come from both ends, and change them.
      const std::uint32_t start = (lane + static_cast<unsigned>(round)) % 2 == 0 ? bits.capacity() - 1 : 0;
      const std::uint32_t slot = counted ? bits.claim_counted(lane_bit(), start) : bits.claim(lane_bit(), start);
      require(slot != none, "refused with a slot for each");
      own(owners, slot, lane);
      disown(owners, slot, lane);
      require(bits.release(slot), "a double release");
    }
  }
};

// All free slots lie in one word, so no claim can miss one that moves.
TEST(explored_slot_bits, claim_against_release_in_one_word) {
  for (const unsigned lanes : {2u, 3u}) {
    slot_memory memory{lanes};
    memory.set_up([](const slot_bits<>&) {});
    expect_all_clean(explore_snapshot(
        memory.memory(), lanes, claim_and_release{memory.bits(), memory.owners(), false, 1},
        [&](const results&) -> std::string { return memory.taken() == 0 ? "" : "a slot is lost"; },
        lanes == 2 ? all_schedules() : few_switches(3)));
  }
}

// The free slots lie in two words and move between them: a search can miss them, and who holds a permit searches again.
TEST(explored_slot_bits, a_counted_claim_finds_a_slot_that_moves) {
  slot_memory memory{33};
  memory.set_up([](const slot_bits<>& bits) { bits.claim_run(0, 31); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, claim_and_release{memory.bits(), memory.owners(), true, 2},
      [&](const results&) -> std::string { return memory.taken() == 31 ? "" : "a slot is lost"; }, few_switches(4)));
}

// Two groups take slots of two words at once. Nobody gives one back, so there is one for each lane.
struct claim_at_once {
  slot_bits<> bits;
  std::uint32_t* owners;
  void operator()(std::uint64_t*, unsigned lane) const {
    const std::uint32_t slot = bits.claim(lane_bit(), lane == 0 ? 0 : bits.capacity() - 1);
    require(slot != none, "refused with a slot for each");
    own(owners, slot, lane);
  }
};

TEST(explored_slot_bits, a_sweep_finds_what_nobody_gives_back) {
  slot_memory memory{65};
  memory.set_up([](const slot_bits<>& bits) {
    bits.claim_run(0, 31);
    bits.claim_run(33, 31);
  });
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, claim_at_once{memory.bits(), memory.owners()},
      [&](const results&) -> std::string { return memory.taken() == 65 ? "" : "a slot is lost"; }, all_schedules()));
}

// Lane 0 takes a run over two words. Lane 1 takes the slot that the run begins with, or the one before it, which it
// prefers; lane 2 takes the slot that the run ends with, and gives it back or keeps it. So a run can fail in its second
// word, when it has slots of the first one, and must put back those alone.
struct run_against_claim {
  static constexpr std::uint32_t first = 31, count = 3;
  slot_bits<> bits;
  std::uint32_t* owners;
  std::uint32_t start_of_claim;
  bool gives;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      out[0] = bits.claim_run(first, count) ? count : 0;
      for (std::uint32_t slot = first; slot < first + out[0]; ++slot) own(owners, slot, lane);
      return;
    }
    const std::uint32_t slot = bits.claim(lane_bit(), lane == 1 ? start_of_claim : first + count - 1);
    if (slot == none) return;
    own(owners, slot, lane);
    out[lane] = 1;
    if (lane == 1 || !gives) return;
    disown(owners, slot, lane);
    out[lane] = 0;
    require(bits.release(slot), "a double release");
  }
};

TEST(explored_slot_bits, a_run_is_put_back_while_other_lanes_claim) {
  for (const std::uint32_t start_of_claim : {30u, 31u}) {
    for (const bool gives : {false, true}) {
      slot_memory memory{34};
      memory.set_up([](const slot_bits<>& bits) { bits.claim_run(0, 30); });
      expect_all_clean(explore_snapshot(
          memory.memory(), 3, run_against_claim{memory.bits(), memory.owners(), start_of_claim, gives},
          [&](const results& out) -> std::string {
            if (memory.taken() != 30 + out[0] + out[1] + out[2]) return "a slot is lost or made";
            for (std::uint32_t slot = 30; slot < 34; ++slot) {
              if (memory.bits().is_taken(slot) != (memory.owners()[slot] != 0)) return "a slot without its owner";
            }
            return "";
          },
          few_switches(3)));
    }
  }
}

// Two runs that overlap in the middle of three words: at most one is taken, and what the other took comes back.
struct two_runs {
  slot_bits<> bits;
  void operator()(std::uint64_t* out, unsigned lane) const { out[lane] = bits.claim_run(lane == 0 ? 20 : 40, 40); }
};

TEST(explored_slot_bits, of_two_runs_that_overlap_one_is_taken_at_most) {
  slot_memory memory{96};
  memory.set_up([](const slot_bits<>&) {});
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, two_runs{memory.bits()},
      [&](const results& out) -> std::string {
        if (out[0] + out[1] > 1) return "both were taken";
        return memory.taken() == 40 * (out[0] + out[1]) ? "" : "a slot is lost or made";
      },
      all_schedules()));
}

// Two lanes give back what one of them took, while a third claims what lies beside it: one release counts.
struct two_releases {
  slot_bits<> bits;
  std::uint32_t first, count;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 2) {
      out[2] = bits.claim(lane_bit(), first - 1);
      require(out[2] == first - 1, "a slot that was free");
    } else {
      out[lane] = count == 1 ? bits.release(first) : bits.release_run(first, count);
    }
  }
};

TEST(explored_slot_bits, one_of_two_releases_counts) {
  for (const std::uint32_t count : {1u, 3u, 50u}) {
    slot_memory memory{64};
    const std::uint32_t first = 10;
    memory.set_up([count](const slot_bits<>& bits) { bits.claim_run(first, count); });
    expect_all_clean(explore_snapshot(
        memory.memory(), 3, two_releases{memory.bits(), first, count},
        [&](const results& out) -> std::string {
          if (out[0] + out[1] != 1) return "not one release counts";
          return memory.taken() == 1 && memory.bits().is_taken(first - 1) ? "" : "a slot is lost or made";
        },
        all_schedules()));
  }
}

/// A slab of two classes: one block of class 0, or two of class 1.
struct slab {
  slab_entry entry;
  std::uint32_t size_class;  // what the owner prepared
  std::uint32_t word;
  std::uint32_t owners[2];
  slot_bits<> slots(std::uint32_t of_class) { return {&word, of_class + 1}; }
  void prepare(std::uint32_t new_class, std::uint32_t taken) {
    slots(new_class).reset(lane_bit());
    size_class = new_class;
    entry.assign(new_class, new_class + 1, taken);
  }
};

class slab_memory {
 public:
  slab_memory() : memory_(sizeof(slab)) {}
  template <class Body>
  void set_up(Body body) {
    in_one_lane([some = get(), body] { body(*some); });
    memory_.freeze();
  }
  slab* get() const { return reinterpret_cast<slab*>(memory_.data()); }
  const snapshot& memory() const { return memory_; }
  slab_entry::contents entry() const { return get()->entry.look(); }

 private:
  snapshot memory_;
};

// Each lane takes a block of its class, if the slab has it or is unowned, gives it back, and retires the slab if that
// was the last: the slab then becomes unowned, or one of the other class.
struct take_give_retire {
  slab* some;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const std::uint32_t size_class = lane == 0 ? 0 : 1;
    if (some->entry.try_reserve()) {
      some->prepare(size_class, 1);
    } else if (some->entry.try_take(size_class, 1).amount() == 0) {
      return;
    }
    require(some->size_class == size_class, "a slab that changed its class under a permit");
    const std::uint32_t slot = some->slots(size_class).claim_counted(lane_bit(), 0);
    own(some->owners, slot, lane);
    out[lane] = 1;
    disown(some->owners, slot, lane);
    require(some->slots(size_class).release(slot), "a double release");
    if (!some->entry.give(1).all_free() || !some->entry.try_retire()) return;
    out[8 + lane] = 1;
    if (lane == 1) {
      some->prepare(0, 0);
    } else {
      some->entry.vacate();
    }
  }
};

TEST(explored_slab_entry, take_against_retire_against_assign) {
  for (const std::uint32_t first_class : {0u, 1u}) {
    for (const unsigned lanes : {2u, 3u}) {
      slab_memory memory;
      memory.set_up([first_class](slab& some) { some.prepare(first_class, 0); });
      expect_all_clean(explore_snapshot(
          memory.memory(), lanes, take_give_retire{memory.get()},
          [&](const results& out) -> std::string {
            const slab_entry::contents last = memory.entry();
            if (last.size_class == slab_entry::reserved) return "a slab is left reserved";
            if (last.free != last.capacity) return "a block is lost";
            if (last.generation != out[8] + out[9] + out[10]) return "a retirement is not counted";
            return out[0] + out[1] + out[2] != 0 ? "" : "nobody was served";
          },
          lanes == 2 ? all_schedules() : few_switches(3)));
    }
  }
}

// Of the takes and gives of three lanes one sees each crossing, whichever way they come.
struct take_and_give {
  slab_entry* entry;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const slab_step took = entry->try_take(3, 2);
    if (took.amount() == 0) return;
    out[lane] = (took.fell_below(3) ? 1u : 0u) + (took.none_left() ? 16u : 0u);
    const slab_step gave = entry->give(took.amount());
    out[8 + lane] = (gave.rose_to(3) ? 1u : 0u) + (gave.first_free() ? 16u : 0u);
  }
};

TEST(explored_slab_entry, one_lane_sees_each_crossing) {
  slab_memory memory;
  memory.set_up([](slab& some) { some.entry.assign(3, 5); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, take_and_give{&memory.get()->entry},
      [&](const results& out) -> std::string {
        if (memory.entry().free != 5) return "a permit is lost or made";
        const std::uint64_t down = out[0] + out[1] + out[2];
        const std::uint64_t up = out[8] + out[9] + out[10];
        return down == up ? "" : "crossings down and up that do not match";
      },
      all_schedules()));
}

// Two lanes give the last two blocks back: one of them is told that all are free, and retires the slab. A lane that
// takes in between keeps it.
struct give_and_retire {
  slab_entry* entry;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 2) {
      out[2] = entry->try_take(0, 1).amount();
    } else if (entry->give(1).all_free()) {
      out[lane] = entry->try_retire() ? 2 : 1;
    }
  }
};

TEST(explored_slab_entry, the_last_giver_retires_unless_a_block_is_taken) {
  slab_memory memory;
  memory.set_up([](slab& some) { some.entry.assign(0, 2, 2); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, give_and_retire{&memory.get()->entry},
      [&](const results& out) -> std::string {
        const bool retired = out[0] == 2 || out[1] == 2;
        if (out[0] == 2 && out[1] == 2) return "retired twice";
        if (retired && out[2] != 0) return "retired with a block taken";
        if (!retired && out[2] == 0) return "nobody retired a slab that is free";
        const slab_entry::contents last = memory.entry();
        if (retired) return last.size_class == slab_entry::reserved ? "" : "retired, and not reserved";
        return last.free == 1 ? "" : "a permit is lost or made";
      },
      all_schedules()));
}

}  // namespace
}  // namespace warpheap::test::slab_structures_exploration_test
