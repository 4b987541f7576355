// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A ring that is full most of the time, under seeded schedules: no value is lost or handed out twice. Beside ours a
// ring that tells full as the original of XMalloc does, so that the test is seen to find what it is for.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <support/random.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test::full_ring_test {
namespace {

constexpr std::uint32_t capacity = 4;
constexpr std::uint32_t threads = 6;
constexpr std::uint32_t tokens = capacity + threads / 2;
constexpr std::uint32_t nothing = ~std::uint32_t{0};

/// Our ring, one lane at a time.
class ring_of_tickets {
 public:
  struct memory {
    index_ring::state state;
    index_ring::slot slots[capacity];
  };
  explicit ring_of_tickets(memory* at) : memory_(at) {}
  WARPHEAP_FN void begin() const {}
  WARPHEAP_FN bool push(std::uint32_t value) const { return view().push(lane_bit(), value); }
  WARPHEAP_FN bool pop(std::uint32_t& value) const { return view().pop(lane_bit(), value); }

 private:
  WARPHEAP_FN index_ring view() const { return {&memory_->state, memory_->slots, capacity}; }
  memory* memory_;
};

/// A queue of the kind that XMalloc has: the newest value and its position are one word, and the next push moves that
/// word into a ring. It is full if the distance of head and tail is *equal* to the capacity, with the head read first;
/// if values are taken out between the two readings, the distance is more, and the push goes on.
class ring_of_equality {
 public:
  struct memory {
    std::uint64_t tail;  // position in the upper half
    std::uint32_t head;
    std::uint64_t slots[capacity];
  };
  explicit ring_of_equality(memory* at) : memory_(at) {}
  WARPHEAP_FN void begin() const {
    memory_->head = capacity + 1;
    memory_->tail = node(capacity, 0);
    for (std::uint32_t i = 0; i < capacity; ++i) memory_->slots[i] = node(i, 0);
  }
  WARPHEAP_FN bool push(std::uint32_t value) const {
    for (;;) {  // not a spin: each turn means that another thread changed the tail
      const std::uint32_t head = load(memory_->head);
      std::uint64_t tail = load(memory_->tail);
      if (position(tail) - head + 1 == capacity) return false;
      std::uint64_t& slot = memory_->slots[position(tail) % capacity];
      std::uint64_t old = load(slot);
      if (position(old) + capacity == position(tail)) change(slot, old, tail);
      if (change(memory_->tail, tail, node(position(tail) + 1, value))) return true;
    }
  }
  WARPHEAP_FN bool pop(std::uint32_t& value) const {
    for (;;) {  // not a spin: each turn means that another thread changed the head
      std::uint32_t head = load(memory_->head);
      const std::uint64_t tail = load(memory_->tail);
      if (head == position(tail) + 1) return false;
      const std::uint64_t oldest = head == position(tail) ? tail : load(memory_->slots[head % capacity]);
      if (!change(memory_->head, head, head + 1)) continue;
      value = static_cast<std::uint32_t>(oldest);
      return true;
    }
  }

 private:
  WARPHEAP_FN static std::uint64_t node(std::uint32_t position, std::uint32_t value) {
    return std::uint64_t{position} << 32 | value;
  }
  WARPHEAP_FN static std::uint32_t position(std::uint64_t of) { return static_cast<std::uint32_t>(of >> 32); }
  template <class T>
  WARPHEAP_FN static T load(T& word) {
    return atomic_view{word}.load(memory_order::acquire, thread_scope::device);
  }
  template <class T>
  WARPHEAP_FN static bool change(T& word, T& from, T to) {
    return atomic_view{word}.compare_exchange(from, to, memory_order::acq_rel, thread_scope::device);
  }
  memory* memory_;
};

struct fill_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring) const {
    ring.begin();
    for (std::uint32_t i = 0; i < capacity; ++i) require(ring.push(i), "no room in an empty ring");
  }
};

/// Half of the threads have a token at first. A thread without one takes one out; a thread with one puts it back
/// whenever there is room, so that the ring is full again soon.
struct pass_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring, std::uint32_t* held, std::uint64_t seed) const {
    const auto self = static_cast<std::uint32_t>(grid_thread_index());
    random_stream random{seed, self};
    std::uint32_t mine = self < tokens - capacity ? capacity + self : nothing;
    for (int step = 0; step < 40; ++step) {
      if (mine == nothing) {
        ring.pop(mine);
      } else if (random.below(4) != 0 && ring.push(mine)) {
        mine = nothing;
      }
    }
    held[self] = mine;
  }
};

struct drain_kernel {
  template <class Ring>
  WARPHEAP_FN void operator()(Ring ring, std::uint32_t* counts) const {
    std::uint32_t value = 0;
    // A ring that is broken may have more than there are.
    for (std::uint32_t i = 0; i < 2 * tokens && ring.pop(value); ++i) ++counts[value];
  }
};

/// What is wrong after threads have passed tokens on, or nothing.
template <class Ring>
std::string pass_tokens(std::uint64_t seed) {
  const device_array<typename Ring::memory> memory(1);
  const device_array<std::uint32_t> held(threads);
  const device_array<std::uint32_t> counts(tokens);
  const Ring ring{memory.data()};
  launch({1, 1}, fill_kernel{}, ring);
  launch({threads, 1}, pass_kernel{}, ring, held.data(), seed);
  launch({1, 1}, drain_kernel{}, ring, counts.data());
  synchronise();
  std::vector<std::uint32_t> seen = counts.to_host();
  for (const std::uint32_t each : held.to_host()) {
    if (each != nothing) ++seen[each];
  }
  for (std::uint32_t i = 0; i < tokens; ++i) {
    if (seen[i] != 1) return "token " + std::to_string(i) + " is there " + std::to_string(seen[i]) + " times";
  }
  return "";
}

/// Runs tokens through rings under `seeds` schedules that switch lanes anywhere; the number of runs that went wrong.
template <class Ring>
std::uint32_t wrong_runs(std::uint64_t seeds) {
  schedule plan = current_schedule();
  plan.order = schedule::policy::random;
  plan.workers = 1;
  std::uint32_t wrong = 0;
  for (plan.seed = 1; plan.seed <= seeds; ++plan.seed) {
    const scoped_schedule guard{plan};
    if (!pass_tokens<Ring>(plan.seed).empty()) ++wrong;
  }
  return wrong;
}

constexpr std::uint64_t seeds = 400;

TEST(full_ring, loses_nothing_and_hands_nothing_out_twice) {
  EXPECT_EQ(wrong_runs<ring_of_tickets>(seeds), 0u);
  for_each_schedule([](std::uint64_t seed) { ASSERT_EQ(pass_tokens<ring_of_tickets>(seed), ""); });
}

TEST(full_ring, is_what_the_test_of_equality_breaks) {
  // A GPU gives no choice of the schedule.
  if constexpr (this_backend == backend::host) {
    EXPECT_GT(wrong_runs<ring_of_equality>(seeds), 0u);
  }
}

}  // namespace
}  // namespace warpheap::test::full_ring_test
