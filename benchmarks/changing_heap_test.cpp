// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Cases of programs that change, and of blocks that go all at once, find each fault of an allocator that they are there
// to find, and their figures are right for allocators that are known. Each broken allocator runs in a child process of
// its own, because it may break anything.

#include <gtest/gtest.h>

#include <allocator/mutants.hpp>
#include <allocator/reference.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <support/child_process.hpp>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/platform.hpp>

#include "case_outcome.hpp"
#include "cases/arena.hpp"
#include "cases/huge.hpp"
#include "cases/phases.hpp"
#include "cases/scarce.hpp"
#include "cases/shift.hpp"
#include "measure/block_store.hpp"
#include "measure/exhaustion.hpp"
#include "measure/holdings.hpp"
#include "measure/wide_payload.hpp"

namespace warpheap::bench::changing_heap_test {

// Designs of which something is known, beside those of the conformance suite.
namespace known {

using sound = test::locked_list<>;

/// The reference, and a word of memory.
struct remembering : sound {
  explicit remembering(const arena& from)
      : sound(arena{from.data, from.bytes, from.reserved_bytes, from.metadata + own_bytes}),
        memory_(reinterpret_cast<std::uint64_t*>(from.metadata)) {}

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return own_bytes + sound::metadata_bytes(bytes);
  }

 protected:
  static constexpr std::uint64_t own_bytes = 256;

  WARPHEAP_FN std::uint64_t first(std::uint64_t value) const {
    std::uint64_t none = 0;
    atomic_view{*memory_}.compare_exchange(none, value, memory_order::relaxed, thread_scope::device);
    return none == 0 ? value : none;
  }

  std::uint64_t* memory_;
};

/// Serves the size that was asked for first, and no other one ever after.
struct sticky : remembering {
  using remembering::remembering;
  static constexpr const char* name = "sticky";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return first(bytes) == bytes ? sound::malloc(bytes) : nullptr; }
};

/// Takes no block back, and says that it does.
struct hoarding : sound {
  using sound::sound;
  static constexpr const char* name = "hoarding";

  WARPHEAP_FN void free(void*) const {}
};

/// Takes no block back, and does not tell.
struct silently_hoarding : hoarding {
  using hoarding::hoarding;
  static constexpr const char* name = "silently_hoarding";

  WARPHEAP_FN void count(allocator_counts&) const {}
};

/// Every seventh block is not taken back, and nobody is told.
struct silently_leaking : test::mutants::leaking {
  using leaking::leaking;
  static constexpr const char* name = "silently_leaking";

  WARPHEAP_FN void count(allocator_counts&) const {}
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

/// Serves no block of more than a quarter of the heap.
struct capped : sound {
  explicit capped(const arena& from) : sound(from), most_(from.bytes / 4) {}
  static constexpr const char* name = "capped";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return bytes > most_ ? nullptr : sound::malloc(bytes); }

 private:
  std::uint64_t most_;
};

/// An arena that hands out the blocks of the heap, and forgets some of them when it is released.
template <bool Forgets>
struct with_arenas : sound {
  using sound::sound;
  static constexpr const char* name = "with_arenas";
  static constexpr allocator_capabilities capabilities = [] {
    allocator_capabilities can = sound::capabilities;
    can.individual_free = false;
    can.release_by_warp = true;
    can.uses_arena = true;
    can.state_in_arena = true;
    return can;
  }();

  // The blocks of a warp are a list that begins in the first block, so the handle is a pointer to that.
  struct warp_arena {
    sound from;
    std::uint64_t* newest;  // in the first block of the arena; null: the heap had no room for one

