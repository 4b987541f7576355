// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// warp_slab while a lane is held between two steps of a release, of a withdrawal, of a search: what is free is found.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <exploration/host/warp_slab_parts.hpp>
#include <support/few_lanes.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test::held_warp_slab_test {
namespace {

using namespace slab_parts;

constexpr std::uint32_t unit = 0;   // of the slab in question
constexpr std::uint32_t place = 0;  // in the table of its class
constexpr std::uint32_t slabs = 4;  // of a heap that is full of them

std::uint32_t class_of(std::uint64_t bytes) { return slab_classes::of(bytes).of_class; }
constexpr std::uint32_t word_at(std::uint32_t index) { return word_number::make(unit, index); }

std::uint32_t claim_of(const warp_slab& self, std::uint32_t c, std::uint32_t index, std::uint32_t blocks) {
  std::uint32_t left = 0;
  return claim(self, c, word_at(index), blocks, left).blocks;
}
bool finds(const warp_slab& self, std::uint32_t c) { return search(self, lane_bit(), lane_bit(), c) != nullptr; }

// A heap of a few units, found by each launch as it was set up.
class slab_heap {
 public:
  template <class Body>
  slab_heap(std::uint32_t units, Body set_up)
      : bytes_(units * slab_classes::unit_bytes),
        metadata_(align_up(warp_slab::metadata_bytes(bytes_), 256)),
        memory_(metadata_ + bytes_ + slab_classes::unit_bytes) {
    in_one_lane([self = allocator(), set_up] {
      self.initialise();
      set_up(self);
    });
    memory_.freeze();
  }
  warp_slab allocator() const {
    const auto from = reinterpret_cast<std::uint64_t>(memory_.data()) + metadata_;
    auto* const data = reinterpret_cast<std::byte*>(align_up(from, slab_classes::unit_bytes));
    return warp_slab{arena{data, bytes_, bytes_, memory_.data()}};
  }
  void reset() const { memory_.reset(); }
  std::uint32_t places(std::uint32_t c) const { return places_of(allocator(), c); }
  bool finds_later(std::uint32_t c) const {
    bool found = false;
    in_one_lane([self = allocator(), c, to = &found] { *to = finds(self, c); });
    return found;
  }

 private:
  std::uint64_t bytes_;
  std::uint64_t metadata_;
  snapshot memory_;
};

// A full slab that is on no list. A lane frees a block and is held before it lists the slab. Another lane frees a
// block, too: its free returns, so its search finds one.
TEST(held_warp_slab, a_free_relies_on_no_other_to_list_the_slab) {
  const std::uint32_t c = class_of(512);
  const slab_heap heap(1, [c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 1u);
    claim_of(self, c, 0, ~0u);
    hide(self, c, place, unit);
  });
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane late{"warp_slab.put_back.freed", {.thread = 0}};
    bool found = false;
    lanes.run([self = heap.allocator(), c, late = &late, found = &found](unsigned lane) {
      if (lane == 1) late->await();
      put_back(self, slab_claim{word_at(0), 1u << lane});
      if (lane == 0) return;
      *found = finds(self, c);
      late->release();
    });
    EXPECT_TRUE(found) << "a lane freed a block, and its search found none";
    EXPECT_TRUE(heap.finds_later(c));
  });
}

// A slab of two words, one of them all free. A lane withdraws that word and is held before it sees that it must restore
// it. Another lane, which sees no block, hides the slab meanwhile.
TEST(held_warp_slab, a_slab_is_not_hidden_while_its_words_are_withdrawn) {
  const std::uint32_t c = class_of(256);
  const slab_heap heap(1, [c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 1u);
    claim_of(self, c, 1, ~0u);
  });
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane taker{"warp_slab.take_words.taken"};
    bool taken = true;
    std::uint32_t seen = ~0u;
    lanes.run([self = heap.allocator(), c, taker = &taker, taken = &taken, seen = &seen](unsigned lane) {
      if (lane == 0) {
        *taken = take_words(self, c, unit);
        return;
      }
      taker->await();
      std::uint32_t found = ~0u;
      *seen = look_through(self, c, place, found).free_bits;
      if (found == unit && *seen == 0) hide(self, c, place, found);
      taker->release();
    });
    EXPECT_FALSE(taken);
    EXPECT_EQ(seen, 0u) << "the word was to be withdrawn then";
    EXPECT_TRUE(heap.finds_later(c)) << "free blocks are on no list";
  });
}

