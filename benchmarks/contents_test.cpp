// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Cases whose threads keep something in their blocks (work_generation, memory_access, trace) and what they measure
// against: each fault that they are there to find is found, and none in a sound allocator. Each broken allocator runs
// in a child process of its own, because it may break anything.

#include <gtest/gtest.h>

#include <algorithm>
#include <allocator/mutants.hpp>
#include <allocator/reference.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <support/child_process.hpp>
#include <support/scale.hpp>
#include <support/temporary_file.hpp>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/platform.hpp>

#include "case_outcome.hpp"
#include "cases/memory_access.hpp"
#include "cases/trace.hpp"
#include "cases/work_generation.hpp"
#include "measure/compared.hpp"
#include "measure/items.hpp"
#include "measure/packed.hpp"
#include "measure/prefix_sum.hpp"

namespace warpheap::bench::contents_test {
namespace {

using namespace test_of_cases;

using sound = test::locked_list<>;

// The first word of what lies in front of a new block is lost.
struct scribbling : sound {
  explicit scribbling(const arena& from) : sound(from), begin_(from.data) {}
  static constexpr const char* name = "scribbling";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    auto* const block = static_cast<std::byte*>(sound::malloc(bytes));
    if (block != nullptr && block != begin_) *reinterpret_cast<std::uint32_t*>(block - 16) = 0x5c51bb1e;
    return block;
  }

 private:
  std::byte* begin_;
};

// Every hundredth request gets null.
struct moody : sound {
  using sound::sound;
  static constexpr const char* name = "moody";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    return grid_thread_index() % 100 == 99 ? nullptr : sound::malloc(bytes);
  }
};

// Serves 400 requests and no more. It counts in a word in front of its metadata.
struct tiring : sound {
  explicit tiring(const arena& from)
      : sound({from.data, from.bytes, from.reserved_bytes, from.metadata + front}),
        served_(reinterpret_cast<std::uint64_t*>(from.metadata)) {}
  static constexpr const char* name = "tiring";
  static constexpr std::uint64_t front = 256;

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return front + sound::metadata_bytes(bytes);
  }
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    const std::uint64_t before = atomic_view{*served_}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    return before < 400 ? sound::malloc(bytes) : nullptr;
  }

 private:
  std::uint64_t* served_;
};

struct never_frees : sound {
  using sound::sound;
  static constexpr allocator_capabilities capabilities{.uses_arena = true};
};

struct for_whole_warps : sound {
  using sound::sound;
  static constexpr allocator_capabilities capabilities{
      .individual_free = true, .uses_arena = true, .needs_full_warp = true};
};

run_options options_of(const char* mode, std::uint64_t threads = 300, std::uint64_t size = 64) {
  return small_run(mode, threads, size, std::uint64_t{1} << 20, 2);
}

