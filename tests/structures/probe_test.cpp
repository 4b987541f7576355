// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Probes visit each place exactly once, whatever the number of places, the hash and the step are.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::probe_test {
namespace {

/// Each thread walks in a space of its own, and marks the places in words of its own.
struct walks_kernel {
  std::uint32_t* words;
  std::uint32_t words_of_thread;
  std::uint32_t least;  // places of thread 0; thread i has `i * growth` more
  std::uint32_t growth;
  std::uint64_t seed;

  WARPHEAP_FN void walk(probe some, std::uint32_t count) const {
    std::uint32_t* const seen = words + grid_thread_index() * words_of_thread;
    for (std::uint32_t i = 0; i < words_of_thread; ++i) seen[i] = 0;
    std::uint32_t place = ~0u;
    for (std::uint32_t visits = 0; visits < count; ++visits) {
      require(some.remaining() == count - visits && some.next(place), "ends too early");
      require(place < count, "a place that the space lacks");
      require((seen[place / 32] & 1u << place % 32) == 0, "a place twice");
      seen[place / 32] |= 1u << place % 32;
    }
    require(!some.next(place) && !some.next(place), "does not end");
  }

  WARPHEAP_FN void operator()() const {
    const std::uint32_t count = least + static_cast<std::uint32_t>(grid_thread_index()) * growth;
    const probe_space space{count};
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < 4; ++round) {
      const auto hash = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32));
      const auto wanted = static_cast<std::uint32_t>(random.below(std::uint64_t{2} * count));
      walk(probe::linear(space, hash), count);
      walk(probe::stepped(space, hash, space.coprime_step(wanted)), count);
      walk(probe::scattered(space, random.below(~std::uint64_t{0})), count);
    }
  }
};

void walk_all(std::uint32_t threads, std::uint32_t least, std::uint32_t growth) {
  const std::uint32_t words_of_thread = (least + threads * growth) / 32 + 1;
  const device_array<std::uint32_t> words(std::uint64_t{threads} * words_of_thread);
  launch({threads / 32, 32}, walks_kernel{words.data(), words_of_thread, least, growth, 7});
  synchronise();
}

TEST(probe, visits_each_place_once) {
  walk_all(320, 1, 1);
  walk_all(32, 4090, 1);
  walk_all(32, 70'000, 3001);
}

TEST(probe_space, reduces_as_a_division_does) {
  random_stream random{3, 0};
  const auto any = [&] { return static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32)); };
  std::vector<std::uint32_t> counts{1, 2, 3, 63, 64, 65, 0x7fffffffu, probe_space::most_places};
  for (int i = 0; i < 200; ++i) counts.push_back(1 + (any() >> random.below(31)) % probe_space::most_places);
  for (const std::uint32_t count : counts) {
    const probe_space space{count};
    EXPECT_EQ(space.count(), count);
    std::vector<std::uint32_t> hashes{0, 1, count - 1, count, count + 1, 2 * count - 1, ~0u, ~0u - 1};
    hashes.push_back(~0u / count * count);
    hashes.push_back(~0u / count * count - 1);
    for (int i = 0; i < 200; ++i) hashes.push_back(any());
    for (const std::uint32_t hash : hashes) ASSERT_EQ(space.place(hash), hash % count) << hash << " by " << count;
  }
}

TEST(probe_space, finds_steps_without_a_common_divisor) {
  const probe_space space{30};
  EXPECT_EQ(space.coprime_step(0), 1u);
  EXPECT_EQ(space.coprime_step(2), 7u);
  EXPECT_EQ(space.coprime_step(7), 7u);
  EXPECT_EQ(space.coprime_step(24), 29u);
  EXPECT_EQ(probe_space{1}.coprime_step(5), 5u);
}

TEST(probe, scattered_walks_begin_everywhere) {
  constexpr std::uint32_t places = 48;
  constexpr std::uint32_t seeds = 48'000;
  const probe_space space{places};
  std::vector<std::uint32_t> first(places);
  std::vector<std::uint32_t> second(places * places);
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    probe walk = probe::scattered(space, seed);
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    ASSERT_TRUE(walk.next(a) && walk.next(b));
    ++first[a];
    ++second[a * places + b];
  }
  std::uint32_t pairs = 0;
  for (const std::uint32_t each : second) pairs += each != 0 ? 1 : 0;
  for (const std::uint32_t each : first) EXPECT_NEAR(each, seeds / places, 200);  // about six deviations
  EXPECT_GT(pairs, places * places / 4);                                          // steps differ as well
}

TEST(probe, the_hashes_are_those_of_the_papers) {
  EXPECT_EQ(scatter_seed(16, 0, 0), 16u * 38183u);
  EXPECT_EQ(scatter_seed(16, 3, 5), 16u * 38183u + 3u * 17497u + 5u);
  EXPECT_EQ(scatter_seed(1024, 3, 5), 1024u * 38183u + 3u * 17497u + 5u * 9u);
  EXPECT_EQ(counter_seed(5), 55u);
  EXPECT_EQ(counter_seed(4, 4), 44u);
  EXPECT_EQ(counter_seed(7, 4), 47u);
}

}  // namespace
}  // namespace warpheap::test::probe_test
