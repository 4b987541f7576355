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

/// How many mallocs and frees a second a design serves that come mixed, within one kernel.
///
/// Each thread has `places` places for blocks. At each of `steps` steps it picks one at random: into an empty place it
/// asks for a block and stamps it; the block of a full one it checks and frees. At the end it frees what it holds.
/// About half of the places are full in the long run; a heap that can hold all of them must refuse nothing. The heap
/// stays warm. `rate` is the number of mallocs and frees over the time of the kernel, stamps and random numbers
/// included.
///
/// Every block of every round is judged by its stamp, after it was held for some steps beside those of all other
/// threads. After the rounds the heap has to serve a block for each thread, and those are judged as in `throughput`.
struct churn {
  static constexpr const char* name = "churn";
  static constexpr const char* summary = "mallocs and frees at random within one kernel";
  static constexpr case_mode modes[] = {asks_by_thread, asks_for_mixed_sizes};
  static constexpr const char* axes[] = {"threads", "size"};

  static constexpr std::uint64_t places = 8;  ///< blocks that a thread holds at most
  /// Mallocs and frees of a thread before the last frees. On a GPU 100,000 threads then keep a design that serves a
  /// billion a second busy for some milliseconds, next to which the start of a kernel is nothing.
  static constexpr std::uint64_t steps = this_backend == backend::cuda ? 64 : 16;

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is. A design without individual free
  /// is not served, nor one that needs whole warps.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

/// What the threads of a block hold, a column for each thread. It lies in shared memory, since an
/// index that is not constant needs memory: a thread's own would be as far away as the design's,
/// and compete with it.
struct churn_holdings {
  static constexpr std::uint32_t threads = 256;  ///< of a block
  void* block[churn::places][threads];           ///< null: the place is empty
  std::uint8_t since[churn::places][threads];    ///< the step at which it was asked for
  static_assert(churn::steps <= 256);
};

/// The threads of a churn, one for each of `asked`, of which it takes sizes, salt and number.
template <device_allocator A>
class churn_kernel {
 public:
  WARPHEAP_FN void operator()(churn_holdings& held, heap_ref<A> heap, requests asked, kernel_tally* seen) const {
    const std::uint64_t thread = asked.mine();
    if (thread == requests::none) return;
    // Each thread has `steps` numbers of requests of its own.
    const std::uint64_t first = thread * churn::steps;
    const std::uint32_t mine = thread_index();
    unsigned made = 0;
    // The last frees are steps that ask for nothing: malloc and free are large, and stand here once each.
    for (std::uint64_t step = 0; step < churn::steps + churn::places; ++step) {
      const bool ends = step >= churn::steps;
      const std::uint64_t request = first + step;
      const std::uint64_t picked = ends ? step - churn::steps : mix(mix(asked.salt) ^ request) % churn::places;
      void* block = held.block[picked][mine];
      if (block != nullptr) {
        const std::uint64_t of = first + held.since[picked][mine];
        const stamp own{block, asked.bytes(of), asked.salt, of};
        if (!own.intact()) kernel_tally::count(seen->damaged);
        heap.free(block);
        block = nullptr;
      } else if (!ends) {
        ++made;
        const std::uint64_t bytes = asked.bytes(request);
        block = heap.malloc(bytes);
        held.since[picked][mine] = static_cast<std::uint8_t>(step);
        if (block == nullptr) {
          kernel_tally::count(seen->null);
        } else {
          stamp{block, bytes, asked.salt, request}.write();
        }
      }
      held.block[picked][mine] = block;
    }
    const lane_mask group = active_group();
    const unsigned sum = reduce(group, made, plus{});
    if (is_leader(group)) kernel_tally::count(seen->requests, sum);
  }
};

// One run of the case on a warm heap.
template <device_allocator A>
class churn::course : public course_defaults {
 public:
  using fixture = self_judging<A>;
  static constexpr const char* unfit_design = unfit_for_lone_threads(A::capabilities);

  explicit course(fixture& on) : on_(on) {}

  // The kernel judges each round as it goes.
  static run_options adapted(run_options options) {
    options.verify = verify_policy::all;
    return options;
  }

  std::vector<const samples*> watched() const { return {&rates_}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    const auto ran = on_.judge.watch(0, [&](kernel_tally* tally) {
      launch_with_shared<churn_holdings>(grid_shape::covering(asked.count, churn_holdings::threads), churn_kernel<A>{},
                                         on_.heap.ref(), asked, tally);
    });
    ++on_.found.rounds_judged;
    if (kind.timed) rates_.add(static_cast<double>(ran.seen.operations()) / ran.time * 1e6);
  }

  void add_measures(findings& found) const { found.add("rate", operations_per_second, rates_); }

 private:
  fixture& on_;
  samples rates_;
};

}  // namespace warpheap::bench
