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
#include "../measure/free_order.hpp"
#include "../measure/kernel_judge.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stamp.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Whether it matters which thread frees a block, and when: frees in several orders, in a kernel
/// after that of the mallocs, and malloc and free by one thread in one kernel.
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

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is. A design without individual free
  /// is not served.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    if (options.mode == in_same_kernel.name) return run_course<pair_course<A>>(options, record);
    return run_course<course<A>>(options, record);
  }

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

// One run of an order of frees in a kernel of its own.
template <device_allocator A>
class orders::course : public course_defaults {
 public:
  using fixture = one_heap<A>;
  static constexpr const char* unfit_design = unfit_for_frees(A::capabilities);

  explicit course(fixture& on) : on_(on), order_(free_order_of(on.options.mode)) {}

  static std::string unfit_options(const run_options& options) {
    if (free_order_of(options.mode) != free_order::other_block) return "";
    if (options.threads >= freed_block::least_for_other_block) return "";
    return "mode other_block needs two blocks of threads: use at least 512 threads";
  }

  std::vector<const samples*> watched() const { return {&free_times_}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    on_.malloc_all(on_.heap, asked);
    on_.look(on_.heap, asked, kind.judged);
    if (!on_.found.sound()) return;
    const double free_time = on_.time_of([&] {
      launch(asked.grid(), ordered_free_kernel<A>{}, on_.heap.ref(), asked,
             freed_block{order_, asked.count, asked.salt}, static_cast<void* const*>(on_.blocks.data()));
    });
    if (kind.timed) free_times_.add(free_time);
  }

  void add_measures(findings& found) const { found.add("free", microseconds, free_times_); }

 private:
  fixture& on_;
  free_order order_;
  samples free_times_;
};

// One run of malloc and free in one kernel.
template <device_allocator A>
class orders::pair_course : public course_defaults {
 public:
  using fixture = self_judging<A>;
  static constexpr const char* unfit_design = unfit_for_frees(A::capabilities);

  explicit pair_course(fixture& on) : on_(on) {}

  std::vector<const samples*> watched() const { return {&times_}; }

  void round(round_kind kind) {
    const requests asked = on_.next_requests();
    const auto ran = on_.judge.watch(asked.count, [&](kernel_tally* tally) {
      launch(asked.grid(), pair_kernel<A>{}, on_.heap.ref(), asked, kind.judged, tally);
    });
    if (kind.judged) ++on_.found.rounds_judged;
    if (kind.timed) times_.add(ran.time);
  }

  void add_measures(findings& found) const { found.add("pair", microseconds, times_); }

 private:
  fixture& on_;
  samples times_;
};

}  // namespace warpheap::bench
