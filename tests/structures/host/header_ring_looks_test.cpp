// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Threads that begin at one cursor of a `header_ring` find chunks in few looks, also when blocks have come back.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
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

TYPED_TEST(header_ring_looks, are_few_for_threads_that_begin_at_one_cursor) {
  constexpr std::uint64_t threads = 2048;
  constexpr std::uint64_t most = 50;  // for each take
  for (const std::uint32_t wanted : {1u, 2u, 5u}) {
    std::vector<std::byte> memory(TypeParam::bytes(units) + 128);
    const std::uint64_t at = align_up(reinterpret_cast<std::uint64_t>(memory.data()), 128);
    const TypeParam ring{reinterpret_cast<typename TypeParam::state*>(at)};
    launch({1, 1}, make_levels{}, ring);
    std::vector<std::uint32_t> places(threads);
    for (int round = 0; round < 4; ++round) {
      looks = 0;
      launch(grid_shape::covering(threads), take_one{}, ring, wanted, places.data());
      EXPECT_LE(looks, most * threads) << wanted << " units in round " << round;
      for (const std::uint32_t place : places) ASSERT_NE(place, ring.none);
      launch(grid_shape::covering(threads), give_one{}, ring, places.data());
    }
  }
}

}  // namespace
}  // namespace warpheap::test::header_ring_looks_test
