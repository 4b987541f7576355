// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Heaps and other owners of device memory that outlive the device: it was reset, or the process ends. Each test is a
// process of its own, which has to end well.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <support/child_process.hpp>
#include <warpheap.hpp>
#include <warpheap/designs/bump/bump.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace warpheap::test::process_end {
namespace {

struct take_and_free {
  WARPHEAP_FN void operator()(heap_ref<> heap) const { heap.free(heap.malloc(100)); }
};

// What owns memory of a device, as objects of a program that nobody destroys before it ends.
struct owners {
  heap<> mapped{std::uint64_t{8} << 20};
  heap<> plain{std::uint64_t{1} << 20, {.plain = true}};
  heap<bump> other{std::uint64_t{1} << 20};
  device_array<std::uint64_t> array{100};
  device_range range{std::uint64_t{8} << 20, {.piece_bytes = std::uint64_t{2} << 20}};

  owners() {
    range.commit(0, 1);
    launch({1, 32}, take_and_free{}, mapped.ref());
    launch({1, 32}, take_and_free{}, plain.ref());
    synchronise();
  }
};

void reset_device() { WARPHEAP_CUDA_ONLY(static_cast<void>(cudaDeviceReset());) }

// Runs `rest` with owners that end after it, when the process does.
template <class Rest>
void run_and_exit(Rest rest) {
  try {
    static owners all;
    rest(all);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(3);
  }
  std::exit(0);
}

class process_end : public testing::Test {
 protected:
  void SetUp() override {
    start_children_anew();
    if (!children_can_fail_freely()) GTEST_SKIP() << "a memory checker does not live through a reset of the device";
  }
};

TEST_F(process_end, is_quiet_with_heaps_that_are_alive) {
  EXPECT_EXIT(run_and_exit([](owners&) {}), testing::ExitedWithCode(0), "");
}

TEST_F(process_end, is_quiet_after_a_reset_of_the_device) {
  EXPECT_EXIT(run_and_exit([](owners&) { reset_device(); }), testing::ExitedWithCode(0), "");
}

TEST_F(process_end, is_quiet_after_a_reset_and_another_use_of_the_device) {
  const auto use_again = [](owners&) {
    reset_device();
    static owners again;
  };
  EXPECT_EXIT(run_and_exit(use_again), testing::ExitedWithCode(0), "");
}

TEST_F(process_end, owners_from_before_a_reset_harm_no_later_ones) {
  const auto end_after_reset = [](owners&) {
    std::optional<owners> before;
    before.emplace();
    reset_device();
    owners after;
    before.reset();
    after.array.clear();
    if (after.array.at(99) != 0) std::exit(4);
    launch({1, 32}, take_and_free{}, after.mapped.ref());
    synchronise();
  };
  EXPECT_EXIT(run_and_exit(end_after_reset), testing::ExitedWithCode(0), "");
}

#if defined(WARPHEAP_BACKEND_CUDA)

TEST_F(process_end, a_heap_from_before_a_reset_says_so) {
  const auto use_after_reset = [](owners& all) {
    reset_device();
    all.mapped.reset();
  };
  EXPECT_EXIT(run_and_exit(use_after_reset), testing::ExitedWithCode(3), "was reset");
}

#endif

}  // namespace
}  // namespace warpheap::test::process_end
