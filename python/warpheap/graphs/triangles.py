# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Triangles of a graph, counted exactly: an oracle for the programs in C++."""

import numpy as np

from warpheap.graphs.graph import Graph

# Pairs of edges that are looked up at a time.
_AT_A_TIME = 1 << 22


def count_triangles(graph: Graph) -> int:
    """Number of triangles of an undirected graph without loops and repeats.

    Each edge points to the end of higher degree, so lists are short. A triangle is then one edge, and one neighbour of
    its end that is a neighbour of its start, too.
    """
    rank = np.empty(graph.vertices, np.int64)
    rank[np.lexsort((np.arange(graph.vertices), graph.degrees))] = np.arange(graph.vertices)
    starts, ends = rank[graph.sources()], rank[graph.neighbours]
    upward = starts < ends
    keys = np.sort(starts[upward] * graph.vertices + ends[upward])
    starts, ends = keys // max(graph.vertices, 1), keys % max(graph.vertices, 1)
    offsets = np.searchsorted(starts, np.arange(graph.vertices + 1))
    lengths = np.diff(offsets)[ends]
    before = np.concatenate(([0], np.cumsum(lengths)))
    found, edge = 0, 0
    while edge < len(keys):
        last = max(edge + 1, int(np.searchsorted(before, before[edge] + _AT_A_TIME, side="right")) - 1)
        counts = lengths[edge:last]
        first = np.repeat(offsets[ends[edge:last]] - (before[edge:last] - before[edge]), counts)
        third = ends[first + np.arange(int(counts.sum()))]
        wanted = np.repeat(starts[edge:last], counts) * graph.vertices + third
        at = np.searchsorted(keys, wanted)
        found += int(np.count_nonzero(keys[np.minimum(at, len(keys) - 1)] == wanted))
        edge = last
    return found
