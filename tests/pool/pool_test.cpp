// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The pool over each kind of memory: blocks, growth in place, trimming, misuse, figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::pool_test {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

// Host memory that counts what it is asked for and can refuse.
class watched_space final : public pool_space {
 public:
  struct counts {
    std::uint64_t committed = 0;  // bytes
    bool refuses = false;
    std::uint64_t most_at_once = ~std::uint64_t{0};  // bytes; a commit of more is refused
  };
  watched_space(std::uint64_t bytes, std::uint64_t piece, counts& seen)
      : pool_space(nullptr, 0, 0), range_(bytes), seen_(seen), has_(range_.reserved_bytes() / piece) {
    lies_at(range_.data(), range_.reserved_bytes(), piece);
  }
  void commit(std::uint64_t offset, std::uint64_t bytes) override {
    if (seen_.refuses || bytes > seen_.most_at_once) throw std::runtime_error("none left today");
    range_.commit(offset, bytes);
    each_piece(offset, bytes, true);
  }
  void decommit(std::uint64_t offset, std::uint64_t bytes) override {
    range_.decommit(offset, bytes);
    each_piece(offset, bytes, false);
  }

 private:
  void each_piece(std::uint64_t offset, std::uint64_t bytes, bool committed) {
    EXPECT_EQ(offset % piece_bytes(), 0u);
    EXPECT_EQ(bytes % piece_bytes(), 0u);
    for (std::uint64_t i = offset / piece_bytes(); i < (offset + bytes) / piece_bytes(); ++i) {
      seen_.committed += committed && !has_[i] ? piece_bytes() : 0;
      seen_.committed -= !committed && has_[i] ? piece_bytes() : 0;
      has_[i] = committed;
    }
  }
  host_range range_;
  counts& seen_;
  std::vector<bool> has_;
};

void use_all_of(void* block, std::uint64_t bytes) {
  // By copies, since only those may go to memory of every kind.
  const std::vector<unsigned char> pattern(bytes, 0x5a);
  device_copy(block, pattern.data(), bytes);
  std::vector<unsigned char> copy(bytes);
  device_copy(copy.data(), block, bytes);
  EXPECT_EQ(std::count(copy.begin(), copy.end(), 0x5a), static_cast<std::ptrdiff_t>(bytes));
}

template <class Engine>
class pool_test : public testing::Test {
 protected:
  using pool_type = basic_pool<Engine>;
  watched_space::counts seen;

  // A pool of pieces of 64 KiB.
  std::unique_ptr<pool_type> make(std::uint64_t bytes, pool_options options = {}) {
    return std::make_unique<pool_type>(std::make_unique<watched_space>(bytes, 64 * kib, seen), options);
  }
};
using engines = testing::Types<segregated_fit, tree_fit>;
TYPED_TEST_SUITE(pool_test, engines);

TYPED_TEST(pool_test, hands_out_memory_of_every_kind) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  const device_array<unsigned char> own(mib);
  using maker = std::function<std::unique_ptr<pool_space>()>;
  const std::vector<std::pair<const char*, maker>> kinds{
      {"mapped device memory", [] { return std::make_unique<device_space>(mib, range_options{64 * kib, false}); }},
      {"plain device memory", [] { return std::make_unique<device_space>(mib, range_options{0, true}); }},
      {"pinned memory", [] { return std::make_unique<pinned_space>(mib); }},
      {"managed memory", [] { return std::make_unique<managed_space>(mib); }},
      {"host memory", [] { return std::make_unique<host_space>(mib, 64 * kib); }},
      {"borrowed memory", [&own] { return std::make_unique<borrowed_space>(own.data(), mib); }},
  };
  for (const auto& [kind, make_space] : kinds) {
    std::unique_ptr<pool_space> space;
    // After a fault all later calls fail, too: so each kind tells whether it was the first.
    ASSERT_NO_THROW(space = make_space()) << "making " << kind;
    ASSERT_NO_THROW(synchronise()) << "after making " << kind;
    basic_pool<TypeParam> blocks(std::move(space));
    void* const a = blocks.allocate(1000);
    void* const b = blocks.allocate(100 * kib, 4 * kib);
    ASSERT_NO_THROW(use_all_of(a, 1024)) << kind;
    ASSERT_NO_THROW(use_all_of(b, 100 * kib)) << kind;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u) << kind;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) % (4 * kib), 0u) << kind;
    EXPECT_TRUE(blocks.contains(a)) << kind;
    blocks.deallocate(a);
    blocks.deallocate(b);
    EXPECT_EQ(blocks.statistics().free_segments, 1u) << kind;
    EXPECT_EQ(blocks.statistics().live_bytes, 0u) << kind;
  }
}

