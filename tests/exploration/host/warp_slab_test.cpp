// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The words and hints of warp_slab under every schedule of two or three threads: what is free is found, by whatever
// order blocks were claimed, released, hidden from searches, and slabs taken back.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <exploration/host/warp_slab_parts.hpp>
#include <string>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::warp_slab_exploration_test {
namespace {

using namespace slab_parts;

constexpr std::uint32_t unit = 0;   // of the slab in question
constexpr std::uint32_t place = 0;  // in the table of its class

constexpr std::uint32_t word_at(std::uint32_t index) { return word_number::make(unit, index); }
std::uint32_t class_of(std::uint64_t bytes) { return slab_classes::of(bytes).of_class; }

// A heap of a few units.
class heap_memory {
 public:
  explicit heap_memory(std::uint32_t units)
      : units_(units), memory_(metadata(units) + (units + 1) * slab_classes::unit_bytes) {
    in_one_lane([self = allocator()] { self.initialise(); });
  }
  template <class Body>
  void set_up(Body body) {
    in_one_lane([self = allocator(), body] { body(self); });
    memory_.freeze();
  }
  warp_slab allocator() const {
    const std::uint64_t bytes = units_ * slab_classes::unit_bytes;
    auto* const data = reinterpret_cast<std::byte*>(
        align_up(reinterpret_cast<std::uint64_t>(memory_.data()) + metadata(units_), slab_classes::unit_bytes));
    return warp_slab{arena{data, bytes, bytes, memory_.data()}};
  }
  const snapshot& memory() const { return memory_; }
  // What a search through class `c` finds afterwards.
  bool finds(std::uint32_t c) const {
    bool found = false;
    in_one_lane([self = allocator(), c, to = &found] { *to = search(self, lane_bit(), lane_bit(), c) != nullptr; });
    return found;
  }
  std::uint32_t free_blocks(std::uint32_t index) const {
    return static_cast<std::uint32_t>(popcount(slab_word{word_of(allocator(), word_at(index))}.free_bits()));
  }

 private:
  static std::uint64_t metadata(std::uint32_t units) {
    return align_up(warp_slab::metadata_bytes(units * slab_classes::unit_bytes), 256);
  }
  std::uint32_t units_;
  snapshot memory_;
};

slab_claim claim_of(const warp_slab& self, std::uint32_t c, std::uint32_t index, std::uint32_t blocks) {
  std::uint32_t left = 0;
  return claim(self, c, word_at(index), blocks, left);
}

// A search that comes to the slab, and hides it if it sees no block.
void look_or_hide(const warp_slab& self, std::uint32_t c) {
  std::uint32_t found = ~0u;
  const slab_look look = look_through(self, c, place, found);
  if (found != ~0u && look.free_bits == 0) hide(self, c, place, found);
}

// A unit, whole, as a run.
void* take_run(const warp_slab& self) {
  return self.aligned_malloc(slab_classes::unit_bytes, slab_classes::unit_bytes);
}

// Two lanes release a block each of an unlisted slab that has no free block. Each lane then searches and finds a block.
struct release_and_search {
  warp_slab self;
  std::uint32_t c;
  void operator()(std::uint64_t* out, unsigned lane) const {
    put_back(self, slab_claim{word_at(0), 1u << lane});
    if (lane == 0) return;
    out[lane] = search(self, lane_bit(), lane_bit(), c) != nullptr;
    require(out[lane] != 0, "a block was released, and a search refused");
  }
};

TEST(explored_warp_slab, who_releases_beside_another_finds_a_block) {
  heap_memory memory(1);
  const std::uint32_t c = class_of(512);
  memory.set_up([c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 1u);
    claim_of(self, c, 0, ~0u);
    hide(self, c, place, unit);
  });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, release_and_search{memory.allocator(), c},
      [&](const results&) -> std::string { return memory.finds(c) ? "" : "a free block is not found"; }));
}

// One block is free. A lane claims it and puts it back, one searches and hides, one releases another block.
struct claim_release_and_hide {
  warp_slab self;
  std::uint32_t c;
  void operator()(std::uint64_t*, unsigned lane) const {
    if (lane == 0) {
      const slab_claim got = claim_of(self, c, 0, 1);
      if (got.blocks != 0) put_back(self, got);
    } else if (lane == 1) {
      look_or_hide(self, c);
    } else {
      put_back(self, slab_claim{word_at(0), 2});
    }
  }
};

