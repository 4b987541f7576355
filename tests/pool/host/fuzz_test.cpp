// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Bytes of any kind are steps on both engines, which must agree with a plain book. As a test over bytes from seeds;
// with clang and -DWARPHEAP_FUZZ=ON also as the program pool_fuzz, in which libFuzzer looks for bytes that break
// something.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/pool.hpp>

#include "paired_books.hpp"

namespace warpheap {
namespace {

// Chooses steps by bytes; zeros when they are used up.
class byte_choices {
 public:
  byte_choices(const std::uint8_t* bytes, std::size_t count) : at_(bytes), end_(bytes + count) {}
  bool any_left() const { return at_ != end_; }

  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t value = 0;
    for (std::uint64_t reach = 1; reach < bound && any_left(); reach *= 256) value = value * 256 + *at_++;
    return value % bound;
  }
  std::uint64_t size(std::uint64_t largest) { return 1 + below(largest); }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

template <class Engine>
void take_steps(const std::uint8_t* bytes, std::size_t count) {
  byte_choices choices(bytes, count);
  test::paired_books<Engine, byte_choices> books(choices);
  while (choices.any_left() && !testing::Test::HasFailure()) books.step();
  books.compare();
}

}  // namespace
}  // namespace warpheap

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  warpheap::take_steps<warpheap::segregated_fit>(bytes, count);
  warpheap::take_steps<warpheap::tree_fit>(bytes, count);
#if defined(WARPHEAP_FUZZ)
  if (testing::Test::HasFailure()) std::abort();
#endif
  return 0;
}

namespace warpheap {
namespace {

TEST(pool_fuzz, any_bytes_leave_engines_and_plain_book_agreed) {
  const std::uint64_t seeds = test::scaled(400, 400);
  for (std::uint64_t seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
    test::random_stream random(seed, 0);
    std::vector<std::uint8_t> bytes(random.below(4000));
    // Some inputs repeat few values, as bytes that were found by a search do.
    const std::uint64_t values = seed % 3 == 0 ? 2 + random.below(6) : 256;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(values) * (256 / values));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    if (testing::Test::HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
}

}  // namespace
}  // namespace warpheap
