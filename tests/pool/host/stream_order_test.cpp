// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Stream order, watched: nothing is handed out to a stream whose work could run before that of the last user is done.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

#include "watched_pool.hpp"

namespace warpheap::stream_order_test {
namespace {

using test::kib;
using test::mib;

template <class Engine>
class stream_order_test : public test::watched_pool<Engine> {};
TYPED_TEST_SUITE(stream_order_test, test::engines);

TYPED_TEST(stream_order_test, a_stream_reuses_its_own_memory_at_once) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 1000);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(this->allocate(*pool, 1, 1000), a);
  EXPECT_EQ(pool->statistics().waits, 0u);
}

TYPED_TEST(stream_order_test, another_stream_takes_other_memory_while_there_is_some) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 1000);
  this->deallocate(*pool, 1, a);
  EXPECT_NE(this->allocate(*pool, 2, 1000), a);
  EXPECT_EQ(pool->statistics().waits, 0u);
  EXPECT_EQ(pool->statistics().gatherings, 0u);
}

TYPED_TEST(stream_order_test, another_stream_gets_it_behind_an_event_when_there_is_no_other) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(this->allocate(*pool, 2, mib), a);
  EXPECT_EQ(pool->statistics().waits, 1u);
}

TYPED_TEST(stream_order_test, nobody_waits_for_work_that_is_done) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->deallocate(*pool, 1, a);
  this->deallocate(*pool, 2, this->allocate(*pool, 2, mib));
  EXPECT_EQ(pool->statistics().waits, 1u);
  this->world.finish_all();
  this->allocate(*pool, 3, mib);
  EXPECT_EQ(pool->statistics().waits, 1u);
}

// Two streams each free every other block, so that only what both freed makes a long stretch.
TYPED_TEST(stream_order_test, free_memory_of_streams_merges_before_a_request_fails) {
  const auto pool = this->make(mib, 64 * kib);
  std::vector<std::pair<int, void*>> held;
  for (int i = 0; i < 16; ++i) held.emplace_back(i % 2, this->allocate(*pool, i % 2, 64 * kib));
  EXPECT_THROW(pool->allocate(0, 1), out_of_memory);
  for (const auto& [stream, block] : held) this->deallocate(*pool, stream, block);
  EXPECT_NE(this->allocate(*pool, 0, mib), nullptr);
}

// What a stream takes again and again lies in a row, and is one stretch.
TYPED_TEST(stream_order_test, a_streams_spans_in_a_row_hold_a_block_larger_than_each) {
  const auto pool = this->make(mib, 64 * kib);
  std::vector<void*> held;
  for (int i = 0; i < 8; ++i) held.push_back(this->allocate(*pool, 1, 40 * kib));
  const auto before = pool->statistics();
  for (void* const block : held) this->deallocate(*pool, 1, block);
  EXPECT_EQ(this->allocate(*pool, 1, 8 * 40 * kib), held.front());
  const auto now = pool->statistics();
  EXPECT_EQ(now.committed_bytes, before.committed_bytes);
  EXPECT_EQ(now.gatherings, 0u);
}

TYPED_TEST(stream_order_test, a_request_that_nothing_can_hold_moves_no_memory) {
  const auto pool = this->make(mib, 64 * kib);
  std::vector<void*> held;
  for (int i = 0; i < 16; ++i) held.push_back(this->allocate(*pool, i % 2, 64 * kib));
  for (int i = 0; i < 16; i += 3) this->deallocate(*pool, i % 2, held[static_cast<std::size_t>(i)]);
  const std::string before = pool->snapshot();
  EXPECT_THROW(pool->allocate(0, 65 * kib), out_of_memory) << "no two free blocks touch";
  EXPECT_THROW(pool->allocate(3, 100 * kib), out_of_memory);
  EXPECT_EQ(pool->snapshot(), before);
  EXPECT_EQ(pool->statistics().gatherings, 0u);
}

