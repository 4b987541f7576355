// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/block_store.hpp"
#include "../measure/course.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/findings.hpp"
#include "../measure/memory.hpp"
#include "../measure/not_served.hpp"
#include "../measure/placement.hpp"
#include "../measure/requests.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How a heap bears a program that goes through phases, each with blocks of another size, and keeps a few blocks of
/// each for longer.
///
/// There are ten phases. Each asks for as many bytes as fill half of the heap, with what lives from earlier phases, in
/// kernels of `threads` requests. Then one kernel frees its blocks, but about one in a hundred, chosen at random; and
/// another frees what is left from the phase three phases ago. Sizes jump up and down between a 512th of `size`, 16
/// bytes at least, and `size`.
///
/// `phase` is the time of the kernels of a phase. `refused` is the share of all requests that got null: a heap without
/// loss refuses none. In the end, with the blocks of the last three phases live, the heap is filled with blocks of
/// `size` bytes: `share` is the bytes that then are live over those of the heap. All this is done `iterations` times,
/// fewer where the time does not allow it, on a new heap each time; `warmup` changes nothing.
///
/// Each block is written when it comes, and must hold that until it is freed. In the end nothing may be live.
struct phases {
  static constexpr const char* name = "phases";
  static constexpr const char* summary = "ten phases of other sizes in half of a heap, and a few blocks that stay";
  static constexpr case_mode modes[] = {asks_by_thread, asks_for_mixed_sizes};
  static constexpr const char* axes[] = {"threads", "size"};

  static constexpr std::uint64_t count = 10;           ///< phases
  static constexpr std::uint64_t survivors_in = 100;   ///< one block in so many survives its phase
  static constexpr std::uint64_t phases_survived = 3;  ///< after its own, by such a block

  /// Bytes of the blocks of phase `number`; in mode `mixed` the upper bound.
  static constexpr std::uint64_t size_of(std::uint64_t number, std::uint64_t size) {
    constexpr int halved[count] = {9, 0, 7, 3, 8, 1, 5, 2, 6, 4};
    const std::uint64_t bytes = align_down(size >> halved[number], 4);
    return bytes < 16 ? 16 : bytes;
  }

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case.
template <device_allocator A>
class phases::course : public course_defaults {
 public:
  using fixture = fixture_base;
  static constexpr const char* unfit_design = unfit_for_refilled_heaps(A::capabilities);

  explicit course(fixture& on) : on_(on), budget_(on.options) { heap_.emplace(on_.options.heap_bytes); }

  std::string unfit_heap() const {
    return no_room(*heap_, on_.options, 2 * std::max(on_.options.size, std::uint64_t{16}));
  }

  void measure() {
    start_store_kernels<A>(on_.options, stream_of(0));
    for (std::uint64_t done = 0; done < on_.options.iterations; ++done) {
      if (!on_.found.flawless() || (done != 0 && !budget_.allows_another(done))) return;
      heap_.reset();
      heap_.emplace(on_.options.heap_bytes);
      if (!run_once()) return;
    }
  }

  void add_measures(findings& found) const {
    if (shares_.count() == 0) return;
    found.add("phase", microseconds, times_);
    found.add("refused", space_ratio, refused_);
    found.add("share", share_of_heap, shares_);
    found.add_series("phase", microseconds, times_of_each_);
    found.add_series("refused", space_ratio, refused_of_each_);
  }

 private:
  request_stream stream_of(std::uint64_t number) const {
    return {on_.options.threads, size_of(number, on_.options.size), on_.options.seed,
            request_mode_of(on_.options.mode)};
  }

  // Returns true if it came to its end.
  bool run_once() {
    const bool first = shares_.count() == 0;
    const std::optional<std::uint64_t> live_before = heap_->statistics().live_bytes;
    std::deque<block_store<A>> living;
    const std::uint64_t requests_before = on_.found.requests;
    const std::uint64_t refused_before = on_.found.refused;
    for (std::uint64_t number = 0; number < count; ++number) {
      if (first && number != 0 && budget_.spent()) {
        on_.found.refusal =
            "the time was over after " + std::to_string(number) + " of " + std::to_string(count) + " phases";
        return false;
      }
      const std::uint64_t asked_before = on_.found.requests;
      const std::uint64_t null_before = on_.found.refused;
      const double time = run_phase(number, living);
      const std::uint64_t asked = on_.found.requests - asked_before;
      const std::uint64_t null = on_.found.refused - null_before;
      if (number == 0 && null == asked) blame_empty_heap(on_.found, heap_->size());
      if (!on_.found.flawless()) return false;
      times_.add(time);
      if (!first) continue;
      times_of_each_.push_back(time);
      refused_of_each_.push_back(static_cast<double>(null) / static_cast<double>(asked));
    }
    const double asked = static_cast<double>(on_.found.requests - requests_before);
    const double refused = static_cast<double>(on_.found.refused - refused_before);
    if (!fill_up(living, first)) return false;
    for (block_store<A>& each : living) each.give_back();
    synchronise();
    if (on_.found.fault.empty()) on_.found.fault = describe_leak(live_before, heap_->statistics().live_bytes);
    if (!on_.found.sound()) return false;
    refused_.add(refused / asked);
    return true;
  }

  // Adds the phase's store to `living`, and ends that of the phase three phases ago. Returns the microseconds.
  double run_phase(std::uint64_t number, std::deque<block_store<A>>& living) {
    const request_stream asked = stream_of(number);
    const std::uint64_t mean = asked.mode == request_mode::mixed ? asked.size / 2 + 2 : asked.size;
    const std::uint64_t half = heap_->size() / 2;
    const std::uint64_t live = live_bytes(living);
    std::uint64_t left = std::max((half - std::min(half, live)) / mean, std::uint64_t{1});
    block_store<A>& store = living.emplace_back(on_, *heap_, asked);
    double time = 0;
    // Once the time of the first run is over, the phase ends early, and the run ends without a result after it.
    const bool in_time = shares_.count() == 0;
    while (left != 0 && on_.found.flawless() && !(in_time && time != 0 && budget_.spent())) {
      const std::uint64_t some = std::min(left, asked.count);
      time += store.ask(some).time;
      left -= some;
    }
    store.judge();
    time += store.give_back(survivors_in, mix(on_.options.seed ^ number));
    if (living.size() > phases_survived) {
      time += living.front().give_back();
      living.pop_front();
    }
    return time;
  }

  // Fills the heap beside what is live, and gives that back.
  bool fill_up(const std::deque<block_store<A>>& living, bool in_time) {
    block_store<A> last(on_, *heap_, {on_.options.threads, on_.options.size, on_.options.seed, request_mode::thread});
    const filled_heap filled = last.fill(in_time ? &budget_ : nullptr);
    last.judge();
    if (!on_.found.flawless() || !filled.full) return false;
    shares_.add(static_cast<double>(live_bytes(living) + filled.got.bytes) / static_cast<double>(heap_->size()));
    last.give_back();
    return true;
  }

  static std::uint64_t live_bytes(const std::deque<block_store<A>>& living) {
    std::uint64_t sum = 0;
    for (const block_store<A>& each : living) sum += each.held().bytes;
    return sum;
  }

  fixture& on_;
  time_budget budget_;
  std::optional<heap<A>> heap_;
  samples times_;
  samples refused_;
  samples shares_;
  std::vector<double> times_of_each_;
  std::vector<double> refused_of_each_;
};

}  // namespace warpheap::bench