template <class Case, class A>
std::string reason_of(const run_options& options, std::string* text = nullptr) {
  json_object record;
  const std::string reason = Case::template run<A>(options, record);
  if (text != nullptr) *text = record.text();
  return reason;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using contents_cases = with_children;

#define EXPECT_CAUGHT(measured, allocator, options, words) \
  WARPHEAP_EXPECT_CAUGHT((run_and_exit<measured, allocator>(options)), words)

TEST_F(contents_cases, find_blocks_that_overlap) {
  using test::mutants::overlapping;
  EXPECT_CAUGHT(work_generation, overlapping, options_of("mixed", 300, 200), "overlaps");
  EXPECT_CAUGHT(memory_access, overlapping, options_of("mixed", 300, 200), "overlaps");
  EXPECT_CAUGHT(memory_access, overlapping, options_of("uniform", 300, 40), "overlaps");
  EXPECT_CAUGHT(trace_replay, overlapping, options_of("rewriting"), "after phase 1: .* overlaps");
}

TEST_F(contents_cases, find_blocks_that_are_misaligned) {
  using test::mutants::misaligned;
  EXPECT_CAUGHT(work_generation, misaligned, options_of("mixed"), "is not aligned");
  EXPECT_CAUGHT(memory_access, misaligned, options_of("uniform", 300, 24), "is not aligned");
  EXPECT_CAUGHT(trace_replay, misaligned, options_of("rewriting"), "is not aligned");
}

TEST_F(contents_cases, find_contents_that_are_lost) {
  EXPECT_CAUGHT(work_generation, scribbling, options_of("mixed"), "items are not what their threads wrote");
  EXPECT_CAUGHT(trace_replay, scribbling, options_of("rewriting"), "blocks lost what was written to them");
}

// In the first phase blocks come and go, so that no look between the phases sees them.
TEST_F(contents_cases, find_contents_that_are_lost_within_a_phase) {
  std::string text = "warpheap trace 1\nphase\n";
  for (int i = 0; i < 64; ++i) {
    const std::string place = std::to_string(i);
    text += place + " +" + place + ":35 -" + place + "\n";
  }
  const test::temporary_file trace("short_lives.trace", text + "end 128\n");
  run_options options = options_of("");
  options.trace_file = trace.path();
  EXPECT_EQ((reason_of<trace_replay, sound>(options)), "");
  EXPECT_CAUGHT(trace_replay, test::mutants::overlapping, options, "blocks lost what was written to them");
}

TEST_F(contents_cases, find_blocks_that_are_lost) {
  EXPECT_CAUGHT(trace_replay, test::mutants::leaking, options_of("adjacency"), "are live after all blocks were freed");
}

TEST_F(contents_cases, find_a_full_heap_that_grants) {
  using test::mutants::never_null;
  run_options full = options_of("mixed", 300, 4000);
  full.heap_bytes = 1 << 16;
  EXPECT_CAUGHT(work_generation, never_null, full, "overlaps");
  EXPECT_CAUGHT(memory_access, never_null, full, "overlaps");
  full.mode = "rewriting";
  EXPECT_CAUGHT(trace_replay, never_null, full, "overlaps");
}

TEST_F(contents_cases, count_requests_that_are_refused) {
  std::string record;
  EXPECT_TRUE(has(reason_of<work_generation, moody>(options_of("mixed"), &record), "3 of 300 requests"));
  EXPECT_TRUE(has(record, "\"failures\": 3,") && has(record, "\"measures\": {}")) << record;
  EXPECT_TRUE(has(reason_of<memory_access, moody>(options_of("mixed"), &record), "3 of 300 requests"));
  EXPECT_TRUE(has(record, "\"failures\": 3,") && has(record, "\"measures\": {}")) << record;
  run_options small = options_of("rewriting");
  small.heap_bytes = 1 << 16;
  EXPECT_TRUE(has(reason_of<trace_replay, sound>(small, &record), "got null")) << record;
  EXPECT_TRUE(!has(record, "\"failures\": 0,") && has(record, "\"measures\": {}")) << record;
}

TEST_F(contents_cases, count_requests_that_are_refused_in_rounds_that_are_not_judged) {
  run_options options = options_of("mixed");
  options.warmup = 2;
  std::string record;
  EXPECT_EQ((reason_of<work_generation, tiring>(options, &record)),
            "200 of 300 requests in round 2 got null: 9888 bytes were asked for in all, the heap has 1048576");
  EXPECT_TRUE(has(record, "\"rounds_judged\": 1,") && has(record, "\"measures\": {}")) << record;
}

TEST_F(contents_cases, find_nothing_in_a_sound_allocator) {
  std::string record;
  EXPECT_EQ((reason_of<work_generation, sound>(options_of("mixed"), &record)), "");
  EXPECT_TRUE(has(record, "\"baseline_kept\": {\"median\"") && has(record, "\"ratio\": {\"median\"")) << record;
  // Under a tool that slows it down, the reference with its one lock serves fewer sizes, and one copy of the trace.
  // On a GPU, where launches are dear, some fewer.
  const bool small = test::scale_in_force() == test::work_scale::small;
  using sizes = std::vector<std::uint64_t>;
  const bool on_gpu = this_backend == backend::cuda;
  for (const std::uint64_t size : small ? sizes{5} : on_gpu ? sizes{1, 5, 100} : sizes{1, 4, 5, 16, 100}) {
    EXPECT_EQ((reason_of<memory_access, sound>(options_of("uniform", 33, size), &record)), "");
    EXPECT_TRUE(has(record, "\"read_ratio\": {\"median\"")) << record;
  }
  for (const std::uint64_t size : small ? sizes{7} : on_gpu ? sizes{4, 7, 100} : sizes{4, 7, 16, 100}) {
    EXPECT_EQ((reason_of<memory_access, sound>(options_of("mixed", 1, size))), "");
    EXPECT_EQ((reason_of<work_generation, sound>(options_of("mixed", 1, size))), "");
  }
  if (small) return;
  run_options one = options_of("adjacency", 1);
  one.iterations = 1;  // each replay takes a launch for each of its phases
  EXPECT_EQ((reason_of<trace_replay, sound>(one, &record)), "");
  EXPECT_TRUE(has(record, "\"copies\": 1,") && has(record, "\"rate\": {\"median\"")) << record;
  run_options two = options_of("adjacency", 2 * 1024 + 1000);
  two.iterations = 1;
  two.heap_bytes = std::uint64_t{8} << 20;  // a design with chunks for each size needs more than it hands out
  EXPECT_EQ((reason_of<trace_replay, ouroboros_va_c>(two, &record)), "");
  EXPECT_TRUE(has(record, "\"copies\": 2,")) << record;
}

TEST_F(contents_cases, tell_what_a_design_cannot_do) {
  EXPECT_EQ((reason_of<work_generation, bump>(options_of("mixed"))), "") << "a reset will do";
  EXPECT_EQ((reason_of<work_generation, never_frees>(options_of("mixed"))), lacks_individual_free);
  EXPECT_EQ((reason_of<trace_replay, bump>(options_of("adjacency"))), lacks_individual_free);
  EXPECT_EQ((reason_of<trace_replay, for_whole_warps>(options_of("adjacency"))), needs_whole_warps);
  std::string record;
  EXPECT_EQ((reason_of<trace_replay, test::slot_row<>>(options_of("adjacency"), &record)),
            "the design serves requests of up to 64 bytes, and the trace has one of 2048");
  EXPECT_TRUE(has(record, "\"verified\": false")) << record;
}

TEST(memory_access_requests, have_whole_words_and_sixteen_bytes_if_they_can) {
  const auto sizes = [](const char* mode, std::uint64_t size) {
    const requests asked = memory_access::requests_of(options_of(mode, 1000, size), 0);
    std::vector<std::uint64_t> drawn(2, asked.bytes(0));
    for (std::uint64_t i = 0; i < 1000; ++i) {
      EXPECT_EQ(asked.bytes(i) % 4, 0u);
      drawn = {std::min(drawn[0], asked.bytes(i)), std::max(drawn[1], asked.bytes(i))};
    }
    return drawn;
  };
  EXPECT_EQ(sizes("uniform", 30), (std::vector<std::uint64_t>{32, 32}));
  EXPECT_EQ(sizes("mixed", 128), (std::vector<std::uint64_t>{16, 128}));
  EXPECT_EQ(sizes("mixed", 31), (std::vector<std::uint64_t>{16, 28}));
  EXPECT_EQ(sizes("mixed", 11), (std::vector<std::uint64_t>{8, 8}));
}

class items : public testing::Test {
 protected:
  // Writes all items to blocks `stride` bytes apart, changes a byte, and counts those that are found wrong.
  std::uint64_t wrong(std::uint64_t stride, bool every_word, std::uint64_t spoil = ~std::uint64_t{0}) const {
    device_array<unsigned char> memory(asked.count * 64);
    std::vector<void*> blocks;
    for (std::uint64_t i = 0; i < asked.count; ++i) blocks.push_back(memory.data() + i * stride);
    blocks[7] = nullptr;
    const device_array<void*> places(blocks);
    device_array<std::uint64_t> found(1);
    write_items(asked, places.data());
    if (spoil < memory.size()) {
      const auto changed = static_cast<unsigned char>(memory.at(spoil) ^ 1u);
      device_copy(memory.data() + spoil, &changed, 1);
    }
    (every_word ? check_items : read_items)(asked, places.data(), found.data());
    return found.at(0);
  }
  requests asked{100, 64, 5, request_mode::mixed};
};

TEST_F(items, keep_what_is_written) {
  EXPECT_EQ(wrong(64, true), 0u);
  EXPECT_EQ(wrong(64, false), 0u);
}

TEST_F(items, show_one_changed_bit) {
  for (const bool every_word : {true, false}) {
    EXPECT_EQ(wrong(64, every_word, 64 * 20), 1u);
    EXPECT_EQ(wrong(64, every_word, 64 * 20 + asked.bytes(20) - 1), 1u) << "the last byte of an item is read";
    EXPECT_EQ(asked.bytes(20) == 64 ? 0 : wrong(64, every_word, 64 * 20 + asked.bytes(20)), 0u);
  }
}

TEST_F(items, show_blocks_that_share_a_word) {
  EXPECT_GT(wrong(4, true), 0u);
  EXPECT_GT(wrong(4, false), 0u);
}

TEST_F(items, are_counted_anew_by_each_check) {
  device_array<unsigned char> memory(asked.count * 64);
  std::vector<void*> blocks;
  for (std::uint64_t i = 0; i < asked.count; ++i) blocks.push_back(memory.data() + i * 64);
  const device_array<void*> places(blocks);
  item_check check;
  EXPECT_EQ(check.wrong_items(asked, places.data()), asked.count) << "nothing was written yet";
  write_items(asked, places.data());
  read_items(asked, places.data(), check.counter());
  EXPECT_EQ(check.count(), asked.count) << "what a kernel finds is added";
  EXPECT_EQ(check.wrong_items(asked, places.data()), 0u);
}

TEST(baseline_samples, compare_round_by_round) {
  baseline_samples against;
  against.add(2, 4);
  against.add(9, 3);
  EXPECT_EQ(against.times.values(), (std::vector<double>{4, 3}));
  EXPECT_EQ(against.ratios.values(), (std::vector<double>{0.5, 3}));
}

TEST(prefix_sums, are_those_of_all_before) {
  for (const std::uint64_t count : {1u, 2u, 31u, 1000u, 70001u}) {
    std::vector<std::uint32_t> numbers;
    for (std::uint64_t i = 0; i < count; ++i) numbers.push_back(static_cast<std::uint32_t>(mix(i)));
    const device_array<std::uint32_t> from(numbers);
    const device_array<std::uint64_t> to(count);
    prefix_sum{count}.run(from.data(), to.data());
    std::uint64_t sum = 0;  // beyond 32 bits
    const std::vector<std::uint64_t> sums = to.to_host();
    for (std::uint64_t i = 0; i < count; sum += numbers[i++]) ASSERT_EQ(sums[i], sum) << i << " of " << count;
  }
}

TEST(packed, items_lie_one_behind_the_other) {
  for (const auto policy : {packed_items::memory::taken_anew, packed_items::memory::kept}) {
    packed_items packed{500, 64, policy};
    const device_array<void*> blocks(500);
    for (std::uint64_t salt = 0; salt < 3; ++salt) {
      const requests asked{500, 64, salt, request_mode::mixed};
      const std::uint64_t total = packed.place(asked);
      packed.write(asked);
      packed.point(asked, blocks.data());
      EXPECT_EQ(item_check{}.wrong_items(asked, blocks.data()), 0u);
      const std::vector<void*> at = blocks.to_host();
      std::uint64_t offset = 0;
      for (std::uint64_t i = 0; i < asked.count; offset += asked.bytes(i++)) {
        ASSERT_EQ(static_cast<unsigned char*>(at[i]) - static_cast<unsigned char*>(at[0]),
                  static_cast<std::ptrdiff_t>(offset));
      }
      EXPECT_EQ(total, offset);
      packed.release();
    }
  }
}

TEST(packed, sizes_beyond_32_bits_are_refused) {
  EXPECT_THROW((packed_items{1, std::uint64_t{1} << 32, packed_items::memory::kept}), usage_error);
}

}  // namespace
}  // namespace warpheap::bench::contents_test
