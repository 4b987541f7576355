// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
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

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is. A design whose blocks do not come
  /// from the heap's own memory cannot be made new, and is not served in mode `cold`.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    if (options.mode == on_warm_heap.name) return throughput::run<A>(options, record);
    return run_course<cold_course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class cold_course;
};

// One run on cold heaps.
template <device_allocator A>
class temperature::cold_course : public course_defaults {
 public:
  using fixture = own_heaps<A>;
  static constexpr const char* unfit_design =
      A::capabilities.uses_arena ? nullptr : "the design's memory is the toolkit's, which a process cannot make new";

  explicit cold_course(fixture& on) : on_(on) {}

  std::vector<const samples*> watched() const { return {&malloc_times_, &free_times_}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    const heap<A> fresh{on_.options.heap_bytes};
    const double malloc_time = on_.time_of([&] { on_.malloc_all(fresh, asked); });
    if (kind.timed) malloc_times_.add(malloc_time);
    on_.look(fresh, asked, kind.judged);
    if constexpr (A::capabilities.individual_free) {
      if (!on_.found.sound()) return;
      const double free_time = on_.time_of([&] { on_.free_all(fresh, asked); });
      if (kind.timed) free_times_.add(free_time);
    }
  }

  void add_measures(findings& found) const {
    found.add("malloc", microseconds, malloc_times_);
    found.add("free", microseconds, free_times_);
  }

 private:
  fixture& on_;
  samples malloc_times_;
  samples free_times_;
};

}  // namespace warpheap::bench
