// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/call_site.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/backoff.hpp>
#else
#include <warpheap/platform/host/backoff.hpp>
#endif

namespace warpheap {

/// The way to wait for another thread: make one where the wait begins, `pause` once for each failed look, and let it go
/// out of scope when the wait is over.
///
/// A GPU promises progress only to threads that have started, so wait only for a thread that is known to run. Look with
/// an atomic load. On a GPU each pause sleeps, twice as long each time up to about a microsecond, lanes a little apart;
/// on the host other lanes run, and the watchdog counts lanes that only wait.
class backoff {
 public:
  backoff() = default;
  /// For waits that may be long and of many threads: pauses grow to `longest` nanoseconds, where the target counts
  /// them, and not to about one microsecond only. Threads that look seldom leave the memory to those that work.
  WARPHEAP_FN explicit backoff(unsigned longest) : state_(longest) {}
  WARPHEAP_FN ~backoff() { state_.end(); }
  backoff(const backoff&) = delete;
  backoff& operator=(const backoff&) = delete;

  /// Ends the wait before the backoff ends, for a loop in which waits and work take turns: what follows is work, until
  /// the next `pause`.
  WARPHEAP_FN void end() { state_.end(); }

  /// Lets other threads run for a while.
  WARPHEAP_FN void pause(call_site site = call_site::current()) { state_.pause(site); }

 private:
  target::backoff_state state_;
};

}  // namespace warpheap
