// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface of heaps: each function, and each way to fail.

#include <gtest/gtest.h>
#include <warpheap/heap/heap.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap.hpp>

#include "heap_from_c.h"

namespace warpheap::test::heap_c_test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
using numbers = std::vector<std::uint64_t>;

// Numbers of 64 bits in device memory, by the interface's own functions.
class c_array {
 public:
  c_array(const wh_heap* heap, const numbers& values) : size_(values.size()) {
    EXPECT_EQ(wh_heap_array_make(heap, size_ * sizeof(std::uint64_t), &data_), WH_HEAP_OK) << wh_heap_error();
    EXPECT_EQ(wh_heap_array_copy(data_, values.data(), size_ * sizeof(std::uint64_t)), WH_HEAP_OK) << wh_heap_error();
  }
  c_array(const c_array&) = delete;
  c_array& operator=(const c_array&) = delete;
  ~c_array() { wh_heap_array_end(data_); }

  std::uint64_t* data() const { return static_cast<std::uint64_t*>(data_); }
  numbers values() const {
    numbers here(size_);
    EXPECT_EQ(wh_heap_array_copy(here.data(), data_, size_ * sizeof(std::uint64_t)), WH_HEAP_OK) << wh_heap_error();
    return here;
  }

 private:
  void* data_ = nullptr;
  std::uint64_t size_;
};

// A block of eight bytes for each lane, by the handle in device memory: what a kernel of another language does.
struct take_by_handle {
  const heap_ref<>* heap;
  void** blocks;

  WARPHEAP_FN void operator()() const { blocks[grid_thread_index()] = heap->malloc(8); }
};

struct write_past_the_end {
  std::uint64_t* blocks;
  std::uint64_t bytes;

  WARPHEAP_FN void operator()() const {
    auto* const byte = reinterpret_cast<std::byte*>(blocks[0]) + bytes;
    shadow_unpoison(byte, 1);  // the heap is to find it, not the sanitizer
    *byte = std::byte{7};
  }
};

class heap_c : public testing::Test {
 protected:
  void SetUp() override {
    if (wh_heap_device_available() == 0) GTEST_SKIP() << wh_heap_error();
  }
  void TearDown() override { wh_heap_destroy(heap_); }

  static wh_heap_options options(std::uint64_t bytes = 16 * mebibyte) {
    wh_heap_options options{};
    options.struct_bytes = sizeof(options);
    options.bytes = bytes;
    options.device = -1;
    return options;
  }
  void make(const wh_heap_options& how) { ASSERT_EQ(wh_heap_create(&how, &heap_), WH_HEAP_OK) << wh_heap_error(); }
  void make() { make(options()); }

  wh_heap_statistics figures() const {
    wh_heap_statistics found{};
    found.struct_bytes = sizeof(found);
    EXPECT_EQ(wh_heap_statistics_of(heap_, &found), WH_HEAP_OK) << wh_heap_error();
    return found;
  }
  wh_heap_fault fault() const {
    wh_heap_fault found{};
    found.struct_bytes = sizeof(found);
    EXPECT_EQ(wh_heap_first_fault(heap_, &found), WH_HEAP_OK) << wh_heap_error();
    return found;
  }
  numbers take(const numbers& sizes) const {
    const c_array asked(heap_, sizes);
    const c_array got(heap_, numbers(sizes.size(), 1));
    EXPECT_EQ(wh_heap_malloc(heap_, asked.data(), got.data(), sizes.size()), WH_HEAP_OK) << wh_heap_error();
    return got.values();
  }
  void give(const numbers& blocks) const {
    const c_array given(heap_, blocks);
    EXPECT_EQ(wh_heap_free(heap_, given.data(), blocks.size()), WH_HEAP_OK) << wh_heap_error();
  }

  wh_heap* heap_ = nullptr;
};

TEST_F(heap_c, is_used_from_c) { EXPECT_EQ(heap_used_from_c(), 0) << wh_heap_error(); }

