// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The typed face of DynaSOAr: how fields lie, what handles tell, objects of bases, visits of all objects of a type,
// blocks that change their type, a heap that is full, several heaps at once.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/dynasoar/dynasoar.hpp>

namespace warpheap::test::soa_heap_test {
namespace {

struct words {
  std::uint64_t values[3];
};
struct agent {
  struct position : soa_field<std::uint32_t> {};
  using fields = soa_fields<position>;
};
struct fish : agent {
  using base = agent;
  struct age : soa_field<std::uint8_t> {};
  struct weight : soa_field<double> {};
  using fields = soa_fields<age, weight>;
};
struct shark : agent {
  using base = agent;
  struct energy : soa_field<std::uint16_t> {};
  using fields = soa_fields<energy>;
};
struct whale_shark : shark {
  using base = shark;
  struct name : soa_field<words> {};
  using fields = soa_fields<name>;
};
using pond = soa_heap<fish, shark, whale_shark>;
using pond_ref = soa_ref<fish, shark, whale_shark>;

static_assert(std::is_trivially_copyable_v<pond_ref> && sizeof(soa_handle<fish>) == 8);
static_assert(soa_kind_of<whale_shark, agent> && !soa_kind_of<fish, shark> && soa_field_of<agent::position, fish>);
static_assert(std::is_convertible_v<soa_handle<fish>, soa_handle<agent>> &&
              !std::is_convertible_v<soa_handle<agent>, soa_handle<fish>>);
// 4, 1, 3 bytes of gap, 8; 4 and 2; 4, 2, 2 bytes of gap, 24.
static_assert(detail::layout_of<fish>::offset<fish::weight>() == 8 && detail::layout_of<fish>::bytes() == 16);
static_assert(detail::layout_of<whale_shark>::offset<shark::energy>() == 4 && detail::layout_of<shark>::bytes() == 6);
static_assert(pond::block_bytes() == 64 * 6 && pond::objects_of_block<shark>() == 64);
static_assert(pond::objects_of_block<fish>() == 24 && pond::objects_of_block<whale_shark>() == 12);

// Adds to a sum on the device.
WARPHEAP_FN void count_in(std::uint64_t* sum, std::uint64_t amount = 1) {
  atomic_view{*sum}.fetch_add(amount, memory_order::relaxed, thread_scope::device);
}

TEST(soa_handle, keeps_what_it_is_made_of) {
  for (const detail::soa_place at : {detail::soa_place{0, 0, 1, 0, 0}, {(1u << 25) - 1, 63, 64, 199, 0xffff}}) {
    const auto again = detail::soa_place::of(at.bits());
    EXPECT_TRUE(again.block == at.block && again.slot == at.slot && again.capacity == at.capacity &&
                again.type == at.type && again.generation == at.generation);
    EXPECT_TRUE(static_cast<bool>(soa_handle<agent>::from_bits(at.bits())));
  }
  EXPECT_FALSE(soa_handle<agent>{});
}

struct one_lane_kernel {
  WARPHEAP_FN void operator()(pond_ref heap) const {
    const auto nemo = heap.make<fish>(7u, std::uint8_t{3}, 0.5);
    const auto jaws = heap.make<shark>(9u);
    const auto mo = heap.make<whale_shark>(11u, std::uint16_t{4});
    require(nemo && jaws && mo, "room for three");
    require(heap.get<fish::weight>(nemo) == 0.5 && heap.get<fish::age>(nemo) == 3, "values in order");
    require(heap.get<shark::energy>(jaws) == 0 && heap.get<agent::position>(jaws) == 9, "others are zero");
    heap[jaws].get<shark::energy>() = 77;
    require(heap.get<shark::energy>(jaws) == 77 && heap.get<shark::energy>(mo) == 4, "a field is one object's");

    const soa_handle<agent> some[] = {nemo, jaws, mo};
    require(heap.get<agent::position>(some[0]) == 7 && heap.get<agent::position>(some[1]) == 9 &&
                heap.get<agent::position>(some[2]) == 11,
            "fields of the base, whatever the type");
    require(heap.is<fish>(some[0]) && !heap.is<fish>(some[1]) && heap.is<shark>(some[2]) && heap.is<agent>(some[2]),
            "the type of an object");
    require(heap.as<shark>(some[2]) == soa_handle<shark>{mo} && !heap.as<whale_shark>(some[1]), "down to its type");
    require(heap.get<shark::energy>(heap.as<shark>(some[2])) == 4, "a field of a base in between");
    require(heap[some[2]].handle() == some[2] && heap.object_in<fish>(0, 0).get<agent::position>() != 1234, "handles");

    require(heap.contains(nemo) && heap.destroy(nemo), "an object ends");
    require(!heap.contains(nemo) && !heap.destroy(nemo) && !heap.destroy(some[0]), "a double destroy changes nothing");
    require(!heap.destroy(soa_handle<fish>{}) && !heap.contains(soa_handle<fish>{}), "null");
    require(heap.destroy(some[2]) && heap.destroy(jaws), "by a handle of its base");
    const auto next = heap.make<fish>(1u);
    require(next && !heap.contains(nemo) && !heap.destroy(nemo), "a handle of a block's former life");
    require(heap.get<fish::weight>(next) == 0 && heap.destroy(next), "the new one is there");
  }
};

TEST(soa_ref, makes_reads_and_destroys) {
  pond heap{1 << 16};
  launch({1, 1}, one_lane_kernel{}, heap.ref());
  synchronise();
  EXPECT_EQ(heap.count<agent>(), 0u);
  EXPECT_EQ(heap.blocks_in_use(), 0u);
}

struct number_fish {
  WARPHEAP_FN void operator()(soa_object<fish> object, std::uint64_t i) const {
    object.get<agent::position>() = static_cast<std::uint32_t>(i);
    object.get<fish::weight>() = static_cast<double>(i);
  }
};
// Counts each visit by the object's position.
struct tick {
  template <class U>
  WARPHEAP_FN void operator()(soa_object<U> object, std::uint64_t* visits) const {
    count_in(visits + object.template get<agent::position>());
  }
};
// Destroys every third object, and makes a shark and a fish that this visit must not see.
struct breed {
  WARPHEAP_FN void operator()(soa_object<fish> object, pond_ref heap, std::uint64_t* wrong) const {
    const std::uint32_t position = object.get<agent::position>();
    if (position >= 3000 || object.get<fish::weight>() != position) return count_in(wrong);
    if (position % 3 == 0 && !heap.destroy(object.handle())) count_in(wrong);
    if (!heap.make<shark>(position) || !heap.make<fish>(position + 3000)) count_in(wrong);
  }
};

TEST(soa_heap, visits_each_object_once) {
  for_each_schedule([](std::uint64_t) {
    constexpr std::uint64_t count = 3000;
    pond heap{4 << 20};
    EXPECT_EQ((heap.parallel_new<fish>(count, number_fish{})), count);
    const device_array<std::uint64_t> wrong(1);
    heap.parallel_do<fish>(breed{}, heap.ref(), wrong.data());
    EXPECT_EQ(wrong.at(0), 0u);
    EXPECT_EQ(heap.count<shark>(), count);
    EXPECT_EQ(heap.count<fish>(), count * 2 - count / 3);
    const device_array<std::uint64_t> visits(2 * count);
    heap.parallel_do<shark>(tick{}, visits.data());
    heap.parallel_do<agent>(tick{}, visits.data());
    const std::vector<std::uint64_t> seen = visits.to_host();
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(seen[i], i % 3 == 0 ? 2u : 3u) << i;
      ASSERT_EQ(seen[count + i], 1u) << i;
    }
    heap.reset();
    EXPECT_EQ(heap.count<agent>(), 0u);
    heap.parallel_do<agent>(tick{}, visits.data());
    EXPECT_EQ(visits.at(0), 2u);
  });
}

struct destroy_all {
  template <class U>
  WARPHEAP_FN void operator()(soa_object<U> object, pond_ref heap, std::uint64_t* wrong) const {
    if (!heap.destroy(object.handle())) count_in(wrong);
  }
};

// A heap takes as many objects as its blocks hold, of each type after another: blocks change their type.
TEST(soa_heap, gives_all_its_room_to_each_type) {
  for_each_schedule([](std::uint64_t) {
    pond heap{100 * pond::block_bytes() + 17};
    EXPECT_EQ(heap.blocks(), 100u);
    const device_array<std::uint64_t> wrong(1);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ((heap.parallel_new<shark>(7000, 5u)), 6400u);
      EXPECT_EQ((heap.parallel_new<fish>(100)), 0u);
      EXPECT_EQ(heap.blocks_in_use(), 100u);
      heap.parallel_do<agent>(destroy_all{}, heap.ref(), wrong.data());
      EXPECT_EQ(heap.blocks_in_use(), 0u);
      EXPECT_EQ((heap.parallel_new<whale_shark>(1300)), 1200u);
      heap.parallel_do<shark>(destroy_all{}, heap.ref(), wrong.data());
      EXPECT_EQ((heap.parallel_new<fish>(2400)), 2400u);
      heap.parallel_do<fish>(destroy_all{}, heap.ref(), wrong.data());
    }
    EXPECT_EQ(wrong.at(0), 0u);
    EXPECT_EQ(heap.count<agent>(), 0u);
  });
}