// As above, where the pool has addresses for more, and a limit, or a request that is nothing but aligned.
TYPED_TEST(stream_order_test, a_request_above_the_limit_moves_no_memory) {
  struct shape {
    std::uint64_t most;
    std::uint64_t bytes;
    std::uint64_t alignment;
  };
  for (const auto [most, bytes, alignment] :
       {shape{mib, 512 * kib, 1}, shape{mib + 36 * kib, 164 * kib, 1}, shape{mib, 0, std::uint64_t{1} << 63}}) {
    const auto pool = this->make(4 * mib, 64 * kib, most);
    std::vector<void*> held;
    for (int i = 0; i < 16; ++i) held.push_back(this->allocate(*pool, i % 2, 64 * kib));
    this->deallocate(*pool, 1, held[3]);
    this->deallocate(*pool, 1, held[15]);  // addresses without memory follow
    const std::string before = pool->snapshot();
    EXPECT_THROW(pool->allocate(3, bytes, alignment), out_of_memory);
    EXPECT_EQ(pool->snapshot(), before);
    EXPECT_EQ(pool->statistics().gatherings, 0u);
    for (int i = 0; i < 16; ++i) {
      if (i != 3 && i != 15) this->deallocate(*pool, i % 2, held[static_cast<std::size_t>(i)]);
    }
    this->world.finish_all();
  }
}

// Each piece is half one stream's and half the other's.
TYPED_TEST(stream_order_test, pieces_that_streams_have_together_move) {
  const auto pool = this->make(4 * mib, 32 * kib, mib);
  std::vector<void*> held;
  for (int i = 0; i < 32; ++i) held.push_back(this->allocate(*pool, i % 2, 32 * kib));
  for (int i = 0; i < 32; ++i) {
    if (i % 4 < 2) this->deallocate(*pool, i % 2, held[static_cast<std::size_t>(i)]);
  }
  EXPECT_NO_THROW(this->allocate(*pool, 3, 128 * kib));
  EXPECT_LE(pool->statistics().peak_committed_bytes, mib);
}

// Two stretches hold the request if the pool grows. It may grow by one piece, which is enough for one of them.
TYPED_TEST(stream_order_test, the_next_stretch_is_tried_if_the_pool_may_not_grow_over_one) {
  constexpr std::uint64_t piece = 64 * kib;
  const auto pool = this->make(64 * piece, 4 * kib, 13 * piece);
  const auto take = [&](std::uint64_t bytes) { return this->allocate(*pool, 1, bytes); };
  take(24 * kib);
  void* const a = take(40 * kib);
  void* const b = take(3 * piece);
  void* const c = take(40 * kib);
  take(24 * kib);
  take(4 * kib);
  void* const d = take(60 * kib);
  void* const e = take(3 * piece);
  take(4 * piece);
  for (void* const each : {b, e}) this->deallocate(*pool, 1, each);
  pool->trim();
  take(5 * piece);
  EXPECT_EQ(pool->statistics().committed_bytes, 12 * piece);
  for (void* const each : {a, c, d}) this->deallocate(*pool, 1, each);
  EXPECT_EQ(this->allocate(*pool, 3, 114 * kib), d);
}

TYPED_TEST(stream_order_test, few_streams_lose_memory_for_a_request) {
  constexpr std::uint64_t piece = 64 * kib;
  const auto pool = this->make(16 * mib, piece, 4 * mib);
  std::vector<void*> held;
  for (int i = 0; i < 64; ++i) held.push_back(this->allocate(*pool, i % 4, piece));
  for (int i = 0; i < 64; i += 2) this->deallocate(*pool, i % 4, held[static_cast<std::size_t>(i)]);
  this->allocate(*pool, 9, 5 * piece);
  EXPECT_GE(pool->statistics().stream_bytes, (32 - 6) * piece);
}

