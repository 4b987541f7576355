// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Constructors that throw, which they can in kernels on the host.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <warpheap.hpp>

namespace warpheap::test::exceptions {
namespace {

struct thrower {
  explicit thrower(bool throws) {
    if (throws) throw std::runtime_error("not made");
  }
  std::uint64_t words[8]{};
};

struct alignas(256) aligned_thrower : thrower {
  using thrower::thrower;
};

template <class T>
struct create_kernel {
  WARPHEAP_FN void operator()(heap_ref<> heap, std::uint32_t* caught, bool throws) const {
    try {
      heap.destroy(heap.create<T>(throws));
    } catch (const std::runtime_error&) {
      atomic_view{*caught}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

template <class T>
void expect_nothing_lost() {
  const heap<> tested{std::uint64_t{1} << 20};
  const device_array<std::uint32_t> caught(1);
  launch({4, 32}, create_kernel<T>{}, tested.ref(), caught.data(), true);
  EXPECT_EQ(caught.at(0), 128u);
  EXPECT_EQ(tested.statistics().live_bytes, 0u) << "blocks of objects that were not made are lost";
  launch({4, 32}, create_kernel<T>{}, tested.ref(), caught.data(), false);
  EXPECT_EQ(caught.at(0), 128u);
  EXPECT_EQ(tested.statistics().live_bytes, 0u);
}

TEST(exceptions, a_constructor_that_throws_gives_its_block_back) { expect_nothing_lost<thrower>(); }

TEST(exceptions, a_constructor_that_throws_gives_its_aligned_block_back) { expect_nothing_lost<aligned_thrower>(); }

}  // namespace
}  // namespace warpheap::test::exceptions
