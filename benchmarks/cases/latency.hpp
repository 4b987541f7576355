// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/distribution.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How many cycles each single malloc and each free takes, by the clock of the multiprocessor that it runs on.
///
/// The kernels are those of `throughput`, and each thread reads its clock before and after its call. So its time
/// includes all waiting: for memory, for other threads, and for the lanes of its warp that it goes on with. The figures
/// are of all requests of all timed rounds together; the confidence interval is that of the rounds' medians, since
/// requests of one round are not independent of each other. Rounds go on until those medians agree. A round is judged
/// as in `throughput`.
struct latency {
  static constexpr const char* name = "latency";
  static constexpr const char* summary = "cycles of each malloc and each free, by the device's clock";
  static constexpr case_mode modes[] = {asks_by_thread, asks_by_warp, asks_for_mixed_sizes};
  static constexpr const char* axes[] = {"threads", "size"};

  /// As `throughput::run`.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

// Both kernels branch on what the call needs and on what it returns before they read the clock. A value that is on its
// way would else be waited for inside the time though it is no part of the call, or outside of it though it is.

/// As `malloc_kernel`; keeps the cycles of each request that got a block.
template <device_allocator A>
struct clocked_malloc_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, void** blocks, float* cycles) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none) return;
    const std::uint64_t bytes = asked.bytes(index);
    if (bytes == 0) return;
    const std::uint64_t begin = cycle_count();
    void* const block = heap.malloc(bytes);
    if (block != nullptr) cycles[index] = static_cast<float>(cycle_count() - begin);
    blocks[index] = block;
  }
};

/// As `free_kernel`; keeps the cycles of each block.
template <device_allocator A>
struct clocked_free_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, void* const* blocks, float* cycles) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none) return;
    void* const block = blocks[index];
    if (block == nullptr) return;
    const std::uint64_t begin = cycle_count();
    heap.free(block);
    cycles[index] = static_cast<float>(cycle_count() - begin);
  }
};

// One run of the case on a warm heap.
template <device_allocator A>
class latency::course : public course_defaults {
 public:
  using fixture = one_heap<A>;
  explicit course(fixture& on) : on_(on), cycles_(on.options.threads) {}

  std::vector<const samples*> watched() const { return {&mallocs_.round_medians(), &frees_.round_medians()}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    launch(asked.grid(), clocked_malloc_kernel<A>{}, on_.heap.ref(), asked, on_.blocks.data(), cycles_.data());
    on_.look(on_.heap, asked, kind.judged);
    if (!on_.found.flawless()) return;
    if (kind.timed) mallocs_.add_round(cycles_.to_host());

    if constexpr (A::capabilities.individual_free) {
      launch(asked.grid(), clocked_free_kernel<A>{}, on_.heap.ref(), asked,
             static_cast<void* const*>(on_.blocks.data()), cycles_.data());
      synchronise();
      if (kind.timed) frees_.add_round(cycles_.to_host());
    } else {
      on_.empty(asked);
    }
  }

  void add_measures(findings& found) const {
    found.add("malloc", cycles, mallocs_.summary());
    found.add("free", cycles, frees_.summary());
  }

 private:
  fixture& on_;
  device_array<float> cycles_;
  distribution mallocs_;
  distribution frees_;
};

}  // namespace warpheap::bench
