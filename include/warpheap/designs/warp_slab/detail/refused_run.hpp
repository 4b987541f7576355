// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

// The latest refusal of a run: how many units it was for, and the attempt whose sweep over all slabs it rests on. The
// holder of the heap's lock writes it, any thread reads it. Zero bytes: nothing was refused yet.
//
// Invariant: while `attempt_` is not 0, `units_` belongs to it. A writer sets `attempt_` to 0 before it writes
// `units_`, and attempts are numbered from 1 in 64 bits. Of several refusals that rest on one sweep a reader may take
// the units of any: each is true for those that began to wait before the sweep.
//
// Orders: a release of `units_` publishes the 0 before it, so a reader that acquired a later writer's units does not
// read the earlier attempt again. The release of `attempt_` publishes the units, and what the attempt saw.
class refused_run {
 public:
  // No run of `units` units was free after the sweep of attempt `attempt`. The lock's holder.
  WARPHEAP_FN void note(std::uint64_t attempt, std::uint32_t units) {
    using enum memory_order;
    using enum thread_scope;
    atomic_view{attempt_}.store(0, relaxed, device);
    atomic_view{units_}.store(units, release, device);
    atomic_view{attempt_}.store(attempt, release, device);
  }
  // True if a run of `units` units or fewer was refused, and that rests on the sweep of an attempt later than
  // `earlier`. So a run of `units` units would be refused, too. Any thread. Acquires.
  WARPHEAP_FN bool since(std::uint64_t earlier, std::uint32_t units) {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view attempt{attempt_};
    const std::uint64_t seen = attempt.load(acquire, device);
    if (seen <= earlier) return false;
    const std::uint32_t of = atomic_view{units_}.load(acquire, device);
    return of <= units && attempt.load(relaxed, device) == seen;
  }

 private:
  std::uint64_t attempt_;
  std::uint32_t units_;
};

}  // namespace warpheap
