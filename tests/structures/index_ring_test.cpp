// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A ring of values: first in, first out; full and empty are known exactly; each value is popped once, whatever threads
// push and pop, also where tickets wrap.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/masks.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test::index_ring_test {
namespace {

// Makes a queue that has handed out all tickets before `first`.
struct begin_kernel {
  WARPHEAP_FN void operator()(index_ring::state* state, index_ring::slot* slots, std::uint32_t capacity,
                              std::uint32_t first) const {
    state->pushes = state->pops = first;
    for (std::uint32_t i = 0; i < capacity; ++i) slots[i] = std::uint64_t{2 * (first / capacity)} << 32;
  }
};

/// A queue and its memory. `first_ticket`, a multiple of the capacity, is the ticket of the first push and pop.
class ring_memory {
 public:
  explicit ring_memory(std::uint32_t capacity, std::uint32_t first_ticket = 0)
      : capacity_(capacity), state_(1), slots_(capacity) {
    launch({1, 1}, begin_kernel{}, state_.data(), slots_.data(), capacity, first_ticket);
    synchronise();
  }
  index_ring view() const { return {state_.data(), slots_.data(), capacity_}; }

 private:
  std::uint32_t capacity_;
  device_array<index_ring::state> state_;
  device_array<index_ring::slot> slots_;
};

// One thread: what went in comes out in order, and neither full nor empty is told wrongly. `rounds` times around.
struct in_order_kernel {
  WARPHEAP_FN void operator()(index_ring ring, std::uint32_t rounds) const {
    const lane_mask alone = lane_bit();
    std::uint32_t pushed = 0;
    std::uint32_t popped = 0;
    std::uint32_t value = 77;
    require(!ring.pop(alone, value) && value == 77, "an empty queue gave a value");
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint32_t upto = round % 3 == 0 ? ring.capacity() : ring.capacity() / 2;
      while (pushed - popped < upto) require(ring.push(alone, pushed++), "refused with room");
      require(ring.size() == pushed - popped, "wrong size");
      if (upto == ring.capacity()) require(!ring.push(alone, 99), "took more values than it has room for");
      const std::uint32_t down = round % 2 == 0 ? 0 : ring.capacity() / 4;
      while (pushed - popped > down) require(ring.pop(alone, value) && value == popped++, "not the oldest value");
    }
    while (popped != pushed) require(ring.pop(alone, value) && value == popped++, "not the oldest value");
    require(!ring.pop(alone, value) && ring.size() == 0, "an empty queue gave a value");
  }
};

TEST(index_ring, keeps_the_order_and_knows_full_and_empty) {
  for (const std::uint32_t capacity : {2u, 4u, 64u, 1024u}) {
    const ring_memory memory{capacity};
    launch({1, 1}, in_order_kernel{}, memory.view(), 9u);
    synchronise();
    for (const std::uint32_t before_wrap : {1u, 2u}) {
      const ring_memory wraps{capacity, 0u - before_wrap * capacity};
      launch({1, 1}, in_order_kernel{}, wraps.view(), 9u);
      synchronise();
    }
  }
}

// One lane puts rows in, around the queue several times: the first values of a row that has too little room are in, and
// all come out in order.
struct rows_kernel {
  WARPHEAP_FN void operator()(index_ring ring, std::uint32_t rounds) const {
    std::uint32_t pushed = 0;
    std::uint32_t popped = 0;
    std::uint32_t value = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint32_t count = 1 + round * 7 % (ring.capacity() + 2);
      const std::uint32_t room = ring.capacity() - (pushed - popped);
      const std::uint32_t in = ring.push_row(count, [&](std::uint32_t i) { return pushed + i; });
      require(in == (count < room ? count : room), "a row of another length is in");
      pushed += in;
      require(ring.size() == pushed - popped, "wrong size");
      const std::uint32_t down = round % 3 == 0 ? 0 : ring.capacity() / 2;
      while (pushed - popped > down) require(ring.pop(lane_bit(), value) && value == popped++, "not the oldest value");
    }
  }
};