TEST_F(heap_c, a_batch_takes_blocks_that_lie_apart) {
  make();
  numbers sizes(5000);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i % 11 == 0 ? 0 : 1 + i * 37 % 3000;
  const numbers blocks = take(sizes);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(blocks[i] == 0, sizes[i] == 0) << i;
    if (sizes[i] != 0) pieces.emplace_back(blocks[i], sizes[i]);
  }
  std::sort(pieces.begin(), pieces.end());
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    ASSERT_GE(pieces[i].first, pieces[i - 1].first + pieces[i - 1].second);
  }
  EXPECT_GE(figures().live_bytes, std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}));
  give(blocks);
  EXPECT_EQ(figures().live_bytes, 0u);
}

TEST_F(heap_c, a_full_heap_gives_null) {
  make(options(mebibyte));
  const numbers blocks = take(numbers(100, 64 << 10));
  const auto served = static_cast<std::uint64_t>(100 - std::count(blocks.begin(), blocks.end(), 0u));
  EXPECT_GT(served, 8u);
  EXPECT_LE(served, 16u);
}

TEST_F(heap_c, kernels_use_the_handle_before_and_after_the_heap_moves) {
  wh_heap_options how = options(4 * mebibyte);
  how.flags = WH_HEAP_PLAIN;
  make(how);
  const std::uint64_t handle = wh_heap_handle(heap_);
  const auto* const ref = reinterpret_cast<const heap_ref<>*>(handle);
  const c_array blocks(heap_, numbers(64));
  launch({2, 32}, take_by_handle{ref, reinterpret_cast<void**>(blocks.data())});
  synchronise();
  const numbers before = blocks.values();
  EXPECT_EQ(std::count(before.begin(), before.end(), 0u), 0);
  EXPECT_EQ(figures().live_bytes, 64u * 16);

  EXPECT_EQ(wh_heap_grow(heap_, 8 * mebibyte), WH_HEAP_TOO_LARGE);
  std::int64_t distance = 0;
  ASSERT_EQ(wh_heap_relocate(heap_, 8 * mebibyte, &distance), WH_HEAP_OK) << wh_heap_error();
  EXPECT_NE(distance, 0);
  EXPECT_EQ(wh_heap_handle(heap_), handle);
  launch({2, 32}, take_by_handle{ref, reinterpret_cast<void**>(blocks.data())});
  synchronise();
  EXPECT_EQ(figures().live_bytes, 2u * 64 * 16);
  EXPECT_EQ(figures().size_bytes, 8 * mebibyte);
  numbers moved = before;
  for (std::uint64_t& block : moved) block += static_cast<std::uint64_t>(distance);
  give(moved);
  give(blocks.values());
  EXPECT_EQ(figures().live_bytes, 0u);
}

TEST_F(heap_c, a_heap_grows_is_trimmed_restored_and_reset) {
  make(options(64 * mebibyte));
  ASSERT_EQ(wh_heap_grow(heap_, 128 * mebibyte), WH_HEAP_OK) << wh_heap_error();
  EXPECT_EQ(figures().size_bytes, 128 * mebibyte);
  EXPECT_GE(figures().reserved_bytes, 128 * mebibyte);
  take(numbers(100, 256));
  const std::uint64_t committed = figures().committed_bytes;
  std::uint64_t given_back = 0;
  ASSERT_EQ(wh_heap_trim(heap_, &given_back), WH_HEAP_OK) << wh_heap_error();
  EXPECT_GT(given_back, 0u);
  EXPECT_EQ(figures().committed_bytes, committed - given_back);
  ASSERT_EQ(wh_heap_restore(heap_), WH_HEAP_OK) << wh_heap_error();
  EXPECT_EQ(figures().committed_bytes, committed);
  EXPECT_GT(figures().live_bytes, 0u);
  ASSERT_EQ(wh_heap_reset(heap_), WH_HEAP_OK) << wh_heap_error();
  EXPECT_EQ(figures().live_bytes, 0u);
}

