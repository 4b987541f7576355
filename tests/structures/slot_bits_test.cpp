// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Slots of a page: each has one owner at a time, who sees what the owner before wrote; what is free is found; a run is
// taken as a whole or not at all; a double release is told.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/masks.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test::slot_bits_test {
namespace {

template <class Word>
struct slots : ::testing::Test {};
using word_types = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(slots, word_types);

template <class Word>
struct reset_kernel {
  WARPHEAP_FN void operator()(slot_bits<Word> bits) const { bits.reset(full_warp); }
};

/// Device memory of `count` slots, all free.
template <class Word>
class slot_memory {
 public:
  explicit slot_memory(std::uint32_t count)
      : count_(count), words_(std::vector<Word>(slot_bits<Word>::words_for(count), Word{0x5a5a5a5a})) {
    launch({1, warp_width}, reset_kernel<Word>{}, bits());
  }
  slot_bits<Word> bits() const { return {words_.data(), count_}; }
  /// Expects that `taken` slots are taken, and that the bits without a slot are set.
  void expect_taken(std::uint64_t taken) const {
    const std::uint64_t all = words_.size() * slot_bits<Word>::word_bits;
    std::uint64_t set = 0;
    for (const Word word : words_.to_host()) set += static_cast<std::uint64_t>(popcount(word));
    EXPECT_EQ(set, taken + all - count_);
  }

