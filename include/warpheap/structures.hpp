// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Concurrent structures that allocators are built from.

#include <warpheap/structures/bit_tree.hpp>
#include <warpheap/structures/buddy_tree.hpp>
#include <warpheap/structures/combined.hpp>
#include <warpheap/structures/deal.hpp>
#include <warpheap/structures/header_ring.hpp>
#include <warpheap/structures/index_ring.hpp>
#include <warpheap/structures/numbered_pages.hpp>
#include <warpheap/structures/occupancy_gate.hpp>
#include <warpheap/structures/page_heap.hpp>
#include <warpheap/structures/page_source.hpp>
#include <warpheap/structures/per_multiprocessor.hpp>
#include <warpheap/structures/probe.hpp>
#include <warpheap/structures/push_stack.hpp>
#include <warpheap/structures/segment.hpp>
#include <warpheap/structures/segment_kinds.hpp>
#include <warpheap/structures/segment_queue.hpp>
#include <warpheap/structures/slab_entry.hpp>
#include <warpheap/structures/slab_sets.hpp>
#include <warpheap/structures/slot_bits.hpp>