/// Threads make objects of all types in two heaps, one of which is nearly full, and destroy them in another order.
struct churn_kernel {
  WARPHEAP_FN void operator()(pond_ref large, pond_ref small, std::uint64_t seed, int steps,
                              std::uint64_t* wrong) const {
    constexpr int places = 8;
    random_stream random{seed, grid_thread_index()};
    soa_handle<agent> held[places] = {};
    bool in_small[places] = {};
    const auto self = static_cast<std::uint32_t>(grid_thread_index());
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t place = random.below(places);
      const pond_ref& from = in_small[place] ? small : large;
      if (held[place]) {
        if (from.get<agent::position>(held[place]) != self * places + place) count_in(wrong);
        if (from.is<fish>(held[place]) && from.get<fish::weight>(from.as<fish>(held[place])) != self) count_in(wrong);
        if (!from.destroy(held[place])) count_in(wrong);
        held[place] = {};
        continue;
      }
      in_small[place] = random.below(4) == 0;
      const pond_ref& into = in_small[place] ? small : large;
      const auto position = static_cast<std::uint32_t>(self * places + place);
      switch (random.below(3)) {
        case 0: held[place] = into.make<fish>(position, std::uint8_t{1}, static_cast<double>(self)); break;
        case 1: held[place] = into.make<shark>(position); break;
        default: held[place] = into.make<whale_shark>(position); break;
      }
      if (!held[place] && !in_small[place]) count_in(wrong);
    }
    for (int place = 0; place < places; ++place) {
      if (held[place] && !(in_small[place] ? small : large).destroy(held[place])) count_in(wrong);
    }
  }
};

