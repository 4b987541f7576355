// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/floor/atomic.hpp>

// fetch_add by the instruction for global memory.
//
// The one of the CUDA library works at any address, and for that ptxas 13.0 makes it a branch, in case the address is one
// of shared memory. Where lanes of a warp add to one word it also has one of them add for all and hand out the numbers
// behind that branch. On an H200 lanes were seen not to meet there: two of them got numbers of others
// (results/h200/warp_slab.md). Without the branch there is nothing to meet behind.

namespace warpheap::target {

// clang-format off: one line an instruction
#define WARPHEAP_ADD(instruction, letter)                                                           \
  asm volatile("{ .reg .u64 at; cvta.to.global.u64 at, %1; atom." instruction " %0, [at], %2; }"    \
               : "=" letter(before) : "l"(object), letter(value) : "memory")
#define WARPHEAP_ADDS(scope, type, letter)                                                          \
  switch (order) {                                                                                  \
    case memory_order::relaxed: WARPHEAP_ADD("relaxed." scope ".global.add." type, letter); break;  \
    case memory_order::acquire: WARPHEAP_ADD("acquire." scope ".global.add." type, letter); break;  \
    case memory_order::release: WARPHEAP_ADD("release." scope ".global.add." type, letter); break;  \
    default: WARPHEAP_ADD("acq_rel." scope ".global.add." type, letter); break;                     \
  }
// clang-format on
template <class T>
__device__ T global_add(T* object, T value, memory_order order, thread_scope scope) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  T before;
  if constexpr (sizeof(T) == 4) {
    if (scope == thread_scope::system) {
      WARPHEAP_ADDS("sys", "u32", "r")
    } else {
      WARPHEAP_ADDS("gpu", "u32", "r")
    }
  } else if (scope == thread_scope::system) {
    WARPHEAP_ADDS("sys", "u64", "l")
  } else {
    WARPHEAP_ADDS("gpu", "u64", "l")
  }
  // A use of the result: without one ptxas gives the instruction no destination, so no later one waits for it, and whether
  // an acquire that nothing waits for still holds is nowhere said.
  if (order == memory_order::acquire || order == memory_order::acq_rel) {
    asm volatile("{ .reg .pred p; setp.eq.u64 p, %0, 0x8badf00d8badf00d; @p nanosleep.u32 0; }" ::"l"(
                     static_cast<std::uint64_t>(before))
                 : "memory");
  }
  return before;
}
#undef WARPHEAP_ADDS
#undef WARPHEAP_ADD

}  // namespace warpheap::target