TEST_F(heap_c, a_checked_heap_tells_the_first_fault) {
  wh_heap_options how = options();
  how.flags = WH_HEAP_CHECKED;
  make(how);
  EXPECT_EQ(fault().kind, WH_HEAP_NO_FAULT);
  const numbers blocks = take({40});
  const c_array there(heap_, blocks);
  launch({1, 1}, write_past_the_end{there.data(), 40});
  synchronise();
  give(blocks);
  const wh_heap_fault found = fault();
  EXPECT_EQ(found.kind, WH_HEAP_OVERRUN);
  EXPECT_EQ(found.pointer, blocks[0]);
  EXPECT_EQ(found.bytes, 40u);
  EXPECT_NE(std::string(found.text).find("write beyond the size"), std::string::npos) << found.text;
  ASSERT_EQ(wh_heap_clear_fault(heap_), WH_HEAP_OK);
  give(blocks);
  EXPECT_EQ(fault().kind, WH_HEAP_DOUBLE_FREE);
}

TEST_F(heap_c, a_structure_of_an_older_caller_is_written_as_far_as_it_goes) {
  make();
  wh_heap_statistics found{};
  std::memset(&found, 0xab, sizeof(found));
  found.struct_bytes = offsetof(wh_heap_statistics, reserved_bytes);
  ASSERT_EQ(wh_heap_statistics_of(heap_, &found), WH_HEAP_OK) << wh_heap_error();
  EXPECT_EQ(found.struct_bytes, offsetof(wh_heap_statistics, reserved_bytes));
  EXPECT_EQ(found.size_bytes, 16 * mebibyte);
  EXPECT_EQ(found.reserved_bytes, 0xababababababababu);
  // And that of a newer one, as far as the library goes.
  found.struct_bytes = sizeof(found) + 64;
  EXPECT_EQ(wh_heap_statistics_of(heap_, &found), WH_HEAP_OK);
  EXPECT_EQ(found.live_bytes, 0u);
}

// --- ways to fail ---------------------------------------------------------------------------------------------------

std::string refusal(wh_heap_options how, wh_heap_status expected) {
  wh_heap* heap = nullptr;
  EXPECT_EQ(wh_heap_create(&how, &heap), expected) << wh_heap_error();
  EXPECT_EQ(heap, nullptr);
  return wh_heap_error();
}

TEST_F(heap_c, options_that_cannot_be_right_are_refused) {
  EXPECT_NE(refusal(options(0), WH_HEAP_INVALID_ARGUMENT).find("0 bytes"), std::string::npos);
  EXPECT_NE(refusal(options(1), WH_HEAP_INVALID_ARGUMENT).find("bytes"), std::string::npos);
  EXPECT_FALSE(refusal(options(std::numeric_limits<std::uint64_t>::max()), WH_HEAP_TOO_LARGE).empty());
  wh_heap_options how = options();
  how.design = "warp_slap";
  const std::string named = refusal(how, WH_HEAP_INVALID_ARGUMENT);
  EXPECT_NE(named.find("'warp_slap'"), std::string::npos);
  EXPECT_NE(named.find(wh_heap_designs()), std::string::npos);
  how = options();
  how.flags = 1u << 30;
  EXPECT_NE(refusal(how, WH_HEAP_INVALID_ARGUMENT).find("flags"), std::string::npos);
  how = options();
  how.device = -2;
  EXPECT_NE(refusal(how, WH_HEAP_INVALID_ARGUMENT).find("device"), std::string::npos);
  how.device = 1000;
  EXPECT_NE(refusal(how, WH_HEAP_DEVICE_FAILURE).find("1000"), std::string::npos);
  how = options();
  how.struct_bytes = 8;
  EXPECT_NE(refusal(how, WH_HEAP_INVALID_ARGUMENT).find("struct_bytes"), std::string::npos);
  EXPECT_EQ(wh_heap_create(nullptr, &heap_), WH_HEAP_INVALID_ARGUMENT);
  how = options();
  EXPECT_EQ(wh_heap_create(&how, nullptr), WH_HEAP_INVALID_ARGUMENT);
}