TEST(explored_warp_slab, claim_against_release_against_hide) {
  heap_memory memory(1);
  const std::uint32_t c = class_of(512);
  memory.set_up([c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 1u);
    claim_of(self, c, 0, ~1u);
  });
  for (unsigned lanes = 2; lanes <= 3; ++lanes) {
    expect_all_clean(explore_snapshot(
        memory.memory(), lanes, claim_release_and_hide{memory.allocator(), c},
        [&](const results&) -> std::string {
          if (memory.free_blocks(0) != lanes - 1) return "blocks were lost or made";
          return memory.finds(c) ? "" : "a free block is not found";
        },
        lanes == 2 ? exploration_options{} : few_switches(3)));
  }
}

// A slab of two words, one of them all free. A lane tries to take it back and cannot; another one searches meanwhile,
// sees no block, and hides it.
struct take_words_and_hide {
  warp_slab self;
  std::uint32_t c;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      out[0] = take_words(self, c, unit);
    } else {
      look_or_hide(self, c);
    }
  }
};

TEST(explored_warp_slab, hide_against_words_that_are_taken_and_restored) {
  heap_memory memory(1);
  const std::uint32_t c = class_of(256);
  memory.set_up([c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 1u);
    claim_of(self, c, 1, ~0u);
  });
  ASSERT_EQ(words_of(memory.allocator(), c), 2u);
  expect_all_clean(explore_snapshot(memory.memory(), 2, take_words_and_hide{memory.allocator(), c},
                                    [&](const results& out) -> std::string {
                                      if (out[0] != 0) return "a slab in use was taken";
                                      if (memory.free_blocks(0) != 32) return "a word was not restored";
                                      return memory.finds(c) ? "" : "a free block is not found";
                                    }));
}

// A slab without blocks in use becomes one of another class, while others come late: one claims of the old class, one
// lists the slab, one searches.
struct change_class {
  warp_slab self;
  std::uint32_t before;
  std::uint32_t after;
  unsigned late;  // what lane 1 does
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      out[0] = reclaim_slab(self, before, place);
      if (out[0] != 0) require(add_slabs(self, lane_bit(), after, 1u), "the unit is not there");
    } else if (late == 0) {
      const slab_claim got = without_stale(self, claim_of(self, before, 0, 1));
      if (got.blocks != 0) put_back(self, got);
    } else if (late == 1) {
      show(self, word_at(0), before);
    } else {
      look_or_hide(self, before);
    }
  }
};

TEST(explored_warp_slab, free_against_class_change) {
  const std::uint32_t before = class_of(512);
  const std::uint32_t after = class_of(256);
  heap_memory memory(1);
  memory.set_up([before](const warp_slab& self) { add_slabs(self, lane_bit(), before, 1u); });
  for (unsigned late = 0; late < 3; ++late) {
    expect_all_clean(explore_snapshot(memory.memory(), 2, change_class{memory.allocator(), before, after, late},
                                      [&](const results& out) -> std::string {
                                        const bool changed = out[0] != 0;
                                        if (memory.free_blocks(0) != 32) return "blocks were lost or made";
                                        if (memory.free_blocks(1) != (changed ? 32 : 0)) return "a word of no slab";
                                        if (!memory.finds(changed ? after : before)) return "a free block is not found";
                                        return memory.finds(changed ? before : after) ? "a block of no slab" : "";
                                      }));
  }
}

// The whole way: one block is free and one is held. Each lane gives back what it has and takes one, so there is one for
// each.
struct exchange {
  warp_slab self;
  void* held;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 1) self.free(held);
    void* const got = self.malloc(512);
    require(got != nullptr, "refused with a block for each");
    out[lane] = reinterpret_cast<std::uint64_t>(got);
    if (lane == 0) self.free(got);
  }
};

TEST(explored_warp_slab, nobody_is_refused_with_a_block_for_each) {
  heap_memory memory(1);
  void* held = nullptr;
  memory.set_up([to = &held](const warp_slab& self) {
    for (int i = 0; i < 31; ++i) *to = self.malloc(512);
  });
  expect_all_clean(
      explore_snapshot(memory.memory(), 2, exchange{memory.allocator(), held}, [&](const results& out) -> std::string {
        return out[0] != out[1] || memory.free_blocks(0) == 1 ? "" : "one block twice";
      }));
}

