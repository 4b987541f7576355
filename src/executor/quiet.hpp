// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the executor's threads share among themselves. Not `<atomic>` and `<mutex>`: the linker may merge their inline
/// functions with copies that ThreadSanitizer instruments. The order between workers, which the kernel did not make,
/// could then hide a race between lanes.

#include <sched.h>

#include <cstdint>

namespace warpheap::executor {

/// A number that one thread changes and any thread reads. A reader that sees a value sees all that came before it.
class published {
 public:
  std::uint64_t get() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  void set(std::uint64_t value) { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
  /// For the one thread that changes it.
  void increment() { set(__atomic_load_n(&value_, __ATOMIC_RELAXED) + 1); }
  /// For any thread: the number before.
  std::uint64_t take_next() { return __atomic_fetch_add(&value_, 1, __ATOMIC_ACQ_REL); }

 private:
  std::uint64_t value_ = 0;
};

/// Keeps short sections of the executor's threads apart; a standard lockable, for std::lock_guard.
class quiet_lock {
 public:
  void lock() {
    while (__atomic_test_and_set(&held_, __ATOMIC_ACQUIRE)) ::sched_yield();
  }
  void unlock() { __atomic_clear(&held_, __ATOMIC_RELEASE); }

 private:
  bool held_ = false;
};

}  // namespace warpheap::executor
