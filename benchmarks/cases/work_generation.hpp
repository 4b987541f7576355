// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/compared.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/items.hpp"
#include "../measure/not_served.hpp"
#include "../measure/packed.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Each thread takes a block and writes its item to it.
template <device_allocator A>
struct generate_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, void** blocks) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none) return;
    const std::uint64_t bytes = asked.bytes(index);
    void* const block = heap.malloc(bytes);
    blocks[index] = block;
    if (block != nullptr) item::write(block, index, bytes);
  }
};

/// How long it takes threads to make work of a size that nobody knows beforehand, against what programs without a heap
/// do (Winter et al., PPoPP 2021, section 4.4.1).
///
/// With the heap: a kernel in which each thread takes a block and writes its item, and one that gives all blocks back,
/// or a reset where the design has no individual free. The baseline: a kernel that tells the sizes, an exclusive prefix
/// sum, one allocation by the host, a kernel that writes the items, and giving the memory back; `baseline_kept` keeps
/// the memory from round to round instead. All three make the same items, in the same process and the same round, and
/// every word of every item is compared in judged rounds.
struct work_generation {
  static constexpr const char* name = "work_generation";
  static constexpr const char* summary = "items of unknown size: a malloc in each thread, against a prefix sum";
  static constexpr case_mode modes[] = {asks_for_mixed_sizes};
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

// One run of the case: a warm heap, and both baselines.
template <device_allocator A>
class work_generation::course : public course_defaults {
 public:
  using fixture = one_heap<A>;
  static constexpr const char* unfit_design =
      A::capabilities.individual_free || A::capabilities.reset ? nullptr : lacks_individual_free;

  explicit course(fixture& on)
      : on_(on),
        places_(on.options.threads),
        anew_(on.options.threads, on.options.size, packed_items::memory::taken_anew),
        kept_(on.options.threads, on.options.size, packed_items::memory::kept) {}

  std::vector<const samples*> watched() const { return {&generate_, &baseline_.times}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    const double generate = with_heap(asked, kind.judged);
    if (!on_.found.flawless()) return;
    const double baseline = with_prefix_sum(anew_, asked, kind.judged);
    const double baseline_kept = with_prefix_sum(kept_, asked, kind.judged);
    if (!kind.timed) return;
    generate_.add(generate);
    baseline_.add(generate, baseline);
    baseline_kept_.add(generate, baseline_kept);
  }

  void add_measures(findings& found) const {
    found.add("generate", microseconds, generate_);
    found.add("baseline", microseconds, baseline_.times);
    found.add("baseline_kept", microseconds, baseline_kept_.times);
    found.add("ratio", time_ratio, baseline_.ratios);
    found.add("ratio_kept", time_ratio, baseline_kept_.ratios);
  }

 private:
  // Judged rounds stop the clock between the two kernels; in others nothing stands between them.
  double with_heap(const requests& asked, bool judged) {
    stopwatch& timer = on_.timer;
    double time = 0;
    timer.start();
    launch(asked.grid(), generate_kernel<A>{}, on_.heap.ref(), asked, on_.blocks.data());
    if (judged) {
      time += timer.stop();
      look(asked);
      if (!on_.found.sound()) return time;
      timer.start();
    }
    if constexpr (A::capabilities.individual_free) {
      on_.free_all(on_.heap, asked);
    } else {
      on_.heap.reset();
    }
    time += timer.stop();
    if (!judged) on_.judge.count_null(on_.heap, asked, on_.blocks);
    return time;
  }

  // The items first, since the judge writes to the blocks.
  void look(const requests& asked) {
    const std::uint64_t wrong = check_.wrong_items(asked, on_.blocks.data());
    on_.look(on_.heap, asked, true);
    if (wrong != 0 && on_.found.sound()) {
      on_.found.fault = std::to_string(wrong) + " of " + std::to_string(asked.count) +
                        " items are not what their threads wrote though no two blocks overlap";
    }
  }

  double with_prefix_sum(packed_items& items, const requests& asked, bool judged) {
    stopwatch& timer = on_.timer;
    double time = 0;
    timer.start();
    items.place(asked);
    items.write(asked);
    if (judged) {
      time += timer.stop();
      items.point(asked, places_.data());
      // No allocator's fault: the measure itself is not to be believed.
      if (check_.wrong_items(asked, places_.data()) != 0) throw std::logic_error("the baseline lost items");
      timer.start();
    }
    items.release();
    return time + timer.stop();
  }

  fixture& on_;
  device_array<void*> places_;
  item_check check_;
  packed_items anew_;
  packed_items kept_;
  samples generate_;
  baseline_samples baseline_;
  baseline_samples baseline_kept_;
};

}  // namespace warpheap::bench
