// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Cases that look at a heap as a whole find each fault of an allocator that they are there to find, and their figures
// are right for allocators that are known. Each broken allocator runs in a child process of its own, because it may
// break anything.

#include <gtest/gtest.h>

#include <algorithm>
#include <allocator/mutants.hpp>
#include <allocator/reference.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <support/child_process.hpp>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/platform.hpp>

#include "case_outcome.hpp"
#include "cases/exhaustion.hpp"
#include "cases/fragmentation.hpp"
#include "cases/growth.hpp"
#include "cases/initialisation.hpp"
#include "cases/out_of_memory.hpp"

namespace warpheap::bench::whole_heap_test {

// Designs of which something is known, beside those of the conformance suite.
namespace known {

using sound = test::locked_list<>;

/// The reference, and a number for each call of malloc.
struct numbered : sound {
  explicit numbered(const arena& from)
      : sound(arena{from.data, from.bytes, from.reserved_bytes, from.metadata + own_bytes}),
        calls_(reinterpret_cast<std::uint64_t*>(from.metadata)),
        kept_(calls_ + 1) {}

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return own_bytes + sound::metadata_bytes(bytes);
  }

 protected:
  static constexpr std::uint64_t own_bytes = 256;

  WARPHEAP_FN std::uint64_t next() const {
    return atomic_view{*calls_}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }

  std::uint64_t* calls_;
  std::uint64_t* kept_;  // for whatever is made of this
};

/// Refuses each third request, whether it has room or not.
template <bool PromisesRoom>
struct moody : numbered {
  using numbered::numbered;
  static constexpr const char* name = "moody";
  static constexpr allocator_capabilities capabilities = [] {
    allocator_capabilities can = sound::capabilities;
    can.refuses_only_when_full = PromisesRoom;
    return can;
  }();

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return next() % 3 == 0 ? nullptr : sound::malloc(bytes); }
};

/// Hands one block in a thousand out a second time.
struct repeating : numbered {
  using numbered::numbered;
  static constexpr const char* name = "repeating";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    const atomic_view kept{*kept_};
    const std::uint64_t number = next();
    if (number % 1000 == 999) {
      const std::uint64_t before = kept.exchange(0, memory_order::relaxed, thread_scope::device);
      if (before != 0) return reinterpret_cast<void*>(before);
    }
    void* const block = sound::malloc(bytes);
    if (number % 1000 == 500) {
      kept.store(reinterpret_cast<std::uint64_t>(block), memory_order::relaxed, thread_scope::device);
    }
    return block;
  }
};

/// Each malloc changes the first word of the heap, whoever owns it.
struct scribbling : sound {
  explicit scribbling(const arena& from) : sound(from), first_(reinterpret_cast<std::uint32_t*>(from.data)) {}
  static constexpr const char* name = "scribbling";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    void* const block = sound::malloc(bytes);
    if (block != first_ && block != nullptr) {
      atomic_view{*first_}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
    return block;
  }

 private:
  std::uint32_t* first_;
};

/// Takes no block back, and says that it does.
struct hoarding : sound {
  using sound::sound;
  static constexpr const char* name = "hoarding";

  WARPHEAP_FN void free(void*) const {}
};

/// Leaves a gap of `Gap` times its bytes after each block.
template <int Gap>
struct strewing : sound {
  using sound::sound;
  static constexpr const char* name = "strewing";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return sound::malloc(bytes * (1 + Gap)); }
};

}  // namespace known

