// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>
#include <warpheap/trace.hpp>

#include "../measure/oracle.hpp"
#include "contents.hpp"

namespace warpheap::bench {

/// A place of a replay.
struct replay_place {
  void* block;  ///< null: none
  std::uint64_t bytes;
};

/// What the threads of a replay saw.
struct replay_tally {
  std::uint64_t null;     ///< mallocs that got null
  std::uint64_t damaged;  ///< blocks that had lost their contents when they were touched or freed
};

/// A phase in device memory.
struct replay_phase {
  const std::uint64_t* starts;
  const trace_operation* operations;
  std::uint64_t threads;  ///< of one copy

  /// Threads that a copy takes up: whole warps, so that a thread has the neighbours that it had when it was recorded.
  WARPHEAP_FN std::uint64_t lanes() const { return align_up(threads, static_cast<std::uint64_t>(warp_width)); }
};

/// What a phase of a replay works on.
struct replay_state {
  replay_place* places;          ///< of all copies
  std::uint64_t places_of_copy;  ///< the second copy begins that many after the first
  std::uint64_t copies;
  std::uint64_t salt;  ///< what contents are made of
  bool all_over;       ///< they fill blocks
  replay_tally* tally;
};

/// Carries out one phase: each thread its operations, one after the other. No thread waits for another.
template <device_allocator A>
struct replay_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, replay_phase phase, replay_state state) const {
    const std::uint64_t copy = grid_thread_index() / phase.lanes();
    const std::uint64_t thread = grid_thread_index() % phase.lanes();
    if (copy >= state.copies || thread >= phase.threads) return;
    for (std::uint64_t i = phase.starts[thread]; i < phase.starts[thread + 1]; ++i) {
      const trace_operation operation = phase.operations[i];
      const std::uint64_t number = copy * state.places_of_copy + operation.place;
      replay_place& at = state.places[number];
      if (operation.is_malloc()) {
        at = {heap.malloc(operation.bytes), operation.bytes};
        if (at.block == nullptr) {
          count(state.tally->null);
        } else {
          contents{at.block, at.bytes, state.salt, number, state.all_over}.write();
        }
      } else if (at.block != nullptr) {
        if (!contents{at.block, at.bytes, state.salt, number, state.all_over}.intact()) count(state.tally->damaged);
        if (operation.is_free()) {
          heap.free(at.block);
          at.block = nullptr;
        }
      }
    }
  }

 private:
  // Sums are read after the launch and order nothing.
  WARPHEAP_FN static void count(std::uint64_t& sum) {
    atomic_view{sum}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

/// A trace in device memory, as often side by side as a number of threads has room for.
///
/// Each copy has places of its own, and all copies go through the phases together: `copies` times the recorded program,
/// run by as many groups of users at once.
class replay_plan {
 public:
  /// For about `threads` threads: as many copies as fit, one at least. Throws `trace_error` as `examine`.
  replay_plan(const trace& of, std::uint64_t threads);

  const trace_figures& figures() const { return figures_; }            ///< of one copy
  std::uint64_t copies() const { return copies_; }                     ///< side by side
  const std::vector<replay_phase>& phases() const { return phases_; }  ///< of the trace
  /// Frees what the trace leaves, so that it can be played again.
  const replay_phase& ending() const { return ending_; }
  /// The grid of a phase.
  grid_shape grid(const replay_phase& phase) const { return grid_shape::covering(phase.lanes() * copies_); }

  /// What each phase of a round works on. Contents fill blocks if `all_over`.
  replay_state state(std::uint64_t salt, bool all_over) const;
  /// What was seen since the last call.
  replay_tally take_tally();
  /// What the addresses of the live blocks say, all copies taken together.
  address_findings look(std::uint64_t alignment) const;

 private:
  replay_phase place(const trace_phase& phase);

  trace_figures figures_;
  std::uint64_t copies_;
  std::vector<device_array<std::uint64_t>> starts_;
  std::vector<device_array<trace_operation>> operations_;
  std::vector<replay_phase> phases_;
  replay_phase ending_;
  device_array<replay_place> places_;
  device_array<replay_tally> tally_;
};

}  // namespace warpheap::bench
