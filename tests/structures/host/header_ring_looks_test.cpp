// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Threads that begin at one cursor of a `header_ring` find chunks in few looks, also when blocks have come back.
//
// How many looks a take has depends on the schedule: while the system keeps a worker from running whose lane has a
// chunk locked, the lanes of other workers walk the ring again and again. So there is one worker, and a seed decides.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::header_ring_looks_test {
namespace {

std::atomic<std::uint64_t> looks;

template <class Header>
struct counted : Header {
  std::uint32_t look() {
    looks.fetch_add(1, std::memory_order_relaxed);
    return Header::look();
  }
};

constexpr std::uint32_t threads = 2048;
static_assert(threads % 1024 == 0, "each thread of a whole number of blocks has a place");

constexpr int levels = 13;
constexpr std::uint32_t root = 1u << (levels - 1);
constexpr std::uint32_t units = levels * root + root / 2;  // the last chunk is what no level has

// The chunks of an empty heap: one of `root` units, two of half as many, and so on down to those of one unit.
struct make_levels {
  template <class Ring>
  void operator()(Ring ring) const {
    if (grid_thread_index() != 0) return;
    std::uint32_t at = 0;
    for (std::uint32_t size = root; size != 0; size /= 2) {
      for (const std::uint32_t end = at + root; at != end; at += size) ring.lay(at, at + size);
    }
    ring.lay(at, units);
    ring.finish(units);
    for (std::uint32_t i = 0; i < ring.cursors().count(); ++i) ring.place_cursor(i, 0);
  }
};

// Chunks of one size, of which there are as many as threads.
struct make_alike {
  template <class Ring>
  void operator()(Ring ring, std::uint32_t size) const {
    if (grid_thread_index() != 0) return;
    for (std::uint32_t at = 0; at != threads * size; at += size) ring.lay(at, at + size);
    ring.finish(threads * size);
    for (std::uint32_t i = 0; i < ring.cursors().count(); ++i) ring.place_cursor(i, 0);
  }
};

struct take_one {
  template <class Ring>
  void operator()(Ring ring, std::uint32_t wanted, std::uint32_t* places) const {
    places[grid_thread_index()] = ring.take(ring_request{wanted});
  }
};

struct give_one {
  template <class Ring>
  void operator()(Ring ring, const std::uint32_t* places) const {
    ring.give(places[grid_thread_index()]);
  }
};

template <class Ring>
class header_ring_looks : public testing::Test {};
using rings = testing::Types<header_ring<counted<locked_header>, 1>, header_ring<counted<fused_header>, 1>,
                             header_ring<counted<locked_header>, 7>, header_ring<counted<fused_header>, 7>>;
TYPED_TEST_SUITE(header_ring_looks, rings);

// All threads take `wanted` units and give them back, four times; a take has at most `most` looks in the mean.
template <class Ring>
void expect_few_looks(Ring ring, std::uint32_t wanted, std::uint64_t most) {
  std::vector<std::uint32_t> places(threads);
  for (int round = 0; round < 4; ++round) {
    looks = 0;
    launch(grid_shape::covering(threads), take_one{}, ring, wanted, places.data());
    EXPECT_LE(looks, most * threads) << wanted << " units in round " << round;
    for (const std::uint32_t place : places) ASSERT_NE(place, ring.none);
    launch(grid_shape::covering(threads), give_one{}, ring, places.data());
  }
}

template <class Ring>
Ring ring_in(std::vector<std::byte>& memory, std::uint64_t of_units) {
  memory.assign(Ring::bytes(of_units) + 128, std::byte{0});
  const std::uint64_t at = align_up(reinterpret_cast<std::uint64_t>(memory.data()), 128);
  return Ring{reinterpret_cast<typename Ring::state*>(at)};
}

TYPED_TEST(header_ring_looks, are_few_in_an_empty_heap) {
  for_each_seed(schedule::policy::random, 2, [](std::uint64_t) {
    for (const std::uint32_t wanted : {1u, 2u, 5u}) {
      std::vector<std::byte> memory;
      const auto ring = ring_in<TypeParam>(memory, units);
      launch({1, 1}, make_levels{}, ring);
      expect_few_looks(ring, wanted, wanted == 5 ? 45 : 18);
    }
  });
}

// As after blocks of one size, which have all come back.
TYPED_TEST(header_ring_looks, are_few_among_chunks_of_one_size) {
  for_each_seed(schedule::policy::random, 2, [](std::uint64_t) {
    for (const std::uint32_t size : {1u, 32u, 128u, 512u}) {
      std::vector<std::byte> memory;
      const auto ring = ring_in<TypeParam>(memory, std::uint64_t{threads} * size);
      launch({1, 1}, make_alike{}, ring, size);
      expect_few_looks(ring, 1, 90);
    }
  });
}

}  // namespace
}  // namespace warpheap::test::header_ring_looks_test
