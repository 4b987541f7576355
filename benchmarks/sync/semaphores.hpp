// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <warpheap/baselines.hpp>
#include <warpheap/sync.hpp>

#include "../measure/stopwatch.hpp"
#include "curves.hpp"

namespace warpheap::bench {

/// A semaphore, and how many batches were made for it.
template <class Semaphore>
struct supply {
  Semaphore units;
  std::uint64_t batches;

  /// What making a batch costs here: one atomic operation.
  WARPHEAP_FN void make_batch() { atomic_view{batches}.fetch_add(1, memory_order::relaxed, thread_scope::device); }
};

/// Takes a unit. A thread that the semaphore tells to grow the supply makes a batch and keeps one
/// unit of it.
WARPHEAP_FN inline void take_unit(supply<counting_semaphore>& from, std::uint64_t batch) {
  if (from.units.wait(1).what != counting_semaphore::outcome::grow) return;
  from.make_batch();
  from.units.deliver(batch - 1);
}
/// Takes a unit. The semaphore has one waiting thread make a batch when too few units are left.
WARPHEAP_FN inline void take_unit(supply<bulk_semaphore>& from, std::uint64_t batch) {
  from.units.wait(1, batch, [&] {
    from.make_batch();
    return bulk_semaphore::production::made;
  });
}

/// Each of the first `asking` threads takes one unit.
struct take_units_kernel {
  template <class Semaphore>
  WARPHEAP_FN void operator()(supply<Semaphore>* from, std::uint64_t asking, std::uint64_t batch) const {
    if (grid_thread_index() < asking) take_unit(*from, batch);
  }
};

/// Of `threads` threads the first `asking` take a unit each, of batches that are made as they run
/// out. That is the most that two stages can give, whatever the units are (Gelado & Garland, PPoPP
/// 2019, Figure 5). Throws if units were lost.
template <class Semaphore>
course take_units(std::uint64_t threads, std::uint64_t asking, std::uint64_t batch) {
  const device_array<supply<Semaphore>> from(1);
  stopwatch timer;
  timer.start();
  launch(grid_shape::covering(threads), take_units_kernel{}, from.data(), asking, batch);
  const double time = timer.stop();
  const supply<Semaphore> after = from.at(0);
  const auto left = static_cast<std::uint64_t>(after.units.count().available);
  if (after.batches * batch != asking + left) {
    throw std::runtime_error(std::to_string(after.batches) + " batches of " + std::to_string(batch) + " gave " +
                             std::to_string(asking) + " units and left " + std::to_string(left));
  }
  return {time, asking, after.batches};
}

}  // namespace warpheap::bench
