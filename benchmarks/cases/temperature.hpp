// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/findings.hpp"
#include "../measure/judge.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"
#include "throughput.hpp"

namespace warpheap::bench {

/// What the first kernels on a heap pay, against those on a heap that was in use.
///
/// `cold`: each round has a heap of its own, new memory included, so no page of it was touched before and the design's
/// state is as its making left it: a design that sets up its memory as requests come does so within the times. The
/// making is not in the times, and the caches may hold what it wrote last; so it is for a program that makes a heap and
/// uses it. A reset would not do: it leaves the pages touched. `warm`: `throughput`. The difference includes what the
/// machine takes for the first touch of memory.
struct temperature {
  static constexpr case_mode on_cold_heap{"cold", "each round on a new heap"};
  static constexpr case_mode on_warm_heap{"warm", "all rounds on one heap, which warm-ups have used"};

  static constexpr const char* name = "temperature";
  static constexpr const char* summary = "throughput on a new heap, and on one that was in use";
  static constexpr case_mode modes[] = {on_cold_heap, on_warm_heap};
  static constexpr const char* axes[] = {"threads", "size"};

  /// As `throughput::run`. A design whose blocks do not come from the heap's own memory cannot be made new, and is not
  /// served in mode `cold`.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record);

 private:
  template <device_allocator A>
  class cold_course;
};

// One run on cold heaps.
template <device_allocator A>
class temperature::cold_course {
 public:
  explicit cold_course(const run_options& options) : options_(options), blocks_(options.threads), judge_(found_) {}

  std::string run(json_object& record) {
    run_rounds(options_, found_, {&malloc_times_, &free_times_}, [this](round_kind kind) { round(kind); });
    found_.add("malloc", microseconds, malloc_times_);
    found_.add("free", microseconds, free_times_);
    found_.report(record);
    return judge_.reason();
  }

 private:
  void round(round_kind kind) {
    const requests asked = requests::of_round(options_, found_.rounds++);
    const heap<A> fresh{options_.heap_bytes};
    stopwatch timer;
    timer.start();
    launch(asked.grid(), malloc_kernel<A>{}, fresh.ref(), asked, blocks_.data());
    const double malloc_time = timer.stop();
    if (kind.timed) malloc_times_.add(malloc_time);
    judge_.look(fresh, asked, blocks_, kind.judged);
    if constexpr (A::capabilities.individual_free) {
      if (!found_.fault.empty()) return;
      timer.start();
      launch(asked.grid(), free_kernel<A>{}, fresh.ref(), asked, static_cast<void* const*>(blocks_.data()));
      const double free_time = timer.stop();
      if (kind.timed) free_times_.add(free_time);
    }
  }

  const run_options& options_;
  device_array<void*> blocks_;
  findings found_;
  judge<A> judge_;
  samples malloc_times_;
  samples free_times_;
};

template <device_allocator A>
std::string temperature::run(const run_options& options, json_object& record) {
  if (options.mode == on_warm_heap.name) return throughput::run<A>(options, record);
  if constexpr (A::capabilities.uses_arena) {
    return cold_course<A>{options}.run(record);
  } else {
    return not_served(record, "the design's memory is the toolkit's, which a process cannot make new");
  }
}

}  // namespace warpheap::bench
