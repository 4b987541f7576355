// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <warpheap/trace/trace.hpp>

namespace warpheap {

inline void trace_phase::add(std::uint64_t thread, trace_operation operation) {
  if (thread >= trace::most_threads) {
    throw trace_error("thread " + std::to_string(thread) + ": a phase of a trace has at most " +
                      std::to_string(trace::most_threads) + " threads");
  }
  starts.resize(std::max<std::uint64_t>(starts.size(), thread + 2), operations.size());
  operations.push_back(operation);
  ++starts.back();
}

namespace detail {

// Runs a trace without a heap.
class trace_examiner {
 public:
  explicit trace_examiner(const trace& of) {
    for (const trace_phase& phase : of.phases) {
      for (const trace_operation& each : phase.operations) found_.mallocs += each.is_malloc() ? 1 : 0;
    }
    places_.resize(std::min<std::uint64_t>(found_.mallocs, std::numeric_limits<std::uint32_t>::max()));
    for (const trace_phase& phase : of.phases) examine_phase(phase);
    for (std::uint64_t i = 0; i < found_.places; ++i) {
      if (places_[i].bytes != 0) found_.left.push_back(static_cast<std::uint32_t>(i));
    }
  }

  const trace_figures& found() const { return found_; }

 private:
  struct place {
    std::uint64_t bytes = 0;  // of the block; 0: none
    std::uint64_t phase = 0;  // that last used it
    std::uint64_t thread = 0;
  };

  void examine_phase(const trace_phase& phase) {
    ++phase_;
    found_.threads = std::max(found_.threads, phase.threads());
    const std::uint64_t before = live_;
    std::uint64_t risen = 0;
    for (thread_ = 0; thread_ < phase.threads(); ++thread_) {
      const std::uint64_t at_start = live_;
      std::uint64_t highest = live_;
      for (std::uint64_t i = phase.starts[thread_]; i < phase.starts[thread_ + 1]; ++i) {
        carry_out(phase.operations[i]);
        highest = std::max(highest, live_);
      }
      risen += highest - at_start;
    }
    found_.peak_bytes = std::max(found_.peak_bytes, before + risen);
  }

  void carry_out(trace_operation operation) {
    if (operation.place >= places_.size()) {
      fail(operation, "that a trace of " + std::to_string(found_.mallocs) + " mallocs does not need");
    }
    place& used = places_[operation.place];
    if (used.phase == phase_ && used.thread != thread_) {
      fail(operation, "that thread " + std::to_string(used.thread) + " uses in the same phase");
    }
    used.phase = phase_;
    used.thread = thread_;
    found_.places = std::max<std::uint64_t>(found_.places, operation.place + std::uint64_t{1});
    if (operation.is_malloc()) {
      if (used.bytes != 0) fail(operation, "that holds a block already");
      used.bytes = operation.bytes;
      live_ += operation.bytes;
      found_.requested_bytes += operation.bytes;
      found_.largest_bytes = std::max<std::uint64_t>(found_.largest_bytes, operation.bytes);
      return;
    }
    if (used.bytes == 0) fail(operation, "that holds no block");
    if (operation.is_free()) {
      ++found_.frees;
      live_ -= used.bytes;
      used.bytes = 0;
    } else {
      ++found_.touches;
    }
  }

  [[noreturn]] void fail(trace_operation operation, const std::string& what) const {
    const char* const does = operation.is_malloc() ? "mallocs into" : operation.is_free() ? "frees" : "touches";
    throw trace_error("phase " + std::to_string(phase_) + ", thread " + std::to_string(thread_) + " " + does +
                      " place " + std::to_string(operation.place) + " " + what);
  }

  trace_figures found_;
  std::vector<place> places_;
  std::uint64_t phase_ = 0;  // counted from 1, as messages do
  std::uint64_t thread_ = 0;
  std::uint64_t live_ = 0;
};

}  // namespace detail

inline trace_figures examine(const trace& of) { return detail::trace_examiner{of}.found(); }

}  // namespace warpheap
