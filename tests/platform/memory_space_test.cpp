// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Device memory: ranges that are reserved once and filled and emptied piece by piece, and plain memory.

#include <gtest/gtest.h>

#if !defined(__CUDACC__)
#include <sys/resource.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::memory_space_test {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
// Both backends round it up to the same whole pieces on each machine known to us: GPUs map in units of 2 MiB.
constexpr range_options small_pieces{2 * mib, false};

struct write_words {
  WARPHEAP_FN void operator()(std::uint64_t* words, std::uint64_t count, std::uint64_t value) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) words[i] = value + i;
  }
};

struct count_wrong_words {
  WARPHEAP_FN void operator()(const std::uint64_t* words, std::uint64_t count, std::uint64_t value,
                              std::uint64_t* wrong) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      if (words[i] != value + i) atomic_view{*wrong}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

// Fills part of a range from a kernel, and tells whether it still holds that. Waits, as memory that a kernel still uses
// must not be given back.
void fill(const device_range& range, std::uint64_t offset, std::uint64_t bytes, std::uint64_t value) {
  launch(grid_shape{4, 64}, write_words{}, reinterpret_cast<std::uint64_t*>(range.data() + offset), bytes / 8, value);
  synchronise();
}
bool holds(const device_range& range, std::uint64_t offset, std::uint64_t bytes, std::uint64_t value) {
  device_array<std::uint64_t> wrong(1);
  launch(grid_shape{4, 64}, count_wrong_words{}, reinterpret_cast<const std::uint64_t*>(range.data() + offset),
         bytes / 8, value, wrong.data());
  return wrong.at(0) == 0;
}

TEST(memory_space, commits_and_gives_back_pieces_at_fixed_addresses) {
  device_range range(16 * mib, small_pieces);
  if (!range.can_map()) GTEST_SKIP() << "this machine cannot map memory at fixed addresses";
  const std::uint64_t piece = range.piece_bytes();
  std::byte* const base = range.data();
  EXPECT_EQ(piece, 2 * mib);
  EXPECT_EQ(range.reserved_bytes(), 16 * mib);
  EXPECT_EQ(range.committed_bytes(), 0u);

  range.commit(0, 1);  // the piece that it touches
  EXPECT_EQ(range.committed_bytes(), piece);
  fill(range, 0, piece, 10);
  range.commit(piece - 1, piece + 2);  // touches three, one of them committed
  EXPECT_EQ(range.committed_bytes(), 3 * piece);
  EXPECT_TRUE(holds(range, 0, piece, 10)) << "committed memory lost its contents";
  fill(range, 0, 3 * piece, 20);

  EXPECT_EQ(range.decommit(1, 2 * piece), piece) << "only a piece that lies within is given back";
  EXPECT_EQ(range.committed_bytes(), 2 * piece);
  EXPECT_TRUE(holds(range, 0, piece, 20));
  EXPECT_TRUE(holds(range, 2 * piece, piece, 20 + 2 * piece / 8));
  EXPECT_EQ(range.decommit(piece, piece), 0u) << "it has none";

  range.commit(0, 16 * mib);
  EXPECT_EQ(range.committed_bytes(), 16 * mib);
  EXPECT_TRUE(holds(range, 2 * piece, piece, 20 + 2 * piece / 8));
  fill(range, 0, 16 * mib, 30);
  EXPECT_TRUE(holds(range, 0, 16 * mib, 30));
  EXPECT_EQ(range.decommit(0, 16 * mib), 16 * mib);
  EXPECT_EQ(range.committed_bytes(), 0u);
  EXPECT_EQ(range.data(), base);
}

TEST(memory_space, sizes_are_rounded_up_to_pieces) {
  device_range range(3 * mib, small_pieces);
  if (!range.can_map()) GTEST_SKIP() << "this machine cannot map memory at fixed addresses";
  EXPECT_EQ(range.reserved_bytes(), 4 * mib);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.data()) % 4096, 0u);
  device_range large_piece(3 * mib);
  EXPECT_EQ(large_piece.reserved_bytes() % large_piece.piece_bytes(), 0u);
  EXPECT_LE(large_piece.reserved_bytes(), 4 * mib) << "a piece is not larger than what is asked for";
}

TEST(memory_space, a_large_reservation_costs_only_addresses) {
  device_range range(std::uint64_t{1} << 40, small_pieces);
  if (!range.can_map()) GTEST_SKIP() << "this machine cannot map memory at fixed addresses";
  range.commit(std::uint64_t{1} << 39, 2 * mib);
  fill(range, std::uint64_t{1} << 39, 2 * mib, 5);
  EXPECT_TRUE(holds(range, std::uint64_t{1} << 39, 2 * mib, 5));
  EXPECT_EQ(range.committed_bytes(), 2 * mib);
}

