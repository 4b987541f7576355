// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/host/detail/failure_point.hpp>
#include <warpheap/platform/host/device_context.hpp>
#include <warpheap/platform/schedule.hpp>

namespace warpheap::target {

using stream = void*;
struct event {};

// Work is done when the call that starts it returns, so only a test lets a call about a stream fail.
inline void stream_must() {
  if (is_to_fail(device_call::stream)) throw launch_failure("warpheap: a test lets a call about a stream fail");
}

inline bool stream_is_of(stream, const context&) { return true; }
inline std::uint64_t stream_key(stream which) { return reinterpret_cast<std::uintptr_t>(which); }
inline bool stream_is_shared(stream) { return true; }
inline bool stream_is_capturing(stream) {
  stream_must();
  return false;
}
inline std::uint64_t stream_capture_number(stream) {
  stream_must();
  return 0;
}
inline void record(event&, stream) { stream_must(); }
inline void stream_wait(stream, event&) { stream_must(); }
inline bool is_finished(event&) {
  stream_must();
  return true;
}
inline void synchronise(event&) { stream_must(); }

}  // namespace warpheap::target