TEST_F(heap_c, what_a_design_cannot_do_is_said) {
  wh_heap_options how = options();
  how.design = "bump";
  make(how);
  const c_array blocks(heap_, take({16}));
  EXPECT_EQ(wh_heap_free(heap_, blocks.data(), 1), WH_HEAP_NOT_SUPPORTED);
  EXPECT_NE(std::string(wh_heap_error()).find("'bump' cannot take single blocks back"), std::string::npos);
  EXPECT_EQ(wh_heap_trim(heap_, nullptr), WH_HEAP_NOT_SUPPORTED);
  wh_heap_fault fault{};
  fault.struct_bytes = sizeof(fault);
  EXPECT_EQ(wh_heap_first_fault(heap_, &fault), WH_HEAP_NOT_SUPPORTED);
  EXPECT_NE(std::string(wh_heap_error()).find("WH_HEAP_CHECKED"), std::string::npos);
  how = options();
  how.design = "bulk";
  how.flags = WH_HEAP_CHECKED;
  EXPECT_NE(refusal(how, WH_HEAP_NOT_SUPPORTED).find("cannot be checked"), std::string::npos);
}

TEST_F(heap_c, null_heaps_and_arrays_are_refused) {
  EXPECT_EQ(wh_heap_grow(nullptr, 1), WH_HEAP_INVALID_ARGUMENT);
  EXPECT_EQ(wh_heap_reset(nullptr), WH_HEAP_INVALID_ARGUMENT);
  EXPECT_EQ(wh_heap_handle(nullptr), 0u);
  EXPECT_EQ(wh_heap_device(nullptr), -1);
  EXPECT_EQ(wh_heap_design(nullptr), nullptr);
  wh_heap_destroy(nullptr);
  make();
  EXPECT_EQ(wh_heap_malloc(heap_, nullptr, nullptr, 1), WH_HEAP_INVALID_ARGUMENT);
  EXPECT_EQ(wh_heap_malloc(heap_, nullptr, nullptr, 0), WH_HEAP_OK);
  EXPECT_EQ(wh_heap_free(heap_, nullptr, 1), WH_HEAP_INVALID_ARGUMENT);
  EXPECT_EQ(wh_heap_statistics_of(heap_, nullptr), WH_HEAP_INVALID_ARGUMENT);
}

TEST_F(heap_c, each_thread_has_its_own_error) {
  EXPECT_EQ(wh_heap_reset(nullptr), WH_HEAP_INVALID_ARGUMENT);
  const std::string mine = wh_heap_error();
  std::string theirs = "x";
  std::thread([&] { theirs = wh_heap_error(); }).join();
  EXPECT_FALSE(mine.empty());
  EXPECT_TRUE(theirs.empty());
}

TEST_F(heap_c, numbers_are_widened) {
  make();
  const std::vector<std::uint32_t> narrow{1, 2, 0xffffffffu};
  void* from = nullptr;
  ASSERT_EQ(wh_heap_array_make(heap_, 12, &from), WH_HEAP_OK);
  ASSERT_EQ(wh_heap_array_copy(from, narrow.data(), 12), WH_HEAP_OK);
  const c_array wide(heap_, numbers(3));
  ASSERT_EQ(wh_heap_array_widen(heap_, wide.data(), static_cast<std::uint32_t*>(from), 3), WH_HEAP_OK)
      << wh_heap_error();
  EXPECT_EQ(wide.values(), (numbers{1, 2, 0xffffffffu}));
  wh_heap_array_end(from);
}

}  // namespace
}  // namespace warpheap::test::heap_c_test