// Two listed slabs with one free block, which lane 1 moves each time when lane 0 has seen it and is about to claim it.
// No slab is listed or unlisted, so no change tells of it. A pass that met a listed slab must not take the class for
// exhausted.
TEST(held_warp_slab, a_search_that_comes_too_late_twice_does_not_refuse) {
  const std::uint32_t c = class_of(512);
  const std::uint32_t home = split(std::uint64_t{spread(0)} * 2).high;  // where warp 0 looks first
  const auto word_in = [](std::uint32_t slab) { return word_number::make(slab, 0); };
  const slab_heap heap(2, [=](const warp_slab& self) {
    std::uint32_t left = 0;
    add_slabs(self, lane_bit(), c, 2u);
    claim(self, c, word_in(home), ~1u, left);
    claim(self, c, word_in(1 - home), ~0u, left);
  });
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane first{"warp_slab.take_from_slabs.looked", {.thread = 0}};
    held_lane second{"warp_slab.take_from_slabs.looked", {.thread = 0}};
    bool found = false;
    std::uint32_t moved[2] = {};
    lanes.run([=, self = heap.allocator(), first = &first, second = &second, found = &found,
               moved = &moved[0]](unsigned lane) {
      if (lane == 0) {
        *found = finds(self, c);
        return;
      }
      std::uint32_t left = 0;
      first->await();
      put_back(self, slab_claim{word_in(1 - home), 1});
      moved[0] = claim(self, c, word_in(home), 1u, left).blocks;
      first->release();
      second->await();
      put_back(self, slab_claim{word_in(home), 1});
      moved[1] = claim(self, c, word_in(1 - home), 1u, left).blocks;
      second->release();
    });
    EXPECT_EQ(moved[0], 1u);
    EXPECT_EQ(moved[1], 1u);
    EXPECT_TRUE(found) << "refused with a free block";
  });
}

// One slab, with one free block, and a unit that a run has. The lock's holder looks for units, for a block, and for
// units again. It is held before and after its search. Another lane moves what is free: at first it is the block, in
// the search the unit, and afterwards the block.
TEST(held_warp_slab, an_extension_that_missed_a_unit_does_not_refuse) {
  const std::uint32_t c = class_of(512);
  const slab_heap heap(2, [c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 1u);
    claim_of(self, c, 0, ~1u);
    std::uint32_t first = 0;
    free_units(self).try_take_block(1, 0, 1, first);
  });
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane before{"warp_slab.add_or_search.snapshot_begun", {.thread = 0}};
    held_lane after{"warp_slab.add_or_search.searched", {.thread = 0}};
    bool refused = false;
    bool moved = false;
    lanes.run([self = heap.allocator(), c, before = &before, after = &after, refused = &refused,
               moved = &moved](unsigned lane) {
      if (lane == 0) {
        void* found = nullptr;
        close_ledger(self, lane_bit(), c);
        const auto then = add_or_search(self, lane_bit(), lane_bit(), c, 1u, found);
        *refused = then == decltype(then)::refused;
        return;
      }
      before->await();
      free_units(self).add({1, 1});
      const std::uint32_t block = claim_of(self, c, 0, 1);
      before->release();
      after->await();
      put_back(self, slab_claim{word_at(0), block});
      std::uint32_t first = 0;
      *moved = block == 1 && free_units(self).try_take_block(1, 0, 1, first);
      after->release();
    });
    EXPECT_TRUE(moved);
    EXPECT_FALSE(refused) << "refused, and at any time a unit or a block was free";
  });
}