// Both sides reach pinned memory, also where a block lies across pieces that were taken one by one.
TYPED_TEST(pool_test, pinned_memory_grows_in_place_where_the_machine_can) {
  if (!machine_available()) GTEST_SKIP() << "there is no device";
  auto space = std::make_unique<pinned_space>(16 * mib, 2 * mib);
  const bool can_map = space->can_map();
  basic_pool<TypeParam> blocks(std::move(space));
  EXPECT_EQ(blocks.statistics().committed_bytes == 0, can_map);
  void* const first = blocks.allocate(mib);
  EXPECT_LE(blocks.statistics().committed_bytes, can_map ? 2 * mib : blocks.reserved_bytes());
  auto* const block = static_cast<unsigned char*>(blocks.allocate(9 * mib));
  std::memset(block, 0x33, 9 * mib);
  const device_array<unsigned char> there(9 * mib);
  device_copy(there.data(), block, 9 * mib);
  use_all_of(block, 9 * mib);
  EXPECT_EQ(std::count(block, block + 9 * mib, 0x5a), static_cast<std::ptrdiff_t>(9 * mib));
  device_copy(block, there.data(), 9 * mib);
  EXPECT_EQ(std::count(block, block + 9 * mib, 0x33), static_cast<std::ptrdiff_t>(9 * mib));
  blocks.deallocate(block);
  blocks.deallocate(first);
  EXPECT_EQ(blocks.statistics().free_segments, 1u);
  EXPECT_EQ(blocks.trim() != 0, can_map);
}

TYPED_TEST(pool_test, grows_in_place_and_by_no_more_than_it_must) {
  const auto blocks = this->make(mib);
  EXPECT_EQ(this->seen.committed, 0u);
  void* const a = blocks->allocate(10 * kib);
  EXPECT_EQ(this->seen.committed, 64 * kib);
  void* const b = blocks->allocate(64 * kib);  // ten lie in the first piece already
  EXPECT_EQ(this->seen.committed, 128 * kib);
  EXPECT_EQ(static_cast<std::byte*>(b) - static_cast<std::byte*>(a), 10 * 1024);
  std::memset(b, 1, 64 * kib);
  blocks->deallocate(a);
  blocks->deallocate(b);
  void* const c = blocks->allocate(mib);
  EXPECT_EQ(c, a) << "what was added does not merge with what was there";
  EXPECT_EQ(this->seen.committed, mib);
}

TYPED_TEST(pool_test, has_no_more_memory_than_it_may) {
  const auto blocks = this->make(4 * mib, {.growth_bytes = 256 * kib, .most_bytes = 400 * kib});
  void* const a = blocks->allocate(200 * kib);
  void* const b = blocks->allocate(100 * kib);  // 64 KiB of the first growth are left
  EXPECT_EQ(this->seen.committed, 320 * kib) << "what it needs, as it may not have what it would like";
  try {
    blocks->allocate(200 * kib);
    FAIL() << "it has more than it may";
  } catch (const out_of_memory& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("can grow by 65536 more"), std::string::npos) << text;
    EXPECT_NE(text.find("most_bytes"), std::string::npos) << text;
  }
  EXPECT_EQ(this->seen.committed, 320 * kib);
  blocks->deallocate(a);
  blocks->deallocate(b);
  blocks->trim();
  EXPECT_EQ(blocks->unused_bytes(), 384 * kib) << "in whole pieces";
  EXPECT_NE(blocks->allocate(384 * kib), nullptr);
  blocks->limit(100 * kib);
  EXPECT_EQ(blocks->unused_bytes(), 0u);
  EXPECT_EQ(this->seen.committed, 384 * kib) << "it keeps what it has";
  EXPECT_EQ(blocks->try_allocate(1), nullptr);
  blocks->limit(mib);
  EXPECT_NE(blocks->allocate(512 * kib), nullptr);
  EXPECT_THROW(this->make(mib, {.initial_bytes = 70 * kib, .most_bytes = 100 * kib}), std::invalid_argument);
  char some[1024];
  basic_pool<TypeParam> plain(std::make_unique<borrowed_space>(some, sizeof some));
  EXPECT_THROW(plain.limit(512), std::invalid_argument);
}