 private:
  std::uint32_t count_;
  device_array<Word> words_;
};

/// One lane, and the results are known. The slots are three words and five more.
template <class Word>
struct lane_steps_kernel {
  WARPHEAP_FN void operator()(slot_bits<Word> bits) const {
    constexpr std::uint32_t word = slot_bits<Word>::word_bits;
    constexpr std::uint32_t none = slot_bits<Word>::none;
    const lane_mask alone = lane_bit();
    require(bits.capacity() == 3 * word + 5 && bits.words() == 4 && bits.free_slots() == 3 * word + 5, "free at first");
    require(bits.claim(alone, word + 7) == word + 7, "the slot to start at");
    require(bits.claim(alone, word + 7) == word + 8, "the one after it");
    require(!bits.release(word + 9), "a slot that was never taken");
    require(bits.release(word + 8) && !bits.release(word + 8), "a double release");
    require(bits.is_taken(word + 7) && !bits.is_taken(word + 8), "what is taken");
    require(!bits.claim_run(word + 5, 4), "a run with a slot that is taken");
    require(!bits.claim_run(2, 2 * word), "a run over words with a slot that is taken");
    require(bits.free_slots() == 3 * word + 4, "what a refused run left");
    require(bits.release(word + 7), "the slot is its owner's");
    require(bits.claim_run(2, 2 * word), "a run over three words");
    require(!bits.claim_run(1, 2) && !bits.claim_run(2 * word + 1, word), "runs that overlap another");
    require(bits.free_slots() == word + 5, "what the run has left");
    require(bits.release_run(2, 2 * word) && !bits.release_run(2, 2 * word), "a double release of a run");
    require(bits.claim_run(word, 3) && bits.release_bits(1, 0xb) == 0x3, "a mask with a slot that is free");
    require(bits.is_taken(word + 2) && bits.release_bits(1, 0x7) == 0x4, "what a mask did not name");
    require(bits.claim_run(3 * word, 5), "the end");
    require(bits.claim(alone, 3 * word) == 0, "the search goes on at the begin");
    require(bits.claim_run(1, 3 * word - 1), "all that was left");
    require(bits.claim(alone, 9) == none && bits.free_slots() == 0, "a slot too many");
    require(bits.release(3 * word + 4) && bits.claim(alone, 0) == 3 * word + 4, "the last slot");
    require(bits.release_run(0, 3 * word + 5) && bits.free_slots() == 3 * word + 5, "everything is back");
    require(bits.claim_bits(1, Word{0b1100}) == Word{0b1100} && bits.is_taken(word + 3), "bits of a word");
    require(bits.claim_bits(1, Word{0b0110}) == Word{0b0010}, "those that were free");
    require(bits.claim_bits(3, Word{1} << 5) == 0, "a bit without a slot");
    require(bits.release_bits(1, Word{0b0111}) == Word{0b0110} && !bits.is_taken(word + 1), "those that were taken");
    require(bits.release_bits(1, Word{0b1000}) == Word{0b1000} && bits.free_slots() == 3 * word + 5, "all are back");
  }
};

TYPED_TEST(slots, one_lane_finds_what_is_there) {
  const slot_memory<TypeParam> memory{3 * slot_bits<TypeParam>::word_bits + 5};
  launch({1, 1}, lane_steps_kernel<TypeParam>{}, memory.bits());
  memory.expect_taken(0);
}

/// One warp takes all slots, from `start` on, by some of its lanes at a time.
template <class Word>
struct group_kernel {
  WARPHEAP_FN void operator()(slot_bits<Word> bits, std::uint32_t start, std::uint32_t* owners) const {
    constexpr std::uint32_t none = slot_bits<Word>::none;
    // Some lanes stay away, in each round others: lane 0 always comes.
    std::uint32_t served = 0;
    for (std::uint32_t round = 1; served < bits.capacity(); ++round) {  // not a spin: each round takes slots
      const lane_mask group = full_warp & (round * 0x9e3779b1u | 1u);
      if ((group & lane_bit()) != 0) {
        const std::uint32_t slot = bits.claim(group, start);
        if (slot != none) owners[slot] += 1;
        const auto got = static_cast<std::uint32_t>(popcount(ballot(group, slot != none)));
        const auto wanted = static_cast<std::uint32_t>(group_size(group));
        const std::uint32_t left = bits.capacity() - served;
        require(got == (wanted < left ? wanted : left), "not all that there was");
        if (round == 1) require(slot != none || wanted > left, "refused at first");
        served += got;
      }
      served = shuffle(full_warp, served, 0);
    }
    require(bits.claim(full_warp, start) == none, "a slot too many");
  }
};

TYPED_TEST(slots, a_group_gets_all_there_is) {
  for_each_schedule(
      [](std::uint64_t) {
        for (const std::uint32_t count : {1u, 5u, 64u, 70u, 777u, 3000u}) {
          for (const std::uint32_t start : {0u, count / 2, count - 1}) {
            const slot_memory<TypeParam> memory{count};
            const device_array<std::uint32_t> owners(count);
            launch({1, warp_width}, group_kernel<TypeParam>{}, memory.bits(), start, owners.data());
            for (const std::uint32_t each : owners.to_host()) ASSERT_EQ(each, 1u);
            memory.expect_taken(count);
          }
        }
      },
      1);
}

/// Nobody gives a slot back, and there is one for each thread.
template <class Word>
struct exact_kernel {
  WARPHEAP_FN void operator()(slot_bits<Word> bits, std::uint32_t* owners) const {
    const auto thread = static_cast<std::uint32_t>(grid_thread_index());
    std::uint32_t slot;
    if (thread % 3 == 0) {
      slot = bits.claim(lane_bit(), spread(thread) % bits.capacity());
    } else {
      const std::uint32_t start = spread(static_cast<std::uint32_t>(grid_warp_index())) % bits.capacity();
      slot = bits.claim(match(active_group(), start), start);
    }
    require(slot != slot_bits<Word>::none, "refused, with a slot for each thread");
    owners[slot] += 1;
  }
};

TYPED_TEST(slots, there_is_one_for_each_thread) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid = grid_shape::covering(scaled(512, 1 << 15), 64);
    const auto count = static_cast<std::uint32_t>(grid.blocks * grid.threads);
    const slot_memory<TypeParam> memory{count};
    const device_array<std::uint32_t> owners(count);
    launch(grid, exact_kernel<TypeParam>{}, memory.bits(), owners.data());
    for (const std::uint32_t each : owners.to_host()) ASSERT_EQ(each, 1u);
    memory.expect_taken(count);
  });
}

