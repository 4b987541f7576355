// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Memory of captures: a graph finds its blocks each time it runs, so nobody else has them until the capture is
// released, and nothing of the pool becomes a part of the graph.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <thread>
#include <warpheap/pool.hpp>

#include "watched_pool.hpp"

namespace warpheap::stream_captures_test {
namespace {

using test::kib;
using test::mib;

constexpr capture_name name{1, 2};
constexpr int captured = 1;  // the stream that is captured in most tests

template <class Engine>
class stream_captures_test : public test::watched_pool<Engine> {
 protected:
  void begin(typename stream_captures_test::pool_type& pool) {
    pool.begin_capture(name, captured);
    this->world.capturing = captured;
  }
  void end(typename stream_captures_test::pool_type& pool) {
    this->world.capturing = this->world.joined = -1;
    pool.end_capture(name);
  }
  void TearDown() override {
    EXPECT_EQ(this->world.records_in_capture, 0);
    EXPECT_EQ(this->world.waits_in_capture, 0);
  }
};
TYPED_TEST_SUITE(stream_captures_test, test::engines);

TYPED_TEST(stream_captures_test, memory_of_a_capture_is_nobody_elses_until_it_is_released) {
  const auto pool = this->make(mib);
  this->begin(*pool);
  void* const a = this->allocate(*pool, captured, 600 * kib);
  this->deallocate(*pool, captured, a);
  EXPECT_EQ(this->allocate(*pool, captured, 600 * kib), a) << "within the capture it is used again";
  this->deallocate(*pool, captured, a);
  EXPECT_THROW(pool->allocate(2, 600 * kib), out_of_memory);
  this->end(*pool);
  EXPECT_THROW(pool->allocate(2, 600 * kib), out_of_memory);
  EXPECT_THROW(pool->allocate(captured, 600 * kib), out_of_memory) << "the stream itself is an ordinary one again";
  pool->trim();
  EXPECT_EQ(pool->statistics().private_bytes, 640 * kib - 40 * kib);
  EXPECT_EQ(pool->statistics().captures, 1u);
  pool->release_capture(name, captured);
  EXPECT_EQ(pool->statistics().captures, 0u);
  EXPECT_EQ(pool->statistics().private_bytes, 0u);
  EXPECT_NE(this->allocate(*pool, 2, mib), nullptr);
}

// The stream on which it is released stands for all runs of its graphs.
TYPED_TEST(stream_captures_test, released_memory_comes_after_the_work_of_the_stream) {
  const auto pool = this->make(mib);
  this->begin(*pool);
  void* const a = this->allocate(*pool, captured, mib);
  this->deallocate(*pool, captured, a);
  this->end(*pool);
  this->watch.use_beside(5, a);  // the graph runs
  pool->release_capture(name, 5);
  EXPECT_EQ(this->allocate(*pool, 2, mib), a);
  EXPECT_GE(pool->statistics().waits, 1u);
}

// What a graph left in a block, ordinary work reads afterwards, on a stream that need not be that of the release.
TYPED_TEST(stream_captures_test, released_memory_comes_after_the_work_that_took_blocks_back) {
  const auto pool = this->make(mib);
  this->begin(*pool);
  void* const a = this->allocate(*pool, captured, mib);
  this->end(*pool);
  this->deallocate(*pool, 2, a);
  pool->release_capture(name, 5);
  EXPECT_EQ(this->allocate(*pool, 3, mib), a);
}

TYPED_TEST(stream_captures_test, streams_of_the_same_capture_belong_to_it) {
  const auto pool = this->make(mib);
  this->begin(*pool);
  this->world.joined = 2;
  void* const a = this->allocate(*pool, captured, 1000);
  void* const b = this->allocate(*pool, 2, 1000);
  EXPECT_EQ(pool->statistics().streams, 0u) << "both are the capture's";
  this->deallocate(*pool, 2, b);
  EXPECT_NE(this->allocate(*pool, captured, 1000), b) << "the two run beside each other";
  this->deallocate(*pool, 2, a);
  EXPECT_NE(this->allocate(*pool, captured, 1000), a) << "its last user is the other stream";
  void* const c = this->allocate(*pool, 2, 1000);
  void* const d = this->allocate(*pool, 2, 1000);
  EXPECT_TRUE(c == a || d == a);
  EXPECT_TRUE(c == b || d == b);
}

TYPED_TEST(stream_captures_test, a_stream_that_belongs_to_no_capture_is_refused) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, captured, 1000);
  pool->begin_capture(name, [](int) { return false; });
  this->world.capturing = captured;
  EXPECT_THROW(pool->allocate(captured, 1000), stream_refused);
  EXPECT_THROW(pool->deallocate(captured, a), stream_refused);
  this->world.capturing = -1;
  this->deallocate(*pool, captured, a);
}

