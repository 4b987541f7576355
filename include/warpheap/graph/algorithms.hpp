// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Algorithms on graphs of any layout: they take what models `adjacency`.

#include <warpheap/graph/algorithms/breadth_first.hpp>
#include <warpheap/graph/algorithms/page_rank.hpp>
#include <warpheap/graph/algorithms/triangle_count.hpp>
