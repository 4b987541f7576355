// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/findings.hpp"
#include "../measure/holdings.hpp"
#include "../measure/memory.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How much of a heap can be handed out, and how long that takes: rounds of requests without frees until the heap
/// refuses (Winter et al., PPoPP 2021, Figure 11b).
///
/// The heap is exhausted when a round gets less than a hundredth of what it asks for: see `shows_exhaustion`. `share`
/// is the bytes handed out until then, as they were asked for, over those of the heap. `total` is the time of the
/// kernels up to the last that got anything, `last_tenth` the part in which the last tenth of the bytes was handed
/// out. The heap is filled once: `iterations` and `warmup` change nothing.
///
/// Then one round more asks of the full heap, all blocks are judged and given back, and the first half of the requests
/// is served again. A design fails if blocks are unsound; if that half is not served; or if it promises to refuse only
/// when full and serves a request like one that it refused before, though nothing was freed.
struct out_of_memory {
  static constexpr const char* name = "out_of_memory";
  static constexpr const char* summary = "the share of a heap that can be handed out, and how long that takes";
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
class out_of_memory::course {
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
    fill_heap();
    judge();
    found_.memory = describe_memory(held_.held().bytes, held_.span_bytes(), heap_.stats());
    if (exhausted_ && found_.flawless()) {
      add_measures();
      give_all_back();
      serve_half();
      judge();
    }
    found_.report(record);
    return found_.fault.empty() ? refusal_ : found_.fault;
  }

 private:
  // A kernel's first launch takes long. It is for a heap of its own, so that ours is untouched when times begin.
  void start_kernels() {
    const requests asked = asked_.round(0);
    const heap<A> other(options_.heap_bytes);
    const device_array<void*> blocks(asked.count);
    ask(other, asked, blocks.data());
    give_back(other, asked, blocks.data());
    synchronise();
  }

  void ask(const heap<A>& of, const requests& asked, void** blocks) {
    launch(asked.grid(), malloc_kernel<A>{}, of.ref(), asked, blocks);
  }
  void give_back(const heap<A>& to, const requests& asked, void* const* blocks) {
    if constexpr (A::capabilities.individual_free) launch(asked.grid(), free_kernel<A>{}, to.ref(), asked, blocks);
  }

  void fill_heap() {
    while (found_.flawless() && !exhausted_) {
      if (found_.rounds != 0 && budget_.spent()) {
        refusal_ = "not exhausted when the time was over: " + std::to_string(found_.rounds) + " rounds had got " +
                   std::to_string(held_.held().bytes) + " of " + std::to_string(heap_.size()) + " bytes";
        return;
      }
      const std::uint64_t refused_before = found_.refused;
      const filling_round round = one_round();
      exhausted_ = shows_exhaustion(asked_.count - (found_.refused - refused_before), asked_.count);
      if (round.bytes != 0) filled_.push_back(round);
    }
    handed_out_ = held_.held();
    if (exhausted_ && handed_out_.blocks == 0) {
      found_.failures = std::exchange(found_.refused, 0);
      refusal_ = "an empty heap of " + std::to_string(heap_.size()) + " bytes served none of " +
                 std::to_string(asked_.count) + " requests";
    }
    if (found_.flawless()) one_round();  // a full heap refuses, and does nothing worse
  }

  filling_round one_round() {
    const std::uint64_t number = found_.rounds++;
    const requests asked = asked_.round(number);
    const placement where = held_.plan(number);
    stopwatch timer;
    timer.start();
    ask(heap_, asked, held_.blocks() + where.used);
    const double time = timer.stop();
    const holdings::amount got = held_.take(where, number, asked.count);
    note(held_.fault());
    // In mode `thread` all requests are alike: what one was refused for want of room, no later one can get.
    if (A::capabilities.refuses_only_when_full && asked_.mode == request_mode::thread && found_.refused != 0 &&
        got.blocks != 0) {
      note(std::to_string(got.blocks) + " requests of round " + std::to_string(number) + " were served after " +
           std::to_string(found_.refused) + " like them were refused, though nothing was freed");
    }
    found_.requests += asked.count;
    found_.refused += asked.count - got.blocks;
    return {time, got.bytes};
  }

  void judge() {
    held_.judge_overlap();
    held_.fill_all();
    held_.judge_contents();
    note(held_.fault());
    found_.rounds_judged = found_.rounds;
  }

  void add_measures() {
    double total = 0;
    for (const filling_round& each : filled_) total += each.time;
    found_.add("share", share_of_heap, static_cast<double>(handed_out_.bytes) / static_cast<double>(heap_.size()));
    found_.add("total", microseconds, total);
    found_.add("last_tenth", microseconds, last_tenth(filled_));
  }

  void give_all_back() {
    for (std::uint64_t number = 0; number < found_.rounds; ++number) {
      give_back(heap_, asked_.round(number), held_.blocks() + number * asked_.count);
    }
    if constexpr (!A::capabilities.individual_free) make_empty(heap_, options_);
    held_.clear();
  }

  // Asks again for what the first rounds asked for, as far as half of the bytes goes, and for one block at least.
  void serve_half() {
    std::uint64_t left = handed_out_.bytes / 2;
    for (std::uint64_t number = 0; found_.flawless(); ++number) {
      requests asked = asked_.round(number);
      asked.count = requests_within(asked, left);
      if (number == 0 && asked.count == 0) asked.count = 1;
      if (asked.count == 0) return;
      const placement where = held_.plan(number);
      ask(heap_, asked, held_.blocks() + where.used);
      const holdings::amount got = held_.take(where, number, asked.count);
      note(held_.fault());
      ++found_.rounds;
      found_.requests += asked.count;
      found_.failures += asked.count - got.blocks;
      if (asked.count < asked_.count) break;
    }
    if (found_.failures != 0) {
      refusal_ = "with all blocks given back, " + std::to_string(found_.failures) +
                 " requests got null before half as many bytes were handed out as before";
    }
  }

  void note(const std::string& fault) {
    if (found_.fault.empty()) found_.fault = fault;
  }

  const run_options& options_;
  request_stream asked_;
  time_budget budget_;
  heap<A> heap_;
  holdings held_;
  findings found_;
  std::vector<filling_round> filled_;
  holdings::amount handed_out_;
  bool exhausted_ = false;
  std::string refusal_;
};

template <device_allocator A>
std::string out_of_memory::run(const run_options& options, json_object& record) {
  return course<A>{options}.run(record);
}

}  // namespace warpheap::bench