TYPED_TEST(stream_captures_test, the_host_waits_for_work_that_used_the_memory) {
  const auto pool = this->make(mib);
  this->deallocate(*pool, 2, this->allocate(*pool, 2, mib));
  this->begin(*pool);
  this->allocate(*pool, captured, mib);  // the watch sees that the work of stream 2 is done
}

TYPED_TEST(stream_captures_test, other_threads_go_on_while_a_capture_waits) {
  const auto pool = this->make(mib);
  this->deallocate(*pool, 2, this->allocate(*pool, 2, 900 * kib));
  this->begin(*pool);
  int waited = 0;
  this->world.on_synchronise = [&] {
    ++waited;
    this->deallocate(*pool, 3, this->allocate(*pool, 3, 10 * kib));  // would wait for itself under a lock
  };
  this->allocate(*pool, captured, 900 * kib);
  EXPECT_GT(waited, 0);
  this->world.on_synchronise = [] {};
}

TYPED_TEST(stream_captures_test, an_ordinary_block_that_a_capture_takes_back_is_free_after_it) {
  const auto pool = this->make(mib);
  void* const a = this->allocate(*pool, captured, 600 * kib);
  this->begin(*pool);
  this->deallocate(*pool, captured, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
  EXPECT_THROW(pool->allocate(captured, 600 * kib), out_of_memory);
  EXPECT_THROW(pool->allocate(2, 600 * kib), out_of_memory);
  this->end(*pool);
  EXPECT_EQ(this->allocate(*pool, 2, 600 * kib), a);
}

TYPED_TEST(stream_captures_test, a_block_of_a_capture_goes_back_to_it_from_anywhere) {
  const auto pool = this->make(mib);
  this->begin(*pool);
  void* const a = this->allocate(*pool, captured, 600 * kib);
  this->end(*pool);
  this->deallocate(*pool, 2, a);
  EXPECT_THROW(pool->allocate(2, 600 * kib), out_of_memory);
  EXPECT_THROW(pool->deallocate(2, a), unknown_block);
  this->world.finish_all();
  this->begin(*pool);
  EXPECT_EQ(this->allocate(*pool, captured, 600 * kib), a) << "a later capture of the same name";
  EXPECT_EQ(pool->statistics().captures, 1u);
}

TYPED_TEST(stream_captures_test, live_blocks_outlive_their_capture) {
  const auto pool = this->make(mib);
  this->begin(*pool);
  void* const a = this->allocate(*pool, captured, 600 * kib);
  this->deallocate(*pool, captured, this->allocate(*pool, captured, 100 * kib));
  this->end(*pool);
  this->use(*pool, 4, a);
  pool->release_capture(name, captured);
  EXPECT_EQ(pool->statistics().live_blocks, 1u);
  EXPECT_EQ(pool->block_bytes(a), 600 * kib);
  this->deallocate(*pool, 2, a);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u) << "its notes went with it";
  EXPECT_NE(this->allocate(*pool, 3, mib), nullptr);
}

TYPED_TEST(stream_captures_test, a_noted_block_is_not_used_again_within_the_capture) {
  const auto pool = this->make(mib);
  this->begin(*pool);
  this->world.joined = 2;
  void* const a = this->allocate(*pool, captured, 600 * kib);
  this->use(*pool, 2, a);
  this->deallocate(*pool, captured, a);
  EXPECT_THROW(pool->allocate(captured, 600 * kib), out_of_memory);
  this->end(*pool);
  EXPECT_THROW(pool->allocate(3, 600 * kib), out_of_memory) << "it is the capture's still";
  this->world.finish_all();
  this->begin(*pool);
  EXPECT_EQ(this->allocate(*pool, captured, 600 * kib), a);
}

TYPED_TEST(stream_captures_test, what_is_deferred_when_a_capture_is_released_becomes_free) {
  const auto pool = this->make(mib);
  this->begin(*pool);
  void* const a = this->allocate(*pool, captured, 600 * kib);
  this->end(*pool);
  this->use(*pool, 2, a);
  this->deallocate(*pool, captured, a);
  pool->release_capture(name, captured);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
  EXPECT_EQ(this->allocate(*pool, 3, 600 * kib), a);
}

TYPED_TEST(stream_captures_test, memory_is_kept_until_each_begin_has_its_release) {
  const auto pool = this->make(mib);
  for (int i = 0; i < 2; ++i) {
    this->begin(*pool);
    this->deallocate(*pool, captured, this->allocate(*pool, captured, 600 * kib));
    this->end(*pool);
  }
  pool->release_capture(name, captured);
  EXPECT_THROW(pool->allocate(2, 600 * kib), out_of_memory);
  pool->release_capture(name, captured);
  EXPECT_NE(this->allocate(*pool, 2, 600 * kib), nullptr);
  EXPECT_THROW(pool->release_capture(name, captured), std::invalid_argument);
}

