// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <warpheap/heap.hpp>

#include "../kernels.hpp"
#include "course.hpp"
#include "exhaustion.hpp"
#include "holdings.hpp"
#include "memory.hpp"
#include "not_served.hpp"
#include "placement.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// What a heap handed out, and how long that took.
struct filled_heap {
  double time = 0;  ///< microseconds of the kernels up to the last that got anything
  holdings::amount got;
  bool full = false;  ///< the heap had no more in the end
};

/// Blocks of one stream of requests that a case takes from a heap round by round and gives back together. Each block is
/// written when it comes, and must hold that until it goes; that is outside the times. A null block is a refusal. A
/// case may have several stores at once: the numbers of rounds tell their contents apart.
template <device_allocator A>
class block_store {
 public:
  /// The blocks will come from `from`, which has to outlive the store as `on` has.
  block_store(fixture_base& on, const heap<A>& from, const request_stream& asked)
      : on_(on),
        heap_(from),
        asked_(asked),
        held_(asked, A::capabilities.alignment, most_span(from), likely_blocks(asked, from.size())) {}

  /// Runs one kernel of `count` requests, at most those of a round.
  filling_round ask(std::uint64_t count) {
    findings& found = on_.found;
    const std::uint64_t number = found.rounds++;
    requests asked = asked_.round(number);
    asked.count = std::min(count, asked.count);
    const placement where = held_.plan(number);
    const double time =
        on_.time_of([&] { launch(asked.grid(), malloc_kernel<A>{}, heap_.ref(), asked, held_.blocks() + where.used); });
    const holdings::amount got = held_.take(where, number, asked.count);
    note();
    held_.fill(where, asked.count);
    found.requests += asked.count;
    found.refused += asked.count - got.blocks;
    last_ = got;
    return {time, got.bytes};
  }

  /// Asks until a round gets less than a hundredth of what it asks for: `shows_exhaustion`. A fault ends it, and so
  /// does the time when `budget` is spent; without a budget it has the time that it takes.
  filled_heap fill(const time_budget* budget) {
    filled_heap sum;
    for (bool first = true; on_.found.flawless() && !sum.full; first = false) {
      if (!first && budget != nullptr && budget->spent()) {
        note_refusal("not exhausted when the time was over: " + std::to_string(held_.held().bytes) + " of " +
                     std::to_string(heap_.size()) + " bytes were handed out");
        return sum;
      }
      const filling_round round = ask(asked_.count);
      if (last_.blocks != 0) {
        sum.time += round.time;
        sum.got.blocks += last_.blocks;
        sum.got.bytes += last_.bytes;
      }
      sum.full = shows_exhaustion(last_.blocks, asked_.count);
    }
    return sum;
  }

  /// Checks that no two blocks of the store overlap and that all hold what was written, and counts the round as judged.
  void judge() {
    held_.judge_overlap();
    held_.judge_contents();
    note();
    on_.found.rounds_judged = on_.found.rounds;
    on_.found.memory = describe_memory(held_.held().bytes, held_.span_bytes(), heap_.statistics());
  }

  /// Gives all blocks back, or all but about one in `spare`, by one kernel of frees. Returns its microseconds.
  double give_back(std::uint64_t spare = 0, std::uint64_t salt = 0) {
    const holdings::removed out = held_.remove(spare, salt);
    note();
    if (!on_.found.sound() || out.what.blocks == 0) return 0;
    const requests freed{.count = out.blocks.size(), .size = 0, .salt = 0, .mode = request_mode::thread};
    return on_.time_of([&] {
      launch(freed.grid(), free_kernel<A>{}, heap_.ref(), freed, static_cast<void* const*>(out.blocks.data()));
    });
  }

  const holdings::amount& held() const { return held_.held(); }  ///< taken and not given back
  /// One of the blocks that are held, in device memory; null if none is.
  void* any_block() const { return held_.any_block(); }

 private:
  void note() {
    if (on_.found.fault.empty()) on_.found.fault = held_.fault();
  }
  void note_refusal(const std::string& reason) {
    if (on_.found.refusal.empty()) on_.found.refusal = reason;
  }

  fixture_base& on_;
  const heap<A>& heap_;
  request_stream asked_;
  holdings held_;
  holdings::amount last_;
};

/// Makes the refusals so far failures, since a heap that is full though it granted nothing serves none.
inline void blame_empty_heap(findings& found, std::uint64_t heap_bytes) {
  found.failures = found.refused;
  found.refused = 0;
  found.refusal = "an empty heap of " + std::to_string(heap_bytes) + " bytes served none of " +
                  std::to_string(found.failures) + " requests";
}

/// Starts each kernel of `block_store` once on a heap of its own: the first launch of a kernel takes long.
template <device_allocator A>
void start_store_kernels(const run_options& options, const request_stream& asked) {
  const heap<A> other(options.heap_bytes);
  const requests few = asked.round(0);
  const device_array<void*> blocks(few.count);
  launch(few.grid(), malloc_kernel<A>{}, other.ref(), few, blocks.data());
  launch(few.grid(), free_kernel<A>{}, other.ref(), few, static_cast<void* const*>(blocks.data()));
  synchronise();
}

/// Why the heap cannot serve a block of `bytes` bytes at all, whose memory is smaller; empty if it can.
template <device_allocator A>
std::string no_room(const heap<A>& in, const run_options& options, std::uint64_t bytes) {
  return in.size() < bytes ? no_room_for_a_block(options.heap_bytes, bytes) : "";
}

}  // namespace warpheap::bench
