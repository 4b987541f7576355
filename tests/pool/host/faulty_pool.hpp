// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <vector>
#include <warpheap/pool.hpp>

#include "failing_space.hpp"
#include "watched_pool.hpp"

namespace warpheap::test {

/// Counts the books that are there, and lets a call of theirs fail.
template <class Engine>
struct counted_engine : Engine {
  explicit counted_engine(std::uint64_t granule) : Engine(granule) { ++alive; }
  ~counted_engine() { --alive; }
  counted_engine(const counted_engine&) = delete;
  counted_engine& operator=(const counted_engine&) = delete;
  segment_handle adopt(std::uint64_t begin, std::uint64_t bytes, segment_state state) {
    call();
    return Engine::adopt(begin, bytes, state);
  }
  segment_handle allocate(std::uint64_t bytes, std::uint64_t alignment) {
    call();
    return Engine::allocate(bytes, alignment);
  }
  segment_handle allocate(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t most) {
    call();
    return Engine::allocate(bytes, alignment, most);
  }
  segment_handle change(segment_handle handle, std::uint64_t begin, std::uint64_t bytes, segment_state state) {
    call();
    return Engine::change(handle, begin, bytes, state);
  }
  // What takes host memory may fail, and has changed nothing then.
  static void call() {
    if (++calls == fail_at) throw std::bad_alloc();
  }
  static inline std::atomic<int> alive{0};
  static inline std::atomic<std::uint64_t> calls{0};
  static inline std::atomic<std::uint64_t> fail_at{0};
};

/// A test of stream pools whose streams, space and books may fail at each call, and whose blocks are watched.
template <class Engine>
class faulty_pool : public testing::Test {
 protected:
  using engine = counted_engine<Engine>;
  using pool_type = basic_stream_pool<watched_streams, engine>;
  stream_world world;
  usage_watch watch{world};
  space_watch space;