// Each release may come from a thread that launched graphs on another stream.
TYPED_TEST(stream_captures_test, released_memory_comes_after_the_stream_of_each_release) {
  const auto pool = this->make(mib);
  void* a = nullptr;
  for (int i = 0; i < 3; ++i) {
    this->begin(*pool);
    a = this->allocate(*pool, captured, mib);
    this->deallocate(*pool, captured, a);
    this->end(*pool);
  }
  for (const int stream : {5, 6, 7}) {
    this->watch.use_beside(stream, a);  // a graph runs
    pool->release_capture(name, stream);
  }
  EXPECT_EQ(this->allocate(*pool, 2, mib), a);
}

TYPED_TEST(stream_captures_test, a_release_that_is_not_the_last_is_refused_on_a_captured_stream) {
  const auto pool = this->make(mib);
  for (int i = 0; i < 2; ++i) {
    this->begin(*pool);
    this->end(*pool);
  }
  this->world.capturing = captured;
  EXPECT_THROW(pool->release_capture(name, captured), stream_refused);
  this->world.capturing = -1;
  for (int i = 0; i < 2; ++i) pool->release_capture(name, captured);
  EXPECT_EQ(pool->statistics().captures, 0u);
}

// The name of such a stream is another stream for each thread.
TYPED_TEST(stream_captures_test, a_threads_own_stream_brings_no_other_threads_into_the_capture) {
  constexpr int own = test::stream_world::own_of_each_thread;
  const auto pool = this->make(mib);
  pool->begin_capture(name, own);
  this->world.capturing_thread = host_thread_serial();
  this->world.capturing = 2;  // joined
  pool->allocate(own, 1000);
  EXPECT_EQ(pool->statistics().streams, 0u);
  std::thread([&] {
    void* const block = pool->allocate(own, 1000);
    EXPECT_EQ(pool->statistics().streams, 1u) << "its block is the capture's";
    pool->deallocate(own, block);
    pool->deallocate(2, pool->allocate(2, 1000));
    EXPECT_EQ(pool->statistics().streams, 1u) << "the joined stream is the capture's for each thread";
    EXPECT_THROW(pool->allocate(own, 2 * mib), out_of_memory);
  }).join();
  this->world.capturing = -1;
  this->world.capturing_thread = 0;
  pool->end_capture(name);
}

TYPED_TEST(stream_captures_test, a_rule_says_what_belongs_and_is_not_asked_after_the_end) {
  const auto pool = this->make(mib);
  int asked = 0;
  pool->begin_capture(name, [&](int which) {
    ++asked;
    return which == 4;
  });
  void* const a = this->allocate(*pool, 4, 1000);
  void* const b = this->allocate(*pool, 5, 1000);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(pool->statistics().streams, 1u);
  pool->end_capture(name);
  this->deallocate(*pool, 4, a);
  this->deallocate(*pool, 5, b);
  EXPECT_EQ(asked, 2);
  EXPECT_THROW(pool->begin_capture(name, typename std::function<bool(int)>()), std::invalid_argument);
}

TYPED_TEST(stream_captures_test, captures_of_other_names_have_memory_of_their_own) {
  const auto pool = this->make(mib);
  pool->begin_capture({1, 2}, [](int which) { return which == 4; });
  pool->begin_capture({2, 1}, [](int which) { return which == 5; });
  void* const a = this->allocate(*pool, 4, 600 * kib);
  this->deallocate(*pool, 4, a);
  EXPECT_THROW(pool->allocate(5, 600 * kib), out_of_memory);
  pool->end_capture({1, 2});
  pool->release_capture({1, 2}, 4);
  EXPECT_EQ(pool->statistics().captures, 1u);
  EXPECT_EQ(this->allocate(*pool, 5, 600 * kib), a);
  EXPECT_EQ(this->world.waits_in_capture, 0);
}

TYPED_TEST(stream_captures_test, misuse_is_told) {
  const auto pool = this->make(mib);
  EXPECT_THROW(pool->end_capture(name), std::invalid_argument);
  EXPECT_THROW(pool->release_capture(name, captured), std::invalid_argument);
  this->begin(*pool);
  EXPECT_THROW(pool->begin_capture(name, 4), std::invalid_argument);
  EXPECT_THROW(pool->release_capture(name, 4), std::invalid_argument) << "it is not ended";
  pool->end_capture(name);
  EXPECT_THROW(pool->end_capture(name), std::invalid_argument);
  EXPECT_THROW(pool->release_capture(name, captured), stream_refused) << "no mark can be recorded there";
  EXPECT_EQ(pool->statistics().captures, 1u);
  this->world.capturing = -1;
  pool->release_capture(name, captured);
}

}  // namespace
}  // namespace warpheap::stream_captures_test
