// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <warpheap/heap.hpp>

#include "../options.hpp"
#include "course.hpp"
#include "exhaustion.hpp"
#include "holdings.hpp"
#include "memory.hpp"
#include "not_served.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// A fixture for cases that ask one heap for more and more, until it has no more: the heap, all
/// blocks that are held, and the time that the case may take. Such a case has `measure()` instead
/// of rounds.
template <device_allocator A>
struct filling : fixture_base {
  /// Makes a heap of `options.heap_bytes` bytes. The time starts before that.
  explicit filling(const run_options& options)
      : fixture_base(options),
        asked(request_stream::of(options)),
        budget(options),
        heap(options.heap_bytes),
        held(asked, A::capabilities.alignment, most_span(heap), likely_blocks(asked, heap.size())) {}

  /// Why the heap cannot serve the case: its memory is smaller than one block. Empty if it can.
  std::string unfit_heap() const {
    return heap.size() < options.size ? no_room_for_a_block(options.heap_bytes, options.size) : "";
  }

  /// Calls `round()`, which returns true if the heap is full, at least once. Ends when it does,
  /// after a fault or a failure, and when the time is over: the findings' refusal then says so,
  /// with the words of `progress()`. Returns true if the heap is full.
  template <class Round, class Progress>
  bool until_full(Round&& round, Progress&& progress) {
    bool full = false;
    while (found.flawless() && !full) {
      if (found.rounds != 0 && budget.spent()) {
        found.refusal = "not exhausted when the time was over: " + progress();
        return false;
      }
      full = round();
    }
    return full;
  }

  /// Makes the refusals so far failures, since a heap that is full though it granted nothing serves
  /// none.
  void blame_empty_heap() {
    found.failures = std::exchange(found.refused, 0);
    found.refusal = "an empty heap of " + std::to_string(heap.size()) + " bytes served none of " +
                    std::to_string(asked.count) + " requests";
  }

  /// Writes down a fault if it is the first; `fault` may be empty.
  void note(const std::string& fault) {
    if (found.fault.empty()) found.fault = fault;
  }

  /// Writes down what the blocks that are held take: the record's `memory`.
  void note_memory() { found.memory = describe_memory(held.held().bytes, held.span_bytes(), heap.statistics()); }

  request_stream asked;
  time_budget budget;
  warpheap::heap<A> heap;
  holdings held;
};

}  // namespace warpheap::bench
