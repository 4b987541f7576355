# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap.Graph` under batches of edges and vertices: what each of them counts, changes and refuses."""

from typing import Any

import numpy as np
import pytest
from small_graphs import HEAP, karate, made, needs_library
from small_graphs import where as where

from warpheap.dynamic import EdgeCounts, Graph


@needs_library
@pytest.mark.usefixtures("where")
def test_batches_are_counted() -> None:
    with made(5) as tested:
        assert tested.add_edges_from([(0, 1), (1, 2), (2, 2), (1, 0), (0, 9)]) == EdgeCounts(
            offered=10, added=4, repeated=2, loops=2, invalid=2
        )
        before = tested.version
        assert tested.remove_edges_from([(2, 1), (3, 4)]) == EdgeCounts(offered=4, removed=2, absent=2)
        assert tested.version > before
        assert tested.add_edges_from([(1, 0)]) == EdgeCounts(offered=2, present=2)
        assert (tested.number_of_nodes(), tested.number_of_edges()) == (5, 1)
        assert tested.add_edges_from([]) == EdgeCounts()
        with pytest.raises(TypeError, match=r"an edge is 1: give pairs \(source, target\)"):
            tested.add_edges_from([1, 2])


@needs_library
@pytest.mark.usefixtures("where")
@pytest.mark.parametrize("kind", ["int8", "int32", "uint32", "int64", "uint64"])
def test_ids_are_integers_of_any_size(kind: str) -> None:
    sources, targets = np.array([0, 1], kind), np.array([1, 2], kind)
    with made(5) as tested:
        assert tested.add_edges_from((sources, targets)).added == 4
        assert tested.add_edges_from(sources, targets).present == 4
        assert tested.add_edges_from(np.stack((sources, targets), axis=1)[:1]).present == 2
        assert tested.has_edges(sources[::-1], targets).__len__() == 2


@needs_library
@pytest.mark.usefixtures("where")
def test_ids_that_no_graph_has_are_counted_and_never_wrapped() -> None:
    with made(5, undirected=False) as tested:
        ids = np.array([-1, 2**32, 2**32 + 1, -(2**63), 2**63 - 1])
        assert tested.add_edges_from(ids, np.ones(5, int)) == EdgeCounts(offered=5, invalid=5)
        assert tested.add_edges_from(np.array([2**64 - 1, 2**32], np.uint64), [1, 1]).invalid == 2
        assert tested.add_edges_from(np.array([-1], np.int32), [1]).invalid == 1
        assert tested.add_edges_from(np.array([-1], np.int8), [1]).invalid == 1


@needs_library
@pytest.mark.usefixtures("where")
def test_it_is_equal_to_a_set_of_edges_after_each_batch() -> None:
    random = np.random.default_rng(7)
    model: set[tuple[int, int]] = set()
    with made(40, undirected=False) as tested:
        for _ in range(20):
            batch = random.integers(0, 40, (60, 2))
            batch = batch[batch[:, 0] != batch[:, 1]]
            pairs = set(map(tuple, batch.tolist()))
            assert tested.add_edges_from(batch).added == len(pairs - model)
            model |= pairs
            leaving = random.integers(0, 40, (30, 2))
            pairs = set(map(tuple, leaving.tolist()))
            assert tested.remove_edges_from(leaving).removed == len(pairs & model)
            model -= pairs
            rows = tested.to_csr()
            indptr, indices = np.asarray(rows.indptr), np.asarray(rows.indices)
            assert list(zip(np.repeat(np.arange(40), np.diff(indptr)), indices, strict=True)) == sorted(model)
            asked = random.integers(0, 40, (50, 2))
            found = np.asarray(tested.has_edges(asked))
            assert found.dtype == np.bool_
            assert found.tolist() == [tuple(pair) in model for pair in asked.tolist()]


@needs_library
@pytest.mark.usefixtures("where")
def test_what_has_no_room_is_refused_and_the_heap_can_grow() -> None:
    everybody = [(a, b) for a in range(1000) for b in range(a)]
    sources, targets = map(np.array, zip(*everybody, strict=True))
    with Graph(1000, heap_bytes=1 << 20, backend="host") as tested:
        counts = tested.add_edges_from(sources, targets)
        assert counts.refused > 0
        assert counts.added + counts.refused == 2 * len(everybody)
        tested.grow_heap(64 << 20)
        again = tested.add_edges_from(sources, targets)
        assert (again.refused, again.added) == (0, counts.refused)
        assert tested.number_of_edges() == len(everybody)


@needs_library
@pytest.mark.usefixtures("where")
def test_weights_go_in_and_come_out() -> None:
    with Graph.from_edges([1, 0], [2, 1], [0.5, 2], undirected=False, heap_bytes=HEAP) as tested:
        assert np.asarray(tested.to_csr().weights).tolist() == [2, 0.5]
        tested.add_edges_from([(0, 2, 7.0)])
        rows = tested.to_csr()
        assert np.asarray(rows.weights).tolist() == [2, 7, 0.5]
        with Graph.from_csr(rows.indptr, rows.indices, rows.weights, undirected=False, heap_bytes=HEAP) as copy:
            assert np.asarray(copy.to_csr().weights).tolist() == [2, 7, 0.5]
        with pytest.raises(ValueError, match="weight has 1 numbers"):
            tested.add_edges_from([1, 0], [0, 1], [3.0])
    with made() as plain, pytest.raises(ValueError, match="weighted=True"):
        plain.add_edges_from([(0, 1, 2.0)])


@needs_library
@pytest.mark.usefixtures("where")
def test_vertices_come_and_go() -> None:
    with karate() as club:
        assert club.add_vertices(2) == 34
        club.clear_changed()
        counts = club.remove_vertices([33, 99])
        assert (counts.removed, counts.invalid, counts.removed_edges) == (1, 1, 34)
        assert (club.vertices, club.number_of_nodes(), club.number_of_edges()) == (36, 35, 61)
        assert 33 in np.asarray(club.changed_vertices())
        assert club.add_edges_from([(33, 0)]).invalid == 2
        club.clear()
        assert (club.number_of_nodes(), club.number_of_edges()) == (36, 0)


@needs_library
@pytest.mark.usefixtures("where")
def test_edges_with_loops_are_counted_once() -> None:
    with made(4, keep_loops=True) as tested:
        tested.add_edges_from([(0, 0), (0, 1), (3, 3)])
        assert tested.number_of_edges() == 3


@needs_library
@pytest.mark.parametrize(
    ("edges", "error"),
    [(3, TypeError), ([(0,)], ValueError), ([(0, 1), (0, 1, 2.0)], ValueError), (np.zeros(3, int), ValueError)],
)
def test_what_is_no_batch_is_refused(edges: Any, error: type[Exception]) -> None:
    with made() as tested, pytest.raises(error, match="edges"):
        tested.add_edges_from(edges)
