// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A ring of chunk headers under every schedule of two threads with few switches: blocks do not overlap, nothing is
// lost, and a refusal is true.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::header_ring_exploration_test {
namespace {

template <class Ring>
class ring_memory {
 public:
  ring_memory(std::uint32_t units, std::uint32_t chunk) : memory_(Ring::bytes(units)) {
    in_one_lane([ring = view(), units, chunk] {
      for (std::uint32_t at = 0; at < units; at += chunk) ring.lay(at, at + chunk);
      ring.finish(units);
    });
    memory_.freeze();
  }
  Ring view() const { return Ring{reinterpret_cast<typename Ring::state*>(memory_.data())}; }
  const snapshot& memory() const { return memory_; }

 private:
  snapshot memory_;
};

template <class Ring>
class explored_header_ring : public ::testing::Test {};
using rings = testing::Types<header_ring<locked_header, 1>, header_ring<fused_header, 1>>;
TYPED_TEST_SUITE(explored_header_ring, rings);

// Lane 1 splits the chunk that lane 0 wants, and gives the front back.
template <class Ring>
struct split_and_give {
  Ring ring;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      out[0] = ring.take(ring_request{4});
      return;
    }
    const std::uint32_t front = ring.take(ring_request{2});
    out[1] = ring.take(ring_request{2});
    ring.give(front);
  }
};

TYPED_TEST(explored_header_ring, blocks_do_not_overlap) {
  const ring_memory<TypeParam> memory{16, 16};
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, split_and_give<TypeParam>{memory.view()},
      [&](const results& out) -> std::string {
        if (out[0] > 12 || out[1] > 14) return "refused with room";
        if (out[0] < out[1] + 2 && out[1] < out[0] + 4) return "two blocks overlap";
        bool whole = false;
        in_one_lane([ring = memory.view(), &out, &whole] {
          ring.give(static_cast<std::uint32_t>(out[0]));
          ring.give(static_cast<std::uint32_t>(out[1]));
          whole = ring.take(ring_request{16}) == 0;
        });
        return whole ? "" : "the chunks do not merge into one";
      },
      few_switches(4)));
}

// Both merge single units; there is room for one alone, and then for the other.
template <class Ring>
struct merge_both {
  Ring ring;
  void operator()(std::uint64_t* out, unsigned lane) const {
    out[lane] = ring.take(ring_request{3});
    if (out[lane] != ring.none) ring.give(static_cast<std::uint32_t>(out[lane]));
  }
};

TYPED_TEST(explored_header_ring, nothing_is_lost_where_merges_meet) {
  const ring_memory<TypeParam> memory{4, 1};
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, merge_both<TypeParam>{memory.view()},
      [&](const results&) -> std::string {
        bool whole = false;
        in_one_lane([ring = memory.view(), &whole] { whole = ring.take(ring_request{4}) == 0; });
        return whole ? "" : "the chunks do not merge into one";
      },
      few_switches(4)));
}

// A place for each lane, which gives its own before it takes another one: no take may be refused.
template <class Ring>
struct move_place {
  Ring ring;
  void operator()(std::uint64_t* out, unsigned lane) const {
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t mine = ring.take(ring_request{1});
      if (mine == ring.none) return;
      if (i == 0) ring.give(mine);
      out[lane] = i == 0 ? 0 : 1 + mine;
    }
  }
};

TYPED_TEST(explored_header_ring, a_refusal_is_true) {
  const ring_memory<TypeParam> memory{2, 1};
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, move_place<TypeParam>{memory.view()},
      [](const results& out) -> std::string {
        return out[0] != 0 && out[1] != 0 && out[0] + out[1] == 3 ? "" : "refused with a place for each";
      },
      few_switches(4)));
}

}  // namespace
}  // namespace warpheap::test::header_ring_exploration_test
