# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A graph in compressed sparse rows, and the way there from a list of edges."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Graph:
    """A graph in compressed sparse rows: `neighbours[offsets[v]:offsets[v + 1]]` are the neighbours of `v`, ascending.

    An undirected graph holds each edge in both directions, and a loop once.
    """

    vertices: int
    offsets: NDArray[np.int64]
    neighbours: NDArray[np.uint32]
    weights: NDArray[np.float64] | None
    directed: bool

    @property
    def arcs(self) -> int:
        """Number of directed edges that are stored."""
        return len(self.neighbours)

    @property
    def edges(self) -> int:
        """Number of edges: of a directed graph all arcs, of an undirected one each pair of arcs and each loop."""
        if self.directed:
            return self.arcs
        loops = int(np.count_nonzero(self.sources() == self.neighbours))
        return (self.arcs - loops) // 2 + loops

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each vertex, in a directed graph those that its arcs lead to."""
        return np.diff(self.offsets)

    def sources(self) -> NDArray[np.uint32]:
        """The vertex that each arc starts from, in the order of `neighbours`."""
        return np.repeat(np.arange(self.vertices, dtype=np.uint32), self.degrees)


def from_arcs(
    vertices: int,
    sources: NDArray[np.integer[Any]],
    targets: NDArray[np.integer[Any]],
    weights: NDArray[np.float64] | None,
    directed: bool,
    simple: bool,
) -> Graph:
    """The graph of these arcs, whose ids are below `vertices`.

    `simple` drops loops, and of repeated arcs all but the first. The arcs of an undirected graph are given in both
    directions.
    """
    # One key an arc: its order is that of source, then neighbour, and sorting numbers is faster than sorting pairs.
    keys = sources.astype(np.uint64) << np.uint64(32)
    keys |= targets.astype(np.uint64)
    if simple:
        other = sources != targets
        keys = keys[other]
        weights = None if weights is None else weights[other]
    if weights is None:
        keys.sort()
    else:
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
    if simple and len(keys):
        first = np.concatenate(([True], keys[1:] != keys[:-1]))
        keys = keys[first]
        weights = None if weights is None else weights[first]
    rows = (keys >> np.uint64(32)).astype(np.int64)
    offsets = np.zeros(vertices + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=vertices), out=offsets[1:])
    return Graph(vertices, offsets, keys.astype(np.uint32), weights, directed)


def mirrored(
    sources: NDArray[np.int64], targets: NDArray[np.int64], weights: NDArray[np.float64] | None, sign: float = 1.0
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
    """The arcs and their opposites; a loop is its own opposite. Weights of opposites are multiplied by `sign`."""
    other = sources != targets
    both_sources = np.concatenate((sources, targets[other]))
    both_targets = np.concatenate((targets, sources[other]))
    return both_sources, both_targets, None if weights is None else np.concatenate((weights, sign * weights[other]))


def as_undirected(graph: Graph, simple: bool) -> Graph:
    """The graph with each arc in both directions. Arcs that were there in both come twice unless `simple`."""
    if not graph.directed:
        return graph
    sources, targets, weights = mirrored(
        graph.sources().astype(np.int64), graph.neighbours.astype(np.int64), graph.weights
    )
    return from_arcs(graph.vertices, sources, targets, weights, False, simple)


def as_simple(graph: Graph) -> Graph:
    """The graph without loops, and with the first of repeated arcs only."""
    return from_arcs(graph.vertices, graph.sources(), graph.neighbours, graph.weights, graph.directed, True)
