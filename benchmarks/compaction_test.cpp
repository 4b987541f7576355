// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The case compaction is right about designs that trim, and finds what a broken one does.

#include <gtest/gtest.h>

#include <allocator/reference.hpp>
#include <cstdint>
#include <string>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

#include "case_outcome.hpp"
#include "cases/compaction.hpp"

namespace warpheap::bench::compaction_test {

using sound = ouroboros_s_c;

/// Takes no block back, and says that it does.
struct hoarding : sound {
  using sound::sound;
  static constexpr const char* name = "hoarding";

  WARPHEAP_FN void free(void*) const {}
};

/// Grants each other block of 8 KiB again in place of the one after it.
struct repeating : sound {
  using sound::sound;
  static constexpr const char* name = "repeating";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    void* const block = sound::malloc(bytes);
    const bool second = reinterpret_cast<std::uint64_t>(block) / 8192 % 2 == 1;
    return bytes == 8192 && second ? static_cast<std::byte*>(block) - 8192 : block;
  }
};

/// Gives nothing back: no unit is ever free.
struct clinging : sound {
  using sound::sound;
  static constexpr const char* name = "clinging";

  WARPHEAP_FN void withdraw(std::uint64_t*) const {}
  WARPHEAP_FN void restore(const std::uint64_t*) const {}
};

namespace {

using namespace test_of_cases;

run_options options_of(const char* mode, std::uint64_t size) {
  constexpr bool host = this_backend == backend::host;
  return small_run(mode, host ? 128 : 10'000, size, host ? 1 << 20 : 64 << 20, 2);
}

template <class A>
outcome compacted(const run_options& options) {
  return result_of<compaction, A>(options);
}

class compaction_case : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_can_map()) GTEST_SKIP() << "no memory can be given back";
  }
};

template <class A>
void expect_all_back() {
  SCOPED_TRACE(A::name);
  const outcome result = compacted<A>(options_of("all_freed", 256));
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.median("regained"), 1) << result.record;
  EXPECT_EQ(result.median("given_back"), 1) << result.record;
  for (const char* time : {"trim", "first_fill", "fill", "fresh"}) EXPECT_GT(result.median(time), 0) << result.record;
}

TEST_F(compaction_case, all_comes_back_if_all_is_freed) {
  expect_all_back<ouroboros_s_c>();
  expect_all_back<ouroboros_vl_p>();
}

TEST_F(compaction_case, survivors_keep_their_chunks) {
  // Of 0.99^32 = 72 % of the chunks no page survives; a small heap is a small sample.
  const outcome result = compacted<ouroboros_vl_p>(options_of("few_kept", 256));
  EXPECT_EQ(result.reason, "");
  EXPECT_GT(result.median("regained"), 0.55) << result.record;
  EXPECT_LT(result.median("regained"), 0.9) << result.record;
  EXPECT_LT(result.median("given_back"), 0.9) << result.record;
  const outcome small = compacted<ouroboros_s_c>(options_of("few_kept", 16));
  EXPECT_EQ(small.reason, "");
  EXPECT_LT(small.median("regained"), 0.1) << small.record;
}

TEST_F(compaction_case, a_heap_that_keeps_its_memory_gives_nothing_back) {
  const outcome result = compacted<clinging>(options_of("all_freed", 256));
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.median("given_back"), 0) << result.record;
  EXPECT_EQ(result.median("regained"), 1) << result.record;
}

TEST_F(compaction_case, finds_what_is_wrong) {
  EXPECT_NE(compacted<hoarding>(options_of("all_freed", 256)).reason.find("bytes are live after all blocks were freed"),
            std::string::npos);
  const std::string lost = compacted<repeating>(options_of("few_kept", 256)).reason;
  EXPECT_NE(lost.find("lost what was written"), std::string::npos) << lost;
}

TEST_F(compaction_case, is_for_designs_that_trim) {
  EXPECT_EQ(compacted<test::locked_list<>>(options_of("all_freed", 256)).reason,
            "the design gives no memory back to the machine");
  EXPECT_NE(compacted<ouroboros_s_c>(options_of("all_freed", 20)).reason, "");
}

}  // namespace
}  // namespace warpheap::bench::compaction_test
