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
#include "../measure/course.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/memory.hpp"
#include "../measure/not_served.hpp"
#include "../measure/oracle.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/wide_payload.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// What one block costs that is a good part of the heap, and how large a block can be.
///
/// `single`: one thread asks an empty heap for one block of `size` bytes, and frees it in the next kernel. `malloc` and
/// `free` are the times of these kernels. A refusal is a failure. In a judged round up to eight such blocks are asked
/// for at once, and one more than the heap has room for if these are fewer; those that come may not overlap, and each
/// byte of them is written and read.
///
/// `largest`: the largest block that the empty heap serves, found by halving, to a 1,024th of the heap. `share` is its
/// bytes over those of the heap. `malloc` and `free` are the times of that block; each byte of it is written and read.
struct huge {
  static constexpr case_mode one_block{"single", "one thread takes one block of the size out of an empty heap"};
  static constexpr case_mode largest_block{"largest", "the largest block that an empty heap serves"};

  static constexpr const char* name = "huge";
  static constexpr const char* summary = "one block that is a good part of the heap, and the largest there can be";
  static constexpr case_mode modes[] = {one_block, largest_block};
  static constexpr const char* axes[] = {"size"};

  static constexpr std::uint64_t judged_blocks = 8;  ///< at once in a judged round, at most
  static constexpr std::uint64_t steps = 1024;       ///< sizes that `largest` tells apart

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    if (options.mode == largest_block.name) return run_course<largest_course<A>>(options, record);
    return run_course<single_course<A>>(options, record);
  }

  /// Why a design of these capabilities cannot run the case; null if it can.
  static constexpr const char* unfit(const allocator_capabilities& can) {
    return can.needs_full_warp ? needs_whole_warps : unfit_for_full_heaps(can);
  }

 private:
  template <device_allocator A>
  class blocks;
  template <device_allocator A>
  class single_course;
  template <device_allocator A>
  class largest_course;
};

// A few large blocks of one heap, and their judge.
template <device_allocator A>
class huge::blocks : public fixture_base, public heap_owner<A> {
  using heap_owner<A>::heap;

 public:
  explicit blocks(const run_options& asked)
      : fixture_base(asked), heap_owner<A>{warpheap::heap<A>{asked.heap_bytes}}, taken_(judged_blocks), damaged_(1) {}

  const warpheap::heap<A>& from() const { return heap; }

  // Starts a kernel in which `count` threads ask for a block of `bytes` each.
  void take(std::uint64_t count, std::uint64_t bytes) {
    asked_ = {.count = count, .size = bytes, .salt = 0, .mode = request_mode::thread};
    launch(asked_.grid(), malloc_kernel<A>{}, heap.ref(), asked_, taken_.data());
  }

  // How many of those got a block.
  std::uint64_t granted() { return asked_.count - count_null(addresses()); }

  // Starts a kernel that gives the blocks back, where the design can.
  void give_back() {
    if constexpr (A::capabilities.individual_free) {
      launch(asked_.grid(), free_kernel<A>{}, heap.ref(), asked_, static_cast<void* const*>(taken_.data()));
    }
  }
  // Makes all of the heap free again after `give_back`, where that frees nothing.
  void make_sure_of_empty_heap() {
    if constexpr (!A::capabilities.individual_free) make_empty(heap, options);
  }

  // Checks addresses, and writes and reads all bytes of all blocks.
  void judge() {
    const std::vector<void*> all = addresses();
    ++found.rounds_judged;
    const address_findings seen = judge_addresses(asked_, all, A::capabilities.alignment);
    found.memory = describe_memory(seen.requested_bytes, seen.span_bytes, heap.statistics());
    note(seen.fault);
    if (seen.span_bytes > most_span(heap)) {
      note("blocks lie " + std::to_string(seen.span_bytes) + " bytes apart from end to end, which is more than the " +
           std::to_string(most_span(heap)) + " that they come out of");
    }
    if (!found.sound()) return;
    each_payload(all, [](const wide_payload& block) { launch(block.grid(), fill_widely{}, block); });
    damaged_.clear();
    each_payload(all,
                 [this](const wide_payload& block) { launch(block.grid(), check_widely{}, block, damaged_.data()); });
    synchronise();
    if (const std::uint64_t damaged = damaged_.at(0); damaged != 0) {
      note(std::to_string(damaged) + " words of " + std::to_string(seen.granted) +
           " blocks lost what was written to them though no two overlap");
    }
  }

  void note(const std::string& fault) {
    if (found.fault.empty()) found.fault = fault;
  }

 private:
  std::vector<void*> addresses() const {
    std::vector<void*> all = taken_.to_host();
    all.resize(asked_.count);
    return all;
  }

