// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A pool grows where the least must be committed, and finds that in one walk over its segments.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::growth_test {
namespace {

using test::random_stream;
using enum segment_state;

struct part {
  std::uint64_t begin;
  std::uint64_t bytes;
  bool operator==(const part&) const = default;
};
using plan = std::vector<part>;

std::uint64_t cost_of(const plan& of) {
  std::uint64_t sum = 0;
  for (const part& each : of) sum += each.bytes;
  return sum;
}

// Addresses alone, and what was committed there. A pool never touches its memory.
class noted_space final : public pool_space {
 public:
  noted_space(std::uint64_t begin, std::uint64_t bytes, std::uint64_t piece, plan& committed)
      : pool_space(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(begin)), bytes, piece),
        committed_(committed) {}
  void commit(std::uint64_t offset, std::uint64_t bytes) override {
    committed_.push_back({reinterpret_cast<std::uintptr_t>(data()) + offset, bytes});
  }
  void decommit(std::uint64_t, std::uint64_t) override {}

 private:
  plan& committed_;
};

// Counts how often an engine is asked for a neighbour.
template <class Engine>
struct stepping_engine : Engine {
  using Engine::Engine;
  segment_handle before(segment_handle handle) const {
    ++steps;
    return Engine::before(handle);
  }
  segment_handle after(segment_handle handle) const {
    ++steps;
    return Engine::after(handle);
  }
  static inline std::uint64_t steps = 0;
};

// What a pool must commit, found by trying each absent segment by itself.
struct model {
  std::vector<segment_view> segments;  // in the order of addresses
  std::uint64_t base;                  // pieces are counted from here
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t piece;

  std::uint64_t above(std::uint64_t address) const {
    return std::min(end, base + (address - base + piece - 1) / piece * piece);
  }
  std::uint64_t below(std::uint64_t address) const {
    return address >= end ? end : std::max(begin, base + (address - base) / piece * piece);
  }
  // The parts that are committed if growth begins at one absent segment; none if the request does not fit there.
  plan from(std::size_t first, std::uint64_t bytes, std::uint64_t alignment, std::uint64_t growth) const {
    const bool has_free = first != 0 && segments[first - 1].state == free;
    const std::uint64_t at = align_up(segments[first - (has_free ? 1 : 0)].begin, alignment);
    plan found;
    for (std::size_t i = first; i < segments.size() && segments[i].state != live; ++i) {
      const std::uint64_t last = segments[i].begin + segments[i].bytes;
      for (std::uint64_t from = std::max(segments[i].begin, below(at)); segments[i].state == absent && from < last;) {
        const std::uint64_t until = std::max(above(at + bytes), above(from + std::min(growth, end - from)));
        found.push_back({from, std::min(last, until) - from});
        break;
      }
      if (last >= at + bytes) return found;
    }
    return {};
  }
  // All plans that commit the least.
  std::vector<plan> cheapest(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t growth) const {
    std::vector<plan> best;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].state != absent) continue;
      const plan found = from(i, bytes, alignment, growth);
      if (found.empty()) continue;
      if (!best.empty() && cost_of(found) > cost_of(best.front())) continue;
      if (!best.empty() && cost_of(found) < cost_of(best.front())) best.clear();
      best.push_back(found);
    }
    return best;
  }
  bool is_there(std::uint64_t bytes, std::uint64_t alignment) const {
    return std::any_of(segments.begin(), segments.end(), [&](const segment_view& each) {
      return each.state == free && align_up(each.begin, alignment) + bytes <= each.begin + each.bytes;
    });
  }
};

template <class Engine>
class growth_test : public testing::Test {};
using engines = testing::Types<segregated_fit, tree_fit>;
TYPED_TEST_SUITE(growth_test, engines);

