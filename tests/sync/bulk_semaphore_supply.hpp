// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/sync.hpp>

namespace warpheap::test {

/// What tests of the bulk semaphore keep in device memory: the semaphore, its parent, and tallies.
struct supply {
  bulk_semaphore semaphore;
  std::uint64_t parent;     // batches that are left to be taken
  std::uint64_t batches;    // delivered
  std::uint64_t granted;    // units
  std::uint64_t failed;     // requests
  std::uint64_t producers;  // requests that were told to produce
  std::uint64_t waiting;    // whatever a test waits for

  /// One more.
  WARPHEAP_FN static void tally(std::uint64_t& counter, std::uint64_t by = 1) {
    atomic_view{counter}.fetch_add(by, memory_order::relaxed, thread_scope::device);
  }
  /// Waits until `counter` is at least `value`.
  WARPHEAP_FN static void wait_for(std::uint64_t& counter, std::uint64_t value) {
    const atomic_view view{counter};
    backoff wait;
    while (view.load(memory_order::acquire, thread_scope::device) < value) wait.pause();
  }
  /// Adds one for `wait_for`.
  WARPHEAP_FN static void arrive(std::uint64_t& counter) {
    atomic_view{counter}.fetch_add(1, memory_order::release, thread_scope::device);
  }

  /// Takes a batch from the parent; false if the parent has none left.
  WARPHEAP_FN bool take_batch() {
    const atomic_view left{parent};
    std::uint64_t seen = left.load(memory_order::relaxed, thread_scope::device);
    while (seen != 0) {
      if (left.compare_exchange(seen, seen - 1, memory_order::relaxed, thread_scope::device)) return true;
    }
    return false;
  }

  /// Asks for `n` units with the lanes that are there; the producer takes its batch from the parent. True if granted.
  WARPHEAP_FN bool get_together(std::uint32_t n, std::uint64_t batch,
                                bulk_semaphore::production why = bulk_semaphore::production::parent_empty) {
    return count_in(semaphore.wait_together(n, batch, [&](std::uint32_t) { return make(why); }).what, n);
  }

  /// As `get_together`, for the caller alone.
  WARPHEAP_FN bool get(std::uint32_t n, std::uint64_t batch,
                       bulk_semaphore::production why = bulk_semaphore::production::parent_empty) {
    return count_in(semaphore.wait(n, batch, [&] { return make(why); }), n);
  }

 private:
  WARPHEAP_FN bulk_semaphore::production make(bulk_semaphore::production failure) {
    tally(producers);
    if (!take_batch()) return failure;
    tally(batches);
    return bulk_semaphore::production::made;
  }
  WARPHEAP_FN bool count_in(bulk_semaphore::outcome what, std::uint32_t n) {
    const bool served = what != bulk_semaphore::outcome::failed;
    tally(served ? granted : failed, served ? n : 1);
    return served;
  }
};

/// A request that has ended or produces, as `expected`. One thread calls, while no other uses the semaphore.
WARPHEAP_FN inline bulk_semaphore::request ask_for(bulk_semaphore& semaphore, std::uint32_t n, std::uint64_t batch,
                                                   bulk_semaphore::standing expected, const char* otherwise) {
  lane_mask alone = lane_bit();
  bulk_semaphore::request mine = semaphore.ask(n, batch);
  while (mine.what() == bulk_semaphore::standing::waits && semaphore.waits(mine, alone)) {
  }
  require(mine.what() == expected, otherwise);
  return mine;
}

/// Gives up a production of the caller, and waits for the end of its request.
WARPHEAP_FN inline bulk_semaphore::standing give_up_and_wait(bulk_semaphore& semaphore, bulk_semaphore::request mine,
                                                             bulk_semaphore::production why) {
  lane_mask alone = lane_bit();
  semaphore.give_up(mine, why);
  while (semaphore.waits(mine, alone)) {
  }
  return mine.what();
}

/// What the semaphore counts, while nobody uses it.
inline bulk_semaphore::counts counts_of(const device_array<supply>& shared) {
  synchronise();
  return shared.at(0).semaphore.count();
}

/// A supply with a parent of `batches` batches.
inline device_array<supply> supply_of(std::uint64_t batches) {
  supply start{};
  start.parent = batches;
  return device_array<supply>{std::vector<supply>{start}};
}

}  // namespace warpheap::test