/// Each thread takes slots and runs and gives them back. What orders the owners of a slot are the slots alone.
template <class Word>
struct storm_kernel {
  slot_bits<Word> bits;
  std::uint32_t* owners;  // 0, or 1 more than the thread that owns the slot
  std::uint64_t seed;
  int rounds;

  WARPHEAP_FN void own(std::uint32_t first, std::uint32_t count) const {
    const auto thread = static_cast<std::uint32_t>(grid_thread_index()) + 1;
    for (std::uint32_t slot = first; slot < first + count; ++slot) {
      require(owners[slot] == 0, "a slot with two owners");
      owners[slot] = thread;
    }
  }
  WARPHEAP_FN void disown(std::uint32_t first, std::uint32_t count) const {
    const auto thread = static_cast<std::uint32_t>(grid_thread_index()) + 1;
    for (std::uint32_t slot = first; slot < first + count; ++slot) {
      require(owners[slot] == thread, "another owner in between");
      owners[slot] = 0;
    }
  }

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      if (random.below(3) == 0) {
        const std::uint64_t most = bits.capacity() / 2 < 100 ? bits.capacity() / 2 : 100;
        const auto count = static_cast<std::uint32_t>(random.size(most));
        const auto first = static_cast<std::uint32_t>(random.below(bits.capacity() - count + 1));
        if (!bits.claim_run(first, count)) continue;
        own(first, count);
        disown(first, count);
        require(bits.release_run(first, count), "a run that was not taken");
      } else {
        const bool alone = random.below(4) == 0;
        const auto wanted = static_cast<std::uint32_t>(random.below(bits.capacity()));
        const lane_mask group = alone ? lane_bit() : active_group();
        const std::uint32_t slot = bits.claim(group, shuffle(group, wanted, leader(group)));
        if (slot == slot_bits<Word>::none) continue;
        own(slot, 1);
        disown(slot, 1);
        require(bits.release(slot), "a slot that was not taken");
      }
    }
  }
};

TYPED_TEST(slots, have_one_owner_at_a_time) {
  for_each_schedule([](std::uint64_t seed) {
    for (const std::uint32_t count : {3u, 40u, 150u, 1000u}) {
      const grid_shape grid = grid_shape::covering(scaled(256, 1 << 13), 64);
      const slot_memory<TypeParam> memory{count};
      const device_array<std::uint32_t> owners(count);
      launch(grid, storm_kernel<TypeParam>{memory.bits(), owners.data(), seed, 6});
      memory.expect_taken(0);
    }
  });
}

/// Threads in pairs release what one of them claimed: one release of each pair counts.
template <class Word>
struct double_release_kernel {
  WARPHEAP_FN void operator()(slot_bits<Word> bits, std::uint32_t run, std::uint32_t* counted) const {
    const auto pair = static_cast<std::uint32_t>(grid_thread_index() / 2 % (bits.capacity() / run));
    const bool released = run == 1 ? bits.release(pair) : bits.release_run(pair * run, run);
    if (released) atomic_view{counted[pair]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

template <class Word>
struct take_all_kernel {
  WARPHEAP_FN void operator()(slot_bits<Word> bits) const { require(bits.claim_run(0, bits.capacity()), "not free"); }
};

TYPED_TEST(slots, count_one_of_two_releases) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint32_t run : {1u, 9u, 80u}) {
      const std::uint32_t pairs = 64;
      const slot_memory<TypeParam> memory{pairs * run};
      const device_array<std::uint32_t> counted(pairs);
      launch({1, 1}, take_all_kernel<TypeParam>{}, memory.bits());
      launch({4, 2 * pairs / 2}, double_release_kernel<TypeParam>{}, memory.bits(), run, counted.data());
      for (const std::uint32_t each : counted.to_host()) ASSERT_EQ(each, 1u);
      memory.expect_taken(0);
    }
  });
}

}  // namespace
}  // namespace warpheap::test::slot_bits_test