TYPED_TEST(growth_test, commits_the_least_that_a_brute_force_model_finds) {
  std::uint64_t plans = 0;
  std::uint64_t refusals = 0;
  for (std::uint64_t seed = 1, seeds = test::scaled_up_to(300, 20'000); seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    random_stream random(seed, 0);
    const std::uint64_t piece = std::uint64_t{1024} << random.below(2);
    const std::uint64_t granule = std::uint64_t{16} << random.below(5);
    // The range may begin anywhere at a granule, and end within one.
    const std::uint64_t begin = (std::uint64_t{1} << 40) + granule * random.below(100);
    const std::uint64_t bytes = piece * (2 + random.below(40)) - random.below(piece);
    pool_options options;
    options.granule_bytes = granule;
    if (random.below(3) == 0) options.growth_bytes = random.below(6 * piece);
    if (random.below(3) == 0) options.most_bytes = random.below(bytes);
    plan committed;
    basic_pool<TypeParam> pool(std::make_unique<noted_space>(begin, bytes, piece, committed), options);
    std::vector<void*> held;
    const auto take_back = [&](std::uint64_t one_of) {
      for (void*& each : held) {
        if (random.below(one_of) == 0) pool.deallocate(std::exchange(each, nullptr));
      }
      std::erase(held, nullptr);
    };
    for (int step = 0; step < 60; ++step) {
      if (const std::uint64_t kind = random.below(6); kind == 0) {
        take_back(3);
        continue;
      } else if (kind == 1) {
        pool.trim(random.below(2) == 0 ? 0 : random.below(bytes));
        if (random.below(2) == 0) take_back(2);
        continue;
      }
      const std::uint64_t size = align_up(1 + random.below(bytes / (1 + random.below(12))), granule);
      const std::uint64_t alignment = random.below(3) == 0 ? granule << random.below(8) : granule;
      model known{pool.segments(), begin, reinterpret_cast<std::uintptr_t>(pool.data()), 0, piece};
      known.end = known.begin + pool.reserved_bytes();
      const std::uint64_t unused = pool.unused_bytes();
      committed.clear();
      void* const block = pool.try_allocate(size, alignment);
      if (block != nullptr) held.push_back(block);
      if (known.is_there(size, alignment)) {
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(committed.empty());
        continue;
      }
      std::vector<plan> expected = known.cheapest(size, alignment, options.growth_bytes);
      if (!expected.empty() && cost_of(expected.front()) > unused) expected = known.cheapest(size, alignment, 0);
      if (expected.empty() || cost_of(expected.front()) > unused) {
        ++refusals;
        ASSERT_EQ(block, nullptr);
        ASSERT_TRUE(committed.empty());
        continue;
      }
      ++plans;
      ASSERT_NE(block, nullptr);
      ASSERT_NE(std::find(expected.begin(), expected.end(), committed), expected.end())
          << cost_of(committed) << " bytes were committed, " << cost_of(expected.front()) << " are enough";
    }
  }
  EXPECT_GT(plans, 100u);
  EXPECT_GT(refusals, 100u);
}

// An engine knows numbers only, and so may a space of one's own.
TYPED_TEST(growth_test, refuses_what_no_engine_hands_out) {
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  plan committed;
  basic_pool<TypeParam> around(std::make_unique<noted_space>(half - 4096, 8192, 4096, committed));
  EXPECT_EQ(around.try_allocate(4096, half), nullptr);
  EXPECT_TRUE(committed.empty());
  EXPECT_NE(around.try_allocate(4096, 4096), nullptr);
}

// Pieces of such a space would begin and end within granules.
TYPED_TEST(growth_test, refuses_a_space_of_pieces_that_begins_within_a_granule) {
  constexpr std::uint64_t begin = (std::uint64_t{1} << 40) + 256;
  plan committed;
  const auto make = [&](std::uint64_t at, std::uint64_t bytes, std::uint64_t granule) {
    const pool_options options{.granule_bytes = granule, .initial_bytes = 1};
    return std::make_unique<basic_pool<TypeParam>>(std::make_unique<noted_space>(at, bytes, 4096, committed), options);
  };
  try {
    make(begin, 65'536, 512);
    ADD_FAILURE() << "the pool was made";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string{error.what()}.find("choose a smaller granule"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(committed.empty());
  for (const std::uint64_t at : {std::uint64_t{0}, begin}) {
    EXPECT_EQ(make(at, 0, 512)->try_allocate(1), nullptr) << "a space without pieces has none to misplace";
  }
  EXPECT_NE(make(begin, 65'536, 256)->try_allocate(1), nullptr);
  EXPECT_EQ(committed, (plan{{begin, 4096}}));
}

TYPED_TEST(growth_test, an_alignment_beyond_the_last_address_does_not_fit) {
  constexpr std::uint64_t alignment = std::uint64_t{1} << 40;
  plan committed;
  basic_pool<TypeParam> last(std::make_unique<noted_space>(~std::uint64_t{0} - 65'535, 61'440, 4096, committed));
  std::vector<void*> held;
  for (int i = 0; i < 4; ++i) held.push_back(last.allocate(4096));
  last.deallocate(held[1]);
  last.trim();
  last.deallocate(held[3]);
  committed.clear();
  EXPECT_EQ(last.try_allocate(4096, alignment), nullptr);
  EXPECT_TRUE(committed.empty());
  EXPECT_NE(last.try_allocate(4096, 4096), nullptr);
}

// Free and absent pieces alternate, so a stretch from each of them to the middle of the range is possible.
TYPED_TEST(growth_test, takes_steps_with_the_number_of_pieces) {
  using engine = stepping_engine<TypeParam>;
  constexpr std::uint64_t piece = 4096;
  constexpr std::uint64_t pieces = 2'000;
  plan committed;
  basic_pool<engine> pool(std::make_unique<noted_space>(std::uint64_t{1} << 40, pieces * piece, piece, committed));
  std::vector<void*> held;
  for (std::uint64_t i = 0; i < pieces; ++i) held.push_back(pool.allocate(piece));
  for (std::uint64_t i = 0; i < pieces; i += 2) pool.deallocate(held[i]);
  pool.trim();
  for (std::uint64_t i = 1; i < pieces; i += 2) pool.deallocate(held[i]);
  committed.clear();
  engine::steps = 0;
  EXPECT_NE(pool.try_allocate(pieces / 2 * piece), nullptr);
  EXPECT_EQ(cost_of(committed), pieces / 4 * piece);
  EXPECT_LT(engine::steps, 10 * pieces);
}

}  // namespace
}  // namespace warpheap::growth_test
