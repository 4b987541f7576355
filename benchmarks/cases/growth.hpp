// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/findings.hpp"
#include "../measure/holdings.hpp"
#include "../measure/memory.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Every thread asks for a block; each second one first gives back a block of an earlier round, until there are none
/// such left. Frees and requests of a kernel meet.
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
  static std::string run(const run_options& options, json_object& record);

 private:
  template <device_allocator A>
  class course;
};

// One run of the case.
template <device_allocator A>
class growth::course {
 public:
  explicit course(const run_options& options)
      : options_(options),
        asked_(request_stream::of(options)),
        budget_(options),
        heap_(options.heap_bytes),
        held_(asked_, A::capabilities.alignment, most_span(heap_), likely_blocks(asked_, heap_.size())) {}

  std::string run(json_object& record) {
    if (heap_.size() < options_.size) {
      return not_served(record, no_room_for_a_block(options_.heap_bytes, options_.size));
    }
    start_kernels();
    bool full = false;
    while (found_.flawless() && !full) {
      if (found_.rounds != 0 && budget_.spent()) {
        refusal_ = "not exhausted when the time was over: after " + std::to_string(found_.rounds) + " rounds " +
                   std::to_string(held_.held().bytes) + " of " + std::to_string(heap_.size()) + " bytes were live";
        break;
      }
      full = !one_round();
    }
    if (full && most_live_ == 0) {
      found_.failures = std::exchange(found_.refused, 0);
      refusal_ = "an empty heap of " + std::to_string(heap_.size()) + " bytes served none of " +
                 std::to_string(asked_.count) + " requests";
    }
    judge();
    if (full) add_measures();
    found_.report(record);
    return found_.fault.empty() ? refusal_ : found_.fault;
  }

 private:
  // The first launch of a kernel takes long. It is for a heap of its own, so that ours is untouched when times begin.
  void start_kernels() {
    const heap<A> other(options_.heap_bytes);
    const requests asked = asked_.round(0);
    const device_array<void*> blocks(asked.count);
    launch(asked.grid(), exchange_kernel<A>{}, other.ref(), asked, held_.plan(0), blocks.data());
    launch(asked.grid(), free_kernel<A>{}, other.ref(), asked, static_cast<void* const*>(blocks.data()));
    synchronise();
  }

  // Returns false if live bytes hardly grew.
  bool one_round() {
    const std::uint64_t number = found_.rounds++;
    const requests asked = asked_.round(number);
    const placement where = held_.plan(number, asked.count / 2);
    const holdings::amount given = held_.give_back(where);
    stopwatch timer;
    timer.start();
    launch(asked.grid(), exchange_kernel<A>{}, heap_.ref(), asked, where, held_.blocks());
    const double time = timer.stop();
    const holdings::amount got = held_.take(where, number, asked.count);
    held_.fill(where, asked.count);
    found_.fault = held_.fault();
    found_.requests += asked.count;
    found_.refused += asked.count - got.blocks;
    most_live_ = std::max(most_live_, held_.held().bytes);
    std::uint64_t wanted = 0;
    for (std::uint64_t i = 0; i < asked.count; ++i) wanted += asked.bytes(i);
    if (got.bytes <= given.bytes || shows_exhaustion(got.bytes - given.bytes, wanted)) return false;
    times_.add(time);
    return true;
  }

  void judge() {
    held_.judge_overlap();
    held_.judge_contents();
    found_.fault = held_.fault();
    found_.rounds_judged = found_.rounds;
    found_.memory = describe_memory(held_.held().bytes, held_.span_bytes(), heap_.stats());
  }

  void add_measures() {
    samples slower;
    if (const std::optional<double> ratio = slowdown(times_.values())) slower.add(*ratio);
    found_.add("share", share_of_heap, static_cast<double>(most_live_) / static_cast<double>(heap_.size()));
    found_.add("iteration", microseconds, times_);
    found_.add("slowdown", time_ratio, slower);
    found_.add_series("iteration", microseconds, times_.values());
  }

  const run_options& options_;
  request_stream asked_;
  time_budget budget_;
  heap<A> heap_;
  holdings held_;
  findings found_;
  samples times_;
  std::uint64_t most_live_ = 0;
  std::string refusal_;
};

template <device_allocator A>
std::string growth::run(const run_options& options, json_object& record) {
  if constexpr (!A::capabilities.individual_free) {
    return not_served(record, lacks_individual_free);
  } else if constexpr (A::capabilities.needs_full_warp) {
    return not_served(record, needs_whole_warps);
  } else {
    return course<A>{options}.run(record);
  }
}

}  // namespace warpheap::bench