// A stream that has nothing takes small blocks from what another has in many places: a look serves many requests.
TYPED_TEST(stream_order_test, many_small_requests_from_another_streams_memory_need_few_looks) {
  const auto pool = this->make(4 * mib, 256 * kib);
  std::vector<void*> held;
  for (int i = 0; i < 1'024; ++i) held.push_back(this->allocate(*pool, 1, 4 * kib));
  for (std::size_t i = 0; i < held.size(); i += 2) this->deallocate(*pool, 1, held[i]);
  for (int i = 0; i < 512; ++i) this->allocate(*pool, 2, 4 * kib);
  EXPECT_LE(pool->statistics().gatherings, 8u) << "a span of each 64";
}

TYPED_TEST(stream_order_test, streams_give_up_only_what_makes_a_request_fit) {
  const auto pool = this->make(mib, 64 * kib);
  std::vector<void*> held;
  for (int i = 0; i < 16; ++i) held.push_back(this->allocate(*pool, i % 2, 64 * kib));
  for (const int i : {4, 5, 10}) this->deallocate(*pool, i % 2, held[static_cast<std::size_t>(i)]);
  EXPECT_EQ(this->allocate(*pool, 3, 128 * kib), held[4]);
  const auto now = pool->statistics();
  EXPECT_EQ(now.gatherings, 1u);
  EXPECT_EQ(now.waits, 2u) << "for both streams whose memory it is";
  EXPECT_EQ(now.common_bytes, 0u);
  EXPECT_EQ(now.stream_bytes, 64 * kib);
  EXPECT_EQ(this->allocate(*pool, 0, 64 * kib), held[10]) << "it is still the stream's own";
  EXPECT_EQ(pool->statistics().waits, 2u);
}

// Small requests would break long stretches if a stream took the longest first.
TYPED_TEST(stream_order_test, a_small_request_takes_a_small_hole) {
  const auto pool = this->make(mib, 64 * kib);
  void* const small = this->allocate(*pool, 1, 4 * kib);
  this->allocate(*pool, 1, 60 * kib);
  void* const large = this->allocate(*pool, 1, 512 * kib);
  this->allocate(*pool, 1, 448 * kib);
  this->deallocate(*pool, 1, small);
  this->deallocate(*pool, 1, large);
  pool->forget(1);
  EXPECT_EQ(pool->statistics().common_bytes, 516 * kib);
  EXPECT_EQ(this->allocate(*pool, 2, 2 * kib), small);
  EXPECT_EQ(this->allocate(*pool, 2, 512 * kib), large);
}

// The pattern that users of pools report: memory of two streams, most of it free, and a request for most of that.
TYPED_TEST(stream_order_test, what_two_streams_have_free_serves_a_request_of_nine_tenths_of_it) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto pool = this->make(16 * mib, 512 * kib);
    test::random_stream random(seed, 0);
    std::vector<std::pair<int, void*>> held;
    for (int i = 0; i < 2'000; ++i) {
      const int stream = static_cast<int>(random.below(2));
      if (held.size() < 100 && random.below(2) == 0) {
        held.emplace_back(stream, this->allocate(*pool, stream, random.size(100 * kib)));
      } else if (!held.empty()) {
        std::swap(held[random.below(held.size())], held.back());
        this->deallocate(*pool, held.back().first, held.back().second);
        held.pop_back();
      }
    }
    for (const auto& [stream, block] : held) this->deallocate(*pool, stream, block);
    const auto now = pool->statistics();
    EXPECT_EQ(now.live_bytes, 0u);
    this->deallocate(*pool, 0, this->allocate(*pool, 0, now.reserved_bytes / 11 * 10));
    this->world.finish_all();  // the next pool may lie at the same addresses
  }
}

