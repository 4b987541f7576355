// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/extent.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
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
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case on one heap.
template <device_allocator A>
class fragmentation::course : public course_defaults {
 public:
  using fixture = one_heap<A>;
  explicit course(fixture& on) : on_(on) {}

  static run_options adapted(run_options options) {
    options.warmup = 0;
    return options;
  }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    on_.malloc_all(on_.heap, asked);
    on_.look(on_.heap, asked, kind.judged);
    if (!on_.found.flawless()) return;
    if (kind.timed) measure(asked);
    on_.empty(asked);
  }

  void add_measures(findings& found) const {
    found.add("range", space_ratio, ranges_);
    if (!total_ranges_.empty()) found.add("total_range", space_ratio, total_ranges_.back());
    found.add_series("range", space_ratio, ranges_.values());
    found.add_series("total_range", space_ratio, total_ranges_);
  }

 private:
  void measure(const requests& asked) {
    const std::vector<void*> blocks = on_.blocks.to_host();
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < asked.count; ++i) bytes += asked.bytes(i);
    most_bytes_ = std::max(most_bytes_, bytes);
    extent here;
    here.cover(asked, blocks);
    everywhere_.cover(asked, blocks);
    // Every round is checked for this much, and those that are judged for each block.
    if (here.bytes() < bytes)
      on_.found.fault =
          "blocks overlap: " + std::to_string(bytes) + " bytes of them lie in " + std::to_string(here.bytes());
    ranges_.add(static_cast<double>(here.bytes()) / static_cast<double>(bytes));
    total_ranges_.push_back(static_cast<double>(everywhere_.bytes()) / static_cast<double>(most_bytes_));
  }

  fixture& on_;
  extent everywhere_;
  std::uint64_t most_bytes_ = 0;
  samples ranges_;
  std::vector<double> total_ranges_;
};

}  // namespace warpheap::bench
