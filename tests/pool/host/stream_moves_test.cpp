// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Free memory in whole pieces goes where a request fits, after the work that used it, while other threads go on.

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <string>
#include <support/other_thread.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

#include "faulty_pool.hpp"

namespace warpheap::stream_moves_test {
namespace {

using test::kib;
using test::mib;

template <class Engine>
class stream_moves : public test::faulty_pool<Engine> {};
TYPED_TEST_SUITE(stream_moves, test::engines);

TYPED_TEST(stream_moves, memory_in_whole_pieces_goes_where_a_request_fits) {
  const auto pool = this->make(2 * mib, 64 * kib, mib);
  const std::vector<void*> held = this->hold_every_other_piece(*pool);
  int waits = 0;
  this->world.on_synchronise = [&] { ++waits; };
  void* const a = this->allocate(*pool, 3, 400 * kib);
  EXPECT_GT(waits, 0);
  EXPECT_LE(pool->statistics().peak_committed_bytes, mib);
  this->deallocate(*pool, 3, a);
  waits = 0;
  EXPECT_EQ(this->allocate(*pool, 3, 400 * kib), a);
  EXPECT_EQ(waits, 0) << "it was moved already";
  this->deallocate(*pool, 3, a);
  this->take_back(*pool, held);
}

TYPED_TEST(stream_moves, memory_stays_where_moving_it_would_not_help) {
  const auto pool = this->make(2 * mib, 64 * kib, mib);
  const std::vector<void*> held = this->hold_every_other_piece(*pool);
  const std::string before = pool->snapshot();
  EXPECT_THROW(pool->allocate(3, 513 * kib), out_of_memory) << "only 512 KiB are free";
  EXPECT_EQ(pool->snapshot(), before);
  const auto full = this->make(mib, 64 * kib, mib);
  const std::vector<void*> others = this->hold_every_other_piece(*full);
  const std::string as_it_is = full->snapshot();
  EXPECT_THROW(full->allocate(3, 128 * kib), out_of_memory) << "no two free pieces, nor addresses, lie in a row";
  EXPECT_EQ(full->snapshot(), as_it_is);
  this->take_back(*pool, held);
  this->take_back(*full, others);
}

// The last piece before the addresses without memory has a part that is its stream's, and too small to be given back.
TYPED_TEST(stream_moves, pieces_go_to_addresses_of_which_a_stream_has_a_part) {
  const auto pool = this->make(mib + 256 * kib, 64 * kib, mib);
  std::vector<void*> held;
  for (int i = 0; i < 15; ++i) held.push_back(this->allocate(*pool, 0, 64 * kib));
  void* const half = this->allocate(*pool, 1, 32 * kib);
  for (std::size_t i = 0; i < held.size(); i += 2) this->deallocate(*pool, 0, held[i]);
  void* const a = this->allocate(*pool, 3, 32 * kib + 256 * kib);
  EXPECT_EQ(a, static_cast<std::byte*>(half) + 32 * kib);
  EXPECT_EQ(pool->statistics().failures, 0u);
  EXPECT_LE(pool->statistics().peak_committed_bytes, mib);
  this->deallocate(*pool, 3, a);
  this->deallocate(*pool, 1, half);
  for (std::size_t i = 1; i < held.size(); i += 2) this->deallocate(*pool, 0, held[i]);
}

TYPED_TEST(stream_moves, what_is_above_a_limit_that_was_lowered_is_given_back_first) {
  const auto pool = this->make(3 * mib);
  std::vector<void*> held;
  for (int i = 0; i < 32; ++i) held.push_back(this->allocate(*pool, i % 3, 64 * kib));
  for (std::size_t i = 0; i < held.size(); i += 2) this->deallocate(*pool, static_cast<int>(i) % 3, held[i]);
  const std::string before = pool->snapshot();
  for (const std::uint64_t part : {0, 32, 63}) {  // the limit need be no multiple of the piece
    pool->limit((17 * 64 + part) * kib);
    EXPECT_THROW(pool->allocate(3, 96 * kib), out_of_memory) << "16 pieces are live, and it needs two";
    EXPECT_EQ(pool->snapshot(), before) << part;
  }
  pool->limit(18 * 64 * kib);
  void* const a = this->allocate(*pool, 3, 96 * kib);
  EXPECT_EQ(pool->statistics().failures, 3u);
  EXPECT_EQ(pool->statistics().committed_bytes, 18 * 64 * kib);
  this->deallocate(*pool, 3, a);
  for (std::size_t i = 1; i < held.size(); i += 2) this->deallocate(*pool, static_cast<int>(i) % 3, held[i]);
}

// Another thread may put memory together after marks of its own while the host waits.
TYPED_TEST(stream_moves, other_streams_go_on_while_memory_moves) {
  const auto pool = this->make(2 * mib, 64 * kib, mib);
  const std::vector<void*> held = this->hold_every_other_piece(*pool);
  int passes = 0;
  this->world.on_synchronise = [&] {
    if (++passes != 1) return;
    this->deallocate(*pool, 5, this->allocate(*pool, 5, 10 * kib));
    pool->forget(5);
  };
  void* const a = this->allocate(*pool, 3, 300 * kib);
  EXPECT_GT(passes, 1);
  this->deallocate(*pool, 3, a);
  this->take_back(*pool, held);
}

// Each thread has a share of the pieces, and asks for whole pieces of it. So enough pieces are free whenever a thread
// asks, whoever has them: where blocks are of one piece, and where they are of several and addresses are many.
TYPED_TEST(stream_moves, no_request_fails_while_other_threads_have_its_pieces_free) {
  constexpr std::uint64_t threads = 4;
  constexpr std::uint64_t share = 4;
  constexpr std::uint64_t piece = 64 * kib;
  struct shape {
    std::uint64_t addresses;
    std::uint64_t most_pieces;  // of a block
  };
  for (const auto [addresses, most_pieces] : {shape{mib, 1}, shape{2 * mib, 1}, shape{64 * mib, share}}) {
    SCOPED_TRACE(most_pieces);
    const auto pool = this->make(addresses, share * piece, threads * share * piece);
    std::barrier together(static_cast<std::ptrdiff_t>(threads));
    const auto work = [&](int stream) {
      together.arrive_and_wait();
      test::random_stream random(7, static_cast<std::uint64_t>(stream));
      std::vector<std::pair<void*, std::uint64_t>> held;
      std::uint64_t left = share;
      const auto give_back = [&] {
        left += held.back().second;
        this->deallocate(*pool, stream, held.back().first);
        held.pop_back();
      };
      for (std::uint64_t i = 0, steps = test::scaled_up_to(10'000, 200'000); i < steps; ++i) {
        if (left != 0 && random.below(2) == 0) {
          const std::uint64_t pieces = 1 + random.below(std::min(left, most_pieces));
          held.emplace_back(this->allocate(*pool, stream, pieces * piece), pieces);
          left -= pieces;
        } else if (!held.empty()) {
          std::swap(held[random.below(held.size())], held.back());
          give_back();
        }
      }
      while (!held.empty()) give_back();
    };
    std::vector<std::thread> running;
    for (int t = 0; t < static_cast<int>(threads); ++t) running.emplace_back(work, t);
    for (std::thread& one : running) one.join();
    EXPECT_EQ(pool->statistics().failures, 0u);
    EXPECT_LE(pool->statistics().peak_committed_bytes, threads * share * piece);
    this->world.finish_all();  // the next pool may lie at the same addresses
  }
}

}  // namespace
}  // namespace warpheap::stream_moves_test
