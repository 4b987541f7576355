// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Blocks that several streams use: none is handed out again before the work that each noted stream was given before the
// block was taken back is done or waited for.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

#include "failing_space.hpp"
#include "watched_pool.hpp"

namespace warpheap::stream_uses_test {
namespace {

using test::kib;
using test::mib;

template <class Engine>
class stream_uses_test : public test::watched_pool<Engine> {};
TYPED_TEST_SUITE(stream_uses_test, test::engines);

TYPED_TEST(stream_uses_test, memory_that_another_stream_uses_is_left_alone_while_there_is_other) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 1000);
  this->use(*pool, 2, a);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
  EXPECT_EQ(pool->statistics().deferred_bytes, 1024u);
  EXPECT_EQ(pool->statistics().live_blocks, 0u);
  EXPECT_NE(this->allocate(*pool, 1, 1000), a);
  EXPECT_NE(this->allocate(*pool, 3, 100 * kib), a);
  EXPECT_EQ(pool->statistics().waits, 0u);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
}

TYPED_TEST(stream_uses_test, memory_is_free_when_the_use_is_over) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->use(*pool, 2, a);
  this->deallocate(*pool, 1, a);
  this->world.finish_all();
  EXPECT_EQ(this->allocate(*pool, 3, mib), a);
  EXPECT_EQ(pool->statistics().waits, 0u);
  EXPECT_EQ(pool->statistics().gatherings, 0u);
  EXPECT_EQ(pool->statistics().deferred_blocks, 0u);
}

// The stream that takes the block back too: it may have much work left.
TYPED_TEST(stream_uses_test, without_other_memory_a_stream_waits_for_all_uses) {
  for (const int next : {1, 2, 3}) {
    const auto pool = this->make(mib);
    void* const a = this->allocate(*pool, 1, mib);
    this->use(*pool, 2, a);
    this->deallocate(*pool, 1, a);
    EXPECT_EQ(this->allocate(*pool, next, mib), a);
    EXPECT_GE(pool->statistics().waits, 1u);
    EXPECT_EQ(pool->statistics().deferred_blocks, 0u);
    this->deallocate(*pool, next, a);  // the next pool may lie at the same addresses
    this->world.finish_all();
  }
}

TYPED_TEST(stream_uses_test, work_between_the_note_and_the_deallocation_counts) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  pool->note_use(2, a);
  for (int i = 0; i < 3; ++i) this->watch.use_beside(2, a);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(this->allocate(*pool, 3, mib), a);
}

TYPED_TEST(stream_uses_test, a_use_by_the_stream_that_takes_the_block_back_changes_nothing) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 1000);
  this->use(*pool, 1, a);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 0u);
  EXPECT_EQ(this->allocate(*pool, 1, 1000), a);
  this->deallocate(*pool, 4, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 0u) << "the note outlived its block";
}

TYPED_TEST(stream_uses_test, a_note_ends_with_its_block_on_the_stream_that_is_noted) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->use(*pool, 2, a);
  this->deallocate(*pool, 2, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 0u);
  EXPECT_EQ(this->allocate(*pool, 1, mib), a);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 0u) << "the note outlived its block";
}

TYPED_TEST(stream_uses_test, a_noted_block_may_be_taken_back_on_any_stream) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 600 * kib);
  this->use(*pool, 2, a);
  this->use(*pool, 4, a);
  this->deallocate(*pool, 2, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
  this->allocate(*pool, 3, mib);
}

TYPED_TEST(stream_uses_test, a_deferred_block_is_no_live_one) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 1000);
  EXPECT_EQ(pool->block_bytes(a), 1024u);
  this->use(*pool, 2, a);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(pool->block_bytes(a), 0u);
  for (const int stream : {1, 2, 3}) {
    EXPECT_THROW(pool->deallocate(stream, a), unknown_block);
    EXPECT_THROW(pool->note_use(stream, a), unknown_block);
  }
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
}

TYPED_TEST(stream_uses_test, misuse_is_told) {
  const auto pool = this->make(mib);
  auto* const a = static_cast<std::byte*>(this->allocate(*pool, 1, 1000));
  int elsewhere = 0;
  EXPECT_THROW(pool->note_use(2, &elsewhere), unknown_block);
  EXPECT_THROW(pool->note_use(2, a + 256), unknown_block);
  EXPECT_NO_THROW(pool->note_use(2, nullptr));
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 0u);
  EXPECT_THROW(pool->note_use(2, a), unknown_block);
}

