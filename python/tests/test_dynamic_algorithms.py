# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms of `warpheap.Graph`, against their definitions and NetworkX."""

import numpy as np
import pytest
from small_graphs import HEAP, KARATE, karate, made, needs_library
from small_graphs import where as where

from warpheap.dynamic import Graph, NotConverged


def ranks_of(vertices: int, edges: list[tuple[int, int]], rounds: int = 300) -> np.ndarray:
    """PageRank of an undirected graph in 64 bits, by the definition."""
    step = np.zeros((vertices, vertices))
    for a, b in edges:
        step[a, b] = step[b, a] = 1
    degree = step.sum(axis=0)
    step = np.where(degree > 0, step / np.maximum(degree, 1), 1 / vertices)
    ranks = np.full(vertices, 1 / vertices)
    for _ in range(rounds):
        ranks = 0.85 * step @ ranks + 0.15 / vertices
    return ranks


@needs_library
@pytest.mark.usefixtures("where")
@pytest.mark.parametrize("design", ["warp_slab", "bulk", "ouroboros_va_p"])
def test_algorithms_on_a_stream_of_edges(design: str) -> None:
    with made(34, design=design) as club:
        ranks = None
        for end in range(13, 79, 13):
            club.add_edges_from(KARATE[end - 13 : end])
            ranks = club.pagerank(tol=1e-8, nstart=ranks)
            assert np.asarray(ranks) == pytest.approx(ranks_of(34, KARATE[:end]), abs=1e-5)
        assert club.triangle_count() == 45
        assert np.asarray(club.triangles()).sum() == 135
        assert np.asarray(club.bfs(16))[[16, 5, 0, 33]].tolist() == [0, 1, 2, 4]


@needs_library
@pytest.mark.usefixtures("where")
def test_distances_of_what_no_path_leads_to() -> None:
    with made(4) as tested:
        tested.add_edges_from([(0, 1), (1, 2)])
        assert np.asarray(tested.bfs(0)).tolist() == [0, 1, 2, -1]


@needs_library
@pytest.mark.usefixtures("where")
def test_wrong_ways_to_rank_are_refused() -> None:
    with karate() as club:
        with pytest.raises(NotConverged, match="max_iter"):
            club.pagerank(max_iter=2, tol=1e-9)
        assert np.asarray(club.pagerank(max_iter=2, fail_on_nonconvergence=False)).sum() == pytest.approx(1)
        with pytest.raises(ValueError, match="nstart has 3"):
            club.pagerank(nstart=[1, 2, 3])
        with pytest.raises(ValueError):
            club.pagerank(alpha=2)
        with pytest.raises(ValueError):
            club.pagerank(nstart=-np.ones(34))
    with made(undirected=False) as directed, pytest.raises(ValueError, match="undirected"):
        directed.triangle_count()


@needs_library
def test_networkx_agrees() -> None:
    networkx = pytest.importorskip("networkx")
    pytest.importorskip("scipy", reason="NetworkX ranks with SciPy")
    club = networkx.karate_club_graph()
    with Graph.from_edges(*zip(*club.edges(), strict=True), heap_bytes=HEAP) as tested:
        ranks = networkx.pagerank(club, weight=None, tol=1e-10)
        assert tested.pagerank(tol=1e-9) == pytest.approx([ranks[v] for v in range(34)], abs=1e-5)
        assert tested.triangles().tolist() == [networkx.triangles(club)[v] for v in range(34)]
        lengths = networkx.single_source_shortest_path_length(club, 16)
        assert tested.bfs(16).tolist() == [lengths[v] for v in range(34)]