namespace {

using namespace known;
using namespace test::mutants;
using namespace test_of_cases;

run_options options_of(const char* mode, std::uint64_t threads = 100, std::uint64_t size = 32) {
  return small_run(mode, threads, size, std::uint64_t{1} << 16, 4);
}

using whole_heap = with_children;

#define EXPECT_CAUGHT(measured, allocator, options, words) \
  WARPHEAP_EXPECT_CAUGHT((run_and_exit<measured, allocator>(options)), words)

TEST_F(whole_heap, is_handed_out_to_the_last_byte) {
  for (const std::uint64_t threads : {1u, 33u, 100u, 5000u}) {
    run_options options = options_of("thread", threads, 64);
    // A launch for each round that a heap is filled in; launches are dear on a GPU that other tests use, too.
    const std::uint64_t rounds = this_backend == backend::cuda ? 24 : 128;
    options.heap_bytes = std::min(options.heap_bytes, threads * 64 * rounds);
    const outcome result = result_of<out_of_memory, sound>(options);
    EXPECT_EQ(result.reason, "");
    EXPECT_EQ(result.median("share"), 1) << result.record;
    EXPECT_GT(result.median("total"), result.median("last_tenth"));
    EXPECT_TRUE(result.says("\"verified\": true"));
  }
  EXPECT_EQ((result_of<out_of_memory, sound>(options_of("thread", 500, 4)).median("share")), 0.25)
      << "blocks of 4 bytes take 16";
  EXPECT_EQ((result_of<out_of_memory, bump>(options_of("thread", 100, 64)).median("share")), 1);
  EXPECT_EQ((result_of<out_of_memory, strewing<1>>(options_of("thread", 100, 64)).median("share")), 0.5);
  const outcome mixed = result_of<out_of_memory, sound>(options_of("mixed", 300, 200));
  EXPECT_EQ(mixed.reason, "");
  EXPECT_GT(mixed.median("share"), 0.8);
  EXPECT_LT(mixed.median("share"), 1);
}

TEST_F(whole_heap, is_not_exhausted_by_refusals_for_other_reasons) {
  const outcome result = result_of<out_of_memory, moody<false>>(options_of("thread", 100, 64));
  EXPECT_EQ(result.median("share"), -1) << "it fails, as it refuses also with half of the heap free";
  EXPECT_NE(result.reason.find("with all blocks given back"), std::string::npos) << result.reason;
  EXPECT_EQ(result.number("memory", "requested_bytes"), 1 << 16) << "but not before it gave all that there was";
}

TEST_F(whole_heap, that_serves_nothing_has_no_share) {
  // Each request takes 4,096 times what it asks for: more than there is.
  const outcome result = result_of<out_of_memory, strewing<4095>>(options_of("thread", 10));
  EXPECT_EQ(result.reason, "an empty heap of 65536 bytes served none of 10 requests");
  EXPECT_TRUE(result.says("\"failures\": 10,"));
  EXPECT_TRUE(result.says("\"measures\": {}"));
  EXPECT_EQ((result_of<growth, strewing<4095>>(options_of("thread", 10))).reason, result.reason);
}

TEST_F(whole_heap, cases_end_when_the_time_is_over) {
  run_options hurried = options_of("thread");
  hurried.soft_limit = 1e-9;
  const outcome filled = result_of<out_of_memory, sound>(hurried);
  EXPECT_EQ(filled.reason, "not exhausted when the time was over: 1 rounds had got 3200 of 65536 bytes");
  EXPECT_TRUE(filled.says("\"measures\": {}"));
  const outcome grown = result_of<growth, sound>(hurried);
  EXPECT_EQ(grown.reason, "not exhausted when the time was over: after 1 rounds 3200 of 65536 bytes were live");
  EXPECT_TRUE(grown.says("\"measures\": {}"));
}

TEST_F(whole_heap, is_not_asked_for_blocks_that_it_has_no_room_for) {
  const run_options large = options_of("thread", 10, 1 << 17);
  const char* const reason =
      "the design has no room for a block of 131072 bytes in a heap of 65536 bytes; use a larger heap";
  const outcome exhausted = result_of<exhaustion, sound>(large);
  EXPECT_EQ(exhausted.reason, reason);
  EXPECT_TRUE(exhausted.says("\"failures\": 0,"));
  EXPECT_TRUE(exhausted.says("\"measures\": {}"));
  EXPECT_EQ((result_of<out_of_memory, sound>(large)).reason, reason);
  EXPECT_EQ((result_of<growth, sound>(large)).reason, reason);
}

TEST_F(whole_heap, is_filled_by_growth) {
  const outcome result = result_of<growth, sound>(options_of("thread"));
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.median("share"), 1) << result.record;
  // 2048 blocks: a hundred at first, fifty more in each round, and a last round that is not full.
  EXPECT_EQ(result.number("iteration", "count"), 40) << result.record;
  EXPECT_GE(result.median("slowdown"), 0);
  const outcome mixed = result_of<growth, sound>(options_of("mixed", 100, 200));
  EXPECT_EQ(mixed.reason, "");
  EXPECT_GT(mixed.median("share"), 0.6);
  EXPECT_EQ((result_of<growth, hoarding>(options_of("thread")).number("iteration", "count")), 20)
      << "what is given back is lost";
  EXPECT_EQ((result_of<growth, bump>(options_of("thread"))).reason, "the design has no individual free");
}