TYPED_TEST(pool_test, an_aligned_block_needs_memory_from_its_begin_on) {
  const auto blocks = this->make(8 * mib, {.most_bytes = 128 * kib});
  void* const block = blocks->allocate(64 * kib, mib);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % mib, 0u);
  EXPECT_LE(this->seen.committed, 128 * kib);
}

TYPED_TEST(pool_test, provides_memory_without_handing_it_out) {
  const auto blocks = this->make(mib, {.most_bytes = 512 * kib});
  EXPECT_TRUE(blocks->provide(100 * kib));
  EXPECT_EQ(this->seen.committed, 128 * kib);
  EXPECT_EQ(blocks->statistics().live_blocks, 0u);
  EXPECT_TRUE(blocks->provide(128 * kib)) << "it is there";
  EXPECT_EQ(this->seen.committed, 128 * kib);
  EXPECT_FALSE(blocks->provide(600 * kib));
  EXPECT_THROW(blocks->provide(1, 3), std::invalid_argument);
  EXPECT_NE(blocks->try_allocate(128 * kib, 1, false), nullptr);
  EXPECT_EQ(blocks->statistics().allocations, 1u);
  EXPECT_EQ(blocks->statistics().failures, 0u);
}

TYPED_TEST(pool_test, a_stretch_is_a_block_with_what_is_free_behind_it) {
  const auto blocks = this->make(mib);
  EXPECT_EQ(blocks->try_allocate_stretch(kib, mib), nullptr) << "the pool has no memory yet";
  EXPECT_TRUE(blocks->provide(kib));
  void* const a = blocks->try_allocate_stretch(kib, 16 * kib);
  EXPECT_EQ(blocks->block_bytes(a), 16 * kib);
  void* const b = blocks->try_allocate_stretch(kib, mib);
  EXPECT_EQ(static_cast<std::byte*>(b) - static_cast<std::byte*>(a), 16 * 1024);
  EXPECT_EQ(blocks->block_bytes(b), 48 * kib) << "to the end of the piece";
  EXPECT_EQ(blocks->statistics().live_bytes, 64 * kib);
  EXPECT_EQ(this->seen.committed, 64 * kib);
  EXPECT_EQ(blocks->try_allocate_stretch(2 * mib, 2 * mib), nullptr);
  EXPECT_EQ(blocks->statistics().failures, 0u);
  EXPECT_THROW(blocks->try_allocate_stretch(1, 1, 3), std::invalid_argument);
  blocks->deallocate(a);
  blocks->deallocate(b);
  EXPECT_EQ(blocks->statistics().largest_free_bytes, 64 * kib);
}

TYPED_TEST(pool_test, grows_by_at_least_what_the_options_say) {
  const auto blocks = this->make(mib, {.initial_bytes = 70 * kib, .growth_bytes = 300 * kib});
  EXPECT_EQ(this->seen.committed, 128 * kib);
  blocks->allocate(128 * kib);
  EXPECT_EQ(this->seen.committed, 128 * kib);
  blocks->allocate(1);
  EXPECT_EQ(this->seen.committed, 448 * kib);
  blocks->allocate(300 * kib);
  blocks->allocate(512 * kib);  // a request above that, and what is free before it helps
  EXPECT_EQ(this->seen.committed, 960 * kib);
  blocks->allocate(60 * kib);
  EXPECT_EQ(this->seen.committed, mib) << "no more addresses than there are";
}

TYPED_TEST(pool_test, grows_by_all_that_is_left_for_a_growth_near_the_end_of_numbers) {
  for (const std::uint64_t growth : {~std::uint64_t{0}, ~std::uint64_t{0} - 64 * kib, std::uint64_t{1} << 63}) {
    this->seen.committed = 0;
    const auto blocks = this->make(mib, {.growth_bytes = growth});
    blocks->allocate(1);
    EXPECT_EQ(this->seen.committed, mib) << growth;
  }
}

