// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What owns memory of a device uses that device, whichever is current. The tests of two devices need two.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::test::current_device {
namespace {

TEST(current_device, is_one_of_the_machine) {
  const device_context now = device_context::current();
  EXPECT_TRUE(now.is_alive());
  EXPECT_GE(now.device(), 0);
  EXPECT_LT(now.device(), device_count());
  EXPECT_EQ(device_context::of(now.device()).device(), now.device());
}

TEST(current_device, a_number_without_a_device_is_refused) {
  for (const int number : {-1, device_count(), device_count() + 7}) {
    try {
      device_context::of(number);
      ADD_FAILURE() << "there is a device " << number;
    } catch (const launch_failure& error) {
      EXPECT_NE(std::string{error.what()}.find("there is no device " + std::to_string(number)), std::string::npos)
          << error.what();
    }
  }
}

TEST(current_device, no_device_cannot_be_current) {
  const device_context none;
  EXPECT_FALSE(none.is_alive());
  EXPECT_THROW(scoped_device{none}, launch_failure);
  EXPECT_FALSE((scoped_device{none, std::nothrow}.is_current()));
}

TEST(current_device, a_guard_ends_with_its_scope) {
  const int before = device_context::current().device();
  for (int device = 0; device < device_count(); ++device) {
    const scoped_device other{device_context::of(device)};
    EXPECT_TRUE(other.is_current());
    EXPECT_EQ(device_context::current().device(), device);
    {
      const scoped_device inner{device_context::of(before)};
      EXPECT_EQ(device_context::current().device(), before);
    }
    EXPECT_EQ(device_context::current().device(), device);
  }
  EXPECT_EQ(device_context::current().device(), before);
}

// The last device, which is not the current one where there are two.
device_context other_device() { return device_context::of(device_count() - 1); }

TEST(current_device, an_array_of_another_device_is_used_as_one_of_this) {
  std::vector<std::uint32_t> values(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) values[i] = i * i;
  const int before = device_context::current().device();
  std::optional<device_array<std::uint32_t>> array;
  {
    const scoped_device there{other_device()};
    array.emplace(values);
  }
  EXPECT_EQ(array->to_host(), values);
  EXPECT_EQ(array->at(31), 961u);
  array->clear();
  EXPECT_EQ(array->at(31), 0u);
  device_array<std::uint32_t> moved(std::move(*array));
  moved.clear();
  EXPECT_EQ(moved.to_host(), std::vector<std::uint32_t>(1000));
  EXPECT_EQ(device_context::current().device(), before);
}

struct write_word {
  WARPHEAP_FN void operator()(std::uint64_t* word) const { *word = 7; }
};

TEST(current_device, a_range_of_another_device_is_committed_there) {
  const int before = device_context::current().device();
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  std::optional<device_range> range;
  {
    const scoped_device there{other_device()};
    range.emplace(8 * mib, range_options{.piece_bytes = 2 * mib});
  }
  if (!range->can_map()) GTEST_SKIP() << "this machine cannot map memory at fixed addresses";
  EXPECT_EQ(range->context().device(), device_count() - 1);
  range->commit(0, 8 * mib);
  EXPECT_EQ(range->decommit(0, 2 * mib), 2 * mib);
  {
    const scoped_device there{range->context()};
    auto* const word = reinterpret_cast<std::uint64_t*>(range->data() + 4 * mib);
    launch({1, 1}, write_word{}, word);
    std::uint64_t read = 0;
    device_copy(&read, word, sizeof read);
    EXPECT_EQ(read, 7u);
  }
  range.reset();
  EXPECT_EQ(device_context::current().device(), before);
}

#if defined(WARPHEAP_BACKEND_CUDA)

TEST(current_device, a_stream_of_another_device_is_refused) {
  const device_context here = device_context::current();
  cudaStream_t own = nullptr;
  ASSERT_EQ(cudaStreamCreate(&own), cudaSuccess);
  device_streams::require_on(own, here);
  device_streams::require_on(nullptr, here);
  if (device_count() > 1) {
    cudaStream_t foreign = nullptr;
    const scoped_device there{other_device()};
    ASSERT_EQ(cudaStreamCreate(&foreign), cudaSuccess);
    device_streams::require_on(foreign, other_device());
    try {
      device_streams::require_on(foreign, here);
      ADD_FAILURE() << "the stream was taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string{error.what()}.find("take a stream of the memory's device"), std::string::npos)
          << error.what();
    }
    cudaStreamDestroy(foreign);
  }
  cudaStreamDestroy(own);
}

#endif

}  // namespace
}  // namespace warpheap::test::current_device