TYPED_TEST(stream_order_test, a_block_may_be_taken_back_on_another_stream) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 1000);
  void* const b = this->allocate(*pool, 1, 1000);
  this->deallocate(*pool, 2, a);
  EXPECT_EQ(this->allocate(*pool, 2, 1000), a) << "it is the second stream's at once";
  this->deallocate(*pool, 1, b);
  EXPECT_THROW(pool->deallocate(1, b), unknown_block);
  EXPECT_THROW(pool->deallocate(2, b), unknown_block);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(pool->statistics().live_blocks, 0u);
}

// One stream makes and another takes back, for long: what piles up with the second comes back to the first.
TYPED_TEST(stream_order_test, memory_comes_back_to_a_stream_whose_blocks_another_takes_back) {
  const auto pool = this->make(64 * mib, 256 * kib);
  for (int i = 0; i < 10'000; ++i) this->deallocate(*pool, 2, this->allocate(*pool, 1, 10 * kib));
  EXPECT_LE(pool->statistics().committed_bytes, 2 * mib);
}

TYPED_TEST(stream_order_test, misuse_is_told_and_loses_nothing) {
  const auto pool = this->make(mib);
  auto* const a = static_cast<std::byte*>(this->allocate(*pool, 1, 1000));
  int elsewhere = 0;
  for (const int stream : {1, 2}) {
    EXPECT_THROW(pool->deallocate(stream, &elsewhere), unknown_block);
    EXPECT_THROW(pool->deallocate(stream, a + 256), unknown_block);
    EXPECT_THROW(pool->allocate(stream, 1, 3), std::invalid_argument);
    EXPECT_THROW(pool->allocate(stream, 2 * mib), out_of_memory);
    EXPECT_THROW(pool->allocate(stream, ~std::uint64_t{0}), out_of_memory);
  }
  pool->deallocate(1, nullptr);
  EXPECT_EQ(pool->statistics().live_blocks, 1u);
  this->deallocate(*pool, 1, a);
  EXPECT_THROW(pool->deallocate(1, a), unknown_block);
  EXPECT_NE(this->allocate(*pool, 2, mib), nullptr);
}

TYPED_TEST(stream_order_test, a_captured_stream_is_refused_and_its_memory_left_alone) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib / 2);
  void* const b = this->allocate(*pool, 1, 1000);
  this->deallocate(*pool, 1, a);
  this->world.capturing = 1;
  EXPECT_THROW(pool->allocate(1, 1000), stream_refused);
  EXPECT_THROW(pool->deallocate(1, b), stream_refused);
  EXPECT_THROW(pool->allocate(2, mib - 2 * kib), out_of_memory);
  this->world.capturing = -1;
  this->deallocate(*pool, 1, b);
  EXPECT_NE(this->allocate(*pool, 2, mib), nullptr);
}

TYPED_TEST(stream_order_test, alignments_hold_across_spans) {
  const auto pool = this->make(16 * mib);
  for (std::uint64_t alignment = 1; alignment <= mib; alignment *= 2) {
    void* const block = pool->allocate(1, 3 * kib, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
  }
}

TYPED_TEST(stream_order_test, trim_waits_and_gives_memory_back) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 300 * kib);
  void* const b = this->allocate(*pool, 2, 300 * kib);
  this->deallocate(*pool, 1, a);
  EXPECT_GE(pool->trim(), 300 * kib - 64 * kib);
  this->deallocate(*pool, 2, b);
  pool->trim();
  EXPECT_EQ(pool->statistics().committed_bytes, 0u);
  EXPECT_NE(this->allocate(*pool, 3, mib), nullptr);
  EXPECT_EQ(pool->statistics().waits, 0u) << "all was done already";
}

TYPED_TEST(stream_order_test, a_forgotten_stream_leaves_its_memory_and_its_name) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 100 * kib);
  void* const b = this->allocate(*pool, 1, 100 * kib);
  this->deallocate(*pool, 1, a);
  pool->forget(1);
  pool->forget(1);
  EXPECT_EQ(pool->statistics().streams, 0u);
  EXPECT_EQ(pool->statistics().stream_bytes, 0u);
  EXPECT_EQ(pool->statistics().live_blocks, 1u);
  this->deallocate(*pool, 2, b);
  void* const c = this->allocate(*pool, 1, 1000);  // another stream of the same name
  this->deallocate(*pool, 1, c);
  EXPECT_NE(this->allocate(*pool, 3, mib), nullptr);
}

