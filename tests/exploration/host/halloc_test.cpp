// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Heads and slabs of Halloc under every schedule of two or three threads: draws against the replacement of the head,
// draws that cross its threshold, the last free of a slab against its end, and requests of a full heap that each come
// after a free.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/private_member.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/designs/halloc/halloc.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::halloc_exploration_test {
namespace {

constexpr halloc_options small{.slab_bytes = 4096, .slabs_of_heap = 1, .heads = 1};
using allocator = basic_halloc<small>;
using layout = detail::halloc_layout<small>;
using heads = detail::halloc_heads<layout>;
using slabs = detail::halloc_slabs<layout>;
using search = detail::halloc_search<layout>;
using outcome = heads::outcome;
using detail::halloc_draw;

WARPHEAP_TEST_PRIVATE(search_of, allocator::search)

constexpr std::uint32_t c = 8;  // 256 bytes: 15 in a slab, whose head is replaced when less than 2 are left
constexpr std::uint32_t capacity = 15;
constexpr std::uint32_t threshold = 2;

const heads& heads_of(const allocator& self) { return search_of(self).heads(); }
const slabs& slabs_of(const allocator& self) { return search_of(self).slabs(); }

class heap_memory {
 public:
  explicit heap_memory(std::uint64_t pages) : bytes_(pages * 4096), memory_(metadata() + bytes_) {
    in_one_lane([self = self()] { self.initialise(); });
    EXPECT_EQ(slabs_of(self()).figures(c).capacity, capacity);
    EXPECT_EQ(slabs_of(self()).figures(c).replace_at, threshold);
  }
  template <class Body>
  void set_up(Body body) {
    in_one_lane([self = self(), body] { body(self); });
    memory_.freeze();
  }
  allocator self() const { return allocator{arena{memory_.data() + metadata(), bytes_, bytes_, memory_.data()}}; }
  const snapshot& memory() const { return memory_; }

 private:
  std::uint64_t metadata() const { return align_up(allocator::metadata_bytes(bytes_), 4096); }
  std::uint64_t bytes_;
  snapshot memory_;
};

// Permits of the class that nobody has, in entries and heads; and whether each slab is where its entry tells.
std::uint64_t free_permits(const allocator& self) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < slabs_of(self).control().slabs_end; ++i) sum += slabs_of(self).entry(i).look().free;
  for (std::uint32_t of = 0; of < layout::classes::count; ++of) {
    const std::int32_t tickets = heads_of(self).look(of, 0).tickets();
    if (tickets > 0) sum += static_cast<std::uint64_t>(tickets);
  }
  return sum;
}
std::string expect_listed(const allocator& self) {
  for (std::uint32_t i = 0; i < slabs_of(self).control().slabs_end; ++i) {
    if (!slabs_of(self).entry(i).look().is_assigned()) continue;
    if (!slabs_of(self).sets().contains(i, slabs_of(self).place()(i))) return "a slab is in another set than its fill";
  }
  return "";
}
std::string expect_permits(const allocator& self, std::uint64_t permits) {
  const std::uint64_t found = free_permits(self);
  return found == permits ? expect_listed(self)
                          : std::to_string(found) + " permits are free, and not " + std::to_string(permits);
}

void replace(const allocator& self, std::uint32_t of_class, std::uint32_t wanted) {
  outcome how{};
  heads_of(self).replace(lane_bit(), of_class, 0, wanted, how);
}

// The other lanes draw what is left of a head while lane 0 replaces it. Reports what was drawn.
struct draw_against_replace {
  allocator self;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      outcome how{};
      out[0] = heads_of(self).replace(lane_bit(), c, 0, 1, how).permits;
    } else {
      out[lane] = heads_of(self).draw(c, 0, 2).permits;
    }
  }
};

TEST(explored_halloc, no_unit_is_lost_when_a_head_is_replaced) {
  for (const std::uint32_t left : {0u, 1u, 3u}) {
    heap_memory memory{2};
    memory.set_up([left](const allocator& self) { replace(self, c, capacity - left); });
    for (const unsigned lanes : {2u, 3u}) {
      expect_all_clean(explore_snapshot(
          memory.memory(), lanes, draw_against_replace{memory.self()},
          [&](const results& out) -> std::string {
            const std::uint64_t drawn = out[0] + out[1] + out[2];
            const std::uint64_t all = slabs_of(memory.self()).control().slabs_end * capacity;
            return expect_permits(memory.self(), all - (capacity - left) - drawn);
          },
          few_switches(lanes == 2 ? 3 : 2)));
    }
  }
}