// A lane drew the first ticket of a slab and is held before it makes the slab. The next ticket is of the same slab, and
// its holder waits. `first`: they draw as in the launch in which the class begins.
void expect_that_a_ticket_waits(const slab_heap& heap, few_lanes lanes, bool first, held_lane& maker) {
  const std::uint32_t c = class_of(512);
  void* blocks[2] = {};
  std::uint64_t drawn = 0;
  lanes.run([self = heap.allocator(), c, first, maker = &maker, blocks = &blocks[0], drawn = &drawn](unsigned lane) {
    if (lane == 1) {
      maker->await();
      *drawn = ledger_of(self).look(c).blocks();
      maker->release();
    }
    blocks[lane] = first ? take_for_one_class(self, c) : take_by_ticket(self, c);
  });
  EXPECT_EQ(drawn, 1u);
  EXPECT_NE(blocks[0], nullptr);
  EXPECT_NE(blocks[1], nullptr);
  EXPECT_NE(blocks[0], blocks[1]);
  EXPECT_EQ(heap.places(c), 1u);
}
TEST(held_warp_slab, a_ticket_waits_for_the_slab_that_another_one_makes) {
  const slab_heap heap(4, [](const warp_slab&) {});
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane maker{"warp_slab.make_slabs.drawn", {.thread = 0}};
    expect_that_a_ticket_waits(heap, lanes, false, maker);
  });
}
TEST(held_warp_slab, a_first_ticket_waits_for_the_slab_that_another_one_makes) {
  const slab_heap heap(4, [](const warp_slab&) {});
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane maker{"warp_slab.draw_first.drawn", {.thread = 0}};
    expect_that_a_ticket_waits(heap, lanes, true, maker);
  });
}

// A lane drew a block that another one has, saw others free in the word, and is held. Meanwhile the block comes back,
// and the slab is taken back and becomes one of another class. The lane gets none of that one's blocks, and loses none.
TEST(held_warp_slab, a_lane_that_drew_takes_nothing_of_a_slab_that_changed) {
  const std::uint32_t c = class_of(512);
  const std::uint32_t other = class_of(256);
  const slab_heap heap(1, [c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, 1);
    claim_of(self, c, 0, 1);
  });
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane late{"warp_slab.claim_rest.left", {.thread = 0}};
    std::uint32_t got = 0;
    bool changed = false;
    lanes.run([self = heap.allocator(), c, other, late = &late, got = &got, changed = &changed](unsigned lane) {
      if (lane == 0) {
        *got = claim_drawn(self, c, {word_at(0), 1}, 1).blocks;
        return;
      }
      late->await();
      fence(memory_order::release, thread_scope::device);
      put_back(self, {word_at(0), 1});
      *changed = reclaim(self, lane_bit(), 1) && add_slabs(self, lane_bit(), other, 1);
      late->release();
    });
    EXPECT_TRUE(changed);
    EXPECT_EQ(got, 0u);
    std::uint32_t left = 0;
    in_one_lane([self = heap.allocator(), other, to = &left] { *to = claim_of(self, other, 0, ~0u); });
    EXPECT_EQ(left, ~0u) << "a block of the other class is lost";
  });
}

// The lock's holder has closed a ledger of which a lane drew, and is held before it waits for that lane's slab. Another
// lane, whose tickets are void, does not wait.
TEST(held_warp_slab, a_ticket_of_a_closed_ledger_waits_for_nobody) {
  const std::uint32_t c = class_of(512);
  const slab_heap heap(4, [](const warp_slab&) {});
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane closer{"warp_slab.close.closed", {.thread = 0}};
    void* early = nullptr;
    void* late = nullptr;
    lanes.run([self = heap.allocator(), c, closer = &closer, early = &early, late = &late](unsigned lane) {
      if (lane == 0) {
        *early = take_by_ticket(self, c);
        close_ledger(self, lane_bit(), c);
        return;
      }
      closer->await();
      *late = take_by_ticket(self, c);
      closer->release();
    });
    EXPECT_NE(early, nullptr);
    EXPECT_EQ(late, nullptr);
    EXPECT_EQ(heap.places(c), 1u);
  });
}