// A stream that only its thread can name marks each block that it takes back, so that others can wait for the mark.
TYPED_TEST(stream_order_test, memory_of_a_threads_own_stream_can_be_had_by_others) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1'000, 600 * kib);
  this->deallocate(*pool, 1'000, a);
  this->allocate(*pool, 1, mib);
  EXPECT_EQ(pool->statistics().waits, 1u);
}

// Random steps of several streams in a pool that is too small for them, so that memory moves between them all the time.
// With as many addresses as memory, and with more, so that memory moves before a request fails.
TYPED_TEST(stream_order_test, random_steps_keep_the_order) {
  for (const std::uint64_t addresses : {4 * mib, 16 * mib}) {
    SCOPED_TRACE(addresses);
    const auto pool = this->make(addresses, 128 * kib, 4 * mib);
    test::random_stream random(11, 0);
    std::vector<std::pair<int, void*>> held;
    std::uint64_t failures = 0;
    for (std::uint64_t i = 0, steps = test::scaled_up_to(40'000, 1'000'000); i < steps && !this->HasFailure(); ++i) {
      const int stream = static_cast<int>(random.below(4)) + (random.below(2) == 0 ? 0 : 998);
      const std::uint64_t kind = random.below(1000);
      if (kind < 500) {
        try {
          held.emplace_back(stream, this->allocate(*pool, stream, random.size(256 * kib)));
        } catch (const out_of_memory&) {
          ++failures;
        }
      } else if (kind < 990 && !held.empty()) {
        std::swap(held[random.below(held.size())], held.back());
        const bool own = random.below(8) != 0;
        this->deallocate(*pool, own ? held.back().first : stream, held.back().second);
        held.pop_back();
      } else if (kind < 993) {
        pool->trim();
      } else if (kind < 996) {
        this->world.finish_all();
      } else if (kind < 998) {
        pool->forget(stream);
      }
    }
    EXPECT_GT(pool->statistics().waits, 0u);
    EXPECT_GT(failures, 0u) << "the pool was never full";
    for (const auto& [stream, block] : held) this->deallocate(*pool, stream, block);
    EXPECT_EQ(pool->statistics().live_bytes, 0u);
    pool->trim();
    EXPECT_EQ(pool->statistics().committed_bytes, 0u) << "something was lost";
    EXPECT_LE(pool->statistics().peak_committed_bytes, 4 * mib);
    this->world.finish_all();  // the next pool may lie at the same addresses
  }
}

TYPED_TEST(stream_order_test, threads_on_streams_of_their_own_keep_the_order) {
  const auto pool = this->make(8 * mib, 256 * kib);
  const std::uint64_t steps = test::scaled(8'000, 8'000);
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      test::random_stream random(5, static_cast<std::uint64_t>(id));
      std::vector<void*> held;
      for (std::uint64_t i = 0; i < steps; ++i) {
        if (held.size() < 40 && random.below(2) == 0) {
          try {
            held.push_back(this->allocate(*pool, id, random.size(128 * kib)));
          } catch (const out_of_memory&) {
          }
        } else if (!held.empty()) {
          this->deallocate(*pool, random.below(8) == 0 ? (id + 1) % 4 : id, held.back());
          held.pop_back();
        }
        if (i % 1024 == 0) pool->trim();
      }
      for (void* const block : held) this->deallocate(*pool, id, block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->statistics().live_blocks, 0u);
  pool->trim();
  EXPECT_EQ(pool->statistics().committed_bytes, 0u);
}

}  // namespace
}  // namespace warpheap::stream_order_test
