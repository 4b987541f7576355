// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What a heap does when the machine refuses what it asks for, at each call that can be refused.

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <support/fail_after.hpp>
#include <system_error>
#include <warpheap.hpp>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/designs/scatter/scatter.hpp>

namespace warpheap::test::refusals {
namespace {

using host::device_calls;
using host::refused;
using host::with_failure_after;

constexpr std::uint64_t mebibyte = 1 << 20;

template <class A>
class refusals : public testing::Test {};
using designs = testing::Types<bump, warp_slab, bulk, scatter, ouroboros_va_p>;
TYPED_TEST_SUITE(refusals, designs, );

struct take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks, std::uint64_t bytes) const {
    blocks[grid_thread_index()] = heap.malloc(bytes);
  }
};

// Blocks of 4 KiB that the heap serves to 512 threads.
template <class A>
std::uint64_t served(heap_ref<A> heap) {
  const device_array<void*> blocks(512);
  launch({16, 32}, take_kernel{}, heap, blocks.data(), std::uint64_t{4096});
  std::uint64_t count = 0;
  for (void* const block : blocks.to_host()) count += block != nullptr ? 1 : 0;
  return count;
}

// What all ranges of the process have.
std::uint64_t committed() { return target::committed_memory().load(); }

TYPED_TEST(refusals, a_heap_that_cannot_be_made_leaves_nothing) {
  const std::uint64_t before = committed();
  for (std::uint64_t n = 0;; ++n) {
    ASSERT_LT(n, 1000u);
    const refused ended =
        with_failure_after(n, [] { const heap<TypeParam> one{mebibyte, {.reserve_bytes = 4 * mebibyte}}; });
    ASSERT_EQ(committed(), before) << "after a refusal of call " << n;
    if (ended == refused::never) {
      EXPECT_GE(n, 4u) << "a heap reserves and commits blocks and metadata";
      break;
    }
    EXPECT_EQ(ended, refused::thrown) << "of call " << n;
  }
}

TYPED_TEST(refusals, fewer_addresses_are_taken_where_those_by_default_are_refused) {
  std::uint64_t wished = 0;
  {
    const heap<TypeParam> free{mebibyte};
    wished = free.statistics().reserved_bytes;
  }
  for (std::uint64_t failures = 1; failures < 40; ++failures) {
    std::uint64_t reserved = 0;
    const refused ended = with_failure_after(
        0,
        [&] {
          heap<TypeParam> less{mebibyte};
          reserved = less.statistics().reserved_bytes;
          EXPECT_GT(served(less.ref()), 0u);
        },
        device_calls::reserve, failures);
    if (ended == refused::thrown) {
      EXPECT_GT(failures, 3u) << "a heap gave up before it asked for its size alone";
      return;
    }
    EXPECT_EQ(ended, refused::caught);
    EXPECT_LT(reserved, wished);
    EXPECT_GE(reserved, mebibyte);
  }
  FAIL() << "no number of refusals is too many";
}

TYPED_TEST(refusals, refused_addresses_say_what_to_set) {
  const auto expect_advice = [](heap_options options, std::uint64_t failures) {
    const host::fail_after plan(0, device_calls::reserve, failures);
    try {
      const heap<TypeParam> none{mebibyte, options};
      ADD_FAILURE() << "the addresses were to be refused";
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string{error.what()}.find("set heap_options::reserve_bytes"), std::string::npos) << error.what();
      EXPECT_NE(std::string{error.what()}.find("for a heap of 1048576 bytes"), std::string::npos) << error.what();
    }
  };
  expect_advice({.reserve_bytes = 8 * mebibyte}, 1);
  expect_advice({}, host::fail_after::all_later);
}

TYPED_TEST(refusals, more_memory_than_the_computer_has_is_refused_when_the_heap_is_made) {
  const std::uint64_t more = describe_machine().memory_bytes + mebibyte;
  for (const bool plain : {false, true}) {
    try {
      const heap<TypeParam> none{more, {.plain = plain}};
      FAIL() << "a heap larger than the memory was made";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::not_enough_memory) << error.what();
      EXPECT_NE(std::string{error.what()}.find(" bytes of memory"), std::string::npos) << error.what();
    }
  }
  // The sum of several heaps counts, too.
  const std::uint64_t most = describe_machine().memory_bytes / 2;
  device_range half(most, {});
  half.commit(0, most);
  device_range other(most + 256 * mebibyte, {});
  EXPECT_THROW(other.commit(0, most + 256 * mebibyte), std::system_error);
  EXPECT_EQ(other.committed_bytes(), 0u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TYPED_TEST(refusals, a_heap_is_made_under_a_limit_of_addresses) {
  const auto make_under_limit = [] {
    const rlimit tight{std::uint64_t{8} << 30, std::uint64_t{8} << 30};
    if (::setrlimit(RLIMIT_AS, &tight) != 0) std::exit(2);
    try {
      heap<TypeParam> small{mebibyte};
      std::exit(served(small.ref()) > 0 ? 0 : 3);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::exit(4);
    }
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(make_under_limit(), testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace warpheap::test::refusals
