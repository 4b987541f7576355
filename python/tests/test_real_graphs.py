# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The real graphs of Debian's packages have the figures that are known of them, if they were fetched."""

import pytest

from warpheap.graphs import read_graph
from warpheap.graphs.data import FOLDER_VARIABLE, REAL_GRAPHS, RealGraph, data_folder, find_real_graph
from warpheap.graphs.triangles import count_triangles


@pytest.mark.parametrize("known", REAL_GRAPHS, ids=lambda known: known.name)
def test_real_graph_has_the_known_figures(known: RealGraph):
    path = find_real_graph(known)
    if path is None:
        pytest.skip(f"{known.file} is not in {data_folder()}; ./run graph --fetch-data or {FOLDER_VARIABLE} gives it")
    graph = read_graph(path, undirected=True, simple=True)
    assert (graph.vertices, graph.edges) == (known.vertices, known.edges)
    assert graph.degrees.max() == known.max_degree
    if known.isolated is not None:
        assert (graph.degrees == 0).sum() == known.isolated
    assert count_triangles(graph) == known.triangles


def test_folder_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    known = REAL_GRAPHS[0]
    assert find_real_graph(known) is None
    file = tmp_path / known.file
    file.parent.mkdir(parents=True)
    file.touch()
    assert find_real_graph(known) == file
