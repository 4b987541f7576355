// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Generators of graphs, on the device or on the host: each edge is a function of its number and of a seed. They write
/// lists of edges (`write_edges`); `stand_ins` has those that stand for the graphs of the literature. For tests and
/// benchmarks. docs/graphs_data.md describes them.

#include <warpheap/graph/generators/barabasi_albert.hpp>
#include <warpheap/graph/generators/delaunay.hpp>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/graph/generators/geometric.hpp>
#include <warpheap/graph/generators/lattices.hpp>
#include <warpheap/graph/generators/random.hpp>
#include <warpheap/graph/generators/rmat.hpp>
#include <warpheap/graph/generators/roads.hpp>
#include <warpheap/graph/generators/stand_ins.hpp>
#include <warpheap/graph/generators/stencil.hpp>
#include <warpheap/graph/generators/write_edges.hpp>
