// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How long a kernel takes in which every thread asks for a block, and one in which every thread gives its block back;
/// and `floor`, what no allocator can beat: a kernel on the same grid in which those threads only store a pointer.
///
/// The heap is made once and stays warm. Each round is a malloc kernel and a free kernel, or a
/// reset where the design has no individual free. Times are those of the whole kernel, its start
/// included. A round is judged before its blocks are freed, outside the times: see `verify_policy`.
/// A case that is not flawless has no times. The floor is that of the machine in the same minute,
/// so it tells a slow machine from a slow design; no round is run for its sake.
struct throughput {
  static constexpr const char* name = "throughput";
  static constexpr const char* summary = "a kernel of mallocs, then a kernel of frees";
  static constexpr case_mode modes[] = {asks_by_thread, asks_by_warp, asks_for_mixed_sizes};
  static constexpr const char* axes[] = {"threads", "size"};

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case on a warm heap.
template <device_allocator A>
class throughput::course : public course_defaults {
 public:
  using fixture = one_heap<A>;
  explicit course(fixture& on) : on_(on) {}

  std::vector<const samples*> watched() const { return {&malloc_times_, &free_times_}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    // Before the mallocs, which write over what it stores.
    const double floor_time = on_.time_of([&] { launch(asked.grid(), store_kernel{}, asked, on_.blocks.data()); });
    if (kind.timed) floor_times_.add(floor_time);

    const double malloc_time = on_.time_of([&] { on_.malloc_all(on_.heap, asked); });
    if (kind.timed) malloc_times_.add(malloc_time);
    on_.look(on_.heap, asked, kind.judged);
    if (!on_.found.sound()) return;

    if constexpr (A::capabilities.individual_free) {
      const double free_time = on_.time_of([&] { on_.free_all(on_.heap, asked); });
      if (kind.timed) free_times_.add(free_time);
    } else {
      on_.empty(asked);
    }
  }

  void add_measures(findings& found) const {
    found.add("malloc", microseconds, malloc_times_);
    found.add("free", microseconds, free_times_);
    found.add("floor", microseconds, floor_times_);
  }

 private:
  fixture& on_;
  samples malloc_times_;
  samples free_times_;
  samples floor_times_;
};

}  // namespace warpheap::bench
