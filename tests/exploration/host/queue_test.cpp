// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A queue of segments, as Ouroboros keeps its blocks, under many schedules of two threads that push and one that
// adopts, reads and retires. A chunk of a segment that was retired becomes a block of somebody else, who writes to it.
//
// Entries are plain words, whose conflicts the explorer does not see, so the search is one without reduction.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exploration/host/private_member.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::queue_exploration_test {
namespace {

constexpr std::uint32_t chunk_bytes = 2 * segment_words * sizeof(std::uint32_t);
constexpr std::uint32_t chunks = 2;

template <class Kind>
struct queue_layout {
  typename Kind::state state;
  bit_tree::levels levels;
  std::uint64_t leaf;
  alignas(128) std::byte arena[chunks][chunk_bytes];

  bit_tree free_chunks() { return {&levels, reinterpret_cast<std::byte*>(&leaf), sizeof(leaf)}; }
  Kind kind() {
    return Kind{{chunk_segments{arena[0], static_cast<std::uint32_t>(highest_bit(chunk_bytes))}, free_chunks()}};
  }
  segment_queue<Kind> queue() { return {state, kind()}; }
};

constexpr unsigned char foreign = 0xa5;

template <class Kind>
struct push_against_retire {
  queue_layout<Kind>* of;
  unsigned pushers;
  // out: 0 and 1 whether a push had room, 4 and 5 how often its value came out, 8 and 9 chunks in other hands
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane < pushers) {
      out[lane] = of->queue().push(lane_bit(), lane);
    } else {
      adopt(out);
    }
  }
  void adopt(std::uint64_t* out) const {
    if (!of->queue().has_entries()) return;
    const adopted_segment got = of->queue().adopt();
    if (got.count == 0) return;
    for (std::uint32_t i = 0; i < got.count; ++i) {
      const std::uint32_t value = of->kind().segments().entry(got.segment.id, i);
      require(value < pushers, "an entry was read that nobody wrote");
      ++out[4 + value];
    }
    of->kind().retire(of->state, got.segment.id);
    of->queue().trim();
    for (std::uint32_t i = 0; i < chunks; ++i) {
      if (!of->free_chunks().take_exactly({i, 1})) continue;
      std::memset(of->arena[i], foreign, chunk_bytes);
      out[8 + i] = 1;
    }
  }
};

template <class Kind>
std::string expect_right(queue_layout<Kind>& of, const results& out) {
  std::uint64_t left = of.queue().size();
  for (unsigned value = 0; value < 2; ++value) {
    if (out[4 + value] > out[value]) return "a value came out that was refused, or came out twice";
    left -= out[value] - out[4 + value];
  }
  if (left != 0) return "a value was lost or made";
  for (std::uint32_t i = 0; i < chunks; ++i) {
    for (std::uint32_t at = 0; out[8 + i] != 0 && at < chunk_bytes; ++at) {
      if (of.arena[i][at] != std::byte{foreign}) return "a chunk was changed by who had retired it";
    }
  }
  return "";
}

template <class Kind>
void explore_queue(unsigned pushers, const exploration_options& options) {
  snapshot memory(sizeof(queue_layout<Kind>));
  auto& of = *reinterpret_cast<queue_layout<Kind>*>(memory.data());
  in_one_lane([to = &of] { to->free_chunks().add(index_run{0, chunks}); });
  memory.freeze();
  expect_all_clean(explore_snapshot(
      memory, pushers + 1, push_against_retire<Kind>{&of, pushers},
      [&](const results& out) { return expect_right(of, out); }, options));
}

TEST(explored_queue, push_against_retire) {
  explore_queue<virtual_list>(1, few_switches(3));
  explore_queue<virtual_array>(1, few_switches(3));
}
TEST(explored_queue, two_pushes_against_retire) { explore_queue<virtual_list>(2, few_switches(2)); }

WARPHEAP_TEST_PRIVATE(make_segment, virtual_queue::make_segment)
WARPHEAP_TEST_PRIVATE(give_back, virtual_queue::give_back)

// A segment of two chunks that come from two leaves, so that the set of free chunks gets them back by two changes. The
// header lies in one of the chunks and names both.
struct parted_segment {
  static constexpr std::uint32_t low = 3;
  static constexpr std::uint32_t high = bit_tree::leaf_bits;

  virtual_queue_state state;
  bit_tree::levels levels;
  std::uint64_t leaves[2];
  std::uint32_t name;
  alignas(128) std::byte arena[high + 1][chunk_bytes];

  bit_tree free_chunks() { return {&levels, reinterpret_cast<std::byte*>(leaves), sizeof(leaves[0])}; }
  virtual_queue queue() {
    return {chunk_segments{arena[0], static_cast<std::uint32_t>(highest_bit(chunk_bytes))}, free_chunks()};
  }
  void make() {
    free_chunks().add({low, 1});
    free_chunks().add({high, 1});
    state.size_hint = 1;  // two chunks
    name = make_segment(queue(), lane_bit(), state);
  }
};

// Lane 0 gives the segment back. Lane 1 takes one chunk, the highest or the lowest that is free, and writes to all of
// it, as the holder of a block does.
struct give_back_against_take {
  parted_segment* of;
  bool high;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) return give_back(of->queue(), segment_name::unpack(of->name).id);
    std::uint32_t leaf = 0;
    const std::uint64_t mask =
        high ? of->free_chunks().take_high(lane_bit(), 1, 1, leaf) : of->free_chunks().take_low(lane_bit(), 1, 1, leaf);
    if (mask == 0) return;
    out[1] = leaf * bit_tree::leaf_bits + static_cast<std::uint64_t>(lowest_bit(mask));
    std::memset(of->arena[out[1]], 0, chunk_bytes);
  }
};

TEST(explored_queue, give_back_of_a_segment_against_take) {
  snapshot memory(sizeof(parted_segment));
  auto& of = *reinterpret_cast<parted_segment*>(memory.data());
  in_one_lane([to = &of] { to->make(); });
  memory.freeze();
  const std::uint32_t id = segment_name::unpack(of.name).id;
  ASSERT_EQ(of.queue().segments().header(id).parts, 2u) << "the segment lies in one leaf";
  for (const bool high : {false, true}) {
    exploration_options options = few_switches(3);
    options.reduction = false;  // reads of the header and the memset are plain
    expect_all_clean(explore_snapshot(
        memory, 2, give_back_against_take{&of, high},
        [&](const results& out) -> std::string {
          const std::uint64_t low = std::uint64_t{1} << parted_segment::low;
          const bool low_is_right = of.leaves[0] == (out[1] == parted_segment::low ? 0 : low);
          const bool high_is_right = of.leaves[1] == (out[1] == parted_segment::high ? 0u : 1u);
          return low_is_right && high_is_right ? "" : "a chunk was lost or made";
        },
        options));
  }
}

}  // namespace
}  // namespace warpheap::test::queue_exploration_test
