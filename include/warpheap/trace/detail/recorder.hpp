// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <warpheap/trace/recorder.hpp>

namespace warpheap {
namespace detail {

inline const recorder*& recorder_in_force() {
  static const recorder* there = nullptr;
  return there;
}

}  // namespace detail

inline recorder::recorder(std::uint64_t events)
    : events_(events), count_(1), log_{events_.data(), count_.data(), events} {
  if (detail::recorder_in_force() != nullptr) throw trace_error("recorder: there is one already; use one at a time");
  detail::recorder_in_force() = this;
}

inline recorder::~recorder() { detail::recorder_in_force() = nullptr; }

inline const recorder& recorder::current() {
  if (detail::recorder_in_force() == nullptr) {
    throw trace_error("recorder: there is none; make one before the heap that is recorded");
  }
  return *detail::recorder_in_force();
}

inline void recorder::end_phase() {
  const std::uint64_t happened = count_.at(0);
  count_.clear();
  if (happened > log_.room) {
    throw trace_error("recorder: " + std::to_string(happened) + " events since the last phase, and room for " +
                      std::to_string(log_.room) + "; make it larger, or end phases more often");
  }
  std::vector<trace_event> events(happened);
  device_copy(events.data(), events_.data(), happened * sizeof(trace_event));
  maker_.add(events);
}

inline trace recorder::finish() {
  end_phase();
  return maker_.take();
}

}  // namespace warpheap
