// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Dynamic graphs on a heap: `graph<Heap, Layout>` owns one, `graph_ref<Layout>` is what kernels read. Nothing here
/// knows a design.

#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/algorithms.hpp>
#include <warpheap/graph/csr.hpp>
#include <warpheap/graph/graph.hpp>
#include <warpheap/graph/graph_ref.hpp>
#include <warpheap/graph/layout.hpp>
#include <warpheap/graph/results.hpp>
