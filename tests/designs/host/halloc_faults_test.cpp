// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Frees of what is no block of the heap end the launch with a message.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <warpheap/designs/halloc/halloc.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::halloc_faults {
namespace {

struct free_twice {
  std::uint64_t bytes;
  std::uint64_t beside;  // bytes from the block to what is freed instead
  void operator()(heap_ref<halloc> heap) const {
    auto* const block = static_cast<std::byte*>(heap.malloc(bytes));
    heap.free(block);
    heap.free(block + beside);
  }
};

std::string message_of(free_twice wrong) {
  const heap<halloc> memory{1 << 20};
  try {
    launch({1, 1}, wrong, memory.ref());
    synchronise();
  } catch (const launch_failure& error) {
    return error.what();
  }
  return "";
}

TEST(halloc_faults, a_double_free_is_told) {
  EXPECT_NE(message_of({64, 0}).find("freed twice"), std::string::npos);
  EXPECT_NE(message_of({64, 64}).find("freed twice"), std::string::npos) << "a block that was never taken";
  EXPECT_NE(message_of({8000, 0}).find("no block begins"), std::string::npos) << "a block of pages";
  EXPECT_NE(message_of({8000, 64}).find("no block of this heap"), std::string::npos) << "a byte of no slab";
}

}  // namespace
}  // namespace warpheap::test::halloc_faults
