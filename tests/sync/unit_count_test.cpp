// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A count of units: claims get what there is, no unit is lost or claimed twice, and a claim is refused only if there
// was no unit.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test::unit_count_test {
namespace {

struct one_thread_kernel {
  WARPHEAP_FN void operator()(std::uint64_t* word, std::uint64_t initial) const {
    const unit_count count{*word, initial};
    require(count.units() == initial, "not as many as at first");
    if (initial == 0) require(count.claim(3) == 0, "a unit out of nothing");
    for (std::uint64_t left = initial; left > 0;) {
      const std::uint32_t got = count.claim(3);
      require(got == (left < 3 ? left : 3), "not as many as there are");
      left -= got;
      require(count.units() == left, "wrong number");
    }
    require(count.claim(1) == 0 && count.claim(0) == 0, "a unit out of nothing");
    count.add(5);
    require(count.claim(2) == 2 && count.claim(4) == 3 && count.claim(1) == 0, "not the units that were added");
  }
};

TEST(unit_count, gives_what_there_is) {
  for (const std::uint64_t initial : {0u, 1u, 2u, 3u, 100u}) {
    const device_array<std::uint64_t> word(1);
    launch({1, 1}, one_thread_kernel{}, word.data(), initial);
    EXPECT_EQ(word.at(0) >> 24 << 24, word.at(0)) << "a claim is still counted";
  }
}

struct most_kernel {
  WARPHEAP_FN void operator()(std::uint64_t* word) const {
    const unit_count count{*word, unit_count::most_units};
    constexpr std::uint32_t many = 0xffffffffu;
    for (int i = 0; i < 64; ++i) require(count.claim(many) == many, "not all of it");
    require(count.claim(many) == 64 && count.claim(many) == 0, "not the rest of 2^38");
    for (int i = 0; i < 64; ++i) count.add(many);
    count.add(64);
    require(count.units() == unit_count::most_units, "not all came back");
  }
};

TEST(unit_count, counts_up_to_its_limit) {
  const device_array<std::uint64_t> word(1);
  launch({1, 1}, most_kernel{}, word.data());
  EXPECT_EQ(word.at(0), 0u);
}

// Each thread claims up to `most` units, holds some of them, and adds them again. All are there for each claim but
// those that others hold.
struct holders_kernel {
  WARPHEAP_FN void operator()(std::uint64_t* word, std::uint64_t initial, std::uint32_t most, std::uint64_t* claimed,
                              std::uint64_t seed, int steps) const {
    using enum memory_order;
    const unit_count count{*word, initial};
    random_stream random{seed, grid_thread_index()};
    for (int step = 0; step < steps; ++step) {
      const auto wanted = static_cast<std::uint32_t>(1 + random.below(most));
      const std::uint32_t got = count.claim(wanted);
      require(got <= wanted, "more than it wanted");
      const std::uint64_t out = atomic_view{*claimed}.fetch_add(got, relaxed, thread_scope::device) + got;
      require(out <= initial, "a unit was claimed twice");
      atomic_view{*claimed}.fetch_add(std::uint64_t{0} - got, release, thread_scope::device);
      count.add(got);
    }
  }
};

TEST(unit_count, keeps_all_units_in_a_storm) {
  for_each_schedule([](std::uint64_t seed) {
    for (const std::uint64_t initial : {1u, 7u, 1000u}) {
      const device_array<std::uint64_t> word(1);
      const device_array<std::uint64_t> claimed(1);
      launch({scaled(4, 1024), 64}, holders_kernel{}, word.data(), initial, 5u, claimed.data(), seed, 16);
      EXPECT_EQ(word.at(0), 0u) << "units are lost, or a claim is still counted";
    }
  });
}

// There is a unit for each thread at any moment, so a refusal is wrong, however many claims overshoot.
struct entitled_kernel {
  WARPHEAP_FN void operator()(std::uint64_t* word, std::uint64_t initial, int steps) const {
    const unit_count count{*word, initial};
    for (int step = 0; step < steps; ++step) {
      // Those in the upper half of each pair want more than their right, and add back what they got beyond it.
      const std::uint32_t wanted = grid_thread_index() % 2 == 0 ? 1 : 2;
      const std::uint32_t got = count.claim(wanted);
      require(got >= 1, "refused with a unit for each");
      count.add(got);
    }
  }
};

TEST(unit_count, refuses_nobody_who_has_a_right) {
  for_each_schedule([](std::uint64_t) {
    const std::uint64_t threads = scaled(4, 1024) * 64;
    const device_array<std::uint64_t> word(1);
    const std::uint64_t units = threads + threads / 2;  // the second unit of a claim comes from what is beyond
    launch({threads / 64, 64}, entitled_kernel{}, word.data(), units, 16);
    EXPECT_EQ(word.at(0), 0u);
  });
}

}  // namespace
}  // namespace warpheap::test::unit_count_test
