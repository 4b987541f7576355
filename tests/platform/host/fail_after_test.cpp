// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The instrument that lets calls of the host backend fail: each kind of call fails in turn, as a machine refuses it.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <support/fail_after.hpp>
#include <system_error>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::test::fail_after_test {
namespace {

using host::device_calls;
using host::fail_after;
using host::refused;
using host::with_failure_after;

TEST(fail_after, lets_the_call_after_those_fail_and_no_other) {
  const fail_after plan(2, device_calls::allocate);
  device_release(device_allocate(1));
  pinned_release(pinned_allocate(1));
  EXPECT_FALSE(plan.has_failed());
  EXPECT_THROW(managed_allocate(1), std::system_error);
  EXPECT_TRUE(plan.has_failed());
  device_release(device_allocate(1));
  EXPECT_EQ(plan.calls(), 4u);
}

TEST(fail_after, lets_several_or_all_later_calls_fail) {
  {
    const fail_after plan(1, device_calls::allocate, 2);
    device_release(device_allocate(1));
    EXPECT_THROW(device_allocate(1), std::system_error);
    EXPECT_THROW(device_allocate(1), std::system_error);
    device_release(device_allocate(1));
  }
  const fail_after plan(1, device_calls::allocate, fail_after::all_later);
  device_release(device_allocate(1));
  for (int i = 0; i < 10; ++i) EXPECT_THROW(device_allocate(1), std::system_error);
}

TEST(fail_after, counts_the_kinds_that_it_names) {
  device_range range(64 << 10, {.piece_bytes = 4096});
  const fail_after plan(0, device_calls::commit);
  device_release(device_allocate(1));
  EXPECT_EQ(plan.calls(), 0u);
  try {
    range.commit(0, 1);
    FAIL() << "the commit was to fail";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::not_enough_memory) << error.what();
  }
}

TEST(fail_after, ends_with_its_scope) {
  { const fail_after plan(0); }
  device_release(device_allocate(1));
}

TEST(fail_after, reaches_each_call_of_an_operation) {
  std::vector<refused> ends;
  do {
    ends.push_back(with_failure_after(ends.size(), [] {
      device_range range(64 << 10, {.piece_bytes = 4096});  // 1
      range.commit(0, 8192);                                // 2, 3
      try {
        device_release(device_allocate(1));  // 4
      } catch (const std::system_error&) {
      }
    }));
  } while (ends.back() != refused::never);
  EXPECT_EQ(ends, (std::vector{refused::thrown, refused::thrown, refused::thrown, refused::caught, refused::never}));
}

TEST(fail_after, an_exception_of_the_operation_goes_on) {
  EXPECT_THROW(with_failure_after(0, [] { throw std::runtime_error("its own"); }), std::runtime_error);
}

TEST(fail_after, calls_about_streams_fail) {
  device_streams::event mark;
  {
    const fail_after plan(0, device_calls::stream, fail_after::all_later);
    EXPECT_THROW(device_streams::record(mark, nullptr), launch_failure);
    EXPECT_THROW(device_streams::wait(nullptr, mark), launch_failure);
    EXPECT_THROW(device_streams::is_finished(mark), launch_failure);
    EXPECT_THROW(device_streams::synchronise(mark), launch_failure);
    EXPECT_THROW(device_streams::is_capturing(nullptr), launch_failure);
    EXPECT_EQ(plan.calls(), 5u);
    device_release(device_allocate(1));
  }
  device_streams::record(mark, nullptr);
}

}  // namespace
}  // namespace warpheap::test::fail_after_test
