// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Bit arithmetic gives the same numbers in a kernel and on the host as counting by hand.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::bits_test {
namespace {

static_assert(low_bits(0) == 0 && low_bits(1) == 1 && low_bits(31) == 0x7fffffff && low_bits(32) == 0xffffffff);
static_assert(!is_power_of_two(0) && is_power_of_two(1) && !is_power_of_two(3) && is_power_of_two(1ull << 63));
static_assert(align_up(0, 16) == 0 && align_up(1, 16) == 16 && align_up(16, 16) == 16 && align_up(17, 1) == 17);
static_assert(align_down(31, 16) == 16 && align_down(15, 16) == 0);
static_assert(divide_up(0, 3) == 0 && divide_up(1, 3) == 1 && divide_up(3, 3) == 1 && divide_up(~0ull, 1) == ~0ull);

const std::vector<std::uint64_t> words{
    1,          2,          3,           0x80000000u,        0xffffffffu, 0x12345678u,
    1ull << 32, 1ull << 63, ~0ull,       0xdeadbeefull,      0x100000001, 0x8000000000000001u,
    5,          0xff00,     0x00f000f0u, 0x7fffffffffffffffu};
constexpr int answers = 13;

struct count_bits {
  WARPHEAP_FN static void answer(std::uint64_t word, std::uint64_t* out) {
    out[0] = popcount(word);
    out[1] = lowest_bit(word);
    out[2] = highest_bit(word);
    const auto low = static_cast<std::uint32_t>(word | 1);
    out[3] = popcount(low);
    out[4] = lowest_bit(low);
    out[5] = highest_bit(low);
    out[6] = nth_set_bit(low, popcount(low) / 2);
    out[7] = next_power_of_two(word >> 1);
    out[8] = rotate_left(low, static_cast<std::uint32_t>(word >> 1) % 32);
    out[9] = split(word).low;
    out[10] = split(word).high;
    out[11] = nth_set_bit(word, popcount(word) / 2);
    out[12] = lowest_set_bits(low, popcount(low) / 2);
  }
  WARPHEAP_FN void operator()(const std::uint64_t* in, std::uint64_t* out) const {
    const std::uint64_t me = grid_thread_index();
    answer(in[me], out + me * answers);
  }
};

// Writes to `out` the answers that `answer` must give for `word`, counted a bit at a time.
void count_slowly(std::uint64_t word, std::uint64_t* out) {
  const auto set = [](std::uint64_t of) {
    std::vector<std::uint64_t> places;
    for (std::uint64_t i = 0; i < 64; ++i) {
      if ((of >> i & 1) != 0) places.push_back(i);
    }
    return places;
  };
  const auto all = set(word);
  const auto low = set((word | 1) & 0xffffffffu);
  out[0] = all.size();
  out[1] = all.front();
  out[2] = all.back();
  out[3] = low.size();
  out[4] = low.front();
  out[5] = low.back();
  out[6] = low[low.size() / 2];
  out[7] = 1;
  while (out[7] < word >> 1) out[7] *= 2;
  out[8] = 0;
  for (const std::uint64_t place : low) out[8] |= std::uint64_t{1} << (place + (word >> 1)) % 32;
  out[9] = word % (std::uint64_t{1} << 32);
  out[10] = word / (std::uint64_t{1} << 32);
  out[11] = all[all.size() / 2];
  out[12] = 0;
  for (std::size_t i = 0; i < low.size() / 2; ++i) out[12] |= std::uint64_t{1} << low[i];
}

TEST(bits, agree_with_counting_in_kernels_and_on_the_host) {
  device_array<std::uint64_t> in(words);
  device_array<std::uint64_t> out(words.size() * answers);
  launch(grid_shape{1, static_cast<std::uint32_t>(words.size())}, count_bits{}, in.data(), out.data());
  std::vector<std::uint64_t> expected(words.size() * answers);
  std::vector<std::uint64_t> on_host(words.size() * answers);
  for (std::size_t i = 0; i < words.size(); ++i) {
    count_slowly(words[i], &expected[i * answers]);
    count_bits::answer(words[i], &on_host[i * answers]);
  }
  EXPECT_EQ(out.to_host(), expected);
  EXPECT_EQ(on_host, expected);
}

// Thread i looks for the set bit of rank i.
struct find_ranks {
  WARPHEAP_FN void operator()(std::uint32_t word, int* places) const {
    const auto rank = static_cast<int>(grid_thread_index());
    if (rank < popcount(word)) places[rank] = nth_set_bit(word, rank);
  }
};

// The first two numbers of SplitMix64 from 0 on, and an odd factor, which has an inverse.
static_assert(mix(0) == 0xe220'a839'7b1d'cdaf && mix(0x9e37'79b9'7f4a'7c15) == 0x6e78'9e6a'a1b9'65f4);
static_assert(spread(1) % 2 == 1 && spread(2) - spread(1) == spread(1));

TEST(bits, nth_set_bit_finds_each_rank_in_both_halves_of_a_word) {
  for (const std::uint64_t word : words) {
    int rank = 0;
    for (int place = 0; place < 64; ++place) {
      if ((word >> place & 1) == 0) continue;
      EXPECT_EQ(nth_set_bit(word, rank), place) << "word " << word;
      ++rank;
    }
  }
}

TEST(bits, nth_set_bit_finds_each_rank) {
  for (const std::uint32_t word : {1u, 0x80000000u, 0xffffffffu, 0xa5a5a5a5u, 0x00010100u, 0xfffe0001u, 0x7fff8000u}) {
    const device_array<int> places(32);
    launch({1, 32}, find_ranks{}, word, places.data());
    const std::vector<int> found = places.to_host();
    int rank = 0;
    for (int place = 0; place < 32; ++place) {
      if ((word >> place & 1) == 0) continue;
      EXPECT_EQ(nth_set_bit(word, rank), place) << "word " << word;
      EXPECT_EQ(found[static_cast<std::size_t>(rank)], place) << "word " << word << ", in a kernel";
      ++rank;
    }
  }
}

}  // namespace
}  // namespace warpheap::bits_test
