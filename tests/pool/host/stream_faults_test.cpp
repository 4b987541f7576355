// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The stream pool and the pool below it when a call of theirs fails, a stream is captured or forgotten, or another
// thread comes in between.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <support/other_thread.hpp>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

#include "faulty_pool.hpp"

namespace warpheap::stream_faults_test {
namespace {

using test::kib;
using test::mib;

template <class Engine>
class stream_faults : public test::faulty_pool<Engine> {};
TYPED_TEST_SUITE(stream_faults, test::engines);

TYPED_TEST(stream_faults, each_call_about_streams_may_fail) {
  this->each_call_fails_in_turn(this->world.calls, this->world.fail_at, 30);
  EXPECT_GT(this->failures, 0u);
}
TYPED_TEST(stream_faults, each_call_of_the_space_may_fail) {
  this->each_call_fails_in_turn(this->space.calls, this->space.fail_at, 2);
}
TYPED_TEST(stream_faults, each_call_that_needs_host_memory_may_fail) {
  using engine = typename TestFixture::engine;
  this->each_call_fails_in_turn(engine::calls, engine::fail_at, 20);
}

// Addresses that a failed refill gives back may be another stream's next.
TYPED_TEST(stream_faults, a_refill_that_fails_leaves_no_trace_of_its_stream) {
  for (std::uint64_t at = 1; at <= 5; ++at) {
    SCOPED_TRACE(at);
    const auto pool = this->make(mib);
    this->deallocate(*pool, 1, this->allocate(*pool, 1, mib));
    this->world.fail_at = this->world.calls + at;  // asks twice for a capture, records, asks for the mark, waits for it
    EXPECT_THROW(pool->allocate(2, mib), std::runtime_error);
    void* const block = this->allocate(*pool, 3, mib);
    EXPECT_NO_THROW(this->deallocate(*pool, 4, block)) << "it is looked for in the book of another stream";
    EXPECT_EQ(pool->statistics().live_blocks, 0u);
    this->world.finish_all();
  }
}

// The caller of a deallocate that throws tries again, and would then free what another has by then.
TYPED_TEST(stream_faults, a_block_that_is_taken_back_is_not_followed_by_an_exception) {
  const auto pool = this->make(mib);
  void* const first = this->allocate(*pool, 1, 200 * kib);
  this->watch.end(2, first);
  this->world.fail_at = this->world.calls + 2;  // after the question for a capture: the mark of what piled up
  EXPECT_NO_THROW(pool->deallocate(2, first));
  EXPECT_GE(this->world.calls, this->world.fail_at) << "nothing failed";
  EXPECT_EQ(pool->statistics().live_blocks, 0u);
  EXPECT_EQ(this->allocate(*pool, 2, 200 * kib), first);
}

TYPED_TEST(stream_faults, a_stream_in_a_capture_is_not_forgotten) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 600 * kib);
  this->deallocate(*pool, 1, a);
  this->world.capturing = 1;
  EXPECT_THROW(pool->forget(1), stream_refused);
  EXPECT_EQ(pool->statistics().streams, 1u);
  this->world.capturing = -1;
  pool->forget(1);
  this->world.destroyed = 1;
  EXPECT_EQ(pool->statistics().stream_bytes, 0u);
  EXPECT_NE(this->allocate(*pool, 2, mib), nullptr);
  pool->trim();
  EXPECT_EQ(this->world.calls_on_destroyed, 0) << "a stream was named after it was forgotten";
}

TYPED_TEST(stream_faults, forgotten_streams_leave_nothing) {
  constexpr int cycles = 4'000;
  this->world.private_from = 2 * cycles;
  const auto pool = this->make(mib);
  for (int stream = 2; stream < cycles; ++stream) {  // they have no work, so that a mark is reached at once
    pool->deallocate(stream, pool->allocate(stream, 10 * kib));
    pool->forget(stream);
  }
  EXPECT_LE(this->world.events, 1);
  EXPECT_LE(this->books(), 1);
  const std::uint64_t before = this->world.calls;
  void* const block = this->allocate(*pool, 1, mib);
  EXPECT_LE(this->world.calls - before, 10u) << "a refill asks for streams that are gone";
  this->deallocate(*pool, 1, block);
}

