// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The instrument is tested: AddressSanitizer reports bad accesses of lanes, to device memory, to their own stacks and
// to the storage of their block.

#include <gtest/gtest.h>

#include <cstdint>
#include <platform/host/planted.hpp>
#include <support/masks.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::bad_accesses_test {
namespace {

using test::expect_bad_access;
using test::full_warp;
using test::shared_words;

constexpr thread_scope scope = thread_scope::device;
using word = std::uint32_t;

struct overflow_heap {
  void operator()(shared_words* shared) const {
    if (grid_thread_index() == 40) reinterpret_cast<word*>(shared + 1)[2] = 1;
  }
};
TEST(bad_access_deathtest, past_device_memory) {
  expect_bad_access({2, 32}, overflow_heap{}, "AddressSanitizer: heap-buffer-overflow");
}

struct overflow_stack {
  void operator()(shared_words* shared) const {
    word local[4] = {1, 2, 3, 4};
    sync(full_warp);
    const word index = atomic_view{shared->flag}.load(memory_order::relaxed, scope) + 4;
    atomic_view{local[index]}.store(1, memory_order::relaxed, scope);
  }
};
TEST(bad_access_deathtest, past_a_variable_of_a_lane) {
  expect_bad_access({1, 32}, overflow_stack{}, "AddressSanitizer: stack-buffer-overflow");
}

struct use_after_scope {
  void operator()(shared_words* shared) const {
    word* outlived = nullptr;
    for (word i = 0; i < 2; ++i) {
      word inner = i;
      if (i == 0) outlived = &inner;
      sync(full_warp);
      shared->more[lane_index()] = inner;
    }
    atomic_view{*outlived}.fetch_add(1, memory_order::relaxed, scope);
  }
};
TEST(bad_access_deathtest, of_a_variable_out_of_scope) {
  expect_bad_access({1, 32}, use_after_scope{}, "AddressSanitizer: stack-use-after-scope");
}

struct touch_forbidden {
  void operator()(shared_words* shared) const {
    if (lane_index() == 0) {
      shadow_poison(shared->more, 64);
      shadow_unpoison(shared->more, 32);
      shared->more[7] = 1;
      shared->more[8] = 1;
    }
  }
};
TEST(bad_access_deathtest, of_a_forbidden_block) {
  expect_bad_access({1, 32}, touch_forbidden{}, "AddressSanitizer: use-after-poison");
}

struct small_tile {
  word values[8];
};
struct overflow_tile {
  void operator()(small_tile& tile, word index) const {
    atomic_view{tile.values[index]}.store(1, memory_order::relaxed, scope);
  }
};
TEST(bad_access_deathtest, past_the_storage_of_a_block) {
  if (!test::address_sanitizer) GTEST_SKIP() << "needs a build with WARPHEAP_SANITIZE=address";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(launch_with_shared<small_tile>(grid_shape{1, 1}, overflow_tile{}, word{8}), testing::ExitedWithCode(1),
              "AddressSanitizer: use-after-poison|runtime error: index 8 out of bounds");
}

}  // namespace
}  // namespace warpheap::bad_accesses_test
