// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Sets of slabs while a lane that moves a slab is held: what the lane knew of the slab may be of an earlier life.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <support/few_lanes.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::held_movers_test {
namespace {

constexpr std::uint32_t free_set = 0, used_set = 1, sets = 2;

// Slab 0, whose word is the number of its set.
struct one_slab {
  slab_sets all;
  std::uint32_t* word;

  std::uint32_t look() const { return atomic_view{*word}.load(memory_order::relaxed, thread_scope::device); }
  void change(std::uint32_t to) const { atomic_view{*word}.store(to, memory_order::relaxed, thread_scope::device); }
  auto where() const {
    return [self = *this](std::uint32_t) { return self.look(); };
  }
  /// Takes the slab out of the free set, if it is there, and uses it; `misused` if it was in use.
  void use_free_slab(bool& misused) const {
    const auto use = [&] {
      misused = misused || look() != free_set;
      change(used_set);
    };
    all.transfer(0, free_set, use, where());
  }
};

// Lane 0 puts a slab that is in use where it belongs, and lane 1 makes the slab free right after. Lane 0 sees that the
// slab is free. Before lane 0 takes the slab to move it, lane 1 has moved it and uses it again. So lane 0 must not put
// it into the free set, where lane 1 would find it.
TEST(held_movers, a_slab_is_put_where_it_belongs_and_not_where_it_did) {
  constexpr std::size_t word_at = align_up(slab_sets::bytes(sets, 64), 128);
  snapshot memory(word_at + sizeof(std::uint32_t));
  const one_slab slab{{memory.data(), sets, 64}, reinterpret_cast<std::uint32_t*>(memory.data() + word_at)};
  slab.change(used_set);
  memory.freeze();
  for_few_lanes(2, [&](few_lanes lanes) {
    memory.reset();
    held_lane inserted{"slab_sets.settle.inserted", {.thread = 0}};
    held_lane looked{"slab_sets.settle.looked", {.thread = 0}};
    held_lane inserted_again{"slab_sets.settle.inserted", {.thread = 0}};
    bool misused = false;
    lanes.run([=, inserted = &inserted, looked = &looked, again = &inserted_again, misused = &misused](unsigned lane) {
      if (lane == 0) {
        slab.all.put(0, slab.where());
        return;
      }
      inserted->await();
      slab.change(free_set);
      slab.all.moved(0, used_set, slab.where());
      inserted->release();
      looked->await();
      slab.use_free_slab(*misused);
      looked->release();
      again->await();
      slab.use_free_slab(*misused);
      again->release();
    });
    EXPECT_FALSE(misused) << "a slab in use was in the free set";
    EXPECT_TRUE(slab.all.contains(0, used_set)) << "the slab is not where its word tells";
    EXPECT_FALSE(slab.all.contains(0, free_set));
  });
}

}  // namespace
}  // namespace warpheap::test::held_movers_test