TYPED_TEST(stream_uses_test, a_forgotten_stream_is_waited_for_and_not_named) {
  for (const bool has_blocks_of_its_own : {false, true}) {
    const auto pool = this->make(2 * mib);
    void* const a = this->allocate(*pool, 1, mib);
    if (has_blocks_of_its_own) this->deallocate(*pool, 2, this->allocate(*pool, 2, mib));
    this->use(*pool, 2, a);
    pool->forget(2);
    this->world.destroyed = 2;
    this->deallocate(*pool, 1, a);
    this->deallocate(*pool, 3, this->allocate(*pool, 3, 2 * mib));
    EXPECT_EQ(this->world.calls_on_destroyed, 0);
    this->world.destroyed = 99;  // no stream of this test
    this->world.finish_all();
  }
}

// What the pool knows under a name is the old stream's work, and the new one does not come after it.
TYPED_TEST(stream_uses_test, a_later_stream_of_the_same_name_does_not_hide_the_use) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->use(*pool, 2, a);
  pool->forget(2);
  this->watch.end(2, a);
  pool->deallocate(2, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
}

TYPED_TEST(stream_uses_test, a_blocks_notes_stay_when_its_stream_is_forgotten) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->use(*pool, 2, a);
  pool->forget(1);
  this->deallocate(*pool, 4, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
  this->allocate(*pool, 3, mib);
}

TYPED_TEST(stream_uses_test, a_captured_user_is_waited_for_after_its_capture) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->use(*pool, 2, a);
  this->world.capturing = 2;
  this->deallocate(*pool, 1, a);
  EXPECT_THROW(pool->allocate(3, mib), out_of_memory);
  this->world.finish_all();
  EXPECT_THROW(pool->allocate(3, mib), out_of_memory) << "the graph uses it";
  EXPECT_EQ(this->world.records_in_capture, 0);
  this->world.capturing = -1;
  EXPECT_EQ(this->allocate(*pool, 3, mib), a);
}