  void SetUp() override {
    space.on_decommit = [this](const void* memory, std::uint64_t bytes) {
      EXPECT_TRUE(watch.is_unused(memory, bytes)) << "memory is given back that is in use";
    };
  }
  std::unique_ptr<pool_type> make(std::uint64_t bytes, std::uint64_t span_bytes = 64 * kib,
                                  std::uint64_t most_bytes = ~std::uint64_t{0}) {
    return std::make_unique<pool_type>(
        std::make_unique<failing_space>(bytes, space),
        stream_pool_options{
            .span_bytes = span_bytes, .capture_span_bytes = span_bytes, .pool = {.most_bytes = most_bytes}},
        watched_streams(world));
  }
  void* allocate(pool_type& pool, int stream, std::uint64_t bytes) {
    void* block = nullptr;
    again(pool, [&] { block = pool.allocate(stream, bytes); });
    EXPECT_TRUE(watch.begin(stream, block, bytes))
        << "stream " << stream << " got memory that is in use: " << watch.complaint << " for " << bytes;
    return block;
  }
  void deallocate(pool_type& pool, int stream, void* block) {
    watch.end(stream, block);
    again(pool, [&] { pool.deallocate(stream, block); });
  }
  // Makes a call that may fail once, and then must have changed nothing that counts.
  template <class Call>
  void again(pool_type& pool, Call call) {
    const auto before = pool.statistics();
    try {
      call();
      return;
    } catch (const std::exception&) {
      ++failures;
    }
    const auto after = pool.statistics();
    EXPECT_EQ(after.live_blocks, before.live_blocks);
    EXPECT_EQ(after.live_bytes, before.live_bytes);
    EXPECT_EQ(after.streams >= before.streams, true) << "the stream is forgotten though the call failed";
    EXPECT_EQ(after.committed_bytes,
              after.live_bytes + after.stream_bytes + after.common_bytes + after.deferred_bytes + after.private_bytes)
        << "a span was lost";
    ASSERT_NO_THROW(call());
  }
  // Steps in which spans, marks, waits, moves between streams, forgetting and trimming all occur.
  void all_kinds_of_steps(pool_type& pool) {
    void* const a = allocate(pool, 0, 600 * kib);
    void* const b = allocate(pool, 1, 300 * kib);
    deallocate(pool, 0, a);
    void* const c = allocate(pool, 1, 500 * kib);  // memory of stream 0, after its mark
    deallocate(pool, 2, b);                        // moves, and is more than a span
    void* const d = allocate(pool, 1'000, 50 * kib);
    deallocate(pool, 1'000, d);
    again(pool, [&] { pool.forget(0); });
    void* const e = allocate(pool, 0, 100 * kib);
    again(pool, [&] { pool.forget(1); });  // its block stays
    deallocate(pool, 2, c);
    deallocate(pool, 0, e);
    void* const all = allocate(pool, 3, mib);
    deallocate(pool, 3, all);
    again(pool, [&] { pool.trim(); });
  }
  void use(pool_type& pool, int stream, void* block) {
    watch.use_beside(stream, block);
    again(pool, [&] { pool.note_use(stream, block); });
  }
  // Steps in which blocks are deferred, given on early and late, and a capture takes memory that streams have freed.
  void steps_with_uses_and_a_capture(pool_type& pool) {
    void* const a = allocate(pool, 0, 500 * kib);
    use(pool, 1, a);
    use(pool, 1'000, a);
    deallocate(pool, 0, a);
    void* const b = allocate(pool, 2, 900 * kib);  // what is deferred, before its uses are over
    use(pool, 3, b);
    again(pool, [&] { pool.forget(3); });
    deallocate(pool, 2, b);
    world.finish_all();
    void* const c = allocate(pool, 0, 10 * kib);
    void* const d = allocate(pool, 4, 600 * kib);
    deallocate(pool, 4, d);
    again(pool, [&] { pool.begin_capture({1, 2}, 1); });
    world.capturing = 1;
    world.joined = 2;
    void* const e = allocate(pool, 1, 700 * kib);  // memory of stream 4, for which the host waits
    void* const f = allocate(pool, 2, 10 * kib);
    use(pool, 2, e);
    deallocate(pool, 1, e);
    deallocate(pool, 1, f);  // moves within the capture
    deallocate(pool, 1, c);  // an ordinary block
    void* const g = allocate(pool, 1, 20 * kib);
    again(pool, [&] { pool.end_capture({1, 2}); });
    world.capturing = world.joined = -1;
    again(pool, [&] { pool.release_capture({1, 2}, 0); });
    deallocate(pool, 3, g);
    world.finish_all();
    again(pool, [&] { pool.trim(); });
    EXPECT_EQ(world.records_in_capture, 0);
    EXPECT_EQ(world.waits_in_capture, 0);
  }
  // Sixteen pieces, each a block; every other one is taken back.
  std::vector<void*> hold_every_other_piece(pool_type& pool) {
    std::vector<void*> held;
    for (int i = 0; i < 16; ++i) held.push_back(allocate(pool, i % 3, 64 * kib));
    for (std::size_t i = 0; i < held.size(); i += 2) {
      deallocate(pool, static_cast<int>(i) % 3, held[i]);
      held[i] = nullptr;
    }
    return held;
  }
  void take_back(pool_type& pool, const std::vector<void*>& held) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i] != nullptr) deallocate(pool, static_cast<int>(i) % 3, held[i]);
    }
  }
  // Steps in which a request fits nowhere, so that pieces are given back and taken where addresses lie in a row. The
  // pool has a MiB at most, and more addresses.
  void steps_with_moves(pool_type& pool) {
    const std::vector<void*> held = hold_every_other_piece(pool);
    void* const a = allocate(pool, 0, 300 * kib);
    EXPECT_LE(pool.statistics().peak_committed_bytes, mib);
    deallocate(pool, 1, a);
    void* const b = allocate(pool, 1'000, 500 * kib);
    EXPECT_LE(pool.statistics().peak_committed_bytes, mib);
    deallocate(pool, 2, b);
    take_back(pool, held);
    again(pool, [&] { pool.trim(); });
  }
  // Runs each kind of steps, with each call that `calls` counts failing in turn; there are more than `least`.
  void each_call_fails_in_turn(std::atomic<std::uint64_t>& calls, std::atomic<std::uint64_t>& fail_at,
                               std::uint64_t least) {
    struct kind {
      const char* name;
      void (faulty_pool::*steps)(pool_type&);
      std::uint64_t addresses;
    };
    for (const kind& each : {kind{"without uses", &faulty_pool::all_kinds_of_steps, mib},
                             kind{"with uses and a capture", &faulty_pool::steps_with_uses_and_a_capture, mib},
                             kind{"with moves", &faulty_pool::steps_with_moves, 2 * mib}}) {
      SCOPED_TRACE(each.name);
      std::uint64_t count = 1;
      for (std::uint64_t at = 0; at <= count && !this->HasFailure(); ++at) {
        SCOPED_TRACE(at);
        const auto pool = make(each.addresses, 64 * kib, mib);
        calls = 0;
        fail_at = at;  // the first time none
        (this->*each.steps)(*pool);
        if (at == 0) count = calls;
        fail_at = 0;
        expect_all_restored(*pool);
        world.finish_all();
      }
      EXPECT_GT(count, least);
    }
  }
  void expect_all_restored(pool_type& pool) {
    for (const int stream : {0, 1, 2, 3, 4, 1'000}) pool.forget(stream);
    pool.trim();
    const auto now = pool.statistics();
    EXPECT_EQ(now.live_blocks, 0u);
    EXPECT_EQ(now.stream_bytes, 0u);
    EXPECT_EQ(now.streams, 0u);
    EXPECT_EQ(world.events, 0);
    EXPECT_EQ(books(), 1) << "only the common pool keeps a book";
    EXPECT_NO_THROW(deallocate(pool, 5, allocate(pool, 5, mib))) << "addresses were lost";
    pool.forget(5);
    pool.trim();
    EXPECT_EQ(pool.statistics().committed_bytes, 0u);
  }
  static int books() { return engine::alive; }

  std::uint64_t failures = 0;
};

}  // namespace warpheap::test
