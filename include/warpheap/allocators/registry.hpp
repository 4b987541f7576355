// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/bulk/bulk.hpp>
#include <warpheap/allocators/bump/bump.hpp>
#include <warpheap/allocators/cuda_malloc/cuda_malloc.hpp>
#include <warpheap/allocators/ouroboros/ouroboros.hpp>
#include <warpheap/allocators/warp_slab/warp_slab.hpp>
#include <warpheap/floor.hpp>

/// Every allocator, once. Tests, benchmark, survey and Python take their list from here: `entry(name)` for a design
/// that runs on both backends, `cuda_entry(name)` for one that only a GPU has. The order is that of plots and tables.
// clang-format off
#define WARPHEAP_ALLOCATORS(entry, cuda_entry) \
  entry(bump)                                  \
  entry(warp_slab)                             \
  entry(ouroboros_s_p)                         \
  entry(ouroboros_va_p)                        \
  entry(ouroboros_vl_p)                        \
  entry(ouroboros_s_c)                         \
  entry(ouroboros_va_c)                        \
  entry(ouroboros_vl_c)                        \
  entry(bulk)                                  \
  cuda_entry(cuda_malloc)
// clang-format on

namespace warpheap {

/// Carries a type as a value.
template <class A>
struct allocator_tag {
  using type = A;  ///< the type
};

/// Calls `visit(allocator_tag<A>{})` for each allocator that this backend has, in the registry's order.
template <class Visitor>
void for_each_registered(Visitor&& visit) {
#define WARPHEAP_VISIT(name) visit(allocator_tag<name>{});
#define WARPHEAP_VISIT_ON_CUDA(name) WARPHEAP_CUDA_ONLY(WARPHEAP_VISIT(name))
  WARPHEAP_ALLOCATORS(WARPHEAP_VISIT, WARPHEAP_VISIT_ON_CUDA)
#undef WARPHEAP_VISIT_ON_CUDA
#undef WARPHEAP_VISIT
}

}  // namespace warpheap
