// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A ring of chunk headers while a lane is held in the midst of a take.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/few_lanes.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::held_header_ring_test {
namespace {

template <class Ring>
class held_header_ring : public ::testing::Test {
 protected:
  // A ring of `units` units in chunks of `chunk`.
  struct memory {
    device_array<std::byte> bytes;
    memory(std::uint32_t units, std::uint32_t chunk) : bytes(Ring::bytes(units) + 128) {
      for (std::uint32_t at = 0; at < units; at += chunk) view().lay(at, at + chunk);
      view().finish(units);
    }
    Ring view() const {
      return Ring{
          reinterpret_cast<typename Ring::state*>(align_up(reinterpret_cast<std::uint64_t>(bytes.data()), 128))};
    }
  };
};
using rings = testing::Types<header_ring<locked_header, 1>, header_ring<fused_header, 1>>;
TYPED_TEST_SUITE(held_header_ring, rings);

// Lane 0 has seen a chunk of 12 units. When it locks the chunk, two units are left of it: the next two are a block.
TYPED_TEST(held_header_ring, a_chunk_that_was_split_is_not_cut_as_it_was_seen) {
  for_few_lanes(2, [](few_lanes lanes) {
    const typename held_header_ring<TypeParam>::memory memory{12, 12};
    held_lane looked{"header_ring.visit.looked", {.thread = 0}};
    std::uint32_t place = 0;
    lanes.run([ring = memory.view(), looked = &looked, place = &place](unsigned lane) {
      if (lane == 0) {
        *place = ring.take(ring_request{4});
        return;
      }
      looked->await();
      require(ring.take(ring_request{2}) == 0 && ring.take(ring_request{2}) == 2, "room");
      ring.give(0);
      looked->release();
    });
    EXPECT_EQ(place, 4u) << "the block from 2 to 4 is of another lane";
  });
}

// Lane 0 has locked the only free units, for which it has no use. Lane 1 must not be refused: it gets one in the end.
TYPED_TEST(held_header_ring, what_is_locked_is_not_taken_for_full) {
  for_few_lanes(3, [](few_lanes lanes) {
    const typename held_header_ring<TypeParam>::memory memory{4, 1};
    memory.view().place_cursor(0, 3);
    require(memory.view().take(ring_request{1}) == 3, "the last unit");
    memory.view().place_cursor(0, 0);
    require(memory.view().take(ring_request{1}) == 0, "the first unit");
    memory.view().place_cursor(0, 1);
    held_lane absorbed{"header_ring.visit.absorbed", {.thread = 0}};
    // More steps than any limit that a take of a ring of four could have.
    held_lane walking{"header_ring.take.walking", {.thread = 1, .passes = (1 << 17) + 64}};
    std::uint32_t place = 0;
    lanes.run([=, ring = memory.view(), absorbed = &absorbed, walking = &walking, place = &place](unsigned lane) {
      if (lane == 0) {
        require(ring.take(aligned_ring_request{3, 8, 1}) == ring.none, "the last unit is taken");
        return;
      }
      absorbed->await();
      if (lane == 1) {
        *place = ring.take(ring_request{1});
        return;
      }
      walking->await();
      absorbed->release();
      walking->release();
    });
    EXPECT_TRUE(place == 1 || place == 2) << "refused, though no block lay there at any moment";
  });
}

// A unit is free at each moment, and lane 0 sees none: lane 1 gives one that lane 0 has passed, and takes the other.
TYPED_TEST(held_header_ring, a_take_that_overlaps_a_walk_is_not_missed) {
  for_few_lanes(2, [](few_lanes lanes) {
    const typename held_header_ring<TypeParam>::memory memory{3, 1};
    memory.view().take(ring_request{1});
    memory.view().take(ring_request{1});
    memory.view().place_cursor(0, 3);
    // The end, the first unit, and now the second.
    held_lane walking{"header_ring.take.walking", {.thread = 0, .passes = 2}};
    std::uint32_t place = 1;
    lanes.run([ring = memory.view(), walking = &walking, place = &place](unsigned lane) {
      if (lane == 0) {
        *place = ring.take(ring_request{1});
        return;
      }
      walking->await();
      ring.give(0);
      require(ring.take(aligned_ring_request{1, 4, 2}) == 2, "the other unit");
      walking->release();
    });
    EXPECT_EQ(place, 0u) << "refused, though a unit was free at each moment";
  });
}

// Lane 0 sees a free unit, and after it one that lane 1 has locked. When lane 0 comes there it is free, and no place.
TYPED_TEST(held_header_ring, a_chunk_that_was_locked_is_not_missed) {
  for_few_lanes(3, [](few_lanes lanes) {
    const typename held_header_ring<TypeParam>::memory memory{4, 1};
    memory.view().place_cursor(0, 3);
    require(memory.view().take(ring_request{1}) == 3, "the last unit");
    memory.view().place_cursor(0, 1);
    held_lane absorbed{"header_ring.visit.absorbed", {.thread = 1}};
    held_lane stays{"header_ring.take.walking", {.thread = 1, .passes = 1}};
    // The last three units, the end, the first unit, and now the second.
    held_lane walking{"header_ring.take.walking", {.thread = 0, .passes = 5}};
    std::uint32_t place = 1;
    lanes.run([=, ring = memory.view(), absorbed = &absorbed, stays = &stays, walking = &walking,
               place = &place](unsigned lane) {
      if (lane == 1) {
        require(ring.take(aligned_ring_request{3, 8, 1}) == ring.none, "the last unit is taken");
        return;
      }
      absorbed->await();
      if (lane == 2) {
        walking->await();
        absorbed->release();
        stays->await();
        walking->release();
        return;
      }
      *place = ring.take(ring_request{2});
      stays->release();
    });
    EXPECT_EQ(place, 0u) << "refused, though the first three units were free";
  });
}

// Lane 0 proves a refusal, and lane 1 has a place in sight. Lane 1 must not take it before the proof is over, and must
// take it then. Its place is of two chunks. Lane 2 has a chunk locked during the first walks of lane 0, which make it a
// prover.
TYPED_TEST(held_header_ring, a_take_goes_on_when_a_proof_is_over) {
  for_few_lanes(4, [](few_lanes lanes) {
    const typename held_header_ring<TypeParam>::memory memory{5, 1};
    memory.view().place_cursor(0, 4);
    require(memory.view().take(ring_request{1}) == 4, "the last unit");
    memory.view().place_cursor(0, 2);
    held_lane absorbed{"header_ring.visit.absorbed", {.thread = 2}};
    held_lane proving{"header_ring.take.proving", {.thread = 0}};
    held_lane seen{"header_ring.visit.barred", {.thread = 1}};
    std::uint32_t refused = 0;
    std::uint32_t place = TypeParam::none;
    lanes.run([=, ring = memory.view(), absorbed = &absorbed, proving = &proving, seen = &seen, refused = &refused,
               place = &place](unsigned lane) {
      if (lane == 2) {
        require(ring.take(aligned_ring_request{3, 8, 2}) == ring.none, "the last unit is taken");
        return;
      }
      absorbed->await();
      if (lane == 0) {
        *refused = ring.take(ring_request{5});
        return;
      }
      proving->await();
      if (lane == 1) {
        *place = ring.take(ring_request{2});
        return;
      }
      seen->await();
      require((ring.look(0) & ring_word::free) != 0, "a chunk was taken while another lane proved a refusal");
      absorbed->release();
      seen->release();
      proving->release();
    });
    EXPECT_EQ(refused, TypeParam::none);
    EXPECT_TRUE(place == 0 || place == 2) << "refused with a place";
  });
}

// Lane 0 proves a refusal, and lane 1 has seen the gate open before. A place for lane 0 is free at each moment, and
// lane 0 sees none of them: one is given that it has passed, and lane 1 takes the other one. Lane 2 has a chunk locked
// during the first walks of lane 0.
TYPED_TEST(held_header_ring, a_take_under_way_when_a_proof_begins_is_not_missed) {
  for_few_lanes(4, [](few_lanes lanes) {
    const typename held_header_ring<TypeParam>::memory memory{8, 1};
    for (std::uint32_t at = 0; at < 4; ++at) require(memory.view().take(ring_request{1}) == at, "in turn");
    held_lane looked{"header_ring.visit.looked", {.thread = 1}};
    held_lane absorbed{"header_ring.visit.absorbed", {.thread = 2}};
    held_lane stays{"header_ring.take.walking", {.thread = 2, .passes = 2}};
    held_lane proving{"header_ring.take.proving", {.thread = 0}};
    // Three chunks to the last unit, the end, six walks of nine headers, and four units of the next walk.
    held_lane walking{"header_ring.take.walking", {.thread = 0, .passes = 3 + 1 + 6 * 9 + 4}};
    std::uint32_t late = 0;
    std::uint32_t place = 1;
    lanes.run([=, ring = memory.view(), looked = &looked, absorbed = &absorbed, stays = &stays, proving = &proving,
               walking = &walking, late = &late, place = &place](unsigned lane) {
      if (lane == 1) {
        *late = ring.take(aligned_ring_request{1, 8, 4});
        return;
      }
      looked->await();
      if (lane == 2) {
        require(ring.take(aligned_ring_request{1, 8, 4}) == 4, "what lane 1 has seen");
        require(ring.take(aligned_ring_request{3, 16, 5}) == ring.none, "the last unit is taken");
        return;
      }
      absorbed->await();
      if (lane == 0) {
        require(ring.take(aligned_ring_request{1, 8, 7}) == 7, "the last unit");
        *place = ring.take(aligned_ring_request{1, 4, 0});
        return;
      }
      proving->await();
      absorbed->release();
      stays->await();
      proving->release();
      walking->await();
      ring.give(0);
      ring.give(4);
      looked->release();
      for (backoff wait; (ring.look(4) & ring_word::allocated) == 0;) wait.pause();
      walking->release();
      stays->release();
    });
    EXPECT_EQ(late, 4u) << "a take that was under way is refused";
    EXPECT_EQ(place, 0u) << "refused, though a place was free at each moment";
  });
}

// Lane 0 proves a refusal. It sees two free units, and after them one that lane 1 has locked. When lane 0 comes there
// it is free, and no place.
TYPED_TEST(held_header_ring, a_chunk_that_was_locked_is_not_missed_by_a_proof) {
  for_few_lanes(3, [](few_lanes lanes) {
    const typename held_header_ring<TypeParam>::memory memory{5, 1};
    memory.view().place_cursor(0, 4);
    require(memory.view().take(ring_request{1}) == 4, "the last unit");
    memory.view().place_cursor(0, 1);
    require(memory.view().take(ring_request{1}) == 1, "so the first two units do not merge before the proof");
    held_lane absorbed{"header_ring.visit.absorbed", {.thread = 1}};
    held_lane stays{"header_ring.take.walking", {.thread = 1, .passes = 1}};
    held_lane proving{"header_ring.take.proving", {.thread = 0}};
    // The last three units, the end, six walks of six headers, and the first two units.
    held_lane walking{"header_ring.take.walking", {.thread = 0, .passes = 4 + 6 * 6 + 1}};
    std::uint32_t place = 1;
    lanes.run([=, ring = memory.view(), absorbed = &absorbed, stays = &stays, proving = &proving, walking = &walking,
               place = &place](unsigned lane) {
      if (lane == 1) {
        require(ring.take(aligned_ring_request{3, 8, 2}) == ring.none, "the last unit is taken");
        return;
      }
      absorbed->await();
      if (lane == 0) {
        *place = ring.take(ring_request{3});
        stays->release();
        return;
      }
      proving->await();
      ring.give(1);
      proving->release();
      walking->await();
      absorbed->release();
      stays->await();
      walking->release();
    });
    EXPECT_EQ(place, 0u) << "refused, though the first four units were free";
  });
}

}  // namespace
}  // namespace warpheap::test::held_header_ring_test