  template <class Visit>
  void each_payload(const std::vector<void*>& all, Visit visit) const {
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      if (all[i] != nullptr) visit(wide_payload{static_cast<std::uint32_t*>(all[i]), asked_.size, i});
    }
  }

  requests asked_{};
  device_array<void*> taken_;
  device_array<std::uint64_t> damaged_;
};

// The times of one block.
template <device_allocator A>
class huge::single_course : public course_defaults {
 public:
  using fixture = blocks<A>;
  static constexpr const char* unfit_design = unfit(A::capabilities);

  explicit single_course(fixture& on) : on_(on) {}

  std::string unfit_heap() const {
    return on_.from().size() < on_.options.size ? no_room_for_a_block(on_.options.heap_bytes, on_.options.size) : "";
  }

  std::vector<const samples*> watched() const { return {&malloc_times_, &free_times_}; }

  void round(round_kind kind) {
    findings& found = on_.found;
    ++found.rounds;
    const double malloc_time = on_.time_of([&] { on_.take(1, on_.options.size); });
    ++found.requests;
    if (on_.granted() == 0) {
      ++found.failures;
      found.refusal = "an empty heap of " + std::to_string(on_.from().size()) + " bytes refused a block of " +
                      std::to_string(on_.options.size);
      return;
    }
    const double free_time = on_.time_of([&] { on_.give_back(); });
    if (kind.timed) malloc_times_.add(malloc_time);
    if constexpr (A::capabilities.individual_free) {
      if (kind.timed) free_times_.add(free_time);
    }
    on_.make_sure_of_empty_heap();
    if (kind.judged) judge();
  }

  void add_measures(findings& found) const {
    found.add("malloc", microseconds, malloc_times_);
    found.add("free", microseconds, free_times_);
  }

 private:
  void judge() {
    // One more than there is room for, which a sound heap refuses.
    on_.take(std::min(on_.from().size() / on_.options.size + 1, judged_blocks), on_.options.size);
    on_.judge();
    on_.give_back();
    on_.make_sure_of_empty_heap();
  }

  fixture& on_;
  samples malloc_times_;
  samples free_times_;
};

// The largest block.
template <device_allocator A>
class huge::largest_course : public course_defaults {
 public:
  using fixture = blocks<A>;
  static constexpr const char* unfit_design = unfit(A::capabilities);

  explicit largest_course(fixture& on) : on_(on), budget_(on.options) {}

  void measure() {
    const std::uint64_t unit = std::max(on_.from().size() / steps, std::uint64_t{1});
    // The heap serves `served` units, as far as it was asked, and not `refused`.
    std::uint64_t served = 0;
    std::uint64_t refused = on_.from().size() / unit + 1;
    while (refused - served > 1 && on_.found.flawless()) {
      const std::uint64_t between = served + (refused - served) / 2;
      (serves(between * unit) ? served : refused) = between;
    }
    if (served == 0) {
      on_.found.failures = on_.found.refused;
      on_.found.refused = 0;
      on_.found.refusal =
          "an empty heap of " + std::to_string(on_.from().size()) + " bytes refused a block of " + std::to_string(unit);
      return;
    }
    largest_ = served * unit;
    time_largest();
  }

  void add_measures(findings& found) const {
    found.add("share", share_of_heap, static_cast<double>(largest_) / static_cast<double>(on_.from().size()));
    found.add("malloc", microseconds, malloc_times_);
    found.add("free", microseconds, free_times_);
  }

 private:
  bool serves(std::uint64_t bytes) {
    ++on_.found.rounds;
    ++on_.found.requests;
    on_.take(1, bytes);
    const bool granted = on_.granted() != 0;
    if (!granted) ++on_.found.refused;
    on_.give_back();
    on_.make_sure_of_empty_heap();
    return granted;
  }

  void time_largest() {
    for (std::uint64_t i = 0; i < on_.options.iterations && on_.found.flawless(); ++i) {
      if (i != 0 && budget_.spent()) return;
      ++on_.found.rounds;
      ++on_.found.requests;
      malloc_times_.add(on_.time_of([&] { on_.take(1, largest_); }));
      if (on_.granted() == 0) {
        ++on_.found.failures;
        on_.found.refusal = "the heap refused a block of " + std::to_string(largest_) + " bytes that it served before";
        return;
      }
      if (i == 0) on_.judge();
      const double free_time = on_.time_of([&] { on_.give_back(); });
      if constexpr (A::capabilities.individual_free) free_times_.add(free_time);
      on_.make_sure_of_empty_heap();
    }
  }

  fixture& on_;
  time_budget budget_;
  std::uint64_t largest_ = 0;
  samples malloc_times_;
  samples free_times_;
};

}  // namespace warpheap::bench