// Of two units one is free. A lane gives back the other one and takes a unit anew, so that the free one moves; the
// other lane wants a block, for which a slab must be made.
struct move_unit_and_extend {
  warp_slab self;
  void* held;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 1) {
      self.free(held);
      void* const again = take_run(self);
      out[1] = reinterpret_cast<std::uint64_t>(again);
      return;
    }
    void* const got = self.malloc(512);
    require(got != nullptr, "refused with a free unit");
    out[0] = reinterpret_cast<std::uint64_t>(got);
  }
};

TEST(explored_warp_slab, a_unit_that_moves_is_found) {
  heap_memory memory(2);
  void* held = nullptr;
  memory.set_up([to = &held](const warp_slab& self) {
    void* const low = take_run(self);
    *to = take_run(self);
    self.free(low);
  });
  ASSERT_NE(held, nullptr);
  expect_all_clean(explore_snapshot(memory.memory(), 2, move_unit_and_extend{memory.allocator(), held},
                                    [&](const results&) { return std::string{}; }));
}

// Two slabs, both listed; the first has one free block, lane 1 holds one of the second. Lane 1 twice frees the block
// that it holds before it claims the other one, so there is a free block at any time, but it moves, twice. Nothing is
// listed or unlisted, so the counts of changes do not tell of it. Lane 0 searches; a pass that followed a hint and came
// too late must not take the class for exhausted.
struct search_while_a_block_moves {
  warp_slab self;
  std::uint32_t c;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      out[0] = reinterpret_cast<std::uint64_t>(search(self, lane_bit(), lane_bit(), c));
      require(out[0] != 0, "refused with a free block");
      return;
    }
    slab_claim held{word_number::make(1, 0), 1};
    for (const std::uint32_t other : {0u, 1u}) {
      put_back(self, held);
      std::uint32_t left = 0;
      held = claim(self, c, word_number::make(other, 0), 1u, left);
      if (held.blocks == 0) return;  // lane 0 has it
    }
  }
};

TEST(explored_warp_slab, a_block_that_moves_is_found) {
  heap_memory memory(2);
  const std::uint32_t c = class_of(512);
  memory.set_up([c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 2u);
    std::uint32_t left = 0;
    claim(self, c, word_number::make(0, 0), ~1u, left);
    claim(self, c, word_number::make(1, 0), ~0u, left);
  });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, search_while_a_block_moves{memory.allocator(), c},
      [](const results&) { return std::string{}; }, few_switches(4)));
}

// Of two units one is a slab with one free block, and lane 1 holds the other one. Lane 1 frees its unit before it
// claims the block, and frees the block before it takes the unit again: there is one or the other at any time. Lane 0,
// which holds the heap's lock, wants a slab or a block. It looks for units, for blocks, and for units again, and can
// miss all three; then it must know that units moved.
struct extend_while_a_unit_moves {
  warp_slab self;
  std::uint32_t c;
  void operator()(std::uint64_t*, unsigned lane) const {
    if (lane == 0) {
      void* found = nullptr;
      auto then = add_or_search(self, lane_bit(), lane_bit(), c, 1u, found);
      require(then != decltype(then)::refused, "refused with a free unit or a free block");
      return;
    }
    const bit_tree units = free_units(self);
    units.add({1, 1});
    const slab_claim got = claim_of(self, c, 0, 1);
    if (got.blocks == 0) return;  // lane 0 has it
    put_back(self, got);
    std::uint32_t first = 0;
    units.try_take_block(1, 0, 1, first);
  }
};

TEST(explored_warp_slab, an_extension_knows_that_units_moved) {
  heap_memory memory(2);
  const std::uint32_t c = class_of(512);
  memory.set_up([c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 1u);
    claim_of(self, c, 0, ~1u);
    std::uint32_t first = 0;
    free_units(self).try_take_block(1, 0, 1, first);
    close_ledger(self, lane_bit(), c);
  });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, extend_while_a_unit_moves{memory.allocator(), c},
      [](const results&) { return std::string{}; }, few_switches(3)));
}

}  // namespace
}  // namespace warpheap::test::warp_slab_exploration_test