// Only the thread can mark such a stream, so what it was given is marked at once.
TYPED_TEST(stream_uses_test, a_threads_own_stream_is_marked_when_it_is_noted) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->watch.use_beside(1'000, a);
  pool->note_use(1'000, a);
  this->watch.use_beside(1'000, a);
  pool->note_use(1'000, a);
  EXPECT_EQ(this->world.events, 1) << "the later mark stands for the earlier";
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(this->allocate(*pool, 3, mib), a);
  this->world.capturing = 1'000;
  EXPECT_THROW(pool->note_use(1'000, a), stream_refused);
}

TYPED_TEST(stream_uses_test, trim_and_the_end_wait_for_uses) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, mib);
  this->use(*pool, 2, a);
  this->deallocate(*pool, 1, a);
  EXPECT_EQ(pool->trim(), mib);
  EXPECT_EQ(pool->statistics().deferred_bytes, 0u);

  test::space_watch space;
  bool has_ended = false;
  space.on_end = [&] {
    has_ended = true;
    EXPECT_TRUE(this->world.is_all_finished()) << "work still uses the memory";
  };
  {
    typename TestFixture::pool_type other(std::make_unique<test::failing_space>(mib, space), {},
                                          test::watched_streams(this->world));
    void* const b = this->allocate(other, 1, 1000);
    this->use(other, 2, b);
    this->deallocate(other, 1, b);
    this->use(other, 3, this->allocate(other, 1, 1000));  // is live at the end
  }
  EXPECT_TRUE(has_ended);
}

TYPED_TEST(stream_uses_test, trim_keeps_what_it_is_told_to) {
  const auto pool = this->make(mib);
  this->deallocate(*pool, 1, this->allocate(*pool, 1, mib));
  EXPECT_EQ(pool->trim(700 * kib), 5 * 64 * kib) << "whole pieces";
  EXPECT_EQ(pool->statistics().committed_bytes, mib - 5 * 64 * kib);
  EXPECT_EQ(pool->trim(mib), 0u);
  EXPECT_EQ(pool->trim(), mib - 5 * 64 * kib);
  EXPECT_NE(this->allocate(*pool, 2, mib), nullptr);
}

TYPED_TEST(stream_uses_test, usage_and_its_peaks_are_counted) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 1000);
  void* const b = this->allocate(*pool, 2, 100 * kib);
  this->use(*pool, 3, a);
  this->deallocate(*pool, 1, a);  // deferred
  this->deallocate(*pool, 3, b);  // moved
  void* const c = this->allocate(*pool, 2, 10 * kib);
  auto now = pool->statistics();
  EXPECT_EQ(now.allocations, 3u);
  EXPECT_EQ(now.allocated_bytes, 111 * kib);
  EXPECT_EQ(now.deallocations, 2u);
  EXPECT_EQ(now.deallocated_bytes, 101 * kib);
  EXPECT_EQ(now.peak_live_bytes, 101 * kib);
  EXPECT_EQ(now.peak_live_blocks, 2u);
  EXPECT_EQ(now.peak_committed_bytes, now.committed_bytes);
  EXPECT_THROW(pool->allocate(1, 2 * mib), out_of_memory);
  EXPECT_EQ(pool->statistics().failures, 1u);
  const std::uint64_t committed = now.committed_bytes;
  pool->trim();
  pool->reset_peaks();
  now = pool->statistics();
  EXPECT_EQ(now.peak_live_bytes, 10 * kib);
  EXPECT_EQ(now.peak_live_blocks, 1u);
  EXPECT_EQ(now.peak_committed_bytes, now.committed_bytes);
  EXPECT_LT(now.committed_bytes, committed);
  this->deallocate(*pool, 2, c);
  EXPECT_EQ(pool->statistics().peak_live_bytes, 10 * kib);
}

TYPED_TEST(stream_uses_test, an_observer_is_told_of_each_change) {
  struct : usage_observer {
    std::vector<usage_figures> told;
    void usage_changed(const usage_figures& now) noexcept override { told.push_back(now); }
  } seen;
  stream_pool_options options;
  options.span_bytes = 64 * kib;
  options.counts_usage = true;
  options.observer = &seen;
  typename TestFixture::pool_type pool(std::make_unique<host_space>(mib, 64 * kib), options,
                                       test::watched_streams(this->world));
  void* const a = this->allocate(pool, 1, 1000);
  void* const b = this->allocate(pool, 1, 10 * kib);  // fits the stream's span
  this->deallocate(pool, 1, a);
  this->use(pool, 2, b);
  this->deallocate(pool, 1, b);  // deferred
  EXPECT_THROW(pool.allocate(1, 2 * mib), out_of_memory);
  pool.reset_peaks();
  ASSERT_EQ(seen.told.size(), 5u) << "a failure changes no figure";
  EXPECT_EQ(seen.told[0].live_bytes(), 1 * kib);
  EXPECT_EQ(seen.told[1].live_bytes(), 11 * kib);
  EXPECT_EQ(seen.told[1].live_blocks(), 2u);
  EXPECT_EQ(seen.told[2].live_bytes(), 10 * kib);
  EXPECT_EQ(seen.told[3].deallocations, 2u);
  EXPECT_EQ(seen.told[3].peak_live_bytes, 11 * kib);
  EXPECT_EQ(seen.told[4].peak_live_bytes, 0u);
  EXPECT_EQ(seen.told[4].allocated_bytes, 11 * kib);
}

TYPED_TEST(stream_uses_test, a_snapshot_tells_of_each_segment_once) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, 1, 1000);
  this->allocate(*pool, 1, 2000);
  this->use(*pool, 2, a);
  this->deallocate(*pool, 1, a);
  pool->begin_capture({7, 8}, 5);
  this->allocate(*pool, 5, 3000);
  EXPECT_EQ(pool->snapshot().substr(pool->snapshot().find("\"reserved_bytes\"")),
            "\"reserved_bytes\": 1048576, \"granule_bytes\": 256, \"segments\": ["
            "{\"offset\": 0, \"bytes\": 1024, \"state\": \"deferred\"}, "
            "{\"offset\": 1024, \"bytes\": 2048, \"state\": \"live\", \"stream\": \"0x1\"}, "
            "{\"offset\": 3072, \"bytes\": 62464, \"state\": \"free\", \"stream\": \"0x1\"}, "
            "{\"offset\": 65536, \"bytes\": 3072, \"state\": \"live\", \"stream\": \"0x5\", \"capture\": [7, 8]}, "
            "{\"offset\": 68608, \"bytes\": 62464, \"state\": \"free\", \"stream\": \"0x5\", \"capture\": [7, 8]}, "
            "{\"offset\": 131072, \"bytes\": 917504, \"state\": \"absent\"}]}");
}

