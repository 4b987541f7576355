// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <warpheap/heap.hpp>

#include "../kernels.hpp"
#include "findings.hpp"
#include "judge.hpp"
#include "memory.hpp"
#include "requests.hpp"
#include "stopwatch.hpp"

namespace warpheap::bench {

/// What the threads of a kernel saw that frees its blocks itself.
struct kernel_tally {
  std::uint64_t requests;  ///< blocks asked for
  std::uint64_t null;      ///< of those, null
  std::uint64_t damaged;   ///< blocks that had lost their stamp when they were to be freed

  /// Mallocs and frees: each block that was got was freed.
  std::uint64_t operations() const { return 2 * requests - null; }

  /// Adds to a sum. Sums are read after the launch and order nothing.
  WARPHEAP_FN static void count(std::uint64_t& sum, std::uint64_t more = 1) {
    atomic_view{sum}.fetch_add(more, memory_order::relaxed, thread_scope::device);
  }
};

/// What a null result of such a kernel is.
enum class null_means {
  failure,  ///< a fault of the heap, which had room
  refusal   ///< what a heap does that is too small, as the case wants it
};

/// Looks at kernels that ask for blocks, judge them by stamps and free them, so that no block outlives them; and at the
/// heap that they leave.
template <device_allocator A>
class kernel_judge {
 public:
  kernel_judge(const heap<A>& watched, findings& found, null_means null = null_means::failure)
      : heap_(watched),
        found_(found),
        judge_(found),
        live_before_(watched.statistics().live_bytes),
        tally_(1),
        null_(null) {}

  /// A kernel's time in microseconds, and what its threads saw.
  struct run {
    double time;
    kernel_tally seen;
  };

  /// Runs a kernel, which `start(tally)` launches, and writes down what its threads saw: lost stamps are a fault, and
  /// nulls failures or refusals. `requests` is how many they make; 0: they count it themselves.
  template <class Start>
  run watch(std::uint64_t requests, Start start) {
    tally_.clear();
    stopwatch timer;
    timer.start();
    start(tally_.data());
    const double time = timer.stop();
    kernel_tally seen = tally_.at(0);
    if (requests != 0) seen.requests = requests;
    note(seen);
    return {time, seen};
  }

  /// Sees that nothing is live, as before all kernels.
  void look_for_leaks() {
    if (found_.fault.empty()) found_.fault = describe_leak(live_before_, heap_.statistics().live_bytes);
  }

  /// Sees that nothing is live, as before all kernels, and that the heap serves `asked` with sound blocks.
  void look_at_heap(const requests& asked) {
    look_for_leaks();
    const device_array<void*> blocks(asked.count);
    launch(asked.grid(), malloc_kernel<A>{}, heap_.ref(), asked, blocks.data());
    judge_.look(heap_, asked, blocks, true);
    launch(asked.grid(), free_kernel<A>{}, heap_.ref(), asked, static_cast<void* const*>(blocks.data()));
    synchronise();
  }

 private:
  void note(const kernel_tally& seen) {
    found_.requests += seen.requests;
    (null_ == null_means::failure ? found_.failures : found_.refused) += seen.null;
    if (null_ == null_means::failure && seen.null != 0 && found_.refusal.empty()) {
      found_.refusal = std::to_string(seen.null) + " of " + std::to_string(seen.requests) + " requests in round " +
                       std::to_string(found_.rounds) + " got null; the heap has " + std::to_string(heap_.size()) +
                       " bytes";
    }
    if (seen.damaged != 0 && found_.fault.empty()) {
      found_.fault = std::to_string(seen.damaged) + " of " + std::to_string(seen.requests - seen.null) +
                     " blocks lost what was written to them before they were freed";
    }
  }

  const heap<A>& heap_;
  findings& found_;
  judge<A> judge_;
  std::optional<std::uint64_t> live_before_;
  device_array<kernel_tally> tally_;
  null_means null_;
};

}  // namespace warpheap::bench