TEST(soa_heap, objects_of_two_heaps_keep_their_fields_under_churn) {
  const std::uint64_t threads = scaled(256, 1 << 14);
  for_each_schedule([&](std::uint64_t seed) {
    pond large{threads * 8 * 64};
    pond small{20 * pond::block_bytes()};
    const device_array<std::uint64_t> wrong(1);
    launch(grid_shape::covering(threads, 64), churn_kernel{}, large.ref(), small.ref(), seed, 40, wrong.data());
    EXPECT_EQ(wrong.at(0), 0u);
    EXPECT_EQ(large.count<agent>() + small.count<agent>(), 0u);
    EXPECT_EQ(large.blocks_in_use() + small.blocks_in_use(), 0u);
    EXPECT_EQ((small.parallel_new<shark>(2000)), 20u * 64);
  });
}

/// Two threads destroy each object: one of them succeeds.
struct destroy_twice_kernel {
  WARPHEAP_FN void operator()(pond_ref heap, const soa_handle<fish>* all, std::uint64_t count,
                              std::uint64_t* ended) const {
    const std::uint64_t i = grid_thread_index() / 2;
    if (i < count && heap.destroy(all[i])) count_in(ended);
  }
};
struct make_kernel {
  WARPHEAP_FN void operator()(pond_ref heap, soa_handle<fish>* all, std::uint64_t count) const {
    const std::uint64_t i = grid_thread_index();
    if (i < count) all[i] = heap.make<fish>(static_cast<std::uint32_t>(i));
  }
};

TEST(soa_heap, a_double_destroy_ends_an_object_once) {
  for_each_schedule([](std::uint64_t) {
    constexpr std::uint64_t count = 240;
    pond heap{1 << 18};
    const device_array<soa_handle<fish>> all(count);
    const device_array<std::uint64_t> ended(1);
    launch(grid_shape::covering(count, 64), make_kernel{}, heap.ref(), all.data(), count);
    launch(grid_shape::covering(2 * count, 64), destroy_twice_kernel{}, heap.ref(), all.data(), count, ended.data());
    // Both lanes of a pair may come together, and are told the same.
    EXPECT_GE(ended.at(0), count);
    EXPECT_EQ(heap.count<fish>(), 0u);
    EXPECT_EQ(heap.blocks_in_use(), 0u);
    EXPECT_EQ((heap.parallel_new<shark>(heap.blocks() * 64 + 1)), heap.blocks() * 64);
  });
}

TEST(soa_heap, refuses_a_size_without_a_block) {
  EXPECT_THROW(pond{pond::block_bytes() - 1}, std::invalid_argument);
  EXPECT_NO_THROW(pond{pond::block_bytes()});
}

}  // namespace
}  // namespace warpheap::test::soa_heap_test
