// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap {

/// A trace that breaks the rules, a file that is no trace, or a recording that is not whole. The message says where.
class trace_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a thread does to the block in one place.
struct trace_operation {
  static constexpr std::uint32_t free_mark = 0;            ///< in place of bytes: the block is freed
  static constexpr std::uint32_t touch_mark = 0xffffffff;  ///< in place of bytes: the block is read
  static constexpr std::uint32_t most_bytes = 0xfffffffe;  ///< the largest request that a trace can hold

  std::uint32_t place;  ///< where the pointer is kept
  std::uint32_t bytes;  ///< of the request, or a mark

  /// True if a block is asked for.
  WARPHEAP_FN constexpr bool is_malloc() const { return bytes != free_mark && bytes != touch_mark; }
  /// True if the block is freed.
  WARPHEAP_FN constexpr bool is_free() const { return bytes == free_mark; }
  friend bool operator==(const trace_operation&, const trace_operation&) = default;
};

/// What one kernel does: a list of operations for each of its threads.
struct trace_phase {
  /// The operations of thread `t` are those from `starts[t]` to `starts[t + 1]`.
  std::vector<std::uint64_t> starts{0};
  std::vector<trace_operation> operations;  ///< of all threads, one thread after the other

  /// Threads that the kernel needs: one more than the highest that does something.
  std::uint64_t threads() const { return starts.size() - 1; }
  /// Adds an operation of `thread`, which is not below any thread that has one yet.
  void add(std::uint64_t thread, trace_operation operation);
  friend bool operator==(const trace_phase&, const trace_phase&) = default;
};

/// A program's mallocs and frees.
///
/// A place holds one block at a time. In a phase one thread at most uses a place: so a thread frees blocks of earlier
/// phases, or its own of this phase, and a replay has no thread that waits for another.
struct trace {
  static constexpr std::uint64_t most_threads = std::uint64_t{1} << 24;  ///< of a phase

  std::vector<trace_phase> phases;  ///< in the order of the kernels
  friend bool operator==(const trace&, const trace&) = default;
};

/// Figures of a trace.
struct trace_figures {
  std::uint64_t threads = 0;          ///< of the phase with the most
  std::uint64_t places = 0;           ///< one more than the highest
  std::uint64_t mallocs = 0;          ///< operations of each kind
  std::uint64_t frees = 0;            ///< likewise
  std::uint64_t touches = 0;          ///< likewise
  std::uint64_t requested_bytes = 0;  ///< by all mallocs
  std::uint64_t largest_bytes = 0;    ///< by one malloc
  std::uint64_t peak_bytes = 0;       ///< live at once at most, however the threads of a phase take turns
  std::vector<std::uint32_t> left;    ///< places that hold a block at the end, in rising order

  /// Operations of all kinds.
  std::uint64_t operations() const { return mallocs + frees + touches; }
};

/// The figures of `of`. Throws `trace_error` if it breaks a rule: a malloc into a place that holds a block, a free or a
/// touch of one that holds none, a place that two threads use in a phase, more than `most_threads`, or place numbers as
/// high as there are mallocs.
trace_figures examine(const trace& of);

}  // namespace warpheap

#include <warpheap/trace/detail/trace.hpp>
