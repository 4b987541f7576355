// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <thread>

namespace warpheap {

/// Lets one host thread at a time do something. For bookkeeping on the host, which is short, so a thread that comes too
/// late tries again for a while before it sleeps: to be woken takes far longer. Kernels have `spin_lock`.
class host_mutex {
 public:
  /// Waits until nobody holds it, and holds it.
  void lock() {
    constexpr int tries = 64;
    for (int i = 0; i < tries; ++i) {
      if (mutex_.try_lock()) return;
      std::this_thread::yield();
    }
    mutex_.lock();
  }
  /// Holds it if nobody does.
  bool try_lock() { return mutex_.try_lock(); }
  /// Lets go of it. The thread that holds it calls.
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a `host_mutex` until the end of its scope, or until `unlock`.
using host_lock = std::unique_lock<host_mutex>;

}  // namespace warpheap
