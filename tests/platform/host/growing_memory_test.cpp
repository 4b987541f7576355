// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Memory for tables: what is added is zero, what is there stays, whichever way the system moves it.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <warpheap/platform.hpp>

namespace warpheap::growing_memory_test {
namespace {

std::uint64_t& word(const growing_memory& memory, std::uint64_t offset) {
  return *reinterpret_cast<std::uint64_t*>(memory.data() + offset);
}

TEST(growing_memory, keeps_what_it_has_and_adds_zeros_over_all_sizes) {
  growing_memory memory;
  EXPECT_EQ(memory.data(), nullptr);
  constexpr std::uint64_t stride = 4096;
  std::uint64_t written = 0;
  for (std::uint64_t bytes = stride; bytes <= std::uint64_t{64} << 20; bytes *= 2) {
    memory.grow(bytes);
    ASSERT_GE(memory.bytes(), bytes);
    for (std::uint64_t at = 0; at < written; at += stride) ASSERT_EQ(word(memory, at), at + 1) << bytes;
    for (std::uint64_t at = written; at < bytes; at += stride) {
      ASSERT_EQ(word(memory, at), 0u) << bytes;
      word(memory, at) = at + 1;
    }
    written = bytes;
  }
  memory.grow(1);
  EXPECT_EQ(word(memory, written - stride), written - stride + 1) << "it never shrinks";
}

TEST(growing_memory, moves_to_another_owner) {
  growing_memory first;
  first.grow(std::uint64_t{16} << 20);
  word(first, 0) = 7;
  growing_memory second(std::move(first));
  EXPECT_EQ(word(second, 0), 7u);
  growing_memory third;
  third.grow(100);
  third = std::move(second);
  EXPECT_EQ(word(third, 0), 7u);
}

TEST(growing_memory, a_refusal_changes_nothing) {
  growing_memory memory;
  memory.grow(64);
  word(memory, 0) = 7;
  EXPECT_THROW(memory.grow(std::uint64_t{1} << 60), std::bad_alloc);
  EXPECT_EQ(word(memory, 0), 7u);
  memory.grow(std::uint64_t{16} << 20);
  EXPECT_THROW(memory.grow(std::uint64_t{1} << 60), std::bad_alloc);
  EXPECT_EQ(word(memory, 0), 7u);
}

}  // namespace
}  // namespace warpheap::growing_memory_test