TEST(memory_space, refuses_what_lies_outside) {
  device_range range(4 * mib, small_pieces);
  EXPECT_THROW(range.commit(0, range.reserved_bytes() + 1), std::out_of_range);
  EXPECT_THROW(range.commit(range.reserved_bytes() + 1, 0), std::out_of_range);
  EXPECT_THROW(range.commit(2 * mib, ~std::uint64_t{0}), std::out_of_range);
  EXPECT_THROW(range.decommit(2 * mib, ~std::uint64_t{0}), std::out_of_range);
}

// `make` throws a std::length_error whose message has this number.
template <class Make>
void expect_too_large(const char* number, Make make) {
  try {
    make();
    ADD_FAILURE() << number << " bytes or elements were granted";
  } catch (const std::length_error& error) {
    EXPECT_NE(std::string{error.what()}.find(number), std::string::npos) << error.what();
  }
}

constexpr std::uint64_t last = ~std::uint64_t{0};

TEST(memory_space, sizes_that_wrap_when_rounded_up_are_refused_by_name) {
  for (const bool plain : {false, true}) {
    expect_too_large("18446744073709551615", [&] { device_range(last, {.plain = plain}); });
    expect_too_large("18446744073709551614", [&] { device_range(last - 1, {.plain = plain}); });
    expect_too_large("9223372036854775809", [&] { device_range(most_bytes + 1, {.plain = plain}); });
    expect_too_large("18446744073709551615",
                     [&] { device_range(last, {.plain = plain, .place = memory_place::pinned}); });
  }
  expect_too_large("18446744073709551615", [] { device_range(mib, {.piece_bytes = last}); });
  expect_too_large("18446744073709551615", [] { host_range{last}; });
  expect_too_large("18446744073709547520", [] { host_range{last - 4095}; });
}

TEST(memory_space, the_largest_sizes_are_refused_by_the_machine) {
  EXPECT_THROW(device_range{most_bytes}, std::runtime_error);
  EXPECT_THROW(host_range{most_bytes}, std::system_error);
}

TEST(device_array, counts_whose_bytes_wrap_are_refused_by_name) {
  expect_too_large("2305843009213693953", [] { device_array<std::uint64_t>{(std::uint64_t{1} << 61) + 1}; });
  expect_too_large("18446744073709551615", [] { device_array<std::uint64_t>{last}; });
  expect_too_large("18446744073709551615", [] { device_array<unsigned char>{last}; });
}

TEST(memory_space, plain_memory_is_all_there_at_once) {
  device_range range(3 * mib, range_options{2 * mib, true});
  EXPECT_FALSE(range.can_map());
  EXPECT_EQ(range.reserved_bytes(), 3 * mib);
  EXPECT_EQ(range.committed_bytes(), 3 * mib);
  fill(range, 0, 3 * mib, 1);
  range.commit(0, 3 * mib);
  EXPECT_EQ(range.decommit(0, 3 * mib), 0u);
  EXPECT_TRUE(holds(range, 0, 3 * mib, 1));
  EXPECT_EQ(range.committed_bytes(), 3 * mib);
}

TEST(memory_space, moves_with_its_memory) {
  device_range first(4 * mib, small_pieces);
  first.commit(0, 2 * mib);
  fill(first, 0, 2 * mib, 7);
  std::byte* const base = first.data();
  device_range second(std::move(first));
  EXPECT_EQ(second.data(), base);
  EXPECT_TRUE(holds(second, 0, 2 * mib, 7));
  device_range third;
  EXPECT_EQ(third.data(), nullptr);
  EXPECT_EQ(third.reserved_bytes(), 0u);
  third = std::move(second);
  EXPECT_EQ(third.data(), base);
  EXPECT_TRUE(holds(third, 0, 2 * mib, 7));
  const device_range none(0);
  EXPECT_EQ(none.data(), nullptr);
}

// A commit that the machine refuses half way changes nothing.
template <class Refusal>
void expect_all_or_nothing(std::uint64_t reserved, range_options options) {
  device_range range(reserved, options);
  if (!range.can_map()) GTEST_SKIP() << "this machine cannot map memory at fixed addresses";
  range.commit(0, 1);
  fill(range, 0, 64 * kib, 9);
  EXPECT_THROW(range.commit(0, reserved), Refusal);
  EXPECT_EQ(range.committed_bytes(), range.piece_bytes());
  EXPECT_TRUE(holds(range, 0, 64 * kib, 9));
  EXPECT_EQ(range.decommit(0, reserved), range.piece_bytes()) << "pieces of the refused commit were kept";
}

#if defined(WARPHEAP_BACKEND_HOST)

// Leaves the process `bytes` more of writable memory, until destroyed.
class data_limit {
 public:
  explicit data_limit(std::uint64_t bytes) {
    ::getrlimit(RLIMIT_DATA, &before_);
    rlimit tight = before_;
    tight.rlim_cur = data_bytes() + bytes;
    ::setrlimit(RLIMIT_DATA, &tight);
  }
  ~data_limit() { ::setrlimit(RLIMIT_DATA, &before_); }

