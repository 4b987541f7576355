// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The stream pool and the pool below it when a call of theirs fails, a stream is captured or forgotten, or another
// thread comes in between.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <support/other_thread.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

#include "failing_space.hpp"
#include "watched_streams.hpp"

namespace warpheap::stream_faults_test {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

// Counts the books that are there, and lets a call of theirs fail.
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

template <class Engine>
class stream_faults : public testing::Test {
 protected:
  using engine = counted_engine<Engine>;
  using pool_type = basic_stream_pool<test::watched_streams, engine>;
  test::stream_world world;
  test::usage_watch watch{world};
  test::space_watch space;

  void SetUp() override {
    space.on_decommit = [this](const void* memory, std::uint64_t bytes) {
      EXPECT_TRUE(watch.is_unused(memory, bytes)) << "memory is given back that is in use";
    };
  }
  std::unique_ptr<pool_type> make(std::uint64_t bytes, std::uint64_t span_bytes = 64 * kib,
                                  std::uint64_t most_bytes = ~std::uint64_t{0}) {
    return std::make_unique<pool_type>(
        std::make_unique<test::failing_space>(bytes, space),
        stream_pool_options{
            .span_bytes = span_bytes, .capture_span_bytes = span_bytes, .pool = {.most_bytes = most_bytes}},
        test::watched_streams(world));
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
      void (stream_faults::*steps)(pool_type&);
      std::uint64_t addresses;
    };
    for (const kind& each : {kind{"without uses", &stream_faults::all_kinds_of_steps, mib},
                             kind{"with uses and a capture", &stream_faults::steps_with_uses_and_a_capture, mib},
                             kind{"with moves", &stream_faults::steps_with_moves, 2 * mib}}) {
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
using engines = testing::Types<segregated_fit, tree_fit>;
TYPED_TEST_SUITE(stream_faults, engines);

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

TYPED_TEST(stream_faults, memory_in_whole_pieces_goes_where_a_request_fits) {
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

TYPED_TEST(stream_faults, memory_stays_where_moving_it_would_not_help) {
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

// Another thread may put memory together after marks of its own while the host waits.
TYPED_TEST(stream_faults, other_streams_go_on_while_memory_moves) {
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
TYPED_TEST(stream_faults, no_request_fails_while_other_threads_have_its_pieces_free) {
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
