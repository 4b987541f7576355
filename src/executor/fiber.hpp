// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "executor/context.hpp"
#include "executor/fences.hpp"
#include "executor/quiet.hpp"

namespace warpheap::executor {

/// What a lane runs on: a stack with a guard page below it, and ThreadSanitizer's view of it. The record lies at the
/// top of its own mapping, so that keeping fibers takes no memory of the heap.
struct fiber {
  context state;
  fence_notes fences;             ///< of its lane
  fiber* next = nullptr;          ///< in the pool
  std::uint64_t last_launch = 0;  ///< the launch that used it last
  void* mapping = nullptr;        ///< the guard page, then the stack, then this record
  std::size_t mapping_bytes = 0;

  /// Makes the fiber call `function(argument)` when it is switched to.
  void start(void (*function)(void*), void* argument);
};

/// The fibers of the process that run no lane. Pages of a stack that no lane touched cost only addresses.
///
/// Under ThreadSanitizer two lanes that run on the same fiber count as one thread, so a race between them goes unseen.
/// There the pool hands out fibers that this launch has not used yet, and makes new ones, up to `most_strands`; only
/// beyond does a launch use a fiber again, the one that has rested longest. A launch of no more lanes than that is seen
/// whole. (A strand of its own for each lane would cost half a millisecond and 0.8 MB each with GCC 12.)
class fiber_pool {
 public:
  static constexpr std::uint64_t most_strands = 1024;

  /// A fiber for a lane of launch `launch`. Throws std::system_error when the system has no more memory.
  fiber& take(std::uint64_t launch);
  /// Takes back a fiber whose lane has ended.
  void give(fiber& idle);
  /// Destroys a fiber whose lane was abandoned where it stood.
  void discard(fiber& abandoned);

 private:
  fiber* pop(std::uint64_t launch);

  quiet_lock lock_;
  fiber* first_ = nullptr;
  fiber* last_ = nullptr;
  std::uint64_t fibers_ = 0;
};

/// The pool of the process. Never destroyed.
fiber_pool& fibers();

}  // namespace warpheap::executor
