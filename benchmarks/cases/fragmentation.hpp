// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/extent.hpp"
#include "../measure/findings.hpp"
#include "../measure/judge.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Over how many addresses a design strews the blocks of a round, and over how many when it gets them back and hands
/// them out again: Figure 11a of Winter et al., PPoPP 2021, where the range is that between pointers; here it ends with
/// the last block's last byte, so that 1 is the least there is.
///
/// The heap is made once, without warm-ups, since its history is what is asked for. Each of `iterations` rounds is a
/// malloc kernel and a free kernel, or a reset where the design has no individual free. `range` is the span of a
/// round's blocks over the bytes that it asked for. `total_range` is the span of all blocks so far over the bytes of
/// the largest round so far, and as a measure that after the last round.
struct fragmentation {
  static constexpr const char* name = "fragmentation";
  static constexpr const char* summary = "the range of addresses that a round's blocks, and all rounds' blocks, lie in";
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
class fragmentation::course {
 public:
  explicit course(const run_options& options)
      : options_(without_warmup(options)), heap_(options.heap_bytes), blocks_(options.threads), judge_(found_) {}

  std::string run(json_object& record) {
    run_rounds(options_, found_, {}, [this](round_kind kind) { round(kind); });
    found_.add("range", space_ratio, ranges_);
    if (!total_ranges_.empty()) found_.add("total_range", space_ratio, total_ranges_.back());
    found_.add_series("range", space_ratio, ranges_.values());
    found_.add_series("total_range", space_ratio, total_ranges_);
    found_.report(record);
    return judge_.reason();
  }

 private:
  static run_options without_warmup(run_options options) {
    options.warmup = 0;
    return options;
  }

  void round(round_kind kind) {
    const requests asked = requests::of_round(options_, found_.rounds++);
    launch(asked.grid(), malloc_kernel<A>{}, heap_.ref(), asked, blocks_.data());
    judge_.look(heap_, asked, blocks_, kind.judged);
    if (!found_.flawless()) return;
    if (kind.timed) measure(asked);
    if constexpr (A::capabilities.individual_free) {
      launch(asked.grid(), free_kernel<A>{}, heap_.ref(), asked, static_cast<void* const*>(blocks_.data()));
    } else {
      make_empty(heap_, options_);
    }
  }

  void measure(const requests& asked) {
    const std::vector<void*> blocks = blocks_.to_host();
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < asked.count; ++i) bytes += asked.bytes(i);
    most_bytes_ = std::max(most_bytes_, bytes);
    extent here;
    here.cover(asked, blocks);
    everywhere_.cover(asked, blocks);
    // Every round is checked for this much, and those that are judged for each block.
    if (here.bytes() < bytes)
      found_.fault =
          "blocks overlap: " + std::to_string(bytes) + " bytes of them lie in " + std::to_string(here.bytes());
    ranges_.add(static_cast<double>(here.bytes()) / static_cast<double>(bytes));
    total_ranges_.push_back(static_cast<double>(everywhere_.bytes()) / static_cast<double>(most_bytes_));
  }

  const run_options options_;
  heap<A> heap_;
  device_array<void*> blocks_;
  findings found_;
  judge<A> judge_;
  extent everywhere_;
  std::uint64_t most_bytes_ = 0;
  samples ranges_;
  std::vector<double> total_ranges_;
};

template <device_allocator A>
std::string fragmentation::run(const run_options& options, json_object& record) {
  return course<A>{options}.run(record);
}

}  // namespace warpheap::bench
