// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/course.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/filling.hpp"
#include "../measure/findings.hpp"
#include "../measure/holdings.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Every thread asks for a block. Each second thread first gives back a block of an earlier round,
/// as long as such blocks are left. Frees and requests of a kernel meet.
template <device_allocator A>
struct exchange_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, placement where, void** blocks) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none) return;
    void*& block = blocks[where.place(index)];
    if (where.gives_back(index)) heap.free(block);
    block = heap.malloc(asked.bytes(index));
  }
};

/// How a heap bears up when blocks of all ages come back while it fills: in each iteration, one kernel asks for as many
/// blocks as there are threads and gives half as many back, chosen at random among all that are live, until there is no
/// more (the test of 50 % growth of Winter et al., ICS 2020, Figure 3, which does not say which half is freed).
///
/// It ends with the first iteration in which live bytes grow by less than a hundredth of what was asked for; with room
/// they grow by half of it. `share` is the most bytes that were live, as they were asked for, over those of the heap;
/// `iteration` the times of the kernels before the last; `slowdown` the median of the last tenth of them over that of
/// the first. The heap is filled once: `iterations` and `warmup` change nothing.
///
/// Each block is written when it was handed out and must hold that until it is given back; all this is outside the
/// times. The blocks that are live in the end are judged for overlap as well.
struct growth {
  static constexpr const char* name = "growth";
  static constexpr const char* summary = "mallocs and half as many frees of random blocks, until the heap is full";
  static constexpr case_mode modes[] = {asks_by_thread, asks_for_mixed_sizes};
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

// One run of the case on one heap.
template <device_allocator A>
class growth::course : public course_defaults {
 public:
  using fixture = filling<A>;
  static constexpr const char* unfit_design = unfit_for_lone_threads(A::capabilities);

  explicit course(fixture& on) : on_(on) {}

  std::string unfit_heap() const { return on_.unfit_heap(); }

  void measure() {
    start_kernels();
    full_ = on_.until_full([this] { return fills(); },
                           [this] {
                             return "after " + std::to_string(on_.found.rounds) + " rounds " +
                                    std::to_string(on_.held.held().bytes) + " of " + std::to_string(on_.heap.size()) +
                                    " bytes were live";
                           });
    if (full_ && most_live_ == 0) on_.blame_empty_heap();
    judge();
  }

  void add_measures(findings& found) const {
    if (!full_) return;
    samples slower;
    if (const std::optional<double> ratio = slowdown(times_.values())) slower.add(*ratio);
    found.add("share", share_of_heap, static_cast<double>(most_live_) / static_cast<double>(on_.heap.size()));
    found.add("iteration", microseconds, times_);
    found.add("slowdown", time_ratio, slower);
    found.add_series("iteration", microseconds, times_.values());
  }

 private:
  // The first launch of a kernel takes long. It is for a heap of its own, so that ours is untouched when times begin.
  void start_kernels() {
    const heap<A> other(on_.options.heap_bytes);
    const requests asked = on_.asked.round(0);
    const device_array<void*> blocks(asked.count);
    launch(asked.grid(), exchange_kernel<A>{}, other.ref(), asked, on_.held.plan(0), blocks.data());
    launch(asked.grid(), free_kernel<A>{}, other.ref(), asked, static_cast<void* const*>(blocks.data()));
    synchronise();
  }

  // Runs a round. Returns true if live bytes hardly grew.
  bool fills() {
    findings& found = on_.found;
    const std::uint64_t number = found.rounds++;
    const requests asked = on_.asked.round(number);
    const placement where = on_.held.plan(number, asked.count / 2);
    const holdings::amount given = on_.held.give_back(where);
    const double time = on_.time_of(
        [&] { launch(asked.grid(), exchange_kernel<A>{}, on_.heap.ref(), asked, where, on_.held.blocks()); });
    const holdings::amount got = on_.held.take(where, number, asked.count);
    on_.held.fill(where, asked.count);
    on_.note(on_.held.fault());
    found.requests += asked.count;
    found.refused += asked.count - got.blocks;
    most_live_ = std::max(most_live_, on_.held.held().bytes);
    std::uint64_t wanted = 0;
    for (std::uint64_t i = 0; i < asked.count; ++i) wanted += asked.bytes(i);
    if (got.bytes <= given.bytes || shows_exhaustion(got.bytes - given.bytes, wanted)) return true;
    times_.add(time);
    return false;
  }

  void judge() {
    on_.held.judge_overlap();
    on_.held.judge_contents();
    on_.note(on_.held.fault());
    on_.found.rounds_judged = on_.found.rounds;
    on_.note_memory();
  }

  fixture& on_;
  samples times_;
  std::uint64_t most_live_ = 0;
  bool full_ = false;
};

}  // namespace warpheap::bench
