// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/findings.hpp"
#include "../measure/free_order.hpp"
#include "../measure/judge.hpp"
#include "../measure/kernel_judge.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stamp.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Whether it matters who frees a block, and when: frees in several orders, in a kernel behind that of the mallocs, and
/// malloc and free by one thread in one kernel.
///
/// All orders run the same kernel, which computes whose block each thread frees: see `freed_block`. They are judged as
/// in `throughput`. In `same_kernel` no block is there to be judged from outside: each thread stamps its block and
/// checks the stamp before it frees the block, and `pair` is the time of all that. In a judged round the threads of a
/// block wait for each other in between, so that all their blocks are live at once. After the rounds the heap has to
/// serve all requests at once, and those blocks are judged.
struct orders {
  static constexpr case_mode in_same_kernel{"same_kernel", "each thread frees its own block in the kernel that asked"};

  static constexpr const char* name = "orders";
  static constexpr const char* summary = "frees in several orders, and malloc and free in one kernel";
  static constexpr case_mode modes[] = {in_same_kernel, frees_as_allocated, frees_reversed, frees_shuffled,
                                        frees_of_other_block};
  static constexpr const char* axes[] = {"threads", "size"};

  /// As `throughput::run`. A design without individual free is not served.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record);

 private:
  template <device_allocator A>
  class course;
  template <device_allocator A>
  class pair_course;
};

/// As `free_kernel`, and each thread frees the block that `which` says.
template <device_allocator A>
struct ordered_free_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, freed_block which, void* const* blocks) const {
    const std::uint64_t index = asked.mine();
    if (index != requests::none) heap.free(blocks[which(index)]);
  }
};

/// Every thread that has a request to make makes it, stamps its block, checks the stamp and frees the block. With
/// `wait`, all threads of a block have stamped theirs before one checks.
template <device_allocator A>
struct pair_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, bool wait, kernel_tally* seen) const {
    const std::uint64_t index = asked.mine();
    const std::uint64_t bytes = index == requests::none ? 0 : asked.bytes(index);
    void* const block = bytes == 0 ? nullptr : heap.malloc(bytes);
    const stamp own{block, bytes, asked.salt, index};
    if (block != nullptr) own.write();
    if (wait) sync_block();
    if (bytes == 0) return;
    if (block == nullptr) return kernel_tally::count(seen->null);
    if (!own.intact()) kernel_tally::count(seen->damaged);
    heap.free(block);
  }
};

// One run of an order. `throughput` tells the rest.
template <device_allocator A>
class orders::course {
 public:
  course(const run_options& options, free_order order)
      : options_(options), order_(order), heap_(options.heap_bytes), blocks_(options.threads), judge_(found_) {}

  std::string run(json_object& record) {
    run_rounds(options_, found_, {&free_times_}, [this](round_kind kind) { round(kind); });
    found_.add("free", microseconds, free_times_);
    found_.report(record);
    return judge_.reason();
  }

 private:
  void round(round_kind kind) {
    const requests asked = requests::of_round(options_, found_.rounds++);
    launch(asked.grid(), malloc_kernel<A>{}, heap_.ref(), asked, blocks_.data());
    judge_.look(heap_, asked, blocks_, kind.judged);
    if (!found_.fault.empty()) return;
    stopwatch timer;
    timer.start();
    launch(asked.grid(), ordered_free_kernel<A>{}, heap_.ref(), asked, freed_block{order_, asked.count, asked.salt},
           static_cast<void* const*>(blocks_.data()));
    const double free_time = timer.stop();
    if (kind.timed) free_times_.add(free_time);
  }

  const run_options& options_;
  free_order order_;
  heap<A> heap_;
  device_array<void*> blocks_;
  findings found_;
  judge<A> judge_;
  samples free_times_;
};

// One run of malloc and free in one kernel.
template <device_allocator A>
class orders::pair_course {
 public:
  explicit pair_course(const run_options& options)
      : options_(options), heap_(options.heap_bytes), judge_(heap_, found_) {}

  std::string run(json_object& record) {
    run_rounds(options_, found_, {&times_}, [this](round_kind kind) { round(kind); });
    if (found_.flawless()) judge_.look_at_heap(requests::of_round(options_, found_.rounds++));
    found_.add("pair", microseconds, times_);
    found_.report(record);
    return judge_.reason();
  }

 private:
  void round(round_kind kind) {
    const requests asked = requests::of_round(options_, found_.rounds++);
    const auto ran = judge_.watch(asked.count, [&](kernel_tally* tally) {
      launch(asked.grid(), pair_kernel<A>{}, heap_.ref(), asked, kind.judged, tally);
    });
    if (kind.judged) ++found_.rounds_judged;
    if (kind.timed) times_.add(ran.time);
  }

  const run_options& options_;
  heap<A> heap_;
  findings found_;
  kernel_judge<A> judge_;
  samples times_;
};

template <device_allocator A>
std::string orders::run(const run_options& options, json_object& record) {
  if constexpr (A::capabilities.individual_free) {
    if (options.mode == in_same_kernel.name) return pair_course<A>{options}.run(record);
    const free_order order = free_order_of(options.mode);
    if (order == free_order::other_block && options.threads < freed_block::least_for_other_block) {
      return not_served(record, "mode other_block needs two blocks of threads: use at least 512 threads");
    }
    return course<A>{options, order}.run(record);
  } else {
    return not_served(record, lacks_individual_free);
  }
}

}  // namespace warpheap::bench
