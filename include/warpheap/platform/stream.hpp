// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/device_context.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/stream.hpp>
#else
#include <warpheap/platform/host/stream.hpp>
#endif

namespace warpheap {

/// The streams of this backend: on a GPU `cudaStream_t`, on the host any pointer, as work there is done when the call
/// that starts it returns. Null is the default stream. All members throw `launch_failure` for what the runtime refuses.
class device_streams {
 public:
  /// Names a stream.
  using stream = target::stream;
  /// A mark in the work of a stream.
  using event = target::event;

  /// A number that tells the stream from all others that exist. The default stream of each thread is one of its own.
  static std::uint64_t key(stream which) { return target::stream_key(which); }
  /// Throws `std::invalid_argument` if the stream is of another device than `device`, which the memory is of that the
  /// stream is to use. A default stream is of whichever device is current.
  static void require_on(stream which, const device_context& device) {
    if (target::stream_is_of(which, device.context_)) return;
    throw std::invalid_argument("warpheap: the memory is of device " + std::to_string(device.device()) +
                                " and the stream is of another one: take a stream of the memory's device");
  }
  /// False for a stream that only the calling thread can name: its own default stream.
  static bool is_shared(stream which) { return target::stream_is_shared(which); }
  /// True while what is done on the stream is captured into a graph and not run.
  static bool is_capturing(stream which) { return target::stream_is_capturing(which); }
  /// A number that tells the capture that the stream is a part of from all others of the process; 0 for a stream that
  /// is not captured, or cannot be asked.
  static std::uint64_t capture_number(stream which) { return target::stream_capture_number(which); }
  /// Moves the mark after all work of the stream so far.
  static void record(event& mark, stream which) { target::record(mark, which); }
  /// Lets later work of the stream begin only when the stream of the mark has come to it. The caller does not wait.
  static void wait(stream which, event& mark) { target::stream_wait(which, mark); }
  /// True if all work before the mark is done; for one that was never recorded too.
  static bool is_finished(event& mark) { return target::is_finished(mark); }
  /// Waits until all work before the mark is done.
  static void synchronise(event& mark) { target::synchronise(mark); }
};

}  // namespace warpheap
