// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/trace/detail/phase_maker.hpp>
#include <warpheap/trace/detail/trace_log.hpp>
#include <warpheap/trace/trace.hpp>

namespace warpheap {

/// Collects what a `heap<recorded<A>>` is asked for and makes a trace of it. Host side only; one at a time, for one
/// heap, and it outlives the heap's last kernel.
///
/// ```cpp
/// warpheap::recorder recorder{1 << 20};
/// warpheap::heap<warpheap::recorded<design>> heap{bytes};
/// for (...) {
///   my_kernel<<<blocks, threads>>>(heap.ref(), ...);
///   recorder.end_phase();
/// }
/// warpheap::write_trace("my.trace", recorder.finish());
/// ```
class recorder {
 public:
  /// A recorder with room for `events` mallocs and frees between two calls of `end_phase`, of 24 bytes of device memory
  /// each; that a heap is made or reset is an event too. Throws `trace_error` if there is one already.
  explicit recorder(std::uint64_t events);
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// The present recorder. Throws `trace_error` if none was made.
  static const recorder& current();

  /// Waits for the kernels since the last call and makes them a phase; none if they used no heap. A free of a block
  /// that another thread took in the same phase goes to a later phase. Throws `trace_error` if there was no room
  /// for all that happened, or if the heap broke its promises; what was recorded is then of no use.
  void end_phase();

  /// Requests that got null. They are not in the trace, so a trace of a program that has some is not all of it.
  std::uint64_t refused() const { return maker_.refused(); }

  /// Ends the phase and returns the trace, at whose end blocks may be live. The recorder then begins anew, for another
  /// heap.
  trace finish();

  /// Where kernels write to.
  const trace_log& log() const { return log_; }

 private:
  device_array<trace_event> events_;
  device_array<std::uint64_t> count_;
  trace_log log_;
  detail::phase_maker maker_;
};

}  // namespace warpheap

#include <warpheap/trace/detail/recorder.hpp>
