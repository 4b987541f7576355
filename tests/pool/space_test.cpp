// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The memory below a pool: sizes that no space can have.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <warpheap/pool.hpp>

namespace warpheap::test::space {
namespace {

template <class Space>
class space : public testing::Test {};
using spaces = testing::Types<device_space, host_space, pinned_space, managed_space, shared_space>;
TYPED_TEST_SUITE(space, spaces, );

TYPED_TEST(space, a_size_that_wraps_when_rounded_up_is_refused_by_name) {
  for (const std::uint64_t bytes : {~std::uint64_t{0}, ~std::uint64_t{0} - 100, most_bytes + 1}) {
    try {
      const TypeParam none{bytes};
      ADD_FAILURE() << "a space of " << none.bytes() << " bytes was made for " << bytes;
    } catch (const std::length_error& error) {
      EXPECT_NE(std::string{error.what()}.find(std::to_string(bytes)), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace warpheap::test::space