TYPED_TEST(stream_faults, many_streams_at_once_leave_nothing_when_they_are_forgotten) {
  constexpr int streams = 100;
  const auto pool = this->make(64 * mib, kib);
  std::vector<void*> held;
  for (int i = 0; i < streams; ++i) {
    this->deallocate(*pool, i, this->allocate(*pool, i, 10 * kib));
    held.push_back(this->allocate(*pool, i, 3 * kib));
  }
  EXPECT_GE(this->books(), streams);
  for (int i = 0; i < streams; ++i) pool->forget(i);
  EXPECT_EQ(this->world.events, streams) << "their work is not done";
  EXPECT_EQ(pool->statistics().live_blocks, held.size());
  EXPECT_EQ(this->books(), 2) << "the common pool's, and that of blocks without a stream";
  EXPECT_THROW(pool->deallocate(500, static_cast<std::byte*>(held[0]) + 256), unknown_block);
  for (void* const block : held) this->deallocate(*pool, 500, block);
  EXPECT_THROW(pool->deallocate(500, held[0]), unknown_block);
  pool->forget(500);
  this->world.finish_all();
  EXPECT_NE(this->allocate(*pool, 501, 64 * mib), nullptr);
  EXPECT_EQ(this->world.events, 0);
  EXPECT_EQ(this->books(), 2) << "the common pool's, and that of the one stream";
}

TYPED_TEST(stream_faults, the_end_waits_for_all_streams_before_memory_is_given_back) {
  bool has_ended = false;
  this->space.on_end = [&] {
    has_ended = true;
    EXPECT_TRUE(this->world.is_all_finished()) << "work still uses the memory";
  };
  {
    const auto pool = this->make(mib);
    this->deallocate(*pool, 1, this->allocate(*pool, 1, 10 * kib));
    this->deallocate(*pool, 2, this->allocate(*pool, 2, 10 * kib));
    this->deallocate(*pool, 1'000, this->allocate(*pool, 1'000, 10 * kib));
    pool->forget(2);
  }
  EXPECT_TRUE(has_ended);
}

TYPED_TEST(stream_faults, a_capture_gets_no_mark_of_the_pool) {
  {
    const auto pool = this->make(mib);
    this->deallocate(*pool, 1, this->allocate(*pool, 1, 10 * kib));
    this->world.capturing = 1;
    pool->trim();
    EXPECT_THROW(pool->allocate(2, mib), out_of_memory);
    EXPECT_THROW(pool->forget(1), stream_refused);
  }
  EXPECT_EQ(this->world.records_in_capture, 0);
}

// What a stream's work waits for may be another thread, which takes memory first.
TYPED_TEST(stream_faults, other_threads_go_on_while_trim_waits) {
  const auto pool = this->make(mib);
  test::other_thread other;
  this->deallocate(*pool, 1, this->allocate(*pool, 1, 300 * kib));
  void* const mine = this->allocate(*pool, 2, kib);
  bool has_waited = false;
  this->world.on_synchronise = [&] {
    if (std::exchange(has_waited, true)) return;
    EXPECT_TRUE(other.ends([&] { this->deallocate(*pool, 2, mine); })) << "a stream's own memory";
    EXPECT_TRUE(other.ends([&] { this->deallocate(*pool, 3, this->allocate(*pool, 3, 200 * kib)); })) << "a span";
    EXPECT_TRUE(other.ends([&] { pool->forget(1); }));
  };
  pool->trim();
  EXPECT_TRUE(has_waited);
  this->world.on_synchronise = [] {};
  pool->trim();
  EXPECT_EQ(pool->statistics().committed_bytes, 0u);
}