TYPED_TEST(pool_test, grows_by_what_it_must_where_the_space_refuses_more) {
  const auto blocks = this->make(mib, {.growth_bytes = 256 * kib});
  this->seen.most_at_once = 128 * kib;
  EXPECT_NE(blocks->allocate(100 * kib), nullptr);
  EXPECT_EQ(this->seen.committed, 128 * kib);
  EXPECT_THROW(blocks->allocate(200 * kib), out_of_memory);
  EXPECT_EQ(blocks->statistics().committed_bytes, this->seen.committed);
}

TYPED_TEST(pool_test, trim_gives_back_whole_pieces_and_growth_fills_the_holes) {
  const auto blocks = this->make(mib);
  std::vector<void*> held;
  for (int i = 0; i < 16; ++i) held.push_back(blocks->allocate(64 * kib));
  EXPECT_EQ(this->seen.committed, mib);
  EXPECT_EQ(blocks->trim(), 0u);
  for (const int i : {2, 3, 4, 9, 11}) blocks->deallocate(held[i]);
  EXPECT_EQ(blocks->trim(), 5 * 64 * kib);
  EXPECT_EQ(this->seen.committed, 11 * 64 * kib);
  EXPECT_EQ(blocks->statistics().committed_bytes, this->seen.committed);
  EXPECT_EQ(blocks->trim(), 0u);

  blocks->deallocate(held[5]);  // free beside a hole: the two together hold what neither does alone
  void* const wide = blocks->allocate(4 * 64 * kib);
  EXPECT_EQ(wide, held[2]);
  EXPECT_EQ(this->seen.committed, 14 * 64 * kib);
  std::memset(wide, 1, 4 * 64 * kib);
  blocks->deallocate(held[10]);  // free between two holes
  EXPECT_EQ(blocks->allocate(3 * 64 * kib), held[9]);
  EXPECT_EQ(this->seen.committed, mib);
  EXPECT_THROW(blocks->allocate(1), out_of_memory);
}

TYPED_TEST(pool_test, grows_where_the_least_must_be_committed) {
  const auto blocks = this->make(mib);
  std::vector<void*> held;
  for (int i = 0; i < 16; ++i) held.push_back(blocks->allocate(64 * kib));
  // Made one after the other, so that the best hole is neither the first nor the last to be looked at.
  for (const auto& hole : {std::vector<int>{2, 3}, std::vector<int>{8}, std::vector<int>{12, 13}}) {
    for (const int i : hole) blocks->deallocate(held[i]);
    EXPECT_EQ(blocks->trim(), hole.size() * 64 * kib);
  }
  blocks->deallocate(held[9]);  // has memory still, and so needs one piece more where the others need two
  EXPECT_EQ(blocks->allocate(128 * kib), held[8]);
  EXPECT_EQ(this->seen.committed, 12 * 64 * kib);
}

TYPED_TEST(pool_test, keeps_parts_of_pieces_that_a_block_lies_in) {
  const auto blocks = this->make(mib);
  void* const front = blocks->allocate(32 * kib);
  void* const middle = blocks->allocate(128 * kib);
  void* const back = blocks->allocate(32 * kib);
  blocks->deallocate(middle);
  EXPECT_EQ(blocks->trim(), 64 * kib);
  std::memset(front, 1, 32 * kib);
  std::memset(back, 1, 32 * kib);
  EXPECT_EQ(blocks->statistics().free_bytes, 64 * kib);
}

TYPED_TEST(pool_test, release_takes_all_back) {
  const auto blocks = this->make(mib);
  for (int i = 0; i < 10; ++i) blocks->allocate(50 * kib);
  EXPECT_EQ(blocks->release(), 512 * kib);
  EXPECT_EQ(this->seen.committed, 0u);
  EXPECT_EQ(blocks->statistics().live_blocks, 0u);
  EXPECT_EQ(blocks->statistics().peak_live_bytes, 0u) << "the peak is since the release";
  blocks->allocate(kib);
  EXPECT_EQ(blocks->statistics().peak_live_bytes, kib);
  blocks->release();
  EXPECT_NE(blocks->allocate(mib), nullptr);
}

