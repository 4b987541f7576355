// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The dynamic graphs of Winter et al., Ouroboros, ICS 2020, section 6.2, by their names there. What they have in
/// common with ours is where the lists lie; batches, counts and exhaustion are those of `graph`.

#include <cstdint>
#include <warpheap/designs/cuda_malloc/cuda_malloc.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/graph.hpp>
#include <warpheap/heap.hpp>

namespace warpheap {

/// OuroGraph: each list is one block of a power of two of neighbours, from a heap of any of the six Ouroboros. Lists
/// are unordered, as that system leaves them.
template <device_allocator Ouroboros = ouroboros_va_p>
using ouro_graph = graph<heap<Ouroboros>, contiguous<power_of_two, list_order::unordered>>;

/// faimGraph (Winter et al., SC 2018): lists are chains of pages from a range and a queue of freed pages. Its sorted
/// variant is `faim_graph<64, list_order::ascending>`. Its heap is a `page_queue_heap` of pages of `PageBytes` bytes.
template <std::uint32_t PageBytes = 64, list_order Order = list_order::unordered>
using faim_graph = graph<page_queue_heap, paged<PageBytes, Order>>;

/// CudaAllocGraph: the lists of OuroGraph from the heap of the CUDA toolkit. On a GPU only.
using cuda_alloc_graph = graph<heap<cuda_malloc>, contiguous<power_of_two, list_order::unordered>>;

}  // namespace warpheap
