// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The handle that kernels take: what its members do beyond what every design must keep in the conformance suite.

#include <gtest/gtest.h>

#include <allocator/reference.hpp>
#include <cstdint>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <type_traits>
#include <vector>
#include <warpheap.hpp>
#include <warpheap/designs/bump/bump.hpp>

namespace warpheap::test::heap_ref_test {
namespace {

using full_heap_ref = heap_ref<locked_list<>>;
static_assert(std::is_trivially_copyable_v<heap_ref<bump>> && std::is_trivially_copyable_v<full_heap_ref>);

/// What a check in a kernel found to be wrong: the line, 0 if nothing was.
using verdict = std::uint32_t;

WARPHEAP_FN inline void expect(verdict* wrong, bool holds, call_site site = call_site::current()) {
  if (!holds) atomic_view{*wrong}.store(site.line, memory_order::relaxed, thread_scope::device);
}

template <class Body>
void run_checked(Body body, std::uint64_t heap_bytes = 1 << 20, std::uint32_t threads = 1) {
  for_each_schedule([&](std::uint64_t) {
    const heap<locked_list<>> heap{heap_bytes};
    const device_array<verdict> wrong(1);
    launch({1, threads}, body, heap.ref(), wrong.data());
    EXPECT_EQ(wrong.at(0), 0u) << "a check of that line failed in the kernel";
  });
}

struct rows_kernel {
  WARPHEAP_FN void operator()(heap_ref<> heap, int** rows, std::uint64_t count) const {
    const std::uint64_t i = grid_thread_index();
    if (i >= count) return;
    const std::uint64_t length = i % 10 + 1;
    rows[i] = static_cast<int*>(heap.malloc(length * sizeof(int)));
    if (rows[i] == nullptr) return;
    for (std::uint64_t k = 0; k < length; ++k) rows[i][k] = static_cast<int>(i + k);
  }
};

struct sum_rows_kernel {
  WARPHEAP_FN void operator()(heap_ref<> heap, int** rows, std::uint64_t count, std::uint64_t* sum) const {
    const std::uint64_t i = grid_thread_index();
    if (i >= count) return;
    std::uint64_t own = 0;
    for (std::uint64_t k = 0; k < i % 10 + 1; ++k) own += static_cast<std::uint64_t>(rows[i][k]);
    atomic_view{*sum}.fetch_add(own, memory_order::relaxed, thread_scope::device);
    heap.free(rows[i]);
  }
};

TEST(heap_ref, builds_rows_of_any_length_as_the_readme_shows) {
  const std::uint64_t count = scaled(3000, 100'000);
  const heap<> heap{std::uint64_t{64} << 20};
  const device_array<int*> rows(count);
  const device_array<std::uint64_t> sum(1);
  launch(grid_shape::covering(count), rows_kernel{}, heap.ref(), rows.data(), count);
  launch(grid_shape::covering(count), sum_rows_kernel{}, heap.ref(), rows.data(), count, sum.data());
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint64_t k = 0; k < i % 10 + 1; ++k) expected += i + k;
  }
  EXPECT_EQ(sum.at(0), expected);
}

/// Keeps a handle in device memory and uses it from there.
struct stored_handle_kernel {
  WARPHEAP_FN void operator()(const heap_ref<>* handle, verdict* wrong) const {
    expect(wrong, handle->malloc(100) != nullptr);
  }
};

TEST(heap_ref, can_be_kept_in_memory) {
  const heap<> heap{1 << 20};
  const device_array<heap_ref<>> kept(std::vector<heap_ref<>>{heap.ref()});
  const device_array<verdict> wrong(1);
  launch({1, 64}, stored_handle_kernel{}, static_cast<const heap_ref<>*>(kept.data()), wrong.data());
  EXPECT_EQ(wrong.at(0), 0u);
}

struct realloc_in_place_kernel {
  WARPHEAP_FN void operator()(full_heap_ref heap, verdict* wrong) const {
    void* const block = heap.malloc(100);  // 112 usable bytes
    expect(wrong, heap.usable_size(block) == 112);
    expect(wrong, heap.realloc(block, 112) == block);
    expect(wrong, heap.realloc(block, 57) == block);
    void* const smaller = heap.realloc(block, 40);  // keeping it would waste more than half
    expect(wrong, smaller != nullptr && heap.usable_size(smaller) == 48);
    heap.free(smaller);
    heap.free(heap.realloc(nullptr, 10));
  }
};

TEST(heap_ref, realloc_stays_where_it_fits_and_moves_where_it_wastes) { run_checked(realloc_in_place_kernel{}); }

struct realloc_when_full_kernel {
  WARPHEAP_FN void operator()(full_heap_ref heap, verdict* wrong) const {
    auto* const block = static_cast<unsigned char*>(heap.malloc(4096 - 16));
    expect(wrong, block != nullptr && heap.malloc(16) != nullptr && heap.malloc(1) == nullptr);
    for (int i = 0; i < 4080; ++i) block[i] = static_cast<unsigned char>(i);
    // Nowhere to go: growing fails, and shrinking stays.
    expect(wrong, heap.realloc(block, 5000) == nullptr);
    expect(wrong, heap.realloc(block, 100) == block);
    bool same = true;
    for (int i = 0; i < 4080; ++i) same = same && block[i] == static_cast<unsigned char>(i);
    expect(wrong, same);
    heap.free(block);
    expect(wrong, heap.malloc(4080) == block);
  }
};

TEST(heap_ref, realloc_in_a_full_heap_loses_nothing) { run_checked(realloc_when_full_kernel{}, 4096); }

// An aligned block has more usable bytes than were asked for, and stays in a full heap even where that wastes most of
// them. A memory checker that was told of the first request only faults at the writes.
struct realloc_aligned_when_full_kernel {
  WARPHEAP_FN void operator()(heap_ref<> heap, verdict* wrong) const {
    auto* const block = static_cast<unsigned char*>(heap.aligned_malloc(4096, 10));
    expect(wrong, block != nullptr);
    if (block == nullptr) return;
    for (std::uint64_t bytes = 1 << 16; bytes >= 16; bytes /= 2) {
      for (int taken = 0; heap.malloc(bytes) != nullptr;) ++taken;
    }
    expect(wrong, heap.realloc(block, 2048) == block);
    for (int i = 0; i < 2048; ++i) block[i] = static_cast<unsigned char>(i);
  }
};

TEST(heap_ref, realloc_in_a_full_heap_tells_a_memory_checker) {
  const heap<> heap{1 << 20};
  const device_array<verdict> wrong(1);
  launch({1, 1}, realloc_aligned_when_full_kernel{}, heap.ref(), wrong.data());
  EXPECT_EQ(wrong.at(0), 0u) << "a check of that line failed in the kernel";
}

struct odd_tails_kernel {
  WARPHEAP_FN void operator()(full_heap_ref heap, verdict* wrong) const {
    // All remainders of 16, where wide and narrow copies meet.
    for (std::uint64_t bytes = 1; bytes <= 80; ++bytes) {
      auto* const block = static_cast<unsigned char*>(heap.malloc(bytes));
      for (std::uint64_t i = 0; i < bytes; ++i) block[i] = static_cast<unsigned char>(bytes + i);
      auto* const moved = static_cast<unsigned char*>(heap.realloc(block, 4 * bytes + 64));
      expect(wrong, moved != nullptr && moved != block);
      for (std::uint64_t i = 0; i < bytes; ++i) expect(wrong, moved[i] == static_cast<unsigned char>(bytes + i));
      auto* const zeros = static_cast<unsigned char*>(heap.calloc(bytes, 1));
      for (std::uint64_t i = 0; i < bytes; ++i) expect(wrong, zeros[i] == 0);
      for (std::uint64_t i = 0; i < bytes; ++i) zeros[i] = 0xff;
      heap.free(zeros);
      heap.free(moved);
    }
  }
};

TEST(heap_ref, copies_and_zeroes_every_byte) { run_checked(odd_tails_kernel{}); }

struct pair_of_values {
  WARPHEAP_FN pair_of_values(int a, double b) : first(a), second(b) {}
  int first;
  double second;
};

struct create_when_full_kernel {
  WARPHEAP_FN void operator()(full_heap_ref heap, verdict* wrong) const {
    auto* const one = heap.create<pair_of_values>(3, 0.5);
    expect(wrong, one != nullptr && one->first == 3 && one->second == 0.5);
    while (heap.malloc(16) != nullptr) {
    }
    expect(wrong, heap.create<pair_of_values>(1, 1.0) == nullptr);
    heap.destroy(one);
    expect(wrong, heap.create<pair_of_values>(1, 1.0) == one);
  }
};

TEST(heap_ref, create_gives_null_when_full) { run_checked(create_when_full_kernel{}, 1024); }

}  // namespace
}  // namespace warpheap::test::heap_ref_test
