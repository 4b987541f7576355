// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Each atomic operation, on each type and with each order: what it returns and what it leaves, alone and under
// contention.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::atomics_test {
namespace {

constexpr thread_scope scope = thread_scope::device;
constexpr memory_order relaxed = memory_order::relaxed;

template <class T>
class atomics : public testing::Test {};
using cell_types = testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, unsigned long long>;
TYPED_TEST_SUITE(atomics, cell_types);

// One thread's look at each operation: what it returned, and what the cell held then.
template <class T>
struct try_each {
  static constexpr int results = 25;
  WARPHEAP_FN void operator()(T* cell, T* out) const {
    const atomic_view<T> view{*cell};
    const auto note = [&](T returned) {
      *out++ = returned;
      *out++ = view.load(relaxed, scope);
    };
    view.store(T{12}, relaxed, scope);
    note(view.exchange(T{10}, relaxed, scope));
    note(view.fetch_add(T{7}, relaxed, scope));
    note(view.fetch_sub(T{20}, relaxed, scope));
    note(view.fetch_and(T{0x55}, relaxed, scope));
    note(view.fetch_or(T{0x0a}, relaxed, scope));
    note(view.fetch_xor(T{0x0f}, relaxed, scope));
    note(view.fetch_min(T{9}, relaxed, scope));
    note(view.fetch_min(T{100}, relaxed, scope));
    note(view.fetch_max(T{100}, relaxed, scope));
    note(view.fetch_max(T{3}, relaxed, scope));
    T expected{100};
    note(view.compare_exchange(expected, T{1}, relaxed, scope) ? T{1} : T{0});
    note(view.compare_exchange(expected, T{2}, relaxed, scope) ? T{1} : T{0});
    *out = speculative_load(*cell);
  }
};

TYPED_TEST(atomics, operations_return_the_value_before) {
  using T = TypeParam;
  device_array<T> cell(1);
  device_array<T> out(try_each<T>::results);
  launch(grid_shape{1, 1}, try_each<T>{}, cell.data(), out.data());
  const T before_and = static_cast<T>(T{17} - T{20});  // wraps around when T is unsigned
  const T before_or = static_cast<T>(before_and & T{0x55});
  const T before_xor = static_cast<T>(before_or | T{0x0a});
  const T before_min = static_cast<T>(before_xor ^ T{0x0f});
  const T after_min = std::min<T>(before_min, 9);
  const std::vector<T> expected{12,        10,        10,         17,         17,         before_and, before_and,
                                before_or, before_or, before_xor, before_xor, before_min, before_min, after_min,
                                after_min, after_min, after_min,  100,        100,        100,        1,
                                1,         0,         1,          1};
  EXPECT_EQ(out.to_host(), expected);
}

// What a failed compare_exchange reads.
template <class T>
struct fail_to_exchange {
  WARPHEAP_FN void operator()(T* cell, T* out) const {
    T expected{5};
    out[0] = atomic_view<T>{*cell}.compare_exchange(expected, T{6}, memory_order::acq_rel, scope);
    out[1] = expected;
  }
};

TYPED_TEST(atomics, failed_compare_exchange_reads_the_value) {
  using T = TypeParam;
  device_array<T> cell(std::vector<T>{std::numeric_limits<T>::max()});
  device_array<T> out(2);
  launch(grid_shape{1, 1}, fail_to_exchange<T>{}, cell.data(), out.data());
  EXPECT_EQ(out.to_host(), (std::vector<T>{0, std::numeric_limits<T>::max()}));
  EXPECT_EQ(cell.at(0), std::numeric_limits<T>::max());
}

// Each order and scope that each kind of operation takes.
template <class T>
struct use_orders {
  template <thread_scope each>
  WARPHEAP_FN void all_orders(atomic_view<T> view) const {
    view.store(view.load(memory_order::relaxed, each), memory_order::relaxed, each);
    view.store(view.load(memory_order::acquire, each), memory_order::release, each);
    view.store(view.load(memory_order::seq_cst, each), memory_order::seq_cst, each);
    view.fetch_add(T{1}, memory_order::relaxed, each);
    view.fetch_add(T{1}, memory_order::acquire, each);
    view.fetch_add(T{1}, memory_order::release, each);
    view.fetch_add(T{1}, memory_order::acq_rel, each);
    view.fetch_add(T{1}, memory_order::seq_cst, each);
    T seen = view.load(memory_order::relaxed, each);
    view.compare_exchange(seen, static_cast<T>(seen + 1), memory_order::relaxed, each);
    view.compare_exchange(seen, T{0}, memory_order::acquire, each);  // fails, and reads
    view.compare_exchange(seen, static_cast<T>(seen + 1), memory_order::acquire, each);
    view.compare_exchange(seen, T{0}, memory_order::release, each);
    view.compare_exchange(seen, static_cast<T>(seen + 1), memory_order::release, each);
    view.compare_exchange(seen, T{0}, memory_order::acq_rel, each);
    view.compare_exchange(seen, static_cast<T>(seen + 1), memory_order::acq_rel, each);
    view.compare_exchange(seen, T{0}, memory_order::seq_cst, each);
    view.compare_exchange(seen, static_cast<T>(seen + 1), memory_order::seq_cst, each);
    fence(memory_order::acquire, each);
    fence(memory_order::release, each);
    fence(memory_order::acq_rel, each);
    fence(memory_order::seq_cst, each);
  }
  WARPHEAP_FN void operator()(T* cell) const {
    const atomic_view<T> view{*cell};
    all_orders<thread_scope::block>(view);
    all_orders<thread_scope::device>(view);
    all_orders<thread_scope::system>(view);
  }
};

TYPED_TEST(atomics, all_orders_and_scopes) {
  using T = TypeParam;
  device_array<T> cell(1);
  launch(grid_shape{1, 1}, use_orders<T>{}, cell.data());
  EXPECT_EQ(cell.at(0), T{3 * (5 + 5)});
}

constexpr std::uint64_t threads = 1024;

// Threads of several blocks at the same cells. Cells are one cache line apart.
template <class T>
struct contend {
  WARPHEAP_FN void operator()(T* cells, T* tickets) const {
    const auto me = static_cast<T>(grid_thread_index());
    const atomic_view<T> sum{cells[0]};
    tickets[grid_thread_index()] = sum.fetch_add(T{1}, relaxed, scope);
    atomic_view<T>{cells[32]}.fetch_min(static_cast<T>(me + 5), relaxed, scope);
    atomic_view<T>{cells[64]}.fetch_max(static_cast<T>(me + 5), relaxed, scope);
    atomic_view<T>{cells[96]}.fetch_or(static_cast<T>(T{1} << (grid_thread_index() % 31)), relaxed, scope);
    atomic_view<T>{cells[128]}.fetch_xor(me, relaxed, scope);
    const atomic_view<T> by_exchange{cells[160]};
    T seen = by_exchange.load(relaxed, scope);
    while (!by_exchange.compare_exchange(seen, static_cast<T>(seen + 2), relaxed, scope)) {
    }
  }
};

TYPED_TEST(atomics, none_is_lost_under_contention) {
  using T = TypeParam;
  test::for_each_schedule([](std::uint64_t) {
    std::vector<T> start(192);
    start[32] = std::numeric_limits<T>::max();
    device_array<T> cells(start);
    device_array<T> tickets(threads);
    launch(grid_shape{threads / 128, 128}, contend<T>{}, cells.data(), tickets.data());
    std::vector<T> taken = tickets.to_host();
    std::sort(taken.begin(), taken.end());
    for (std::uint64_t i = 0; i < threads; ++i) ASSERT_EQ(taken[i], static_cast<T>(i));
    T parity = 0;
    for (std::uint64_t i = 0; i < threads; ++i) parity ^= static_cast<T>(i);
    const std::vector<T> result = cells.to_host();
    EXPECT_EQ(result[0], T{threads});
    EXPECT_EQ(result[32], T{5});
    EXPECT_EQ(result[64], T{threads + 4});
    EXPECT_EQ(result[96], T{0x7fffffff});
    EXPECT_EQ(result[128], parity);
    EXPECT_EQ(result[160], T{2 * threads});
  });
}

// Lanes draw numbers in a loop in which each is busy for a time of its own before, so that they come in any company.
struct draw_numbers {
  WARPHEAP_FN void operator()(std::uint64_t* next, std::uint32_t* drawn, std::uint64_t* others,
                              std::uint32_t each) const {
    for (std::uint32_t i = 0; i < each; ++i) {
      const std::uint64_t random = mix(grid_thread_index() * each + i);
      for (std::uint64_t busy = random % 4; busy != 0; --busy) {
        atomic_view view{others[random / 4 % 64]};
        std::uint64_t seen = view.load(relaxed, scope);
        while (!view.compare_exchange(seen, seen + 1, relaxed, scope)) {  // not a spin: another change came first
        }
      }
      const std::uint64_t number = atomic_view{*next}.fetch_add(1, relaxed, scope);
      if (number < grid_threads() * each) atomic_view{drawn[number]}.fetch_add(1, relaxed, scope);
    }
  }
};

// A GPU's compiler lets one lane add for all that meet and hands out the numbers, which must be right wherever they
// meet.
TEST(atomics_of_loops, lanes_get_numbers_of_their_own) {
  test::for_each_schedule([](std::uint64_t) {
    const auto each = static_cast<std::uint32_t>(test::scaled(8, 64));
    const grid_shape grid = grid_shape::covering(test::scaled(128, 1 << 16), 64);
    const std::uint64_t numbers = grid.blocks * grid.threads * each;
    const device_array<std::uint64_t> next(1);
    const device_array<std::uint32_t> drawn(numbers);
    const device_array<std::uint64_t> others(64);
    launch(grid, draw_numbers{}, next.data(), drawn.data(), others.data(), each);
    EXPECT_EQ(next.at(0), numbers);
    const std::vector<std::uint32_t> times = drawn.to_host();
    EXPECT_EQ(std::count(times.begin(), times.end(), 1u), static_cast<std::ptrdiff_t>(numbers));
  });
}

// A pointer is exchanged like a number.
struct swap_pointers {
  WARPHEAP_FN void operator()(int** slot, int* value, int* out) const {
    const atomic_view<int*> view{*slot};
    out[0] = view.exchange(value, memory_order::acq_rel, scope) == nullptr;
    int* seen = value;
    out[1] = view.compare_exchange(seen, nullptr, memory_order::acq_rel, scope);
    out[2] = view.load(memory_order::acquire, scope) == nullptr;
  }
};

TEST(atomics_of_pointers, exchange_and_compare) {
  device_array<int*> slot(1);
  device_array<int> value(1);
  device_array<int> out(3);
  launch(grid_shape{1, 1}, swap_pointers{}, slot.data(), value.data(), out.data());
  EXPECT_EQ(out.to_host(), (std::vector<int>{1, 1, 1}));
}

}  // namespace
}  // namespace warpheap::atomics_test
