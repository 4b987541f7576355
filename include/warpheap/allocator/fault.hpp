// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// What a program can do wrong with a heap's memory.
enum class fault_kind : std::uint32_t {
  double_free,       ///< freed what is in no live block: freed before, or memory of the heap that never was a block
  foreign_pointer,   ///< freed what the heap does not own
  interior_pointer,  ///< freed a byte of a live block that is not its first
  overrun,           ///< wrote past the end of a block; found when the block is freed
  use_after_free     ///< wrote to a block after its free; found when the block leaves the quarantine
};

/// The first fault that a heap saw, and the thread that saw it.
struct memory_fault {
  fault_kind kind;             ///< what went wrong
  std::uint32_t thread_index;  ///< the thread that found it, within its block of the grid
  std::uint64_t block_index;   ///< the block of the grid of that thread
  const void* pointer;         ///< what was freed; of an overrun and a use after free, the start of the block
  std::uint64_t bytes;         ///< bytes that were asked for when the block was taken; 0: not known
};

}  // namespace warpheap
