// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/atomic.hpp>
#include <warpheap/platform/standard.hpp>

// fetch_add, fetch_and and fetch_or by the instructions for global memory.
//
// Those of the CUDA library work at any address, and for that ptxas 13.0 makes each a branch, in case the address is
// one of shared memory. Where lanes of a warp add to one word it also has one of them add for all and hand out the
// numbers after that branch. On an H200 lanes were seen not to meet there: two of them got numbers of others
// (results/essays/warp_slab.md). Without the branch there is nothing to meet after, and a kernel is shorter.

namespace warpheap::target {

// A use of the result of an acquire: without one ptxas gives the instruction no destination, so no later one waits for
// it, and whether an acquire that nothing waits for still holds is nowhere said.
template <class T>
__device__ void use_acquired(T before, memory_order order) {
  if (order != memory_order::acquire && order != memory_order::acq_rel) return;
  asm volatile("{ .reg .pred p; setp.eq.u64 p, %0, 0x8badf00d8badf00d; @p nanosleep.u32 0; }" ::"l"(
                   static_cast<std::uint64_t>(before))
               : "memory");
}

// clang-format off: one line an instruction
#define WARPHEAP_RMW(instruction, letter)                                                           \
  asm volatile("{ .reg .u64 at; cvta.to.global.u64 at, %1; atom." instruction " %0, [at], %2; }"    \
               : "=" letter(before) : "l"(object), letter(value) : "memory")
#define WARPHEAP_RMW_OF_SCOPE(scope, operation, letter)                                                \
  switch (order) {                                                                                     \
    case memory_order::relaxed: WARPHEAP_RMW("relaxed." scope ".global." operation, letter); break;    \
    case memory_order::acquire: WARPHEAP_RMW("acquire." scope ".global." operation, letter); break;    \
    case memory_order::release: WARPHEAP_RMW("release." scope ".global." operation, letter); break;    \
    default: WARPHEAP_RMW("acq_rel." scope ".global." operation, letter); break;                       \
  }
#define WARPHEAP_GLOBAL_RMW(name, word, double_word)                                           \
  template <class T>                                                                           \
  __device__ T name(T* object, T value, memory_order order, thread_scope scope) {              \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);                                           \
    T before;                                                                                  \
    if constexpr (sizeof(T) == 4) {                                                            \
      if (scope == thread_scope::system) { WARPHEAP_RMW_OF_SCOPE("sys", word, "r") }           \
      else { WARPHEAP_RMW_OF_SCOPE("gpu", word, "r") }                                         \
    } else {                                                                                   \
      if (scope == thread_scope::system) { WARPHEAP_RMW_OF_SCOPE("sys", double_word, "l") }    \
      else { WARPHEAP_RMW_OF_SCOPE("gpu", double_word, "l") }                                  \
    }                                                                                          \
    return before;                                                                             \
  }
WARPHEAP_GLOBAL_RMW(global_add_alone, "add.u32", "add.u64")
WARPHEAP_GLOBAL_RMW(global_and, "and.b32", "and.b64")
WARPHEAP_GLOBAL_RMW(global_or, "or.b32", "or.b64")
#undef WARPHEAP_GLOBAL_RMW
#undef WARPHEAP_RMW_OF_SCOPE
#undef WARPHEAP_RMW
// clang-format on

// A caller that adds often has no use for what was there.
template <class T>
__device__ T global_add(T* object, T value, memory_order order, thread_scope scope) {
  const T before = global_add_alone(object, value, order, scope);
  use_acquired(before, order);
  return before;
}

}  // namespace warpheap::target
