// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A heap of the default design. A program that uses another design includes <warpheap/heap.hpp> and the header of that
/// design, such as <warpheap/designs/bulk/bulk.hpp>.

#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>
