// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A request that was refused looks at the free memory of all streams again only after a change that may serve it, and
// is served after each such change.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

#include "failing_space.hpp"
#include "watched_pool.hpp"

namespace warpheap::stream_refusals_test {
namespace {

using test::kib;
using test::mib;

// Counts how often all that is free in a book is looked at.
template <class Engine>
struct looking_engine : Engine {
  using Engine::Engine;
  template <class Visit>
  void for_each_free(std::uint64_t bytes, Visit visit) const {
    ++looks;
    Engine::for_each_free(bytes, visit);
  }
  static inline std::uint64_t looks = 0;
};

// Pieces have 64 KiB, and a span holds a piece, so a block of a piece is a span of its own.
template <class Engine>
class stream_refusals : public test::watched_pool<looking_engine<Engine>> {
 protected:
  using engine = looking_engine<Engine>;
  using pool_type = basic_stream_pool<test::watched_streams, engine>;
  static constexpr std::uint64_t piece = 64 * kib;

  // Sixteen blocks of a piece of streams 0 and 1 in turn; `pool` has no more memory then.
  std::vector<void*> fill(pool_type& pool) {
    std::vector<void*> held;
    for (int i = 0; i < 16; ++i) held.push_back(this->allocate(pool, i % 2, piece));
    return held;
  }
  // The first refusal looks at all books; the next ones look at none.
  void expect_refused(pool_type& pool, int stream, std::uint64_t bytes) {
    EXPECT_THROW(pool.allocate(stream, bytes), out_of_memory);
    const std::uint64_t looks = engine::looks;
    EXPECT_THROW(pool.allocate(stream, bytes), out_of_memory);
    EXPECT_EQ(engine::looks, looks) << "nothing changed since the last refusal";
  }
  void expect_served(pool_type& pool, int stream, std::uint64_t bytes) {
    void* block = nullptr;
    EXPECT_NO_THROW(block = this->allocate(pool, stream, bytes));
    if (block != nullptr) this->deallocate(pool, stream, block);
  }
};
TYPED_TEST_SUITE(stream_refusals, test::engines);

TYPED_TEST(stream_refusals, no_book_is_looked_at_for_as_much_or_more_while_nothing_changes) {
  using engine = looking_engine<TypeParam>;
  const auto pool = this->make(mib);
  const std::vector<void*> held = this->fill(*pool);
  for (const std::size_t i : {0, 2, 3, 6}) this->deallocate(*pool, static_cast<int>(i) % 2, held[i]);
  this->expect_refused(*pool, 2, 192 * kib);
  const std::uint64_t looks = engine::looks;
  EXPECT_GT(looks, 0u);
  const std::uint64_t failures = pool->statistics().failures;
  for (const int stream : {0, 1, 2, 3}) {
    EXPECT_THROW(pool->allocate(stream, 192 * kib), out_of_memory);
    EXPECT_THROW(pool->allocate(stream, 500 * kib), out_of_memory);
    EXPECT_THROW(pool->allocate(stream, 192 * kib, 4 * kib), out_of_memory);
  }
  EXPECT_EQ(pool->statistics().failures, failures + 12) << "each is a failure";
  EXPECT_EQ(engine::looks, looks);
  // Less fits, where two streams have a stretch together, and what is handed out makes no more room for the rest.
  void* const less = this->allocate(*pool, 3, 128 * kib);
  EXPECT_GT(engine::looks, looks);
  this->deallocate(*pool, 3, less);
}

TYPED_TEST(stream_refusals, a_smaller_alignment_is_looked_for) {
  const auto pool = this->make(mib);
  const std::vector<void*> held = this->fill(*pool);
  // Two blocks in a row that begin at no multiple of two pieces.
  const std::size_t first = reinterpret_cast<std::uintptr_t>(held[1]) % (128 * kib) == 0 ? 2 : 1;
  this->deallocate(*pool, static_cast<int>(first) % 2, held[first]);
  this->deallocate(*pool, static_cast<int>(first + 1) % 2, held[first + 1]);
  EXPECT_THROW(pool->allocate(2, 128 * kib, 128 * kib), out_of_memory);
  this->expect_served(*pool, 2, 128 * kib);
}

TYPED_TEST(stream_refusals, a_free_on_any_stream_serves_it) {
  const auto pool = this->make(mib);
  std::vector<void*> held = this->fill(*pool);
  this->deallocate(*pool, 0, held[0]);
  this->expect_refused(*pool, 2, 128 * kib);
  this->deallocate(*pool, 1, held[1]);  // by the stream that has it
  this->expect_served(*pool, 2, 128 * kib);

  this->expect_refused(*pool, 3, 192 * kib);
  this->deallocate(*pool, 3, held[2]);  // by another stream
  this->expect_served(*pool, 4, 192 * kib);

  // What is freed in a large block's span, which another block keeps from the common pool.
  void* const a = this->allocate(*pool, 5, 150 * kib);
  this->expect_refused(*pool, 6, 300 * kib);
  this->deallocate(*pool, 1, held[3]);
  this->deallocate(*pool, 0, held[4]);
  this->expect_refused(*pool, 6, 300 * kib);
  this->deallocate(*pool, 5, a);
  this->expect_served(*pool, 6, 300 * kib);
}

TYPED_TEST(stream_refusals, a_free_after_a_stream_with_as_many_was_forgotten_serves_it) {
  const auto pool = this->make(mib);
  const std::vector<void*> held = this->fill(*pool);
  void* const all_of_it = held[15];
  this->deallocate(*pool, 7, all_of_it);
  const void* const again = this->allocate(*pool, 7, this->piece);
  EXPECT_EQ(again, all_of_it);
  this->expect_refused(*pool, 2, this->piece);
  pool->forget(7);
  this->deallocate(*pool, 0, held[4]);
  this->expect_served(*pool, 2, this->piece);
}

TYPED_TEST(stream_refusals, a_limit_that_is_raised_serves_it) {
  const auto pool = this->make(2 * mib, 64 * kib, mib);
  const std::vector<void*> held = this->fill(*pool);
  this->expect_refused(*pool, 2, this->piece);
  // Half of it is free already, before addresses without memory.
  this->deallocate(*pool, 1, held[15]);
  this->expect_refused(*pool, 2, 128 * kib);
  pool->limit(mib + this->piece);
  this->expect_served(*pool, 2, 128 * kib);
}

// Five stretches have as much free memory, at both ends. Two pieces have no memory between these, and one piece in the
// last stretch. The limit leaves one piece.
TYPED_TEST(stream_refusals, the_one_stretch_of_many_over_which_the_pool_can_grow_serves_it) {
  constexpr std::uint64_t part = 60 * kib;
  constexpr std::uint64_t rest = TestFixture::piece - part;
  const auto pool = this->make((4 * 4 + 3) * this->piece, mib);
  std::vector<void*> ends;
  std::vector<void*> between;
  for (const std::uint64_t pieces : {2, 2, 2, 2, 1}) {
    this->allocate(*pool, 0, rest);
    ends.push_back(this->allocate(*pool, 0, part));
    between.push_back(this->allocate(*pool, 0, pieces * this->piece));
    ends.push_back(this->allocate(*pool, 0, part));
    this->allocate(*pool, 0, rest);
  }
  for (void* const each : between) this->deallocate(*pool, 0, each);
  EXPECT_EQ(pool->trim(), 9 * this->piece);
  for (void* const each : ends) this->deallocate(*pool, 0, each);
  pool->limit(pool->statistics().committed_bytes + this->piece);
  this->expect_served(*pool, 1, part + this->piece + part);
  EXPECT_EQ(pool->statistics().failures, 0u);
}

// Pieces are free where no request fits, and there are addresses in a row elsewhere: the limit alone is in the way.
TYPED_TEST(stream_refusals, pieces_move_for_it_when_enough_are_free) {
  const auto pool = this->make(2 * mib, 64 * kib, mib);
  const std::vector<void*> held = this->fill(*pool);
  for (const std::size_t i : {1, 5, 9}) this->deallocate(*pool, 1, held[i]);
  this->expect_refused(*pool, 2, 256 * kib);
  this->deallocate(*pool, 1, held[13]);
  this->expect_served(*pool, 2, 256 * kib);
}

// The use cannot be marked while its stream is captured, so the block stays deferred.
TYPED_TEST(stream_refusals, the_end_of_a_use_serves_it) {
  const auto pool = this->make(mib);
  const std::vector<void*> held = this->fill(*pool);
  this->use(*pool, 5, held[0]);
  this->world.capturing = 5;
  this->deallocate(*pool, 0, held[0]);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
  this->deallocate(*pool, 1, held[1]);  // free in another book than the deferred block will be
  this->expect_refused(*pool, 2, 128 * kib);
  this->world.capturing = -1;
  this->expect_served(*pool, 2, 128 * kib);
}

TYPED_TEST(stream_refusals, the_end_of_a_foreign_capture_serves_it) {
  using engine = looking_engine<TypeParam>;
  const auto pool = this->make(mib);
  const std::vector<void*> held = this->fill(*pool);
  this->deallocate(*pool, 0, held[0]);
  this->world.capturing = 0;
  EXPECT_THROW(pool->allocate(2, this->piece), out_of_memory);
  const std::uint64_t looks = engine::looks;
  EXPECT_THROW(pool->allocate(2, this->piece), out_of_memory);
  EXPECT_GT(engine::looks, looks) << "what the captured stream has may be free by now";
  this->world.capturing = -1;
  this->expect_served(*pool, 2, this->piece);
}

// A captured stream without free memory has nothing that its end could bring.
TYPED_TEST(stream_refusals, a_foreign_capture_without_free_memory_changes_nothing) {
  const auto pool = this->make(mib);
  const std::vector<void*> held = this->fill(*pool);
  this->deallocate(*pool, 1, held[1]);
  this->world.capturing = 0;
  this->expect_refused(*pool, 2, 128 * kib);
  this->world.capturing = -1;
  this->deallocate(*pool, 0, held[2]);
  this->expect_served(*pool, 2, 128 * kib);
}

TYPED_TEST(stream_refusals, the_release_of_a_capture_serves_it) {
  const auto pool = this->make(mib);
  pool->begin_capture({1, 2}, 1);
  this->world.capturing = 1;
  this->deallocate(*pool, 1, this->allocate(*pool, 1, 900 * kib));
  pool->end_capture({1, 2});
  this->world.capturing = -1;
  this->world.finish_all();
  this->expect_refused(*pool, 2, 600 * kib);
  pool->release_capture({1, 2}, 3);
  this->expect_served(*pool, 2, 600 * kib);
}

TYPED_TEST(stream_refusals, memory_that_the_machine_has_again_serves_it) {
  for (const bool has_free : {false, true}) {
    SCOPED_TRACE(has_free);
    test::space_watch watched;
    bool is_out = false;
    watched.on_commit = [&] {
      if (is_out) throw std::bad_alloc();
    };
    stream_pool_options options;
    options.span_bytes = 64 * kib;
    typename TestFixture::pool_type pool(std::make_unique<test::failing_space>(2 * mib, watched), options,
                                         test::watched_streams(this->world));
    std::vector<void*> held = this->fill(pool);
    // Free pieces are given back for the request, and the machine may keep them.
    for (std::size_t i = 0; has_free && i < held.size(); i += 2) {
      this->deallocate(pool, 0, std::exchange(held[i], nullptr));
    }
    is_out = true;
    for (int i = 0; i < 3; ++i) EXPECT_THROW(pool.allocate(2, 320 * kib), out_of_memory);
    is_out = false;
    this->expect_served(pool, 2, 320 * kib);
    for (void* const each : held) {
      if (each != nullptr) this->deallocate(pool, 0, each);
    }
    this->world.finish_all();  // the next pool may lie at the same addresses
  }
}

// Two pools take the same steps. One is told its limit again before each request, so it looks at all books each time;
// the other must hand out the same blocks and refuse the same requests. (The tree alone hands out memory by its address
// and size, in whatever order it came.)
TEST(stream_refusals_test, agree_with_a_pool_that_always_looks) {
  using engine = looking_engine<tree_fit>;
  using pool_type = basic_stream_pool<test::watched_streams, engine>;
  std::uint64_t refusals = 0;
  std::uint64_t looks[2] = {};
  for (std::uint64_t seed = 1, seeds = test::scaled_up_to(30, 2'000); seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    test::random_stream random(seed, 0);
    test::stream_world worlds[2];
    const std::uint64_t addresses = random.below(2) == 0 ? mib : 2 * mib;
    std::uint64_t most = random.below(3) == 0 ? ~std::uint64_t{0} : mib;
    stream_pool_options options;
    options.span_bytes = options.capture_span_bytes = 16 * kib << random.below(3);
    options.pool.most_bytes = most;
    std::unique_ptr<pool_type> pools[2];
    for (int i = 0; i < 2; ++i) {
      pools[i] = std::make_unique<pool_type>(std::make_unique<host_space>(addresses, 64 * kib), options,
                                             test::watched_streams(worlds[i]));
    }
    std::vector<std::pair<void*, void*>> held;
    const auto both = [&](auto call) {
      for (int i = 0; i < 2; ++i) call(*pools[i], worlds[i], i);
    };
    bool is_begun = false;
    for (int step = 0; step < 400; ++step) {
      const int stream = static_cast<int>(random.below(4));
      const std::uint64_t kind = random.below(40);
      if (kind < 20) {
        const std::uint64_t bytes = random.below(3) == 0 ? 1 + random.below(400 * kib) : 1 + random.below(60 * kib);
        const std::uint64_t alignment = random.below(4) == 0 ? std::uint64_t{1} << random.below(13) : 1;
        void* blocks[2] = {};
        int refused = 0;
        both([&](pool_type& pool, test::stream_world& world, int i) {
          if (i == 1) pool.limit(most);
          const std::uint64_t before = engine::looks;
          try {
            blocks[i] = pool.allocate(stream, bytes, alignment);
            world.work(stream);
          } catch (const out_of_memory&) {
            ++refused;
            looks[i] += engine::looks - before;
          } catch (const stream_refused&) {
          }
        });
        const auto offset = [&](int i) {
          return blocks[i] == nullptr ? -1
                                      : std::distance(static_cast<const std::byte*>(pools[i]->common().data()),
                                                      static_cast<const std::byte*>(blocks[i]));
        };
        ASSERT_EQ(offset(0), offset(1)) << "step " << step << ", " << bytes << " bytes on stream " << stream;
        refusals += refused == 2;
        if (blocks[0] != nullptr) held.emplace_back(blocks[0], blocks[1]);
      } else if (kind < 32) {
        if (held.empty()) continue;
        std::swap(held[random.below(held.size())], held.back());
        const bool is_used = random.below(4) == 0;
        bool is_taken_back = true;
        both([&](pool_type& pool, test::stream_world& world, int i) {
          void* const block = i == 0 ? held.back().first : held.back().second;
          world.work(stream);
          try {
            if (is_used) pool.note_use((stream + 1) % 4, block);
            pool.deallocate(stream, block);
          } catch (const stream_refused&) {
            is_taken_back = false;
          }
        });
        if (is_taken_back) held.pop_back();
      } else if (kind == 32) {
        both([&](pool_type&, test::stream_world& world, int) { world.finish_all(); });
      } else if (kind == 33) {
        both([&](pool_type& pool, test::stream_world&, int) { pool.trim(); });
      } else if (kind == 34) {
        both([&](pool_type& pool, test::stream_world& world, int) {
          if (world.capturing != stream) pool.forget(stream);
        });
      } else if (kind == 35) {
        if (most != ~std::uint64_t{0}) most = (4 + random.below(14)) * 64 * kib;
        both([&](pool_type& pool, test::stream_world&, int) { pool.limit(most); });
      } else if (kind == 36) {
        both([&](pool_type&, test::stream_world& world, int) { world.capturing = is_begun ? 3 : stream; });
      } else if (kind <= 38 && !is_begun) {
        both([&](pool_type&, test::stream_world& world, int) { world.capturing = -1; });
      } else if (kind == 39) {
        both([&](pool_type& pool, test::stream_world& world, int) {
          if (!is_begun) {
            world.capturing = 3;
            pool.begin_capture({seed, 1}, 3);
          } else {
            pool.end_capture({seed, 1});
            world.capturing = -1;
            pool.release_capture({seed, 1}, 0);
          }
        });
        is_begun = !is_begun;
      }
    }
    both([&](pool_type&, test::stream_world& world, int) { world.capturing = -1; });
  }
  EXPECT_GT(refusals, 50u);
  EXPECT_LT(looks[0], looks[1]) << "some requests found nothing changed";
}

}  // namespace
}  // namespace warpheap::stream_refusals_test
