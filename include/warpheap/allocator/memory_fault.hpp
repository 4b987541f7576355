// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <warpheap/allocator/fault.hpp>

namespace warpheap {

/// The fault in a sentence that says where it was found and what to look for.
inline std::string describe(const memory_fault& fault) {
  std::ostringstream pointer;
  pointer << fault.pointer;
  std::string block = "the block at " + pointer.str();
  if (fault.bytes != 0) block += " of " + std::to_string(fault.bytes) + " bytes";
  const std::string finder =
      "thread " + std::to_string(fault.thread_index) + " of block " + std::to_string(fault.block_index);
  switch (fault.kind) {
    case fault_kind::double_free:
      return finder + " freed " + block +
             ", which is not live: look for a free of it before this one, or for a pointer that malloc never gave";
    case fault_kind::foreign_pointer:
      return finder + " freed " + pointer.str() + ", which is not in this heap: free it where it was taken";
    case fault_kind::interior_pointer:
      return finder + " freed " + pointer.str() + ", which is inside of a block: free the pointer that malloc gave";
    case fault_kind::overrun:
      return finder + " freed " + block +
             " and found bytes changed past its end: look for a write beyond the size that was asked for";
    case fault_kind::use_after_free:
      return finder + " found " + block + " changed after it was freed: look for a pointer that is kept after the free";
  }
  return finder + " found a fault of an unknown kind";
}

}  // namespace warpheap
