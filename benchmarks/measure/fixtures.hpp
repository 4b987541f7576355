// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What cases measure with: heaps, blocks and who judges them. `filling.hpp` has the fixture of
/// cases that fill a heap.

#include <cstdint>
#include <warpheap/heap.hpp>

#include "../kernels.hpp"
#include "../options.hpp"
#include "course.hpp"
#include "judge.hpp"
#include "kernel_judge.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// The blocks of a round, one for each request, and the judge of them. The heap is an argument: a
/// case may have one for all rounds or one for each.
template <device_allocator A>
struct round_blocks {
  /// Room for `count` blocks. The judge writes to `found`, which has to outlive this.
  round_blocks(std::uint64_t count, findings& found) : blocks(count), judge(found) {}

  /// Starts a kernel in which each request of `asked` takes its block from `from`; a refused one
  /// gets null.
  void malloc_all(const heap<A>& from, const requests& asked) {
    launch(asked.grid(), malloc_kernel<A>{}, from.ref(), asked, blocks.data());
  }

  /// Counts refused requests as failures, and judges each block if `thorough` or if one was
  /// refused: `judge::look`.
  void look(const heap<A>& from, const requests& asked, bool thorough) { judge.look(from, asked, blocks, thorough); }

  /// Starts a kernel that gives all blocks of `asked` back to `to`.
  void free_all(const heap<A>& to, const requests& asked) {
    launch(asked.grid(), free_kernel<A>{}, to.ref(), asked, static_cast<void* const*>(blocks.data()));
  }

  device_array<void*> blocks;
  bench::judge<A> judge;
};

/// A fixture for cases that make their heaps themselves: the blocks of a round and their judge, and
/// no heap.
template <device_allocator A>
struct own_heaps : fixture_base, round_blocks<A> {
  /// Has room for `asked.threads` blocks.
  explicit own_heaps(const run_options& asked)
      : fixture_base(asked), round_blocks<A>(asked.threads, fixture_base::found) {}
};

/// The base of a fixture that makes its heap before anything else that takes memory: so a machine
/// that lacks memory refuses the heap if it cannot hold that.
template <device_allocator A>
struct heap_owner {
  warpheap::heap<A> heap;
};

/// A fixture for cases whose rounds all run on one heap, which stays warm: the heap, the blocks of
/// a round, their judge.
template <device_allocator A>
struct one_heap : fixture_base, heap_owner<A>, round_blocks<A> {
  /// Makes a heap of `asked.heap_bytes` bytes, and room for `asked.threads` blocks.
  explicit one_heap(const run_options& asked)
      : fixture_base(asked),
        heap_owner<A>{warpheap::heap<A>{asked.heap_bytes}},
        round_blocks<A>(asked.threads, fixture_base::found) {}

  /// Makes all blocks of `asked` free again. A kernel of frees does it if the design has individual
  /// free; a reset, or a new heap, if not.
  void empty(const requests& asked) {
    if constexpr (A::capabilities.individual_free) {
      this->free_all(this->heap, asked);
    } else {
      make_empty(this->heap, options);
    }
  }
};

/// A fixture for cases whose kernels judge and free their blocks themselves: one heap, and the
/// judge of such kernels.
template <device_allocator A>
struct self_judging : fixture_base, heap_owner<A> {
  /// Makes a heap of `asked.heap_bytes` bytes.
  explicit self_judging(const run_options& asked)
      : fixture_base(asked),
        heap_owner<A>{warpheap::heap<A>{asked.heap_bytes}},
        judge(this->heap, fixture_base::found) {}

  /// After flawless rounds: nothing may be live, and the heap has to serve one more round of
  /// requests at once.
  void finish() {
    if (found.flawless()) judge.look_at_heap(next_requests());
  }

  kernel_judge<A> judge;
};

}  // namespace warpheap::bench
