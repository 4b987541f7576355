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
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/not_served.hpp"
#include "../measure/oracle.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// As many requests at once as the heap would hold if nothing of it were lost: how many a second, and which share of
/// them is refused (Gelado & Garland, PPoPP 2019, Figure 7).
///
/// One kernel in which each thread asks for `size` bytes, for each of the block sizes 1, 2, 4, … 1,024, on an empty
/// heap. The kernel is compiled for the largest of these blocks, which takes registers from some designs. `rate` is the
/// requests of all these kernels over their time, refused ones included, as the paper has it;
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
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case on one heap.
template <device_allocator A>
class exhaustion::course : public course_defaults {
 public:
  using fixture = one_heap<A>;
  static constexpr const char* unfit_design = unfit_for_full_heaps(A::capabilities);
  explicit course(fixture& on) : on_(on) {}

  static run_options adapted(run_options options) {
    options.threads = options.heap_bytes / options.size;
    return options;
  }

  std::string unfit_heap() const {
    const run_options& options = on_.options;
    return on_.heap.size() < options.size ? no_room_for_a_block(options.heap_bytes, options.size) : "";
  }

  std::vector<const samples*> watched() const { return {&rate_}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    findings& found = on_.found;
    double time = 0;
    double made = 0;
    double refused = 0;
    for (std::uint32_t threads = 1; threads <= largest_block && found.flawless(); threads *= 2) {
      const grid_shape grid = grid_shape::covering(asked.count, threads);
      time += on_.time_of(
          [&] { launch(grid, malloc_in_large_blocks_kernel<A>{}, on_.heap.ref(), asked, on_.blocks.data()); });
      const std::vector<void*> addresses = on_.blocks.to_host();
      const std::uint64_t null = count_null(addresses);
      made += static_cast<double>(asked.count);
      refused += static_cast<double>(null);
      found.requests += asked.count;
      if (null == asked.count) {
        found.fault = "an empty heap of " + std::to_string(on_.heap.size()) + " bytes served none of " +
                      std::to_string(asked.count) + " requests";
      } else if (kind.judged && (threads == 1 || threads == largest_block)) {
        on_.judge.check(on_.heap, asked, addresses, on_.blocks.data());
      }
      found.refused += null;
      // By frees where there are any: a reset would hide from the next kernel what they leave.
      on_.empty(asked);
    }
    if (!kind.timed || !found.flawless()) return;
    rate_.add(made / time * 1e6);
    served_.add((made - refused) / time * 1e6);
    refused_.add(refused / made);
  }

  void add_measures(findings& found) const {
    found.add("rate", operations_per_second, rate_);
    found.add("served", operations_per_second, served_);
    found.add("refused", space_ratio, refused_);
  }

 private:
  static constexpr std::uint32_t largest_block = malloc_in_large_blocks_kernel<A>::largest_block;

  fixture& on_;
  samples rate_;
  samples served_;
  samples refused_;
};

}  // namespace warpheap::bench
