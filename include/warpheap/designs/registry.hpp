// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All designs of registry.def at once, for programs that compare them. One that uses a heap includes its design alone.

#include <warpheap/designs/atomic_wrap/atomic_wrap.hpp>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/cuda_malloc/cuda_malloc.hpp>
#include <warpheap/designs/dynasoar/dynasoar.hpp>
#include <warpheap/designs/fdg/fdg.hpp>
#include <warpheap/designs/halloc/halloc.hpp>
#include <warpheap/designs/kma/kma.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/designs/random_walk/random_walk.hpp>
#include <warpheap/designs/reg_eff/reg_eff.hpp>
#include <warpheap/designs/scatter/scatter.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/designs/xmalloc/xmalloc.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// Carries a type as a value.
template <class A>
struct allocator_tag {
  using type = A;  ///< the type
};

/// Calls `visit(allocator_tag<A>{})` for each design that this backend has, in the registry's order.
template <class Visitor>
void for_each_registered(Visitor&& visit) {
#define WARPHEAP_DESIGN(name, header) visit(allocator_tag<name>{});
#define WARPHEAP_CUDA_DESIGN(name, header) WARPHEAP_CUDA_ONLY(visit(allocator_tag<name>{});)
#define WARPHEAP_HOST_DESIGN(name, header) WARPHEAP_WHERE_TESTED(visit(allocator_tag<name>{});)
#include <warpheap/designs/registry.def>
#undef WARPHEAP_HOST_DESIGN
#undef WARPHEAP_CUDA_DESIGN
#undef WARPHEAP_DESIGN
}

}  // namespace warpheap
