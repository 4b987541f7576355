// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The instrument is tested: under ThreadSanitizer a fence orders through the atomic accesses beside it, and through
// nothing else. Each planted mistake is one change to a correct publication, and is reported.

#include <gtest/gtest.h>

#include <cstdint>
#include <platform/host/planted.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::fences_test {
namespace {

using test::expect_clean;
using test::expect_race;
using test::shared_words;

constexpr thread_scope scope = thread_scope::device;
constexpr memory_order relaxed = memory_order::relaxed;
constexpr memory_order acquire = memory_order::acquire;
constexpr memory_order release = memory_order::release;
using word = std::uint32_t;

// The last thread of two blocks writes data and sets a flag; the others wait for the flag and read the data. Instead
// of a fence of order relaxed there is no fence.
struct publication {
  memory_order writer_fence = release;
  memory_order store = relaxed;
  memory_order load = relaxed;
  memory_order reader_fence = acquire;
  bool late_write = false;   // the data are written after the fence
  bool early_read = false;   // the data are read before the fence
  bool other_store = false;  // the fence stands beside the store to another word, and the flag is set before it
  bool by_update = false;    // the flag is set by a read-modify-write
  bool earlier = false;      // an earlier fence and store of the same writer belong to something else

  void operator()(shared_words* shared) const {
    if (grid_thread_index() == grid_threads() - 1) {
      write(*shared);
    } else {
      read(*shared);
    }
  }

 private:
  static void pass(memory_order order) {
    if (order != relaxed) fence(order, scope);
  }

  void write(shared_words& shared) const {
    const atomic_view flag{shared.flag};
    const atomic_view other{shared.more[0]};
    if (earlier) {
      fence(release, scope);
      other.store(1, relaxed, scope);
    }
    if (!late_write) shared.data = 7;
    if (other_store) {
      flag.store(1, relaxed, scope);
      pass(writer_fence);
      other.store(1, relaxed, scope);
      return;
    }
    pass(writer_fence);
    if (late_write) shared.data = 7;
    if (by_update) {
      flag.fetch_or(1, store, scope);
    } else {
      flag.store(1, store, scope);
    }
  }

  void read(shared_words& shared) const {
    const atomic_view flag{shared.flag};
    {
      backoff wait;
      while (flag.load(load, scope) == 0) wait.pause();
    }
    word seen = 0;
    if (early_read) seen = shared.data;
    pass(reader_fence);
    if (!early_read) seen = shared.data;
    shared.more[1 + grid_thread_index() % 32] = seen;
  }
};

constexpr grid_shape two_blocks{2, 1};

TEST(fence_deathtest, publish_a_word_together) { expect_clean(two_blocks, publication{}); }
TEST(fence_deathtest, publish_by_a_read_modify_write) { expect_clean(two_blocks, publication{.by_update = true}); }
TEST(fence_deathtest, a_release_fence_meets_an_acquiring_load) {
  expect_clean(two_blocks, publication{.load = acquire, .reader_fence = relaxed});
}
TEST(fence_deathtest, a_releasing_store_meets_an_acquire_fence) {
  expect_clean(two_blocks, publication{.writer_fence = relaxed, .store = release});
}
TEST(fence_deathtest, one_fence_does_both) {
  expect_clean(two_blocks, publication{.writer_fence = memory_order::acq_rel, .reader_fence = memory_order::acq_rel});
}

TEST(fence_deathtest, without_a_release_nothing_is_published) {
  expect_race(two_blocks, publication{.writer_fence = relaxed});
}
TEST(fence_deathtest, without_an_acquire_nothing_is_seen) {
  expect_race(two_blocks, publication{.reader_fence = relaxed});
}
TEST(fence_deathtest, an_acquire_is_no_release) { expect_race(two_blocks, publication{.writer_fence = acquire}); }
TEST(fence_deathtest, a_release_is_no_acquire) { expect_race(two_blocks, publication{.reader_fence = release}); }
TEST(fence_deathtest, what_follows_the_release_is_not_published) {
  expect_race(two_blocks, publication{.late_write = true});
}
TEST(fence_deathtest, what_precedes_the_acquire_is_not_ordered) {
  expect_race(two_blocks, publication{.early_read = true});
}
TEST(fence_deathtest, a_fence_does_not_order_the_store_before_it) {
  expect_race(two_blocks, publication{.other_store = true});
}
TEST(fence_deathtest, an_earlier_fence_does_not_order_what_follows_it) {
  expect_race(two_blocks, publication{.writer_fence = relaxed, .earlier = true});
}

// Reads that a lane's notes keep between two acquire fences (`fence_notes::most_reads`).
constexpr int kept_reads = 256;

// The last thread publishes other words, then data and a flag. The others see the flag, read `others` of the other
// words, and pass one acquire fence for all these reads. The fence orders the flag's as well, whatever came after it.
struct reads_before_a_fence {
  int others;
  bool again = false;  // the flag is read once more, after the other words

  void operator()(shared_words* shared) const {
    const atomic_view flag{shared->flag};
    if (grid_thread_index() == grid_threads() - 1) {
      fence(release, scope);
      for (int i = 0; i < others; ++i) atomic_view{shared->more[i]}.store(1, relaxed, scope);
      shared->data = 7;
      fence(release, scope);
      flag.store(1, relaxed, scope);
      return;
    }
    {
      backoff wait;
      while (flag.load(relaxed, scope) == 0) wait.pause();
    }
    word ones = 0;
    for (int i = 0; i < others; ++i) ones += atomic_view{shared->more[i]}.load(relaxed, scope);
    if (again) ones += flag.load(relaxed, scope) - 1;
    fence(acquire, scope);
    require(shared->data == 7 && ones == static_cast<word>(others), "published words are missing");
  }
};

TEST(fence_deathtest, as_many_reads_as_are_kept_meet_one_fence) {
  expect_clean(two_blocks, reads_before_a_fence{.others = kept_reads - 1});
}
// A limit of the instrument, and no mistake of the program: with one read more the oldest is forgotten.
TEST(fence_deathtest, beyond_that_the_oldest_read_is_forgotten) {
  expect_race(two_blocks, reads_before_a_fence{.others = kept_reads});
}
TEST(fence_deathtest, a_forgotten_read_is_kept_again_when_it_is_repeated) {
  expect_clean(two_blocks, reads_before_a_fence{.others = kept_reads, .again = true});
}

}  // namespace
}  // namespace warpheap::fences_test
