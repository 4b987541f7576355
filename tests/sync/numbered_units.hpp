// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>
#include <warpheap/sync.hpp>

namespace warpheap::test {

inline constexpr std::uint32_t ticket_mask = (1u << 28) - 1;
inline constexpr std::uint64_t nobodys = std::uint64_t{1} << 51;  // a batch whose tickets nobody holds
inline constexpr std::uint64_t nothing = std::uint64_t{1}
                                         << 50;  // a batch that tells its holders that there is nothing

/// What a unit went through.
struct unit {
  std::uint32_t drawn;   // how often it was somebody's
  std::uint32_t offer;   // plain, by its publisher
  std::uint32_t note;    // plain, by its holder
  std::uint32_t closed;  // plain, by who finished its batch: how often that was
};

/// A ring whose units are numbered in the order in which they are published.
struct source {
  batch_ring ring;
  std::uint64_t next;      // the next batch's first unit; plain, because it is the publisher's alone
  std::uint64_t nothings;  // batches of nothing; the publisher's
  std::uint64_t told;      // units of theirs; the publisher's
  std::uint64_t heard;     // lanes that were told
  std::uint64_t epoch;     // batches of nothing that are out

  /// Publishes the next `size` units.
  WARPHEAP_FN void bring(batch_ring::batch newest, std::uint32_t size, unit* units) {
    const std::uint64_t base = next;
    const std::uint32_t demand = ring.demand(newest);  // a point, too, where a second publisher would come in
    require(demand != 0 && demand <= grid_threads(), "more or less demand than one ticket of each thread");
    for (std::uint64_t i = base; i < base + size; ++i) units[i].offer = static_cast<std::uint32_t>(mix(~i));
    next = base + size;
    ring.publish(newest, base, size, size);
  }
  /// Takes note of unit `number`.
  WARPHEAP_FN static void use(unit& used, std::uint64_t number) {
    const std::uint32_t before = atomic_view{used.drawn}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    require(before == 0, "a unit was handed out twice");
    require(used.offer == static_cast<std::uint32_t>(mix(~number)), "the holder does not see what the publisher wrote");
    used.note = static_cast<std::uint32_t>(mix(number));
  }
  /// Finishes `count` units; the last one looks at all of the batch.
  WARPHEAP_FN void close(unit* units, batch_ring::batch in, std::uint32_t count) {
    const std::uint64_t base = ring.what(in);
    if (!ring.finish(in, count)) return;
    for (std::uint64_t i = base; i < base + in.size(); ++i) {
      require(units[i].note == static_cast<std::uint32_t>(mix(i)), "the last to finish does not see a unit's note");
      ++units[i].closed;
    }
  }
};

WARPHEAP_FN void linger(std::uint64_t pauses) {
  backoff wait;
  for (; pauses != 0; --pauses) wait.pause();
}

/// Expects that each of the first `count` units was drawn and finished once.
inline void expect_each_once(const device_array<unit>& units, std::uint64_t count) {
  const std::vector<unit> log = units.to_host();
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(log[i].drawn, 1u) << "unit " << i;
    ASSERT_EQ(log[i].closed, 1u) << "unit " << i;
  }
}

}  // namespace warpheap::test