// Four slabs, and a block of the last one is in use. A lane has drawn the places of them all, and is held before it
// takes back what is free. The lock's holder, which finds nothing left to draw, waits for it: only then does the last
// slab move to the first place.
TEST(held_warp_slab, the_holder_waits_for_a_lane_that_drew) {
  const std::uint32_t c = class_of(512);
  const slab_heap heap(slabs, [c](const warp_slab& self) {
    add_slabs(self, lane_bit(), c, slabs);
    std::uint32_t left = 0;
    claim(self, c, word_number::make(slabs - 1, 0), 1, left);
  });
  for_few_lanes(3, [&](few_lanes lanes) {
    heap.reset();
    held_lane holder{"warp_slab.offer_next.offered", {.thread = 0}};
    held_lane helper{"warp_slab.take_next.drawn", {.thread = 1, .until_others_wait = true}};
    bool taken = false;
    std::uint64_t units = 0;
    std::uint32_t first = 0;
    lanes.run([self = heap.allocator(), c, holder = &holder, helper = &helper, taken = &taken, units = &units,
               first = &first](unsigned lane) {
      if (lane == 0) {
        *taken = reclaim(self, lane_bit(), slabs);
        *units = free_units(self).leaf_word(0);
        *first = entry_of(self, c, 0);
      } else if (lane == 1) {
        holder->await();
        help(self);
      } else {
        helper->await();
        holder->release();
      }
    });
    EXPECT_TRUE(taken);
    EXPECT_EQ(units, 0b0111u) << "the holder goes on before all is done";
    EXPECT_EQ(first, slabs) << "the slab that stays is not at the first place";
    EXPECT_EQ(heap.places(c), 1u);
  });
}

// A lane has seen that there is work, and comes when all of it is done and the units are slabs again.
TEST(held_warp_slab, a_lane_that_comes_late_takes_nothing) {
  const std::uint32_t c = class_of(512);
  const slab_heap heap(slabs, [c](const warp_slab& self) { add_slabs(self, lane_bit(), c, slabs); });
  for_few_lanes(2, [&](few_lanes lanes) {
    heap.reset();
    held_lane holder{"warp_slab.offer_next.offered", {.thread = 0}};
    bool taken = false;
    bool work = false;
    std::uint32_t again = 0;
    lanes.run(
        [self = heap.allocator(), c, holder = &holder, taken = &taken, work = &work, again = &again](unsigned lane) {
          const atomic_view is_over{*again};
          if (lane == 0) {
            *taken = reclaim(self, lane_bit(), slabs);
            add_slabs(self, lane_bit(), c, slabs);
            is_over.store(1, memory_order::release, thread_scope::device);
            return;
          }
          holder->await();
          *work = has_work(self);
          holder->release();
          for (backoff wait; is_over.load(memory_order::acquire, thread_scope::device) == 0;) wait.pause();
          help(self);
        });
    EXPECT_TRUE(taken);
    EXPECT_TRUE(work);
    EXPECT_EQ(heap.places(c), slabs);
    std::uint32_t left = 0;
    in_one_lane([self = heap.allocator(), c, to = &left] {
      for (std::uint32_t at = 0; at < slabs; ++at) *to += entry_of(self, c, at) != 0 ? 1 : 0;
    });
    EXPECT_EQ(left, slabs) << "slabs were taken back that nobody offered";
  });
}

}  // namespace
}  // namespace warpheap::test::held_warp_slab_test