TEST_F(whole_heap, is_as_fragmented_as_it_is) {
  const outcome result = result_of<fragmentation, sound>(options_of("thread", 100, 64));
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.median("range"), 1) << result.record;
  EXPECT_EQ(result.median("total_range"), 1);
  EXPECT_EQ(result.number("range", "count"), 4);
  EXPECT_TRUE(result.says("\"total_range\": {\"unit\": \"ratio\", \"timing\": false, \"values\": [1, 1, 1, 1]}"));
  EXPECT_EQ((result_of<fragmentation, bump>(options_of("thread", 100, 64)).median("total_range")), 1);
  const outcome hoards = result_of<fragmentation, hoarding>(options_of("thread", 100, 64));
  EXPECT_EQ(hoards.median("range"), 1);
  EXPECT_EQ(hoards.median("total_range"), 4) << hoards.record;
  // The gap of the last block lies after it.
  EXPECT_EQ((result_of<fragmentation, strewing<2>>(options_of("thread", 100, 64)).median("range")), 2.98);
}

TEST_F(whole_heap, is_made_and_reset) {
  const outcome result = result_of<initialisation, sound>(options_of("heap"));
  EXPECT_EQ(result.reason, "");
  EXPECT_GT(result.median("construct"), 0);
  EXPECT_GT(result.median("reset"), 0);
  EXPECT_EQ(result.number("construct", "count"), 4);
  EXPECT_GE(result.median("metadata"), static_cast<double>(sound::metadata_bytes(1 << 16)));
}

TEST_F(whole_heap, cases_find_blocks_that_overlap) {
  EXPECT_CAUGHT(out_of_memory, overlapping, options_of("thread", 100, 40), "blocks overlap: .* are held out of 65536");
  EXPECT_CAUGHT(out_of_memory, overlapping, options_of("mixed", 100, 200), "overlap another one|bytes apart");
  EXPECT_CAUGHT(growth, overlapping, options_of("thread", 100, 40),
                "lost what was written to them while|overlap another");
  EXPECT_CAUGHT(fragmentation, overlapping, options_of("thread", 100, 40), "overlap");
  EXPECT_CAUGHT(initialisation, overlapping, options_of("heap", 100, 40), "overlap");
}

TEST_F(whole_heap, cases_find_blocks_that_are_granted_twice) {
  EXPECT_CAUGHT(out_of_memory, repeating, options_of("thread", 100, 8), "[1-9] of .* blocks overlap another one");
  EXPECT_CAUGHT(out_of_memory, double_granting, options_of("thread"), "blocks overlap");
  EXPECT_CAUGHT(growth, double_granting, options_of("thread"), "lost what was written to them while|overlap another");
  EXPECT_CAUGHT(out_of_memory, never_null, options_of("thread"), "blocks overlap: .* are held out of 65536");
  EXPECT_CAUGHT(growth, never_null, options_of("thread"), "blocks overlap|lost what was written");
}

TEST_F(whole_heap, cases_find_misaligned_blocks) {
  EXPECT_CAUGHT(out_of_memory, misaligned, options_of("thread", 100, 24), "not aligned to 16 bytes");
  EXPECT_CAUGHT(growth, misaligned, options_of("thread", 100, 24), "not aligned to 16 bytes");
}

TEST_F(whole_heap, cases_find_contents_that_change) {
  EXPECT_CAUGHT(growth, scribbling, options_of("thread"), "lost what was written to them");
}

TEST_F(whole_heap, that_was_emptied_has_to_serve_again) {
  EXPECT_CAUGHT(out_of_memory, hoarding, options_of("thread"), "with all blocks given back, 100 requests got null");
  EXPECT_EQ((result_of<out_of_memory, leaking>(options_of("thread")).reason), "") << "six of seven blocks are enough";
}

TEST_F(whole_heap, has_room_where_the_design_promises_it) {
  EXPECT_CAUGHT(out_of_memory, moody<true>, options_of("thread", 100, 64),
                "like them were refused, though nothing was");
}

TEST_F(whole_heap, that_was_reset_has_to_serve_again) {
  EXPECT_CAUGHT(initialisation, forgetful_reset, options_of("heap", 1500, 32), "requests in round 2 got null");
}

}  // namespace
}  // namespace warpheap::bench::whole_heap_test