// As before, and lane 0 takes the heads of all classes back.
struct draw_against_flush {
  allocator self;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      heads_of(self).flush();
    } else {
      out[lane] = heads_of(self).draw(c, 0, 2).permits;
    }
  }
};

TEST(explored_halloc, no_unit_is_lost_when_a_head_is_taken_back) {
  heap_memory memory{2};
  memory.set_up([](const allocator& self) { replace(self, c, capacity - 3); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, draw_against_flush{memory.self()},
      [&](const results& out) -> std::string { return expect_permits(memory.self(), 3 - out[1] - out[2]); },
      few_switches(3)));
}

// Each lane draws; one draw crosses the threshold.
struct draw_at_once {
  allocator self;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const halloc_draw got = heads_of(self).draw(c, 0, 2);
    out[lane] = got.permits;
    out[8 + lane] = got.permits != 0 && got.crossed;
  }
};

TEST(explored_halloc, one_draw_crosses_the_threshold) {
  heap_memory memory{2};
  memory.set_up([](const allocator& self) { replace(self, c, capacity - 5); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, draw_at_once{memory.self()},
      [&](const results& out) -> std::string {
        if (out[0] + out[1] + out[2] != 5) return "not all tickets were drawn, or more";
        return out[8] + out[9] + out[10] == 1 ? ""
                                              : "the threshold was crossed once, and this many draws said so: " +
                                                    std::to_string(out[8] + out[9] + out[10]);
      },
      all_schedules()));
}

// Lane 0 gives the last block of a slab back, lane 1 makes pages of slabs without blocks.
struct last_free_against_end {
  allocator self;
  void* block;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      self.free(block);
    } else {
      out[0] = slabs_of(self).dissolve_free();
    }
  }
};

TEST(explored_halloc, a_slab_whose_last_block_returns_ends_once_or_waits_in_its_set) {
  heap_memory memory{2};
  void* block = nullptr;
  memory.set_up([to = &block](const allocator& self) {
    *to = self.malloc(256);
    heads_of(self).flush();
  });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, last_free_against_end{memory.self(), block},
      [&](const results& out) -> std::string {
        const allocator& self = memory.self();
        const std::uint64_t pages = search_of(self).pages().source().free_pages(search_of(self).pages().control().end);
        if (pages != (out[0] != 0 ? 2 : 1)) return std::to_string(pages) + " pages are free";
        if (out[0] != 0) return slabs_of(self).entry(0).look().size_class == slab_entry::unowned ? "" : "no end";
        return slabs_of(self).sets().contains(0, layout::free_set) ? "" : "a slab without blocks is not in its set";
      },
      few_switches(3)));
}

// A full heap: each lane gives a block back and asks for one again. None is refused, though each may take what the
// other gave.
struct free_then_ask {
  allocator self;
  void* blocks[2];
  void operator()(std::uint64_t* out, unsigned lane) const {
    self.free(blocks[lane]);
    out[lane] = self.malloc(256) != nullptr;
  }
};

TEST(explored_halloc, a_request_after_a_free_is_not_refused) {
  heap_memory memory{2};
  void* blocks[2] = {};
  memory.set_up([to = blocks](const allocator& self) {
    for (std::uint32_t i = 0; void* const block = self.malloc(256); ++i) to[i / capacity] = block;
  });
  ASSERT_TRUE(blocks[0] != nullptr && blocks[1] != nullptr);
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, free_then_ask{memory.self(), {blocks[0], blocks[1]}},
      [](const results& out) -> std::string {
        return out[0] == 1 && out[1] == 1 ? "" : "a request was refused, though its thread had freed a block before";
      },
      few_switches(2)));
}

// Lane 0 gives the only block of a slab back and asks for it again. Lane 1 asks for two pages, which the heap has not
// with a block of 256 bytes in one of them: it looks for pages in the slab of lane 0.
struct ask_while_slabs_move {
  allocator self;
  void* block;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      self.free(block);
      out[0] = self.malloc(3000) != nullptr;
    } else {
      out[1] = self.malloc(8192) != nullptr;
    }
  }
};

TEST(explored_halloc, a_request_after_a_free_is_not_refused_while_its_slab_becomes_pages) {
  heap_memory memory{2};
  void* block = nullptr;
  memory.set_up([to = &block](const allocator& self) {
    self.malloc(256);
    *to = self.malloc(3000);
  });
  ASSERT_NE(block, nullptr);
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, ask_while_slabs_move{memory.self(), block},
      [](const results& out) -> std::string {
        if (out[1] != 0) return "two pages were handed out of which one has a block";
        return out[0] == 1 ? "" : "a request was refused, though its thread had freed a block before";
      },
      few_switches(2)));
}

}  // namespace
}  // namespace warpheap::test::halloc_exploration_test
