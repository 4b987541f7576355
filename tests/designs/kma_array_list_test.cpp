// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The upper layer of kma: lists that grow on the device. Each push has an index of its own, values stay where they are,
// segments are blocks that fill their class, and a heap that is full refuses a push and nothing else.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/masks.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/kma/array_list.hpp>
#include <warpheap/designs/kma/kma.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::kma_array_list_test {
namespace {

template <class T>
using list_of = kma_array_list<T, heap_ref<kma>>;
using list = list_of<std::uint64_t>;
static_assert(std::is_trivially_copyable_v<list>);

// A value whose size divides no segment.
struct triple {
  std::uint64_t words[3];
};

TEST(kma_array_list, segments_fill_blocks_of_the_layer_below) {
  std::uint64_t before = 0;
  for (std::uint32_t k = 0; k < list::most_segments; ++k) {
    const std::uint64_t bytes = list::segment_bytes(k);
    if (bytes <= kma_classes::largest_bytes) {
      EXPECT_EQ(kma_classes::bytes(kma_classes::of(bytes)), bytes);
    } else {
      EXPECT_EQ(bytes, std::uint64_t{1} << (k + 6));
    }
    EXPECT_GE(bytes + 32, 2 * before) << "a segment is twice as large as the one before";
    before = bytes;
  }
}

WARPHEAP_FN std::uint64_t value_of(std::uint64_t thread, std::uint64_t i) { return thread << 20 | i; }

// Each thread pushes some values, lanes of a warp not equally many, and keeps their indexes.
struct push_kernel {
  template <class List>
  WARPHEAP_FN void operator()(List to, std::uint64_t each, std::uint64_t* indexes) const {
    const std::uint64_t me = grid_thread_index();
    for (std::uint64_t i = 0; i < 1 + me % each; ++i) {
      const std::uint64_t index = to.push({value_of(me, i)});
      require(index != List::none, "a heap with room refused a push");
      indexes[me * each + i] = index;
      require(to.size() > index, "the size is behind");
    }
  }
};
struct read_kernel {
  template <class List>
  WARPHEAP_FN void operator()(List from, std::uint64_t* values) const {
    for (std::uint64_t i = grid_thread_index(); i < from.size(); i += grid_threads()) {
      values[i] = first_word(from[i]);
    }
  }
  WARPHEAP_FN static std::uint64_t first_word(std::uint64_t value) { return value; }
  WARPHEAP_FN static std::uint64_t first_word(const triple& value) { return value.words[0]; }
};
struct clear_kernel {
  template <class List>
  WARPHEAP_FN void operator()(List of) const {
    of.clear();
  }
};

// The segments that `count` values of `bytes` need: their bytes together.
std::uint64_t bytes_for(std::uint64_t count, std::uint64_t bytes) {
  std::uint64_t sum = 0;
  for (std::uint32_t k = 0; count != 0; ++k) {
    const std::uint64_t room = list::segment_bytes(k) / bytes;
    sum += list::segment_bytes(k);
    count -= count < room ? count : room;
  }
  return sum;
}

template <class T>
void pushes_have_indexes_of_their_own() {
  for_each_schedule(
      [](std::uint64_t) {
        constexpr std::uint64_t each = 5;
        const grid_shape shape = grid_shape::covering(scaled(256, 1 << 14), 64);
        const std::uint64_t threads = shape.blocks * 64;
        const heap<kma> of{this_backend == backend::host ? 1 << 20 : 64 << 20};
        const device_array<typename list_of<T>::state> state(1);
        const device_array<std::uint64_t> indexes(threads * each), values(threads * each);
        const list_of<T> to{state.data(), of.ref()};
        for (int round = 0; round < 2; ++round) {
          launch(shape, push_kernel{}, to, each, indexes.data());
          launch({2, 64}, read_kernel{}, to, values.data());
          const std::vector<std::uint64_t> got = indexes.to_host(), read = values.to_host();
          std::uint64_t count = 0;
          std::vector<bool> taken(threads * each);
          for (std::uint64_t me = 0; me < threads; ++me) {
            for (std::uint64_t i = 0; i < 1 + me % each; ++i, ++count) {
              const std::uint64_t index = got[me * each + i];
              ASSERT_LT(index, threads * each);
              ASSERT_FALSE(taken[index]) << "an index is given twice";
              taken[index] = true;
              ASSERT_EQ(read[index], value_of(me, i));
            }
          }
          for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(taken[i]) << "index " << i << " is left out";
          // One block for each segment that is needed, whoever came at once.
          EXPECT_EQ(*of.statistics().live_bytes, bytes_for(count, sizeof(T)));
          launch({1, 1}, clear_kernel{}, to);
          EXPECT_EQ(*of.statistics().live_bytes, 0u);
          EXPECT_EQ(state.at(0).size, 0u);
        }
      },
      3);
}
TEST(kma_array_list, pushes_have_indexes_of_their_own) { pushes_have_indexes_of_their_own<std::uint64_t>(); }
TEST(kma_array_list, values_may_leave_room_in_a_segment) { pushes_have_indexes_of_their_own<triple>(); }

// Lanes of one warp push to several lists, those with an odd number to others.
struct several_lists_kernel {
  WARPHEAP_FN void operator()(list::state* states, heap_ref<kma> heap, std::uint64_t lists) const {
    const std::uint64_t me = grid_thread_index();
    const list to{states + me % lists, heap};
    for (std::uint64_t i = 0; i < 20; ++i) {
      sync(full_warp);
      const std::uint64_t index = to.push(me);
      require(index != list::none && to[index] == me, "lists of one warp disturb each other");
    }
  }
};
TEST(kma_array_list, lanes_of_a_warp_may_push_to_different_lists) {
  for_each_schedule(
      [](std::uint64_t) {
        constexpr std::uint64_t lists = 3;
        const heap<kma> of{1 << 20};
        const device_array<list::state> states(lists);
        launch({2, 96}, several_lists_kernel{}, states.data(), of.ref(), lists);
        for (std::uint64_t i = 0; i < lists; ++i) EXPECT_EQ(states.at(i).size, 64u * 20);
      },
      2);
}

// Each thread pushes until it is refused.
struct fill_kernel {
  WARPHEAP_FN void operator()(list to, std::uint64_t* served) const {
    std::uint64_t mine = 0;
    while (to.push(grid_thread_index()) != list::none) ++mine;
    served[grid_thread_index()] = mine;
  }
};
// A heap that is full refuses pushes: none that was refused has an index, and the segment that is lacking does not fit.
struct refused_kernel {
  WARPHEAP_FN void operator()(list to, heap_ref<kma> heap, std::uint64_t lacking, std::uint64_t* out) const {
    const std::uint64_t before = to.size();
    out[0] = to.push(7) == list::none && to.size() == before;
    out[1] = !to.reserve(before + 1) && to.reserve(before);
    out[2] = heap.malloc(lacking) == nullptr;
    out[3] = before;
  }
};
TEST(kma_array_list, a_full_heap_refuses_a_push_and_nothing_else) {
  for_each_schedule(
      [](std::uint64_t) {
        const heap<kma> of{256 << 10};
        const device_array<list::state> state(1);
        const list to{state.data(), of.ref()};
        const device_array<std::uint64_t> served(128), out(4);
        // How long the list gets depends on the places of its blocks: a large one needs pages side by side.
        for (int round = 0; round < 2; ++round) {
          launch({2, 64}, fill_kernel{}, to, served.data());
          std::uint64_t all = 0;
          for (const std::uint64_t each : served.to_host()) all += each;
          // The segments that have memory are full, and their sizes sum up to the size of the list.
          std::uint64_t room = 0;
          std::uint32_t k = 0;
          for (; room < all; ++k) room += list::segment_bytes(k) / sizeof(std::uint64_t);
          EXPECT_EQ(room, all);
          EXPECT_GT(all, 1000u);
          launch({1, 1}, refused_kernel{}, to, of.ref(), list::segment_bytes(k), out.data());
          const std::vector<std::uint64_t> got = out.to_host();
          EXPECT_TRUE(got[0] != 0 && got[1] != 0 && got[2] != 0) << got[0] << got[1] << got[2];
          EXPECT_EQ(got[3], all);
          launch({1, 1}, clear_kernel{}, to);
          EXPECT_EQ(*of.statistics().live_bytes, 0u);
        }
      },
      2);
}

// A reservation takes the segments, and the pushes that it was for take no more.
struct reserve_kernel {
  WARPHEAP_FN void operator()(list to, std::uint64_t count, std::uint64_t* out) const {
    out[0] = to.reserve(count);
    out[1] = to.size();
    // Larger than the heap, and longer than a list can be.
    out[2] = to.reserve(std::uint64_t{1} << 20) || to.reserve(list::none);
  }
};
struct push_some_kernel {
  WARPHEAP_FN void operator()(list to, std::uint64_t count) const {
    for (std::uint64_t i = 0; i < count; ++i) require(to.push(i) == i && to[i] == i, "in turn");
  }
};
TEST(kma_array_list, a_reservation_is_what_pushes_need) {
  constexpr std::uint64_t count = 900;
  const heap<kma> of{256 << 10};
  const device_array<list::state> state(1);
  const device_array<std::uint64_t> out(3);
  const list to{state.data(), of.ref()};
  launch({1, 1}, push_some_kernel{}, to, count);
  const std::uint64_t needed = *of.statistics().live_bytes;
  EXPECT_EQ(needed, bytes_for(count, sizeof(std::uint64_t)));
  launch({1, 1}, clear_kernel{}, to);
  launch({1, 1}, reserve_kernel{}, to, count, out.data());
  EXPECT_EQ(out.at(0), 1u);
  EXPECT_EQ(out.at(1), 0u);
  EXPECT_EQ(out.at(2), 0u);
  const std::uint64_t reserved = *of.statistics().live_bytes;
  EXPECT_GE(reserved, needed);
  launch({1, 1}, push_some_kernel{}, to, count);
  EXPECT_EQ(*of.statistics().live_bytes, reserved);
}

}  // namespace
}  // namespace warpheap::test::kma_array_list_test