TEST(index_ring, takes_rows_of_values_as_far_as_it_has_room) {
  for (const std::uint32_t capacity : {2u, 4u, 64u}) {
    for (const std::uint32_t before_wrap : {0u, 1u}) {
      const ring_memory memory{capacity, 0u - before_wrap * capacity};
      launch({1, 1}, rows_kernel{}, memory.view(), 40u);
      synchronise();
    }
  }
}

// A group of lanes: the lowest are served where not all can be.
struct partial_kernel {
  WARPHEAP_FN void operator()(index_ring ring, lane_mask group) const {
    if ((group & lane_bit()) == 0) return;
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t fits = lanes < ring.capacity() ? lanes : ring.capacity();
    require(ring.push(group, 100 + rank) == (rank < fits), "a push that went to the wrong lane");
    sync(group);
    std::uint32_t value = 1;
    const bool got = ring.pop(group, value);
    require(got == (rank < fits) && value == (got ? 100 + rank : 1), "a pop that went to the wrong lane");
  }
};

TEST(index_ring, serves_the_lowest_lanes_first) {
  for (const std::uint32_t capacity : {2u, 8u, 32u, 64u}) {
    for (const lane_mask group : mask_zoo(5)) {
      const ring_memory memory{capacity};
      launch({1, static_cast<std::uint32_t>(warp_width)}, partial_kernel{}, memory.view(), group);
      synchronise();
    }
  }
}

// Tokens go around: a thread that has popped one owns it. What the last owner wrote is seen by the next, without an
// atomic.
struct tokens_kernel {
  WARPHEAP_FN void operator()(index_ring ring, std::uint32_t* owners, std::uint64_t* uses, std::uint64_t seed,
                              int steps) const {
    random_stream random{seed, grid_thread_index()};
    for (int step = 0; step < steps; ++step) {
      // Some lanes together, as they come.
      if (random.below(3) == 0) continue;
      std::uint32_t token = 0;
      if (!ring.pop(active_group(), token)) continue;
      const auto me = static_cast<std::uint32_t>(grid_thread_index()) + 1;
      require(owners[token] == 0, "a value was popped twice");
      owners[token] = me;
      ++uses[token];
      require(owners[token] == me, "a value has two owners");
      owners[token] = 0;
      if (random.below(2) == 0) {
        require(ring.push(active_group(), token), "no room for a value that came out");
      } else {
        require(ring.push_row(1, [token](std::uint32_t) { return token; }) == 1, "no room for a value in a row");
      }
    }
  }
};

struct fill_kernel {
  WARPHEAP_FN void operator()(index_ring ring, std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count; ++i) require(ring.push(lane_bit(), i), "no room");
  }
};

struct drain_kernel {
  WARPHEAP_FN void operator()(index_ring ring, std::uint32_t* seen) const {
    std::uint32_t value = 0;
    while (ring.pop(lane_bit(), value)) ++seen[value];
  }
};

void pass_tokens(std::uint32_t capacity, std::uint32_t tokens, std::uint32_t first_ticket, std::uint64_t seed) {
  const ring_memory memory{capacity, first_ticket};
  const device_array<std::uint32_t> owners(tokens);
  const device_array<std::uint64_t> uses(tokens);
  const device_array<std::uint32_t> seen(tokens);
  launch({1, 1}, fill_kernel{}, memory.view(), tokens);
  const std::uint64_t blocks = scaled(4, 512);
  launch({blocks, 64}, tokens_kernel{}, memory.view(), owners.data(), uses.data(), seed, 16);
  launch({1, 1}, drain_kernel{}, memory.view(), seen.data());
  synchronise();
  for (const std::uint32_t each : seen.to_host()) ASSERT_EQ(each, 1u) << "a value was lost or is there twice";
  std::uint64_t sum = 0;
  for (const std::uint64_t each : uses.to_host()) sum += each;
  EXPECT_GT(sum, 0u);
}

TEST(index_ring, gives_each_value_to_one_thread_at_a_time) {
  for_each_schedule([](std::uint64_t seed) {
    pass_tokens(64, 64, 0, seed);        // full at first
    pass_tokens(16, 3, 0, seed);         // mostly empty
    pass_tokens(2, 1, 0, seed);          // the smallest
    pass_tokens(64, 40, 0u - 64, seed);  // tickets wrap on the way
  });
}

}  // namespace
}  // namespace warpheap::test::index_ring_test