    WARPHEAP_FN explicit operator bool() const { return newest != nullptr; }
    WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
      if (newest == nullptr) return nullptr;
      auto* const block = static_cast<std::uint64_t*>(from.malloc(bytes + 16));
      if (block == nullptr) return nullptr;
      const atomic_view head{*newest};
      std::uint64_t before = head.load(memory_order::relaxed, thread_scope::device);
      do {
        *block = before;
      } while (!head.compare_exchange(before, reinterpret_cast<std::uint64_t>(block), memory_order::relaxed,
                                      thread_scope::device));
      return block + 2;
    }
    WARPHEAP_FN void release(lane_mask group) const {
      if (newest == nullptr || !is_leader(group)) return;
      std::uint64_t next = *newest;
      while (next != 0) {
        auto* const block = reinterpret_cast<std::uint64_t*>(next);
        next = *block;
        if (!Forgets || next != 0) from.free(block);
      }
      from.free(newest);
    }
  };

  WARPHEAP_FN void free(void*) const {}
  WARPHEAP_FN warp_arena open_arena(lane_mask group) const {
    std::uint64_t first = 0;
    if (is_leader(group)) {
      auto* const block = static_cast<std::uint64_t*>(sound::malloc(8));
      if (block != nullptr) *block = 0;
      first = reinterpret_cast<std::uint64_t>(block);
    }
    return {*this, reinterpret_cast<std::uint64_t*>(shuffle(group, first, leader(group)))};
  }
};

}  // namespace known

namespace {

using namespace known;
using namespace test::mutants;
using namespace test_of_cases;

run_options options_of(const char* mode, std::uint64_t threads = 100, std::uint64_t size = 32,
                       std::uint64_t heap_bytes = std::uint64_t{1} << 16) {
  return small_run(mode, threads, size, heap_bytes, 2);
}

template <class Case, class A = sound>
outcome sound_result_of(const run_options& options) {
  const outcome result = result_of<Case, A>(options);
  EXPECT_EQ(result.reason, "") << result.record;
  EXPECT_TRUE(result.says("\"failures\": 0,")) << result.record;
  EXPECT_TRUE(result.says("\"verified\": true")) << result.record;
  return result;
}

using changing_heap = with_children;

#define EXPECT_CAUGHT(measured, allocator, options, words) \
  WARPHEAP_EXPECT_CAUGHT((run_and_exit<measured, allocator>(options)), words)

// A heap is filled by a launch for each five hundred blocks, and launches are dear on a GPU: so few blocks fill it.
constexpr std::uint64_t shifting_bytes = std::uint64_t{1} << 14;
// Threads that ask for more than there is: all wait for the one lock of the reference, so the heap is small, too.
run_options options_of_scarcity(const char* mode, std::uint64_t size) {
  return options_of(mode, 1, size, std::uint64_t{1} << 14);
}

TEST_F(changing_heap, gives_all_again_to_another_size) {
  const outcome result = sound_result_of<shift>(options_of("after_16", 500, 1024, shifting_bytes));
  EXPECT_EQ(result.median("share"), 1) << result.record;
  EXPECT_EQ(result.number("share", "count"), 2) << "as many as iterations";
  for (const char* time : {"fill", "fresh", "slowdown"}) EXPECT_GE(result.median(time), 0) << time;
  // Of both heaps each round of five hundred got all or some, and a last one nothing.
  EXPECT_TRUE(result.says("\"refused\": ")) << result.record;
  EXPECT_EQ((sound_result_of<shift>(options_of("after_8192", 500, 16, shifting_bytes)).median("share")), 1);
}

TEST_F(changing_heap, that_keeps_its_memory_for_the_first_size_has_no_share) {
  const outcome result = sound_result_of<shift, sticky>(options_of("after_64", 500, 1024, shifting_bytes));
  EXPECT_EQ(result.median("share"), 0) << result.record;
  EXPECT_GT(result.median("fresh"), 0);
  EXPECT_TRUE(result.says("\"fill\": null")) << "no time without a block: " << result.record;
  EXPECT_EQ((sound_result_of<shift, sticky>(options_of("after_64", 500, 64, shifting_bytes)).median("share")), 1)
      << "the first size again";
}

// The reference walks over all its blocks for each request, and the least block has 16 bytes: so the heap is small.
int phase_iterations() { return test::scale_in_force() == test::work_scale::small ? 1 : 2; }

run_options options_of_phases(std::uint64_t most) {
  run_options options = small_run("thread", 512, most, std::uint64_t{1} << 14, phase_iterations());
  options.warmup = 0;  // a launch for each of ten phases
  return options;
}

TEST_F(changing_heap, has_phases_without_a_refusal_if_nothing_is_lost) {
  run_options options = options_of_phases(256);
  const outcome result = sound_result_of<phases>(options);
  EXPECT_EQ(result.median("refused"), 0) << result.record;
  EXPECT_EQ(result.number("phase", "count"), 10 * phase_iterations()) << "ten phases, each time";
  // Fewer than one block in a hundred lives, so hardly more than those is out of reach.
  EXPECT_GT(result.median("share"), 0.8);
  EXPECT_LE(result.median("share"), 1);
  options.mode = "mixed";
  const outcome mixed = sound_result_of<phases>(options);
  EXPECT_LT(mixed.median("refused"), 0.05) << mixed.record;
  EXPECT_NE(result.median("share"), mixed.median("share"));
}

TEST_F(changing_heap, refuses_phases_if_its_memory_stays_with_a_size) {
  const outcome result = sound_result_of<phases, sticky>(options_of_phases(256));
  // The first phase and three others have blocks of 16 bytes; these ask for most of all blocks.
  EXPECT_GT(result.median("refused"), 0.05) << result.record;
  EXPECT_LT(result.median("refused"), 0.5);
  EXPECT_GT(result.number("share", "min"), 0) << "survivors of the last two phases, of 16 bytes";
  EXPECT_LT(result.number("share", "max"), 0.03) << "and nothing of 256 bytes";
  // Up to 64 bytes, the last four phases have blocks of 16 bytes, five hundred each, and five or six of each survive.
  const outcome small = sound_result_of<phases, sticky>(options_of_phases(64));
  EXPECT_GT(small.median("share"), 13 / 1024.0) << small.record;
  EXPECT_LT(small.median("share"), 20 / 1024.0) << "those of three phases";
}

TEST(phase_sizes, jump_between_a_512th_and_the_whole) {
  std::set<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < phases::count; ++i) sizes.insert(phases::size_of(i, 8192));
  EXPECT_EQ(sizes.size(), phases::count);
  EXPECT_EQ(*sizes.begin(), 16u);
  EXPECT_EQ(*sizes.rbegin(), 8192u);
  EXPECT_EQ(phases::size_of(0, 100), 16u) << "16 at least";
  EXPECT_EQ(phases::size_of(5, 100), 48u) << "a multiple of 4";
}

