// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/kernel_judge.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stamp.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Many small blocks that all go at once: each thread takes `each` blocks one after the other, and then all of them are
/// released, within one kernel.
///
/// A design with the capability `release_by_warp` opens an arena for each warp, whose blocks go back by one call. The
/// others free each block, one after the other. `time` is that of the kernel.
///
/// In a judged round each thread stamps its blocks at both ends when it has them all, and checks the stamps before they
/// go; timed rounds on a GPU do without that. After the rounds nothing may be live, and the heap has to serve a block
/// for each thread, which are judged as in `throughput`.
struct arena_release {
  static constexpr const char* name = "arena";
  static constexpr const char* summary = "many small blocks a thread, and then all of them are released";
  static constexpr case_mode modes[] = {asks_by_thread, asks_for_mixed_sizes};
  static constexpr const char* axes[] = {"threads", "size"};

  static constexpr std::uint64_t each = 16;  ///< blocks of a thread

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

  /// Why a design of these capabilities cannot run the case; null if it can.
  static constexpr const char* unfit(const allocator_capabilities& can) {
    return can.release_by_warp ? nullptr : unfit_for_lone_threads(can);
  }

 private:
  template <device_allocator A>
  class course;
};

/// What the threads of a block hold in `arena_kernel`, a column for each. It lies in shared memory for the reason that
/// `churn_holdings` has.
struct arena_holdings {
  static constexpr std::uint32_t threads = 256;  ///< of a block
  void* block[arena_release::each][threads];
};

/// The threads of the case, one for each of `asked`, of which it takes sizes and salt. With `judged`, blocks are
/// stamped and checked.
template <device_allocator A>
class arena_kernel {
 public:
  WARPHEAP_FN void operator()(arena_holdings& held, heap_ref<A> heap, requests asked, bool judged,
                              kernel_tally* seen) const {
    const std::uint64_t thread = asked.mine();
    const lane_mask group = ballot(low_bits(warp_width), thread != requests::none);
    if (thread == requests::none) return;
    const column own{held, asked, thread * arena_release::each};
    if constexpr (A::capabilities.release_by_warp) {
      const arena_ref<A> arena = heap.open_arena(group);
      own.take(arena, seen);
      if (judged) own.stamp_and_check(group, seen);
      sync(group);
      arena.release(group);
    } else {
      own.take(heap, seen);
      if (judged) own.stamp_and_check(group, seen);
      for (std::uint64_t i = 0; i < arena_release::each; ++i) heap.free(own.block(i));
    }
  }

 private:
  // The blocks of the caller.
  struct column {
    arena_holdings& held;
    const requests& asked;
    std::uint64_t first;  // the number of the thread's first request

    WARPHEAP_FN void*& block(std::uint64_t i) const { return held.block[i][thread_index()]; }

    template <class From>
    WARPHEAP_FN void take(const From& from, kernel_tally* seen) const {
      std::uint64_t null = 0;
      for (std::uint64_t i = 0; i < arena_release::each; ++i) {
        block(i) = from.malloc(asked.bytes(first + i));
        if (block(i) == nullptr) ++null;
      }
      if (null != 0) kernel_tally::count(seen->null, null);
    }

    WARPHEAP_FN void stamp_and_check(lane_mask group, kernel_tally* seen) const {
      for (std::uint64_t i = 0; i < arena_release::each; ++i) {
        if (block(i) != nullptr) stamp_of(i).write();
      }
      sync(group);  // so the whole warp has stamped
      for (std::uint64_t i = 0; i < arena_release::each; ++i) {
        if (block(i) != nullptr && !stamp_of(i).intact()) kernel_tally::count(seen->damaged);
      }
    }

    WARPHEAP_FN stamp stamp_of(std::uint64_t i) const {
      return stamp{block(i), asked.bytes(first + i), asked.salt, first + i};
    }
  };
};

// One run of the case on a warm heap.
template <device_allocator A>
class arena_release::course : public course_defaults {
 public:
  using fixture = self_judging<A>;
  static constexpr const char* unfit_design = unfit(A::capabilities);

  explicit course(fixture& on) : on_(on) {}

  std::vector<const samples*> watched() const { return {&times_}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    const auto ran = on_.judge.watch(each * asked.count, [&](kernel_tally* tally) {
      launch_with_shared<arena_holdings>(grid_shape::covering(asked.count, arena_holdings::threads), arena_kernel<A>{},
                                         on_.heap.ref(), asked, kind.judged, tally);
    });
    if (kind.judged) ++on_.found.rounds_judged;
    if (kind.timed) times_.add(ran.time);
  }

  void add_measures(findings& found) const { found.add("time", microseconds, times_); }

 private:
  fixture& on_;
  samples times_;
};

}  // namespace warpheap::bench
