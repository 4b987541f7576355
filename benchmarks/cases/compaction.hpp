// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/exhaustion.hpp"
#include "../measure/findings.hpp"
#include "../measure/free_order.hpp"
#include "../measure/memory.hpp"
#include "../measure/not_served.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// What a heap gets back from small blocks that were freed: the heap is filled with blocks of `size` bytes, which are
/// freed in no order, all or all but one in a hundred; then it is trimmed, and filled with blocks of 8 KiB.
///
/// `given_back` is the share of the heap's memory that `trim` gave back to the machine, whose pieces are much larger
/// than a block. `regained` is what the blocks of 8 KiB are that the heap holds once it has its memory again, over
/// those that a new heap holds; with survivors no design that leaves blocks where they are can regain all. `trim` is
/// the time of `trim` by the wall clock. `first_fill` is the time of a first fill with 8 KiB in a heap that was not
/// trimmed, `fill` in the one that was, and `fresh` in a new heap. All of it is done `iterations` times, fewer where
/// the time does not allow it; `warmup` changes nothing.
///
/// Each block holds what is its alone in all of its words, from when it comes until it goes, and is looked at in
/// between: so a block that overlaps a survivor is found. In the end nothing may be live.
struct compaction {
  static constexpr case_mode all_freed{"all_freed", "all small blocks are freed"};
  static constexpr case_mode few_kept{"few_kept", "one small block in a hundred, at random, stays"};

  static constexpr const char* name = "compaction";
  static constexpr const char* summary = "what trim and the next size get back from small blocks that were freed";
  static constexpr case_mode modes[] = {all_freed, few_kept};
  static constexpr const char* axes[] = {"threads", "size"};
  static constexpr std::uint64_t next_size = 8192;  ///< bytes of the blocks that come after the small ones

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;

  /// Why a design of these capabilities cannot run the case; null if it can.
  static constexpr const char* unfit(const allocator_capabilities& can) {
    if (can.trim_bytes == 0) return "the design gives no memory back to the machine";
    return can.reuses_live_memory ? is_never_full : unfit_for_frees(can);
  }
};

namespace compaction_kernels {

/// Blocks of one size, of which some may be null.
struct block_row {
  void** blocks;
  std::uint64_t count;
  std::uint64_t bytes;
};

/// Thread i takes blocks i, i + threads, … of a row until one is refused.
template <device_allocator A>
struct fill {
  WARPHEAP_FN void operator()(heap_ref<A> heap, block_row row) const {
    for (std::uint64_t i = grid_thread_index(); i < row.count; i += grid_threads()) {
      row.blocks[i] = heap.malloc(row.bytes);
      if (row.blocks[i] == nullptr) return;
    }
  }
};

/// Frees the blocks of a row, in the order `order`, but for about one in `kept_of`; 0 keeps none.
template <device_allocator A>
struct give {
  WARPHEAP_FN void operator()(heap_ref<A> heap, block_row row, freed_block order, std::uint64_t kept_of,
                              std::uint64_t seed) const {
    for (std::uint64_t i = grid_thread_index(); i < row.count; i += grid_threads()) {
      const std::uint64_t at = order(i);
      if (row.blocks[at] == nullptr || (kept_of != 0 && mix(seed ^ mix(at)) % kept_of == 0)) continue;
      heap.free(row.blocks[at]);
      row.blocks[at] = nullptr;
    }
  }
};

/// Writes what is a block's alone to all of its words, or counts the blocks and those that lack it somewhere.
struct stamp {
  bool looks;

  WARPHEAP_FN void operator()(block_row row, std::uint64_t* found) const {
    std::uint64_t blocks = 0;
    std::uint64_t wrong = 0;
    for (std::uint64_t i = grid_thread_index(); i < row.count; i += grid_threads()) {
      auto* const words = static_cast<std::uint64_t*>(row.blocks[i]);
      if (words == nullptr) continue;
      const std::uint64_t expected = reinterpret_cast<std::uint64_t>(words) ^ mix(i);
      bool whole = true;
      for (std::uint64_t word = 0; word < row.bytes / sizeof(*words); ++word) {
        if (!looks) words[word] = expected;
        whole = whole && words[word] == expected;
      }
      ++blocks;
      if (!whole) ++wrong;
    }
    // The host reads them after the launch.
    if (blocks != 0) atomic_view{found[0]}.fetch_add(blocks, memory_order::relaxed, thread_scope::device);
    if (wrong != 0) atomic_view{found[1]}.fetch_add(wrong, memory_order::relaxed, thread_scope::device);
  }
};

}  // namespace compaction_kernels

// One run of the case.
template <device_allocator A>
class compaction::course : public course_defaults {
 public:
  using fixture = fixture_base;
  static constexpr const char* unfit_design = unfit(A::capabilities);

  explicit course(fixture& on)
      : on_(on),
        budget_(on.options),
        kept_of_(on.options.mode == few_kept.name ? 100 : 0),
        heap_(std::in_place, on.options.heap_bytes),
        small_blocks_(on.options.heap_bytes / on.options.size),
        large_blocks_(on.options.heap_bytes / next_size),
        small_{small_blocks_.data(), small_blocks_.size(), on.options.size},
        large_{large_blocks_.data(), large_blocks_.size(), next_size} {}