TEST_F(changing_heap, serves_one_block_that_is_most_of_it) {
  for (const std::uint64_t size : {std::uint64_t{5000}, std::uint64_t{65'000}, std::uint64_t{1} << 16}) {
    const outcome result = sound_result_of<huge>(options_of("single", 32, size));
    EXPECT_GT(result.median("malloc"), 0) << result.record;
    EXPECT_GT(result.median("free"), 0);
    EXPECT_EQ(result.number("memory", "requested_bytes"),
              static_cast<double>((65'536 / size > 8 ? 8 : 65'536 / size) * size));
  }
  const outcome unfreed = sound_result_of<huge, bump>(options_of("single", 32, 40'000));
  EXPECT_GT(unfreed.median("malloc"), 0);
  EXPECT_TRUE(unfreed.says("\"free\": null")) << unfreed.record;
}

TEST_F(changing_heap, that_refuses_one_block_has_failed) {
  const outcome result = result_of<huge, capped>(options_of("single", 32, 40'000));
  EXPECT_EQ(result.reason, "an empty heap of 65536 bytes refused a block of 40000");
  EXPECT_TRUE(result.says("\"failures\": 1,")) << result.record;
  EXPECT_TRUE(result.says("\"measures\": {}"));
}

TEST_F(changing_heap, knows_its_largest_block) {
  EXPECT_EQ((sound_result_of<huge>(options_of("largest", 32, 4096)).median("share")), 1);
  EXPECT_EQ((sound_result_of<huge, capped>(options_of("largest", 32, 4096)).median("share")), 0.25);
  EXPECT_EQ((sound_result_of<huge, bump>(options_of("largest", 32, 4096)).median("share")), 1);
  const outcome result = sound_result_of<huge, capped>(options_of("largest", 32, 4096));
  EXPECT_EQ(result.number("malloc", "count"), 2);
  EXPECT_EQ(result.number("memory", "requested_bytes"), 16'384);
}

TEST_F(changing_heap, serves_some_of_what_is_too_much) {
  for (const char* mode : {"twice", "tight", "twice_mixed", "tight_mixed"}) {
    const outcome result = sound_result_of<scarce>(options_of_scarcity(mode, 256));
    EXPECT_GT(result.median("time"), 0) << result.record;
    EXPECT_GT(result.median("served"), 0.1) << result.record;
    EXPECT_LE(result.median("served"), 1) << result.record;
    EXPECT_EQ(result.median("again"), 1) << result.record;
  }
}

TEST(demand, is_twice_the_heap_or_a_tenth_more) {
  run_options options = options_of("twice", 1, 64);
  options.heap_bytes = 64 * 1000 * 4;
  EXPECT_EQ(scarce::threads_of(options), 2000u);
  options.mode = "tight";
  EXPECT_EQ(scarce::threads_of(options), 1100u);
  options.mode = "twice_mixed";
  options.size = 124;  // 64 in the mean
  EXPECT_EQ(scarce::threads_of(options), 2000u);
  options.heap_bytes = 1;
  EXPECT_EQ(scarce::threads_of(options), 1u);
}

TEST_F(changing_heap, that_loses_what_is_freed_is_seen) {
  EXPECT_CAUGHT(scarce, hoarding, options_of_scarcity("twice", 64), "are live after all blocks were freed|served none");
  EXPECT_CAUGHT(shift, hoarding, options_of("after_64"), "are live after all blocks were freed");
  EXPECT_CAUGHT(phases, hoarding, options_of("thread"), "are live after all blocks were freed");
  EXPECT_CAUGHT(scarce, leaking, options_of_scarcity("twice", 64), "are live after all blocks were freed");
  EXPECT_CAUGHT(phases, leaking, options_of("thread"), "are live after all blocks were freed");
}

TEST_F(changing_heap, that_does_not_tell_what_it_loses_has_figures_that_do) {
  EXPECT_EQ((result_of<shift, silently_hoarding>(options_of("after_64", 500, 32)).median("share")), 0);
  const outcome phased = result_of<phases, silently_hoarding>(options_of("thread", 500, 256));
  EXPECT_GT(phased.median("refused"), 0.5) << phased.record;
  const outcome leaked = result_of<scarce, silently_leaking>(options_of_scarcity("twice", 64));
  EXPECT_GT(leaked.median("again"), 0.5) << leaked.record;
  EXPECT_LT(leaked.median("again"), 0.95) << leaked.record;
  EXPECT_CAUGHT(scarce, silently_hoarding, options_of_scarcity("twice", 64), "served none");
}

TEST_F(changing_heap, releases_at_once_or_block_by_block) {
  for (const char* mode : {"thread", "mixed"}) {
    for (const std::uint64_t threads : {1u, 33u, 70u}) {
      EXPECT_GT((sound_result_of<arena_release>(options_of(mode, threads)).median("time")), 0);
      EXPECT_GT((sound_result_of<arena_release, with_arenas<false>>(options_of(mode, threads)).median("time")), 0);
    }
  }
  const outcome result = sound_result_of<arena_release, with_arenas<false>>(options_of("thread", 60));
  // Four rounds, sixteen blocks each, and one block for each thread at the end.
  EXPECT_TRUE(result.says("\"requests\": " + std::to_string(60 * (4 * 16 + 1)))) << result.record;
  EXPECT_EQ((result_of<arena_release, bump>(options_of("thread"))).reason, lacks_individual_free);
}

TEST_F(changing_heap, has_room_again_after_a_release) {
  EXPECT_CAUGHT(arena_release, with_arenas<true>, options_of("thread", 70), "are live after all blocks were freed");
  EXPECT_CAUGHT(arena_release, leaking, options_of("thread", 70), "are live after all blocks were freed");
  EXPECT_CAUGHT(arena_release, sound, options_of("thread", 2000, 8192), "in round 1 got null");
}

TEST_F(changing_heap, cases_find_blocks_that_overlap) {
  EXPECT_CAUGHT(shift, overlapping, options_of("after_64", 100, 40), "overlap another|blocks overlap|lost what was");
  EXPECT_CAUGHT(phases, overlapping, options_of("thread", 100, 320), "overlap another|blocks overlap|lost what was");
  EXPECT_CAUGHT(huge, overlapping, options_of("single", 32, 5000), "overlap");
  EXPECT_CAUGHT(scarce, overlapping, options_of_scarcity("twice", 40), "overlap|lost what was written to them");
  EXPECT_CAUGHT(arena_release, overlapping, options_of("thread", 70, 20), "lost what was written to them");
}

TEST_F(changing_heap, cases_find_blocks_that_are_granted_twice) {
  EXPECT_CAUGHT(shift, double_granting, options_of("after_64"), "blocks overlap|overlap another|lost what");
  EXPECT_CAUGHT(phases, double_granting, options_of("thread"), "blocks overlap|overlap another|lost what");
  EXPECT_CAUGHT(scarce, double_granting, options_of_scarcity("twice", 64), "overlap|lost what was written to them");
  EXPECT_CAUGHT(arena_release, double_granting, options_of("thread", 70), "lost what was written to them|overlap");
  EXPECT_CAUGHT(shift, never_null, options_of("after_64"), "blocks overlap");
  EXPECT_CAUGHT(scarce, never_null, options_of_scarcity("twice", 64), "blocks overlap|lost what was written to them");
  EXPECT_CAUGHT(huge, never_null, options_of("single", 32, 20'000), "overlap");
}

TEST_F(changing_heap, cases_find_misaligned_blocks) {
  EXPECT_CAUGHT(shift, misaligned, options_of("after_16", 100, 24), "not aligned to 16 bytes");
  EXPECT_CAUGHT(phases, misaligned, options_of("thread", 100, 768), "not aligned to 16 bytes");
  EXPECT_CAUGHT(huge, misaligned, options_of("single", 32, 6000), "not aligned");
}

TEST_F(changing_heap, cases_find_contents_that_change) {
  EXPECT_CAUGHT(shift, scribbling, options_of("after_16"), "lost what was written to them");
  EXPECT_CAUGHT(phases, scribbling, options_of("thread"), "lost what was written to them");
}

TEST_F(changing_heap, cases_end_when_the_time_is_over) {
  run_options hurried = options_of("after_16");
  hurried.soft_limit = 1e-9;
  const outcome shifted = result_of<shift, sound>(hurried);
  EXPECT_EQ(shifted.reason, "not exhausted when the time was over: 3200 of 65536 bytes were handed out");
  EXPECT_TRUE(shifted.says("\"measures\": {}")) << shifted.record;
  hurried.mode = "thread";
  const outcome phased = result_of<phases, sound>(hurried);
  EXPECT_EQ(phased.reason, "the time was over after 1 of 10 phases");
  EXPECT_TRUE(phased.says("\"requests\": 100,")) << "a phase that takes long ends early: " << phased.record;
}

TEST(budget, allows_another_course_that_ends_in_time) {
  run_options options;
  EXPECT_TRUE(time_budget{options}.allows_another(1)) << "without a limit";
  options.soft_limit = 1000;
  EXPECT_TRUE(time_budget{options}.allows_another(1));
  options.soft_limit = 1e-9;
  EXPECT_FALSE(time_budget{options}.allows_another(1000));
}

TEST_F(changing_heap, is_not_asked_for_blocks_that_it_has_no_room_for) {
  const std::string reason =
      "the design has no room for a block of 131072 bytes in a heap of 65536 bytes; use a larger heap";
  EXPECT_EQ((result_of<shift, sound>(options_of("after_16", 10, 1 << 17))).reason, reason);
  EXPECT_EQ((result_of<huge, sound>(options_of("single", 10, 1 << 17))).reason, reason);
  EXPECT_EQ((result_of<scarce, sound>(options_of("twice", 10, 1 << 17))).reason, reason);
  EXPECT_NE((result_of<phases, sound>(options_of("thread", 10, 1 << 17))).reason, "");
  for (const std::string& lacks :
       {result_of<shift, bump>(options_of("after_16")).reason, result_of<phases, bump>(options_of("thread")).reason,
        result_of<scarce, bump>(options_of("twice")).reason}) {
    EXPECT_EQ(lacks, lacks_individual_free);
  }
}

// Sums of what is left in a store after some of its blocks went.
TEST(store, keeps_the_blocks_that_are_spared) {
  run_options options = options_of("thread", 1000, 16);
  fixture_base on{options};
  const heap<sound> from(options.heap_bytes);
  block_store<sound> store(on, from, request_stream::of(options));
  EXPECT_EQ(store.ask(400).bytes, 400u * 16);
  EXPECT_EQ(store.ask(5000).bytes, 1000u * 16) << "a round at most";
  store.give_back(10, 7);
  const std::uint64_t spared = store.held().blocks;
  EXPECT_GT(spared, 1400u / 20);
  EXPECT_LT(spared, 1400u / 5);
  EXPECT_EQ(store.held().bytes, 16 * spared);
  EXPECT_EQ(from.statistics().live_bytes, 16 * spared);
  store.judge();
  EXPECT_EQ(store.ask(10).bytes, 160u);
  store.give_back();
  EXPECT_EQ(store.held().blocks, 0u);
  EXPECT_EQ(from.statistics().live_bytes, 0u);
  EXPECT_EQ(store.give_back(), 0) << "nothing is left";
  EXPECT_EQ(on.found.reason(), "");
  EXPECT_EQ(on.found.requests, 1410u);
}

struct spoil_word {
  WARPHEAP_FN void operator()(unsigned char* byte) const {
    if (grid_thread_index() == 0) *byte = static_cast<unsigned char>(*byte ^ 1u);
  }
};

TEST(store, looks_at_each_block_that_goes) {
  // First the blocks are looked at that go, then those that stayed.
  for (const bool spared : {false, true}) {
    run_options options = options_of("thread", 100, 16);
    fixture_base on{options};
    const heap<sound> from(options.heap_bytes);
    block_store<sound> store(on, from, request_stream::of(options));
    store.ask(100);
    store.judge();
    EXPECT_EQ(on.found.rounds_judged, 1u);
    if (spared) store.give_back(2, 7);
    EXPECT_EQ(on.found.fault, "");
    launch(grid_shape::covering(1), spoil_word{}, static_cast<unsigned char*>(store.any_block()));
    store.give_back();
    EXPECT_NE(on.found.fault.find("lost what was written to them while they were held"), std::string::npos)
        << on.found.fault;
  }
}

TEST(wide_payload, covers_each_byte) {
  constexpr std::uint64_t room = 64;
  const device_array<std::uint32_t> words(room / 4);
  auto* const bytes = reinterpret_cast<unsigned char*>(words.data());
  for (const std::uint64_t size : {1, 3, 4, 7, 20, 37}) {
    const wide_payload block{words.data(), size, size};
    launch(block.grid(), fill_widely{}, block);
    for (std::uint64_t changed = 0; changed < size + 4; ++changed) {
      launch(grid_shape::covering(1), spoil_word{}, bytes + changed);
      device_array<std::uint64_t> seen(1);
      launch(block.grid(), check_widely{}, block, seen.data());
      EXPECT_EQ(seen.at(0), changed < size ? 1u : 0u) << "byte " << changed << " of " << size;
      launch(grid_shape::covering(1), spoil_word{}, bytes + changed);
    }
  }
}

}  // namespace
}  // namespace warpheap::bench::changing_heap_test
