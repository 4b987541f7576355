// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/block_store.hpp"
#include "../measure/course.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/findings.hpp"
#include "../measure/memory.hpp"
#include "../measure/not_served.hpp"
#include "../measure/placement.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// What a heap still gives when a program changes its sizes: the heap is filled with blocks of one size, all are freed,
/// and it is filled with blocks of `size` bytes. A new heap that is filled with these at once is the measure.
///
/// `share` is the bytes of the second fill over those that the new heap handed out: what is less than 1 is kept for the
/// first size. `fill` is the time of the second fill, `fresh` that of the new heap's, each up to the last kernel that
/// got anything; `slowdown` is the ratio of the two per byte. Without a block in the second fill `share` is 0, and
/// there is no time. All this is done `iterations` times, fewer where the time does not allow it; `warmup` changes
/// nothing.
///
/// Each block is written when it comes, and must hold that until all are freed. In the end nothing may be live.
struct shift {
  static constexpr case_mode after_16{"after_16", "the heap was full of blocks of 16 bytes, which were freed"};
  static constexpr case_mode after_64{"after_64", "the heap was full of blocks of 64 bytes, which were freed"};
  static constexpr case_mode after_8192{"after_8192", "the heap was full of blocks of 8,192 bytes, which were freed"};

  static constexpr const char* name = "shift";
  static constexpr const char* summary = "a heap full of one size is emptied and filled with another";
  static constexpr case_mode modes[] = {after_16, after_64, after_8192};
  static constexpr const char* axes[] = {"threads", "size"};

  /// Bytes of the blocks that were there first, by the mode of that name.
  static std::uint64_t first_size(const std::string& mode) {
    if (mode == after_16.name) return 16;
    return mode == after_64.name ? 64 : 8192;
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
class shift::course : public course_defaults {
 public:
  using fixture = fixture_base;
  static constexpr const char* unfit_design = unfit_for_refilled_heaps(A::capabilities);

  explicit course(fixture& on)
      : on_(on),
        budget_(on.options),
        first_(stream_of(first_size(on.options.mode))),
        second_(stream_of(on.options.size)) {
    heap_.emplace(on_.options.heap_bytes);
  }

  static std::string unfit_options(const run_options& options) {
    return first_size(options.mode) > A::capabilities.largest_bytes ? serves_no_more_than(A::capabilities.largest_bytes)
                                                                    : "";
  }

  std::string unfit_heap() const {
    const std::uint64_t first = first_size(on_.options.mode);
    return no_room(*heap_, on_.options, first > on_.options.size ? first : on_.options.size);
  }

  void measure() {
    start_store_kernels<A>(on_.options, second_);
    for (std::uint64_t done = 0; done < on_.options.iterations; ++done) {
      if (!on_.found.flawless() || (done != 0 && !budget_.allows_another(done))) return;
      if (!run_once()) return;
    }
  }

  void add_measures(findings& found) const {
    if (!complete_) return;
    found.add("share", share_of_heap, shares_);
    found.add("fill", microseconds, fills_);
    found.add("fresh", microseconds, fresh_fills_);
    found.add("slowdown", time_ratio, slowdowns_);
  }

 private:
  request_stream stream_of(std::uint64_t bytes) const {
    return {on_.options.threads, bytes, on_.options.seed, request_mode::thread};
  }

  // Returns true if all fills came to their end.
  bool run_once() {
    const filled_heap fresh = fill_new_heap(second_);
    if (!well(fresh)) return false;
    const filled_heap before = fill_new_heap(first_);
    if (!well(before)) return false;
    const filled_heap after = fill_heap(second_);
    if (!on_.found.flawless() || !after.full) return false;
    shares_.add(static_cast<double>(after.got.bytes) / static_cast<double>(fresh.got.bytes));
    fresh_fills_.add(fresh.time);
    if (after.got.bytes != 0) {
      fills_.add(after.time);
      slowdowns_.add(after.time / static_cast<double>(after.got.bytes) /
                     (fresh.time / static_cast<double>(fresh.got.bytes)));
    }
    complete_ = true;
    return true;
  }

  bool well(const filled_heap& fill) {
    if (on_.found.flawless() && fill.full && fill.got.blocks == 0) blame_empty_heap(on_.found, heap_->size());
    return on_.found.flawless() && fill.full;
  }

  // Fills a heap that is new, where the design can have one, and frees all blocks.
  filled_heap fill_new_heap(const request_stream& asked) {
    heap_.reset();
    heap_.emplace(on_.options.heap_bytes);
    return fill_heap(asked);
  }

  filled_heap fill_heap(const request_stream& asked) {
    const std::optional<std::uint64_t> live_before = heap_->statistics().live_bytes;
    block_store<A> blocks(on_, *heap_, asked);
    const filled_heap filled = blocks.fill(complete_ ? nullptr : &budget_);
    blocks.judge();
    blocks.give_back();
    synchronise();
    if (on_.found.fault.empty()) on_.found.fault = describe_leak(live_before, heap_->statistics().live_bytes);
    return filled;
  }

  fixture& on_;
  time_budget budget_;
  request_stream first_;
  request_stream second_;
  std::optional<heap<A>> heap_;
  samples shares_;
  samples fills_;
  samples fresh_fills_;
  samples slowdowns_;
  bool complete_ = false;
};

}  // namespace warpheap::bench
