// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/course.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/filling.hpp"
#include "../measure/findings.hpp"
#include "../measure/holdings.hpp"
#include "../measure/requests.hpp"
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
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case on one heap.
template <device_allocator A>
class out_of_memory::course : public course_defaults {
 public:
  using fixture = filling<A>;
  static constexpr const char* unfit_design = unfit_for_full_heaps(A::capabilities);
  explicit course(fixture& on) : on_(on) {}

  std::string unfit_heap() const { return on_.unfit_heap(); }

  void measure() {
    start_kernels();
    fill_heap();
    judge();
    on_.note_memory();
    if (!exhausted_ || !on_.found.flawless()) return;
    give_all_back();
    serve_half();
    judge();
  }

  void add_measures(findings& found) const {
    if (!exhausted_) return;
    double total = 0;
    for (const filling_round& each : filled_) total += each.time;
    found.add("share", share_of_heap, static_cast<double>(handed_out_.bytes) / static_cast<double>(on_.heap.size()));
    found.add("total", microseconds, total);
    found.add("last_tenth", microseconds, last_tenth(filled_));
  }

 private:
  // A kernel's first launch takes long. It is for a heap of its own, so that ours is untouched when times begin.
  void start_kernels() {
    const requests asked = on_.asked.round(0);
    const heap<A> other(on_.options.heap_bytes);
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
    exhausted_ = on_.until_full([this] { return fills(); },
                                [this] {
                                  return std::to_string(on_.found.rounds) + " rounds had got " +
                                         std::to_string(on_.held.held().bytes) + " of " +
                                         std::to_string(on_.heap.size()) + " bytes";
                                });
    if (!exhausted_) return;
    handed_out_ = on_.held.held();
    if (handed_out_.blocks == 0) on_.blame_empty_heap();
    if (on_.found.flawless()) one_round();  // a full heap refuses, and does nothing worse
  }

  // Runs a round. Returns true if it shows that the heap is full.
  bool fills() {
    const std::uint64_t refused_before = on_.found.refused;
    const filling_round round = one_round();
    if (round.bytes != 0) filled_.push_back(round);
    return shows_exhaustion(on_.asked.count - (on_.found.refused - refused_before), on_.asked.count);
  }

  filling_round one_round() {
    findings& found = on_.found;
    const std::uint64_t number = found.rounds++;
    const requests asked = on_.asked.round(number);
    const placement where = on_.held.plan(number);
    const double time = on_.time_of([&] { ask(on_.heap, asked, on_.held.blocks() + where.used); });
    const holdings::amount got = on_.held.take(where, number, asked.count);
    on_.note(on_.held.fault());
    // In mode `thread` all requests are alike: what one was refused for want of room, no later one can get.
    if (A::capabilities.refuses_only_when_full && on_.asked.mode == request_mode::thread && found.refused != 0 &&
        got.blocks != 0) {
      on_.note(std::to_string(got.blocks) + " requests of round " + std::to_string(number) + " were served after " +
               std::to_string(found.refused) + " like them were refused, though nothing was freed");
    }
    found.requests += asked.count;
    found.refused += asked.count - got.blocks;
    return {time, got.bytes};
  }

  void judge() {
    on_.held.judge_overlap();
    on_.held.fill_all();
    on_.held.judge_contents();
    on_.note(on_.held.fault());
    on_.found.rounds_judged = on_.found.rounds;
  }

  void give_all_back() {
    for (std::uint64_t number = 0; number < on_.found.rounds; ++number) {
      give_back(on_.heap, on_.asked.round(number), on_.held.blocks() + number * on_.asked.count);
    }
    if constexpr (!A::capabilities.individual_free) make_empty(on_.heap, on_.options);
    on_.held.clear();
  }

  // Asks again for what the first rounds asked for, as far as half of the bytes goes, and for one block at least.
  void serve_half() {
    findings& found = on_.found;
    std::uint64_t left = handed_out_.bytes / 2;
    for (std::uint64_t number = 0; found.flawless(); ++number) {
      requests asked = on_.asked.round(number);
      asked.count = requests_within(asked, left);
      if (number == 0 && asked.count == 0) asked.count = 1;
      if (asked.count == 0) return;
      const placement where = on_.held.plan(number);
      ask(on_.heap, asked, on_.held.blocks() + where.used);
      const holdings::amount got = on_.held.take(where, number, asked.count);
      on_.note(on_.held.fault());
      ++found.rounds;
      found.requests += asked.count;
      found.failures += asked.count - got.blocks;
      if (asked.count < on_.asked.count) break;
    }
    if (found.failures != 0) {
      found.refusal = "with all blocks given back, " + std::to_string(found.failures) +
                      " requests got null before half as many bytes were handed out as before";
    }
  }

  fixture& on_;
  std::vector<filling_round> filled_;
  holdings::amount handed_out_;
  bool exhausted_ = false;
};

}  // namespace warpheap::bench
