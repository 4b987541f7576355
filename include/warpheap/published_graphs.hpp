// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Dynamic graphs of the literature by name: layout and memory of each, with the batches of `graph`.

#include <warpheap/designs/cuda_malloc/cuda_malloc.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/graph.hpp>
#include <warpheap/heap.hpp>

namespace warpheap {

/// OuroGraph (Winter et al., ICS 2020): a block of a power of two for each vertex, from any of the six Ouroboros. Lists
/// are unordered, as that system leaves them.
template <device_allocator Ouroboros = ouroboros_va_p>
using ouro_graph = graph<heap<Ouroboros>, contiguous<power_of_two, list_order::unordered>>;

/// faimGraph (Winter et al., SC 2018): chains of pages from a queue and a range. Its sorted variant is
/// `faim_graph<64, list_order::ascending>`.
template <std::uint32_t PageBytes = 64, list_order Order = list_order::unordered>
using faim_graph = graph<page_queue<PageBytes>, paged<PageBytes, Order>>;

/// CudaAllocGraph (Winter et al., ICS 2020): OuroGraph's lists from the toolkit's own heap.
using cuda_alloc_graph = graph<heap<cuda_malloc>, contiguous<power_of_two, list_order::unordered>>;

}  // namespace warpheap
