// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A ring of values under every schedule of two or three threads: no value is lost or popped twice, and a refusal is
// true.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::index_ring_exploration_test {
namespace {

class ring_memory {
 public:
  explicit ring_memory(std::uint32_t values) : memory_(sizeof(index_ring::state) + 128) {
    for (std::uint32_t i = 0; i < values; ++i) in_one_lane([ring = view(), i] { ring.push(lane_bit(), i + 1); });
    memory_.freeze();
  }
  index_ring view() const {
    return {reinterpret_cast<index_ring::state*>(memory_.data()),
            reinterpret_cast<index_ring::slot*>(memory_.data() + sizeof(index_ring::state)), 2};
  }
  const snapshot& memory() const { return memory_; }

 private:
  snapshot memory_;
};

// Each lane pushes a value of its own and pops one, which may be another's. There is room for all.
struct push_and_pop {
  index_ring ring;
  void operator()(std::uint64_t* out, unsigned lane) const {
    std::uint32_t got = 0;
    require(ring.push(lane_bit(), lane + 1), "refused with room for each");
    require(ring.pop(lane_bit(), got), "empty, though each lane pushed before it popped");
    out[lane] = got;
  }
};

TEST(explored_index_ring, each_value_comes_out_once) {
  const ring_memory memory{0};
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, push_and_pop{memory.view()},
      [&](const results& out) -> std::string {
        if (out[0] + out[1] != 3 || out[0] * out[1] != 2) return "a value is lost or came twice";
        return memory.view().size() == 0 ? "" : "not empty at the end";
      },
      all_schedules()));
}

// The ring is full at first, so each pop opens the way for a push of the next lap.
struct pop_and_push {
  index_ring ring;
  void operator()(std::uint64_t* out, unsigned lane) const {
    std::uint32_t got = 0;
    require(ring.pop(lane_bit(), got), "empty with a value for each");
    require(ring.push(lane_bit(), got + 10), "refused with room for each");
    out[lane] = got;
  }
};

TEST(explored_index_ring, laps_follow_one_another) {
  const ring_memory memory{2};
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, pop_and_push{memory.view()},
      [&](const results& out) -> std::string {
        if (out[0] == out[1]) return "a value came twice";
        std::uint64_t sum = 0;
        for (int i = 0; i < 2; ++i) {
          in_one_lane([ring = memory.view(), &sum] {
            std::uint32_t got = 0;
            if (ring.pop(lane_bit(), got)) sum += got;
          });
        }
        return sum == out[0] + out[1] + 20 ? "" : "what went in did not come out";
      },
      all_schedules()));
}

// One value, three lanes that want it.
struct only_pop {
  index_ring ring;
  void operator()(std::uint64_t* out, unsigned lane) const {
    std::uint32_t got = 0;
    out[lane] = ring.pop(lane_bit(), got) ? 1 : 0;
  }
};

TEST(explored_index_ring, one_of_three_gets_the_only_value) {
  const ring_memory memory{1};
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, only_pop{memory.view()},
      [](const results& out) -> std::string { return out[0] + out[1] + out[2] == 1 ? "" : "not exactly one"; },
      few_switches(4)));
}

}  // namespace
}  // namespace warpheap::test::index_ring_exploration_test
