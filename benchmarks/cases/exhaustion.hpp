// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/findings.hpp"
#include "../measure/judge.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// As many requests at once as the heap would hold if nothing of it were lost: how many a second, and which share of
/// them is refused (Gelado & Garland, PPoPP 2019, Figure 7).
///
/// One kernel in which each thread asks for `size` bytes, for each of the block sizes 1, 2, 4, … 1,024, on an empty
/// heap. `rate` is the requests of all these kernels over their time, refused ones included, as the paper has it;
/// `served` those that were served, over the same time; `refused` the share of those that were not. A refusal is no
/// fault here, as long as the blocks that were handed out are sound; a heap that serves none at all is one. The number
/// of threads is that of the requests and nothing else: `heap_bytes / size`.
struct exhaustion {
  static constexpr const char* name = "exhaustion";
  static constexpr const char* summary = "as many requests as a heap without loss would hold, all at once";
  static constexpr case_mode modes[] = {asks_by_thread};
  static constexpr const char* axes[] = {"size"};

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return course<A>{options}.run(record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case.
template <device_allocator A>
class exhaustion::course {
 public:
  explicit course(const run_options& options)
      : options_(options), heap_(options.heap_bytes), blocks_(options.heap_bytes / options.size), judge_(found_) {
    options_.threads = blocks_.size();
  }

  std::string run(json_object& record) {
    if (heap_.size() < options_.size) {
      return not_served(record, no_room_for_a_block(options_.heap_bytes, options_.size));
    }
    run_rounds(options_, found_, {&rate_}, [&](round_kind kind) { round(kind); });
    found_.add("rate", operations_per_second, rate_);
    found_.add("served", operations_per_second, served_);
    found_.add("refused", space_ratio, refused_);
    found_.report(record);
    return judge_.reason();
  }

 private:
  static constexpr std::uint32_t largest_block = 1024;

  void round(round_kind kind) {
    const requests asked = requests::of_round(options_, found_.rounds++);
    double time = 0;
    double made = 0;
    double refused = 0;
    for (std::uint32_t threads = 1; threads <= largest_block && found_.flawless(); threads *= 2) {
      const grid_shape grid = grid_shape::covering(asked.count, threads);
      stopwatch timer;
      timer.start();
      launch(grid, malloc_kernel<A>{}, heap_.ref(), asked, blocks_.data());
      time += timer.stop();
      const std::vector<void*> addresses = blocks_.to_host();
      const std::uint64_t null = count_null(addresses);
      made += static_cast<double>(asked.count);
      refused += static_cast<double>(null);
      found_.requests += asked.count;
      if (null == asked.count) {
        found_.fault = "an empty heap of " + std::to_string(heap_.size()) + " bytes served none of " +
                       std::to_string(asked.count) + " requests";
      } else if (kind.judged && (threads == 1 || threads == largest_block)) {
        judge_.check(heap_, asked, addresses, blocks_.data());
      }
      found_.refused += null;
      empty(asked);
    }
    if (!kind.timed || !found_.flawless()) return;
    rate_.add(made / time * 1e6);
    served_.add((made - refused) / time * 1e6);
    refused_.add(refused / made);
  }

  // By frees where there are any: a reset would hide from the next kernel what they leave.
  void empty(const requests& asked) {
    if constexpr (A::capabilities.individual_free) {
      launch(asked.grid(), free_kernel<A>{}, heap_.ref(), asked, static_cast<void* const*>(blocks_.data()));
    } else {
      make_empty(heap_, options_);
    }
  }

  run_options options_;
  heap<A> heap_;
  device_array<void*> blocks_;
  findings found_;
  judge<A> judge_;
  samples rate_;
  samples served_;
  samples refused_;
};

}  // namespace warpheap::bench