// Memory that is merged while trim waits depends on a mark that trim has not seen.
TYPED_TEST(stream_faults, trim_gives_nothing_back_that_is_in_use) {
  const auto pool = this->make(mib);
  this->deallocate(*pool, 1, this->allocate(*pool, 1, 300 * kib));
  int passes = 0;
  this->world.on_synchronise = [&] {
    ++passes;
    this->deallocate(*pool, 2, this->allocate(*pool, 2, 300 * kib));
    pool->forget(2);
  };
  this->space.on_commit = [] {};
  EXPECT_EQ(pool->trim(), 0u);
  EXPECT_GT(passes, 1);
  this->world.on_synchronise = [] {};
  EXPECT_GT(pool->trim(), 0u);
  EXPECT_EQ(pool->statistics().committed_bytes, 0u);
}

TYPED_TEST(stream_faults, other_threads_go_on_while_the_pool_grows) {
  const auto pool = this->make(mib);
  test::other_thread other;
  void* const a = this->allocate(*pool, 1, kib);
  void* const b = this->allocate(*pool, 2, kib);
  int grown = 0;
  this->space.on_commit = [&] {
    ++grown;
    EXPECT_TRUE(other.ends([&] { pool->deallocate(1, a == nullptr ? nullptr : pool->allocate(1, kib)); }));
    EXPECT_TRUE(other.ends([&] { pool->deallocate(3, grown == 1 ? b : nullptr); })) << "a move between streams";
    EXPECT_TRUE(other.ends([&] { EXPECT_GT(pool->statistics().committed_bytes, 0u); }));
  };
  EXPECT_NE(pool->allocate(4, 300 * kib), nullptr);
  EXPECT_EQ(grown, 1);
  this->space.on_commit = [] {};
}

TYPED_TEST(stream_faults, a_space_at_work_may_use_its_pool) {
  basic_pool<TypeParam> blocks(std::make_unique<test::failing_space>(mib, this->space));
  test::other_thread other;
  void* const a = blocks.allocate(kib);
  bool is_locked = true;
  std::uint64_t grown = 0;
  this->space.on_commit = [&] {
    ++grown;
    is_locked = !other.ends([&] { EXPECT_EQ(blocks.block_bytes(a), kib); });
    if (is_locked) return;  // so would this thread be
    blocks.deallocate(blocks.allocate(kib));
    EXPECT_THROW(blocks.allocate(512 * kib), out_of_memory) << "it is growing";
    EXPECT_EQ(blocks.trim(), 0u);
  };
  EXPECT_NE(blocks.allocate(200 * kib), nullptr);
  EXPECT_FALSE(is_locked) << "the book is locked while the space works";
  EXPECT_EQ(grown, 1u);
  this->space.on_commit = [] {};
}

// Two threads that grow at once: what one planned the other may have taken.
TYPED_TEST(stream_faults, a_pool_grows_again_if_another_thread_took_what_it_counted_on) {
  basic_pool<TypeParam> blocks(std::make_unique<test::failing_space>(mib, this->space));
  test::other_thread other;
  void* const a = blocks.allocate(kib);  // 63 KiB are free beside it
  void* stolen = nullptr;
  this->space.on_commit = [&] {
    if (stolen == nullptr) other.ends([&] { stolen = blocks.try_allocate(60 * kib, 1, false); });
  };
  auto* const b = static_cast<std::byte*>(blocks.allocate(120 * kib));
  EXPECT_NE(stolen, nullptr);
  EXPECT_EQ(blocks.block_bytes(b), 120 * kib);
  EXPECT_NE(b, static_cast<std::byte*>(a) + kib);
  this->space.on_commit = [] {};
  for (void* const block : {a, stolen, static_cast<void*>(b)}) blocks.deallocate(block);
  EXPECT_EQ(blocks.statistics().free_segments, 1u);
}

}  // namespace
}  // namespace warpheap::stream_faults_test
