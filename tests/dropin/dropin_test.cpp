// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The drop-in: each form of malloc and new of device code takes its block from the named heap, each form of free and
// delete gives it back there, and host code keeps its own.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <warpheap.hpp>
#include <warpheap/dropin.hpp>

namespace warpheap::test::dropin_test {
namespace {

struct wide {
  alignas(64) std::uint64_t value;
};

/// A block of each form for each thread; what is wrong is counted.
struct forms {
  void* plain;
  std::uint64_t* single;
  char* array;
  wide* aligned;
  wide* aligned_array;
};

struct take_kernel {
  __device__ void operator()(forms* all, unsigned* wrong) const {
    const std::uint64_t i = grid_thread_index();
    forms& mine = all[i];
    mine.plain = ::malloc(24);
    mine.single = new std::uint64_t{i};
    mine.array = new char[100];
    mine.aligned = new wide{i};
    mine.aligned_array = new wide[3];
    const bool all_there = mine.plain != nullptr && mine.single != nullptr && mine.array != nullptr &&
                           mine.aligned != nullptr && mine.aligned_array != nullptr;
    const bool are_aligned = reinterpret_cast<std::uint64_t>(mine.aligned) % alignof(wide) == 0 &&
                             reinterpret_cast<std::uint64_t>(mine.aligned_array) % alignof(wide) == 0;
    if (!all_there || !are_aligned) atomicAdd(wrong, 1);
  }
};
struct give_kernel {
  __device__ void operator()(forms* all, unsigned* wrong) const {
    const std::uint64_t i = grid_thread_index();
    forms& mine = all[i];
    if (*mine.single != i || mine.aligned->value != i) atomicAdd(wrong, 1);
    ::free(mine.plain);
    delete mine.single;
    delete[] mine.array;
    delete mine.aligned;
    delete[] mine.aligned_array;
    ::free(nullptr);
    delete static_cast<std::uint64_t*>(nullptr);
  }
};
struct refused_kernel {
  __device__ void operator()(unsigned* refused) const {
    if (::malloc(16) == nullptr) atomicAdd(refused, 1);
    if (new std::uint64_t == nullptr) atomicAdd(refused, 1);
  }
};

constexpr std::uint64_t threads = 1024;

std::uint64_t live(const heap<>& of) { return of.statistics().live_bytes.value(); }

TEST(dropin, all_forms_of_new_and_malloc_use_the_named_heap) {
  heap<> blocks{std::uint64_t{64} << 20};
  use_as_default(blocks);
  const device_array<forms> all(threads);
  const device_array<unsigned> wrong(1);
  launch({threads / 128, 128}, take_kernel{}, all.data(), wrong.data());
  EXPECT_EQ(wrong.at(0), 0u);
  EXPECT_GE(live(blocks), threads * (24 + 8 + 100 + 4 * sizeof(wide)));
  launch({threads / 128, 128}, give_kernel{}, all.data(), wrong.data());
  EXPECT_EQ(wrong.at(0), 0u);
  EXPECT_EQ(live(blocks), 0u) << "a block did not come back to the heap";
  use_no_default();
}

TEST(dropin, another_heap_can_be_named) {
  heap<> first{std::uint64_t{16} << 20};
  heap<> second{std::uint64_t{16} << 20, {.reserve_bytes = std::uint64_t{64} << 20}};
  const device_array<forms> all(threads);
  const device_array<unsigned> wrong(1);
  use_as_default(first);
  use_as_default(second);
  launch({threads / 128, 128}, take_kernel{}, all.data(), wrong.data());
  EXPECT_EQ(live(first), 0u);
  EXPECT_GT(live(second), 0u);
  second.grow(std::uint64_t{32} << 20);  // the handle stays valid
  launch({threads / 128, 128}, give_kernel{}, all.data(), wrong.data());
  EXPECT_EQ(wrong.at(0), 0u);
  EXPECT_EQ(live(second), 0u);
  use_no_default();
}

TEST(dropin, without_a_heap_malloc_gives_null) {
  use_no_default();
  const device_array<unsigned> refused(1);
  launch({1, 32}, refused_kernel{}, refused.data());
  EXPECT_EQ(refused.at(0), 64u);
}

TEST(dropin, host_code_keeps_its_own) {
  use_no_default();
  void* const plain = std::malloc(100);
  ASSERT_NE(plain, nullptr);
  std::free(plain);
  EXPECT_EQ(*std::make_unique<int>(7), 7);
  const std::unique_ptr<wide> aligned{new wide{3}};
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned.get()) % alignof(wide), 0u);
}

}  // namespace
}  // namespace warpheap::test::dropin_test
