// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

#include "plain_book.hpp"

namespace warpheap::test {

/// What an engine promises of the segment, of `taken` bytes, that a request is cut from.
template <class Engine>
void expect_promised_fit(const plain_book& before, std::uint64_t taken, std::uint64_t bytes, std::uint64_t alignment) {
  constexpr std::uint64_t granule = 256;
  const std::uint64_t rounded = align_up(std::max<std::uint64_t>(bytes, 1), granule);
  if constexpr (std::is_same_v<Engine, tree_fit>) {
    ASSERT_EQ(taken, before.best(rounded, std::max(alignment, granule))) << "not the best fit for " << bytes;
  } else {
    const std::uint64_t enough = rounded + std::max(alignment, granule) - granule;
    const auto ample = before.smallest_from(enough + divide_up(enough, 32));
    if (!ample) return;
    ASSERT_LE(taken, *ample + *ample / 32) << "no good fit for " << bytes << " at " << alignment;
  }
}

/// Does each step on an engine and on the plain book, which must agree after it. `Random` chooses the steps, by
/// `below(bound)` and `size(largest)`.
template <class Engine, class Random>
class paired_books {
 public:
  explicit paired_books(Random& random) : random_(random) {
    for (std::uint64_t part = 0; part < 2; ++part) {  // two stretches of addresses, apart
      const std::uint64_t begin = base + part * 2 * stretch;
      engine_.adopt(begin, stretch, segment_state::absent);
      plain_.adopt(begin, stretch, segment_state::absent);
    }
  }

  void step() {
    const std::uint64_t kind = random_.below(100);
    if (kind < 48) {
      allocate();
    } else if (kind < 90) {
      deallocate();
    } else if (kind < 94) {
      turn(segment_state::free, segment_state::absent);
    } else if (kind < 99) {
      turn(segment_state::absent, segment_state::free);
    } else {
      turn(segment_state::live, segment_state::live);
    }
  }

  void compare() const {
    std::vector<segment_view> seen;
    engine_.for_each([&](const segment_view& each) { seen.push_back(each); });
    std::sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    ASSERT_EQ(seen.size(), plain_.all().size());
    auto at = plain_.all().begin();
    for (const segment_view& each : seen) {
      ASSERT_EQ(each.begin, at->first);
      ASSERT_EQ(each.bytes, at->second.bytes);
      ASSERT_EQ(each.state, at->second.state);
      ASSERT_EQ(engine_.find(each.begin), each.state == segment_state::live ? each.handle : no_segment);
      ++at;
    }
    std::uint64_t listed = 0;
    engine_.for_each_free(5 * granule, [&](const segment_view& each) {
      ASSERT_GE(each.bytes, 5 * granule);
      listed += each.bytes;
    });
    std::uint64_t expected = 0;
    std::uint64_t largest = 0;
    std::array<std::uint64_t, 4> bytes_in{};
    std::uint64_t all = 0;
    for (const auto& [begin, each] : plain_.all()) {
      bytes_in[static_cast<std::size_t>(each.state)] += each.bytes;
      all += each.bytes;
      if (each.state != segment_state::free) continue;
      if (each.bytes >= 5 * granule) expected += each.bytes;
      largest = std::max(largest, each.bytes);
    }
    ASSERT_EQ(listed, expected);
    ASSERT_EQ(engine_.largest_free(), largest);
    ASSERT_EQ(all, 2 * stretch) << "a byte is lost";
    for (const segment_state state : {segment_state::free, segment_state::live, segment_state::absent}) {
      ASSERT_EQ(engine_.bytes_in(state), bytes_in[static_cast<std::size_t>(state)]);
    }
  }

 private:
  static constexpr std::uint64_t granule = 256;
  static constexpr std::uint64_t base = std::uint64_t{0x7f12} << 32;
  static constexpr std::uint64_t stretch = 8192 * granule;

  void allocate() {
    const std::uint64_t bytes = random_.below(8) == 0 ? random_.size(stretch) : random_.size(64 * granule);
    const std::uint64_t alignment = random_.below(4) == 0 ? std::uint64_t{1} << random_.below(20) : 1;
    const std::uint64_t rounded = align_up(bytes, granule);
    const auto best = plain_.best(rounded, std::max(alignment, granule));
    const segment_handle got = engine_.allocate(bytes, alignment);
    ASSERT_EQ(got != no_segment, best.has_value()) << bytes << " at " << alignment;
    if (got == no_segment) return;
    const segment_view block = engine_.at(got);
    ASSERT_EQ(block.begin % alignment, 0u);
    ASSERT_EQ(block.bytes, rounded);
    const auto source = plain_.holding(block.begin);
    ASSERT_EQ(source->second.state, segment_state::free) << "an overlap";
    ASSERT_LE(block.begin + block.bytes, source->first + source->second.bytes) << "an overlap";
    expect_promised_fit<Engine>(plain_, source->second.bytes, bytes, alignment);
    plain_.change(block.begin, block.bytes, segment_state::live);
    held_.push_back(block.begin);
  }

  void deallocate() {
    if (held_.empty()) return;
    std::swap(held_[random_.below(held_.size())], held_.back());
    const std::uint64_t begin = held_.back();
    held_.pop_back();
    const segment_handle handle = engine_.find(begin);
    ASSERT_NE(handle, no_segment);
    plain_.change(begin, engine_.at(handle).bytes, segment_state::free);
    const segment_view merged = engine_.at(engine_.deallocate(handle));
    const auto expected = plain_.holding(begin);
    ASSERT_EQ(merged.begin, expected->first);
    ASSERT_EQ(merged.bytes, expected->second.bytes);
  }

  // Gives a random part of a random segment of one state another.
  void turn(segment_state from, segment_state to) {
    candidates_.clear();
    engine_.for_each([&](const segment_view& each) {
      if (each.state == from) candidates_.push_back(each);
    });
    if (candidates_.empty()) return;
    const segment_view each = candidates_[random_.below(candidates_.size())];
    const std::uint64_t granules = each.bytes / granule;
    const std::uint64_t skipped = random_.below(granules);
    const std::uint64_t size = from == segment_state::live ? granules - skipped : 1 + random_.below(granules - skipped);
    const std::uint64_t begin = each.begin + skipped * granule;
    const segment_handle got = engine_.change(each.handle, begin, size * granule, to);
    plain_.change(begin, size * granule, to);
    ASSERT_EQ(engine_.at(got).begin, plain_.holding(begin)->first);
    if (from == segment_state::live && skipped != 0) held_.push_back(begin);
  }

  Engine engine_{granule};
  plain_book plain_;
  std::vector<std::uint64_t> held_;
  std::vector<segment_view> candidates_;
  Random& random_;
};

}  // namespace warpheap::test