 private:
  static std::uint64_t data_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      std::uint64_t in_kib = 0;
      if (word == "VmData:" && status >> in_kib) return in_kib * kib;
    }
    return 0;
  }
  rlimit before_{};
};

TEST(memory_space, a_refused_commit_changes_nothing) {
  launch(grid_shape{4, 64}, write_words{}, static_cast<std::uint64_t*>(nullptr), std::uint64_t{0}, std::uint64_t{0});
  const data_limit tight(16 * mib);
  expect_all_or_nothing<std::system_error>(64 * mib, small_pieces);
}

TEST(memory_space, a_refused_reservation_says_so) {
  EXPECT_THROW(device_range(std::uint64_t{1} << 60, small_pieces), std::system_error);
}

TEST(memory_space, a_refusal_of_the_system_has_its_reason) {
  launch(grid_shape{4, 64}, write_words{}, static_cast<std::uint64_t*>(nullptr), std::uint64_t{0}, std::uint64_t{0});
  device_range range(64 * mib, small_pieces);
  const data_limit tight(16 * mib);
  errno = 0;
  try {
    range.commit(0, 64 * mib);
    FAIL() << "the commit was to be refused";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::not_enough_memory) << error.what();
  }
}

#else

TEST(memory_space, a_refused_commit_changes_nothing) {
  expect_all_or_nothing<launch_failure>(std::uint64_t{1} << 40, range_options{std::uint64_t{4} << 30, false});
}

#endif

TEST(memory_space, plain_allocations_fill_copy_and_are_aligned) {
  auto* const bytes = static_cast<unsigned char*>(device_allocate(1000));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 256, 0u);
  device_fill(bytes, 0xab, 1000);
  device_fill(bytes + 10, 0xcd, 1);
  std::vector<unsigned char> copy(1000);
  device_copy(copy.data(), bytes, 1000);
  for (std::size_t i = 0; i < copy.size(); ++i) ASSERT_EQ(copy[i], i == 10 ? 0xcd : 0xab);
  device_release(bytes);
  device_release(nullptr);
}

TEST(memory_space, a_snapshot_copies_any_bytes) {
  std::vector<unsigned char> values(1003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned char>(i * 7);
  const device_array<unsigned char> array(values);
  for (const std::uint64_t from : {0u, 1u, 5u, 8u}) {
    for (const std::uint64_t bytes : {0u, 1u, 7u, 8u, 20u, 995u}) {
      std::vector<unsigned char> copy(1003, 0xee);
      device_snapshot(copy.data(), array.data() + from, bytes);
      for (std::size_t i = 0; i < copy.size(); ++i) ASSERT_EQ(copy[i], i < bytes ? values[from + i] : 0xee);
    }
  }
}

/// Writes the same number into both halves of each word, again and again.
struct rewrite_words {
  WARPHEAP_FN void operator()(std::uint64_t* words, std::uint64_t count, std::uint64_t rounds) const {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) words[i] = round << 32 | round;
      sync(active_group());
    }
  }
};

TEST(memory_space, a_snapshot_while_a_kernel_writes_has_whole_words) {
  constexpr std::uint64_t count = 4096;
  const device_array<std::uint64_t> words(count);
  std::atomic<bool> ends{false};
  std::thread writer{[&] {
    launch({2, 64}, rewrite_words{}, words.data(), count, 200);
    synchronise();
    ends.store(true);
  }};
  std::vector<std::uint64_t> copy(count);
  do {
    device_snapshot(copy.data(), words.data(), count * sizeof(std::uint64_t));
    for (const std::uint64_t word : copy) EXPECT_EQ(word >> 32, word & 0xffff'ffff);
  } while (!ends.load() && !::testing::Test::HasFailure());
  writer.join();
}

TEST(device_array, copies_values_both_ways) {
  std::vector<std::uint32_t> values(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) values[i] = i * i;
  device_array<std::uint32_t> array(values);
  EXPECT_EQ(array.size(), 1000u);
  EXPECT_EQ(array.to_host(), values);
  EXPECT_EQ(array.at(31), 961u);
  device_array<std::uint32_t> moved(std::move(array));
  EXPECT_EQ(moved.to_host(), values);
  array = std::move(moved);
  EXPECT_EQ(array.at(999), 999u * 999);
  array.clear();
  EXPECT_EQ(array.to_host(), std::vector<std::uint32_t>(1000));
}

TEST(device_array, starts_as_zero_and_may_be_empty) {
  EXPECT_EQ(device_array<std::uint64_t>(77).to_host(), std::vector<std::uint64_t>(77));
  EXPECT_TRUE(device_array<int>(0).to_host().empty());
}

}  // namespace
}  // namespace warpheap::memory_space_test
