// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/allocator/memory_fault.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::detail {

// The first fault, where the host can read it. Zero bytes are an empty record.
//
// Invariant: one thread moves the state from empty to taken, writes the fault, and moves it to written. All others
// leave the record alone, so a fault that is said to be written is whole and stays.
struct fault_record {
  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t written = 2;

  std::uint32_t state;
  memory_fault fault;

  // Keeps the fault if it is the first.
  WARPHEAP_COLD_FN void note(fault_kind kind, const void* pointer, std::uint64_t bytes) {
    using enum memory_order;
    const atomic_view view{state};
    // Read before it is changed, so that later threads do not queue up for the word. Neither step orders anything: a
    // thread that loses reads nothing here.
    std::uint32_t seen = view.load(relaxed, thread_scope::device);
    if (seen != empty || !view.compare_exchange(seen, taken, relaxed, thread_scope::device)) return;
    fault = {kind, thread_index(), block_index(), pointer, bytes};
    view.store(written, release, thread_scope::system);  // the reader is the host
  }
};

}  // namespace warpheap::detail