  static std::string unfit_options(const run_options& options) {
    return options.size % sizeof(std::uint64_t) != 0 || options.size > A::capabilities.largest_bytes
               ? "the case needs blocks of a multiple of 8 bytes that the design serves"
               : "";
  }
  std::string unfit_heap() const {
    const std::uint64_t largest = small_.bytes < next_size ? next_size : small_.bytes;
    return heap_->size() < largest ? no_room_for_a_block(on_.options.heap_bytes, largest) : "";
  }

  void measure() {
    for (std::uint64_t done = 0; done < on_.options.iterations && on_.found.flawless(); ++done) {
      if (done != 0 && budget_.spent()) return;
      run_once();
      ++on_.found.rounds;
      ++on_.found.rounds_judged;
    }
  }

  void add_measures(findings& found) const {
    if (!found.flawless()) return;
    found.add("regained", share_of_heap, regained_);
    found.add("given_back", share_of_heap, given_back_);
    found.add("trim", microseconds, trims_);
    found.add("first_fill", microseconds, first_fills_);
    found.add("fill", microseconds, fills_);
    found.add("fresh", microseconds, fresh_fills_);
  }

 private:
  using row = compaction_kernels::block_row;

  struct filled {
    double time;
    std::uint64_t blocks;
  };

  void run_once() {
    renew();
    const filled fresh = fill(large_);
    if (fresh.blocks == 0) return blame("an empty heap served no block of " + std::to_string(next_size) + " bytes");
    empty(large_);
    if (!on_.found.flawless()) return;

    use_and_free();
    const filled first = fill(large_);
    empty(large_);
    empty(small_);
    if (!on_.found.flawless()) return;

    use_and_free();
    const std::uint64_t had = heap_->statistics().committed_bytes;
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t given_back = heap_->trim();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    heap_->restore();
    const filled after = fill(large_);
    look(small_);
    empty(large_);
    empty(small_);
    if (!on_.found.flawless()) return;
    regained_.add(static_cast<double>(after.blocks) / static_cast<double>(fresh.blocks));
    given_back_.add(static_cast<double>(given_back) / static_cast<double>(had));
    trims_.add(took.count());
    fresh_fills_.add(fresh.time);
    if (first.blocks != 0) first_fills_.add(first.time);
    if (after.blocks != 0) fills_.add(after.time);
  }

  void blame(const std::string& fault) {
    if (on_.found.fault.empty()) on_.found.fault = fault;
  }
  grid_shape grid(const row& of) const { return grid_shape::covering(std::min(of.count, on_.options.threads)); }

  void renew() {
    heap_.reset();  // before there is another
    heap_.emplace(on_.options.heap_bytes);
    live_ = heap_->statistics().live_bytes;
  }

  // A new heap, full of small blocks, of which the mode says how many stay.
  void use_and_free() {
    renew();
    if (fill(small_).blocks == 0) blame("an empty heap served no block of " + std::to_string(small_.bytes) + " bytes");
    give(small_, kept_of_);
  }

  filled fill(const row& of) {
    const double time = on_.time_of([&] { launch(grid(of), compaction_kernels::fill<A>{}, heap_->ref(), of); });
    sums_.clear();
    launch(grid(of), compaction_kernels::stamp{false}, of, sums_.data());
    const std::uint64_t blocks = look(of);
    on_.found.requests += blocks;
    return {time, blocks};
  }

  // Blocks of the row, each of which must hold what was written to it.
  std::uint64_t look(const row& of) {
    sums_.clear();
    launch(grid(of), compaction_kernels::stamp{true}, of, sums_.data());
    synchronise();
    const std::vector<std::uint64_t> found = sums_.to_host();
    if (found[1] != 0) {
      blame(std::to_string(found[1]) + " of " + std::to_string(found[0]) + " blocks of " + std::to_string(of.bytes) +
            " bytes lost what was written to them: another one overlaps them");
    }
    return found[0];
  }

  void give(const row& of, std::uint64_t kept_of) {
    if (!on_.found.flawless()) return;
    const freed_block order{free_order::shuffled, of.count, mix(on_.options.seed)};
    launch(grid(of), compaction_kernels::give<A>{}, heap_->ref(), of, order, kept_of, on_.options.seed);
    synchronise();
  }

  // Looks at all blocks of the row and frees them. After the last row nothing may be live.
  void empty(const row& of) {
    look(of);
    give(of, 0);
    const bool last = &of == &small_ || kept_of_ == 0;
    if (on_.found.flawless() && last && live_.has_value()) blame(describe_leak(live_, heap_->statistics().live_bytes));
  }

  fixture& on_;
  time_budget budget_;
  std::uint64_t kept_of_;
  std::optional<heap<A>> heap_;  // before what else takes memory
  device_array<void*> small_blocks_;
  device_array<void*> large_blocks_;
  row small_;
  row large_;
  device_array<std::uint64_t> sums_{2};
  std::optional<std::uint64_t> live_;
  samples regained_;
  samples given_back_;
  samples trims_;
  samples first_fills_;
  samples fills_;
  samples fresh_fills_;
};

}  // namespace warpheap::bench