// A pool that is too small for its streams, so that deferred memory is given on before its uses are over.
TYPED_TEST(stream_uses_test, random_uses_keep_the_order) {
  const auto pool = this->make(2 * mib, 128 * kib);
  test::random_stream random(3, 0);
  std::vector<std::pair<int, void*>> held;
  std::uint64_t failures = 0;
  std::uint64_t most_deferred = 0;
  for (std::uint64_t i = 0, steps = test::scaled_up_to(20'000, 500'000); i < steps && !this->HasFailure(); ++i) {
    const int stream = static_cast<int>(random.below(4)) + (random.below(2) == 0 ? 0 : 998);
    const std::uint64_t kind = random.below(1000);
    if (kind < 400) {
      try {
        held.emplace_back(stream, this->allocate(*pool, stream, random.size(256 * kib)));
      } catch (const out_of_memory&) {
        ++failures;
      }
    } else if (kind < 600 && !held.empty()) {
      void* const block = held[random.below(held.size())].second;
      this->watch.use_beside(stream, block);
      pool->note_use(stream, block);
    } else if (kind < 985 && !held.empty()) {
      std::swap(held[random.below(held.size())], held.back());
      const bool own = random.below(8) != 0;
      this->deallocate(*pool, own ? held.back().first : stream, held.back().second);
      held.pop_back();
    } else if (kind < 990) {
      pool->trim(random.size(4 * mib));
    } else if (kind < 995) {
      this->world.finish_all();
    } else if (kind < 998) {
      pool->forget(stream);
    }
    const auto now = pool->statistics();
    most_deferred = now.deferred_blocks > most_deferred ? now.deferred_blocks : most_deferred;
    EXPECT_EQ(now.committed_bytes, now.live_bytes + now.stream_bytes + now.common_bytes + now.deferred_bytes);
  }
  EXPECT_GT(most_deferred, 10u);
  EXPECT_GT(failures, 0u) << "the pool was never full";
  for (const auto& [stream, block] : held) this->deallocate(*pool, stream, block);
  pool->trim();
  EXPECT_EQ(pool->statistics().committed_bytes, 0u) << "something was lost";
}

TYPED_TEST(stream_uses_test, threads_note_and_capture_beside_each_other) {
  const auto pool = this->make(16 * mib, 256 * kib);
  const std::uint64_t steps = test::scaled(4'000, 4'000);
  std::vector<std::thread> threads;
  for (int id = 0; id < 2; ++id) {
    threads.emplace_back([&, id] {
      test::random_stream random(7, static_cast<std::uint64_t>(id));
      std::vector<void*> held;
      for (std::uint64_t i = 0; i < steps; ++i) {
        const int stream = 3 * id + static_cast<int>(random.below(3));
        const std::uint64_t kind = random.below(8);
        try {
          if (held.size() < 40 && kind < 4) {
            held.push_back(this->allocate(*pool, stream, random.size(128 * kib)));
          } else if (!held.empty() && kind < 6) {
            this->watch.use_beside(stream, held.back());
            pool->note_use(stream, held.back());
          } else if (!held.empty()) {
            // On a stream of either thread, so that each looks into the other's books.
            this->deallocate(*pool, static_cast<int>(random.below(6)), held.back());
            held.pop_back();
          }
          if (i % 64 == 0) {
            const capture_name name{static_cast<std::uint64_t>(id), 0};
            const int own = 100 + id;
            pool->begin_capture(name, [own](int which) { return which == own; });
            void* const block = this->allocate(*pool, own, 10 * kib);
            this->deallocate(*pool, own, block);
            EXPECT_EQ(this->allocate(*pool, own, 10 * kib), block);
            this->deallocate(*pool, own, block);
            pool->end_capture(name);
            pool->release_capture(name, own);
          }
          if (i % 1024 == 0) pool->trim();
          if (i % 500 == 0) pool->forget(stream);
        } catch (const out_of_memory&) {
          for (void* const block : held) this->deallocate(*pool, stream, block);
          held.clear();
        }
      }
      for (void* const block : held) this->deallocate(*pool, 3 * id, block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->statistics().live_blocks, 0u);
  EXPECT_EQ(pool->statistics().captures, 0u);
  pool->trim();
  EXPECT_EQ(pool->statistics().committed_bytes, 0u);
}

}  // namespace
}  // namespace warpheap::stream_uses_test
