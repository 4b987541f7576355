// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/block_store.hpp"
#include "../measure/course.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/kernel_judge.hpp"
#include "../measure/not_served.hpp"
#include "../measure/placement.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"
#include "churn.hpp"

namespace warpheap::bench {

/// What `churn` comes to in a heap that is too small for it.
///
/// The threads of a churn hold `churn::places` blocks at most, and about half of them if nothing is refused. Here so
/// many threads run that this half is more than the heap has: twice its bytes (`twice`), or 1.1 times (`tight`). Their
/// number depends on the heap and `size` alone. Blocks are of `size` bytes, or in the modes that end in `_mixed` of a
/// random multiple of 4 up to that.
///
/// `time` is that of the kernel, `served` the share of the requests that got a block. A refusal is no fault here, as
/// long as something is served. Before, another heap is filled with blocks of `size` bytes; in the end, with all
/// freed, the heap of the churn is. `again` is what the one gave over what the other gave: what is less than 1 did not
/// come back, or is held for other sizes.
///
/// Every block is judged by its stamp when it is freed. In the end nothing may be live.
struct scarce {
  static constexpr case_mode twice{"twice", "the threads want twice the bytes of the heap, in blocks of the same size"};
  static constexpr case_mode tight{"tight", "the threads want 1.1 times the bytes of the heap"};
  static constexpr case_mode twice_mixed{"twice_mixed", "as twice, for random multiples of 4 from 4 to size"};
  static constexpr case_mode tight_mixed{"tight_mixed", "as tight, for random multiples of 4 from 4 to size"};

  static constexpr const char* name = "scarce";
  static constexpr const char* summary = "churn in a heap that is too small for it";
  static constexpr case_mode modes[] = {twice, tight, twice_mixed, tight_mixed};
  static constexpr const char* axes[] = {"size"};

  /// True if the mode of that name draws random sizes.
  static bool draws_sizes(const std::string& mode) { return mode == twice_mixed.name || mode == tight_mixed.name; }

  /// How many threads want as much as the mode says, one at least.
  static std::uint64_t threads_of(const run_options& options) {
    const std::uint64_t mean = draws_sizes(options.mode) ? options.size / 2 + 2 : options.size;
    const bool doubled = options.mode == twice.name || options.mode == twice_mixed.name;
    const std::uint64_t wanted = (doubled ? 20 : 11) * (options.heap_bytes / 10);
    return std::max(wanted / (churn::places / 2 * mean), std::uint64_t{1});
  }

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  struct small_heap;
  template <device_allocator A>
  class course;
};

// The heap of the churn, and the judge of kernels whose requests it may refuse.
template <device_allocator A>
struct scarce::small_heap : fixture_base, heap_owner<A> {
  explicit small_heap(const run_options& asked)
      : fixture_base(asked),
        heap_owner<A>{warpheap::heap<A>{asked.heap_bytes}},
        judge(this->heap, fixture_base::found, null_means::refusal) {}

  kernel_judge<A> judge;
};

// One run of the case.
template <device_allocator A>
class scarce::course : public course_defaults {
 public:
  using fixture = small_heap<A>;
  static constexpr const char* unfit_design = unfit_for_refilled_heaps(A::capabilities);

  explicit course(fixture& on) : on_(on), budget_(on.options) {}

  static run_options adapted(run_options options) {
    options.threads = threads_of(options);
    options.verify = verify_policy::all;  // the kernel judges each round as it goes
    return options;
  }

  std::string unfit_heap() const { return no_room(on_.heap, on_.options, on_.options.size); }

  void measure() {
    std::uint64_t capacity = 0;
    {
      const heap<A> other(on_.options.heap_bytes);
      capacity = fill(other, &budget_);
    }
    if (capacity == 0 && on_.found.flawless() && on_.found.refusal.empty()) {
      blame_empty_heap(on_.found, on_.heap.size());
    }
    if (!on_.found.flawless() || !on_.found.refusal.empty()) return;
    run_rounds(on_.options, on_.found, {&times_}, [this](round_kind kind) { round(kind); });
    if (!on_.found.flawless()) return;
    on_.judge.look_for_leaks();
    const std::uint64_t once_more = fill(on_.heap, nullptr);
    again_ = static_cast<double>(once_more) / static_cast<double>(capacity);
  }

  void add_measures(findings& found) const {
    if (!again_) return;
    found.add("time", microseconds, times_);
    found.add("served", share_of_heap, served_);
    found.add("again", share_of_heap, *again_);
  }

 private:
  void round(round_kind kind) {
    requests asked = on_.next_requests();
    if (draws_sizes(on_.options.mode)) asked.mode = request_mode::mixed;
    const auto ran = on_.judge.watch(0, [&](kernel_tally* tally) {
      launch_with_shared<churn_holdings>(grid_shape::covering(asked.count, churn_holdings::threads), churn_kernel<A>{},
                                         on_.heap.ref(), asked, tally);
    });
    ++on_.found.rounds_judged;
    if (ran.seen.null == ran.seen.requests && on_.found.sound()) blame_empty_heap(on_.found, on_.heap.size());
    if (!kind.timed || !on_.found.flawless()) return;
    times_.add(ran.time);
    served_.add(1 - static_cast<double>(ran.seen.null) / static_cast<double>(ran.seen.requests));
  }

  // Bytes that the heap hands out in blocks of the largest size. They are judged, and given back.
  std::uint64_t fill(const heap<A>& from, const time_budget* budget) {
    const std::uint64_t a_tenth = std::max(from.size() / on_.options.size / 10, std::uint64_t{1});
    const request_stream asked{a_tenth, on_.options.size, on_.options.seed, request_mode::thread};
    block_store<A> blocks(on_, from, asked);
    const filled_heap filled = blocks.fill(budget);
    blocks.judge();
    blocks.give_back();
    synchronise();
    return filled.got.bytes;
  }

  fixture& on_;
  time_budget budget_;
  samples times_;
  samples served_;
  std::optional<double> again_;
};

}  // namespace warpheap::bench