TYPED_TEST(pool_test, misuse_is_told_and_loses_nothing) {
  const auto blocks = this->make(mib);
  auto* const block = static_cast<std::byte*>(blocks->allocate(1000));
  int elsewhere = 0;
  EXPECT_THROW(blocks->deallocate(&elsewhere), unknown_block);
  EXPECT_THROW(blocks->deallocate(block + 256), unknown_block);
  EXPECT_THROW(blocks->deallocate(block + 1), unknown_block);
  EXPECT_THROW(blocks->allocate(1, 3), std::invalid_argument);
  EXPECT_THROW(blocks->allocate(1, 0), std::invalid_argument);
  EXPECT_THROW(blocks->split(block, 0), std::invalid_argument);
  EXPECT_THROW(blocks->split(block, 1000), std::invalid_argument);
  EXPECT_THROW(blocks->split(&elsewhere, 1), unknown_block);
  blocks->deallocate(nullptr);
  for (const std::uint64_t bytes : {mib + 1, std::uint64_t{1} << 62, ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
    EXPECT_THROW(blocks->allocate(bytes), out_of_memory) << bytes;
    EXPECT_THROW(blocks->allocate(bytes, mib), out_of_memory) << bytes;
  }
  EXPECT_THROW(blocks->allocate(1, std::uint64_t{1} << 63), out_of_memory);
  EXPECT_EQ(blocks->statistics().live_blocks, 1u);
  blocks->deallocate(block);
  EXPECT_THROW(blocks->deallocate(block), unknown_block);
  EXPECT_EQ(blocks->allocate(0), block) << "no bytes are a block too";
  EXPECT_EQ(blocks->block_bytes(block), 256u);
  EXPECT_EQ(blocks->block_bytes(block + 256), 0u);
}

TYPED_TEST(pool_test, a_refusing_space_is_told_and_asked_again_later) {
  const auto blocks = this->make(mib, {.growth_bytes = 256 * kib});
  void* const first = blocks->allocate(100 * kib);
  this->seen.refuses = true;
  try {
    blocks->allocate(500 * kib);
    FAIL() << "there was no memory";
  } catch (const out_of_memory& error) {
    EXPECT_EQ(error.bytes(), 500 * kib);
    const std::string text = error.what();
    EXPECT_NE(text.find("512000 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("none left today"), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(156 * kib)), std::string::npos) << text;
  }
  EXPECT_NE(blocks->allocate(50 * kib), nullptr) << "what is there can be had";
  this->seen.refuses = false;
  EXPECT_NE(blocks->allocate(500 * kib), nullptr);
  blocks->deallocate(first);
  EXPECT_EQ(blocks->statistics().failures, 1u);
}

TYPED_TEST(pool_test, bad_options_are_refused) {
  using pool_type = basic_pool<TypeParam>;
  EXPECT_THROW(this->make(mib, {.granule_bytes = 100}), std::invalid_argument);
  EXPECT_THROW(this->make(mib, {.granule_bytes = 8}), std::invalid_argument);
  EXPECT_THROW(this->make(mib, {.granule_bytes = 128 * kib}), std::invalid_argument);
  EXPECT_THROW(this->make(mib, {.initial_bytes = 2 * mib}), std::invalid_argument);
  EXPECT_THROW(pool_type(std::unique_ptr<pool_space>{}), std::invalid_argument);
  EXPECT_THROW(host_space(mib, 1000), std::invalid_argument);
  std::byte few[100];
  pool_type tiny(std::make_unique<borrowed_space>(few, sizeof few));
  EXPECT_THROW(tiny.allocate(1), out_of_memory);
  EXPECT_EQ(tiny.release(), 0u);
}

TYPED_TEST(pool_test, the_granule_can_be_chosen) {
  const auto blocks = this->make(mib, {.granule_bytes = 16});
  auto* const a = static_cast<std::byte*>(blocks->allocate(1));
  EXPECT_EQ(blocks->allocate(17), a + 16);
  EXPECT_EQ(blocks->allocate(1), a + 48);
}

TYPED_TEST(pool_test, a_borrowed_range_need_not_be_aligned) {
  std::vector<std::byte> bytes(10 * kib);
  basic_pool<TypeParam> blocks(std::make_unique<borrowed_space>(bytes.data() + 1, bytes.size() - 2));
  const std::uint64_t usable = blocks.statistics().free_bytes;
  EXPECT_GE(usable, 9 * kib);
  EXPECT_EQ(usable % 256, 0u);
  auto* const block = static_cast<std::byte*>(blocks.allocate(usable));
  EXPECT_GT(block, bytes.data());
  EXPECT_LT(block + usable, bytes.data() + bytes.size());
}

TYPED_TEST(pool_test, figures_snapshot_and_picture_agree) {
  const auto blocks = this->make(1024 * kib);
  void* const a = blocks->allocate(64 * kib);
  void* const b = blocks->allocate(100 * kib);
  blocks->allocate(28 * kib);
  blocks->deallocate(b);
  const pool_statistics now = blocks->statistics();
  EXPECT_EQ(now.reserved_bytes, mib);
  EXPECT_EQ(now.committed_bytes, 192 * kib);
  EXPECT_EQ(now.live_bytes, 92 * kib);
  EXPECT_EQ(now.peak_live_bytes, 192 * kib);
  EXPECT_EQ(now.live_blocks, 2u);
  EXPECT_EQ(now.free_bytes, 100 * kib);
  EXPECT_EQ(now.largest_free_bytes, 100 * kib);
  EXPECT_EQ(now.allocations, 3u);
  EXPECT_EQ(now.fragmentation(), 0.0);
  const std::string text = blocks->snapshot();
  EXPECT_NE(text.find("\"granule_bytes\": 256, \"segments\": [{\"offset\": 0, \"bytes\": 65536, \"state\": \"live\"}, "
                      "{\"offset\": 65536, \"bytes\": 102400, \"state\": \"free\"}, "
                      "{\"offset\": 167936, \"bytes\": 28672, \"state\": \"live\"}, "
                      "{\"offset\": 196608, \"bytes\": 851968, \"state\": \"absent\"}]}"),
            std::string::npos)
      << text;
  EXPECT_EQ(blocks->picture(16), "#.+             ");
  EXPECT_EQ(blocks->picture(0), "");
  blocks->deallocate(a);
  EXPECT_EQ(blocks->picture(16), "..+             ");
}

TYPED_TEST(pool_test, a_block_can_be_split_and_each_part_taken_back) {
  const auto blocks = this->make(mib);
  auto* const whole = static_cast<std::byte*>(blocks->allocate(64 * kib));
  void* const rest = blocks->split(whole, 1000);
  EXPECT_EQ(rest, whole + 1024);
  EXPECT_EQ(blocks->block_bytes(whole), 1024u);
  EXPECT_EQ(blocks->block_bytes(rest), 63 * kib);
  blocks->deallocate(whole);
  blocks->deallocate(rest);
  EXPECT_EQ(blocks->statistics().free_segments, 1u);
}

// Threads that fill their blocks with their own mark find nothing else in them when they give them back.
TYPED_TEST(pool_test, threads_get_memory_of_their_own) {
  basic_pool<TypeParam> blocks(std::make_unique<host_space>(64 * mib, 256 * kib));
  const std::uint64_t steps = test::scaled(20'000, 20'000);
  std::vector<std::uint64_t> wrong(4);
  std::vector<std::thread> threads;
  for (std::uint64_t id = 0; id < wrong.size(); ++id) {
    threads.emplace_back([&, id] {
      test::random_stream random(7, id);
      std::vector<std::pair<std::uint64_t*, std::uint64_t>> held;
      for (std::uint64_t i = 0; i < steps; ++i) {
        if (held.size() < 64 && random.below(2) == 0) {
          const std::uint64_t words = random.size(16 * kib) / 8 + 1;
          held.emplace_back(static_cast<std::uint64_t*>(blocks.allocate(words * 8)), words);
          std::fill_n(held.back().first, words, id);
        } else if (!held.empty()) {
          std::swap(held[random.below(held.size())], held.back());
          const auto [words, count] = held.back();
          wrong[id] += count - static_cast<std::uint64_t>(std::count(words, words + count, id));
          blocks.deallocate(words);
          held.pop_back();
        }
        if (i % 4096 == 0) blocks.trim();
      }
      for (const auto& [words, count] : held) blocks.deallocate(words);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::uint64_t>(4));
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
  EXPECT_EQ(blocks.statistics().live_bytes, 0u);
  blocks.trim();
  EXPECT_EQ(blocks.statistics().committed_bytes, 0u) << "something did not merge";
}

}  // namespace
}  // namespace warpheap::pool_test
