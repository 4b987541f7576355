// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/findings.hpp"
#include "../measure/judge.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How long a kernel takes in which every thread asks for a block, and one in which every thread gives its block back;
/// and `floor`, what no allocator can beat: a kernel on the same grid in which those threads only store a pointer.
///
/// The heap is made once and stays warm. Each round is a malloc kernel and a free kernel, or a reset where the design
/// has no individual free. Times are those of the whole kernel, its start included. A round is judged before its blocks
/// are freed, outside the times: see `verify_policy`. A case that is not flawless has no times. The floor is that of the
/// machine in the same minute, so it tells a slow machine from a slow design; no round is run for its sake.
struct throughput {
  static constexpr const char* name = "throughput";
  static constexpr const char* summary = "a kernel of mallocs, then a kernel of frees";
  static constexpr case_mode modes[] = {asks_by_thread, asks_by_warp, asks_for_mixed_sizes};
  static constexpr const char* axes[] = {"threads", "size"};

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record);

 private:
  template <device_allocator A>
  class course;
};

// One run of the case: the heap, and what was found so far.
template <device_allocator A>
class throughput::course {
 public:
  explicit course(const run_options& options)
      : options_(options), heap_(options.heap_bytes), blocks_(options.threads), judge_(found_) {}

  std::string run(json_object& record) {
    run_rounds(options_, found_, {&malloc_times_, &free_times_}, [this](round_kind kind) { round(kind); });
    found_.add("malloc", microseconds, malloc_times_);
    found_.add("free", microseconds, free_times_);
    found_.add("floor", microseconds, floor_times_);
    found_.report(record);
    return judge_.reason();
  }

 private:
  void round(round_kind kind) {
    const requests asked = requests::of_round(options_, found_.rounds++);
    stopwatch timer;
    // Before the mallocs, which write over what it stores.
    timer.start();
    launch(asked.grid(), store_kernel{}, asked, blocks_.data());
    const double floor_time = timer.stop();
    if (kind.timed) floor_times_.add(floor_time);

    timer.start();
    launch(asked.grid(), malloc_kernel<A>{}, heap_.ref(), asked, blocks_.data());
    const double malloc_time = timer.stop();
    if (kind.timed) malloc_times_.add(malloc_time);
    judge_.look(heap_, asked, blocks_, kind.judged);
    if (!found_.fault.empty()) return;

    if constexpr (A::capabilities.individual_free) {
      timer.start();
      launch(asked.grid(), free_kernel<A>{}, heap_.ref(), asked, static_cast<void* const*>(blocks_.data()));
      const double free_time = timer.stop();
      if (kind.timed) free_times_.add(free_time);
    } else {
      make_empty(heap_, options_);
    }
  }

  const run_options& options_;
  heap<A> heap_;
  device_array<void*> blocks_;
  findings found_;
  judge<A> judge_;
  samples malloc_times_;
  samples free_times_;
  samples floor_times_;
};

template <device_allocator A>
std::string throughput::run(const run_options& options, json_object& record) {
  return course<A>{options}.run(record);
}

}  // namespace warpheap::bench
