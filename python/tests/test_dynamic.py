# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap.Graph` on the library of the host: how it is made, read, shared by threads and closed."""

import importlib.util
import runpy
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_graphs import BUILT, HEAP, KARATE, karate, made, needs_library
from small_graphs import where as where

import warpheap
from warpheap.dynamic import Csr, Graph, graph, library
from warpheap.dynamic.library import Library
from warpheap.errors import UsageError
from warpheap.graphs import read_graph
from warpheap.graphs.triangles import count_triangles
from warpheap.native import arrays

REPOSITORY = Path(__file__).parents[2]


@needs_library
@pytest.mark.usefixtures("where")
def test_rows_make_an_equal_graph() -> None:
    with karate() as club:
        rows = club.to_csr()
        assert isinstance(rows, Csr)
        with Graph.from_csr(rows.indptr, rows.indices, heap_bytes=HEAP) as copy:
            assert np.asarray(copy.degrees()).tolist() == np.asarray(club.degrees()).tolist()
            assert copy.number_of_edges() == 78
        narrow = np.asarray(rows.indptr).astype(np.int32)
        with Graph.from_csr(narrow, rows.indices, heap_bytes=HEAP) as copy:
            assert copy.triangle_count() == 45


@needs_library
@pytest.mark.usefixtures("where")
@pytest.mark.parametrize(
    ("indptr", "indices"),
    [
        ([0, 2, 1], [0, 1]),
        ([0, 1, 2], [5, 0]),
        ([0, 2, 2], [1, 0]),
        ([1, 1, 2], [0, 1]),
        ([0, 1, 3], [1, 0]),
        ([0, 1, 1], [1, 0]),
    ],
)
def test_rows_that_are_wrong_are_refused(indptr: list[int], indices: list[int]) -> None:
    with pytest.raises(ValueError):
        Graph.from_csr(indptr, indices, heap_bytes=HEAP)


@needs_library
def test_rows_with_negative_offsets_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        Graph.from_csr([0, -1, 2], [0, 1], heap_bytes=HEAP)
    with pytest.raises(ValueError, match="empty"):
        Graph.from_csr(np.empty(0, int), np.empty(0, int), heap_bytes=HEAP)


@needs_library
@pytest.mark.usefixtures("where")
def test_the_largest_id_tells_the_vertices() -> None:
    with Graph.from_edges(np.array([0, 7]), np.array([3, 2]), heap_bytes=HEAP) as tested:
        assert (tested.vertices, tested.number_of_edges()) == (8, 2)
    with Graph.from_edges([], [], heap_bytes=HEAP) as tested:
        assert tested.vertices == 0
    with pytest.raises(ValueError, match="negative"):
        Graph.from_edges([0, -1], [1, 1], heap_bytes=HEAP)
    with Graph.from_edges([0, -1], [1, 1], vertices=2, heap_bytes=HEAP) as tested:
        assert tested.number_of_edges() == 1


@needs_library
@pytest.mark.usefixtures("where")
def test_files_become_graphs(tmp_path: Path) -> None:
    path = tmp_path / "karate.txt"
    path.write_text("".join(f"{a} {b}\n" for a, b in KARATE), encoding="utf-8")
    with Graph.from_file(path, undirected=True, heap_bytes=HEAP) as club:
        assert (club.vertices, club.number_of_edges(), club.triangle_count()) == (34, 78, 45)
        assert count_triangles(read_graph(path, undirected=True, simple=True)) == 45
    with Graph.from_file(path, heap_bytes=HEAP) as directed:
        assert (directed.undirected, directed.number_of_edges()) == (False, 78)
    heavy = tmp_path / "heavy.txt"
    heavy.write_text("0 1 0.5\n1 2 3\n", encoding="utf-8")
    with Graph.from_file(heavy, heap_bytes=HEAP) as tested:
        assert np.asarray(tested.to_csr().weights).tolist() == [0.5, 3]


@needs_library
@pytest.mark.usefixtures("where")
def test_neighbours_and_memory() -> None:
    with karate() as club:
        assert np.asarray(club.neighbors(16)).tolist() == [5, 6]
        with pytest.raises(ValueError, match="no vertex 34"):
            club.neighbors(34)
        with pytest.raises(ValueError, match="no vertex -1"):
            club.bfs(-1)
        memory = club.memory()
        assert memory.live_bytes == 156 * 4 <= memory.block_bytes
        assert memory.heap_committed_bytes is not None
        assert memory.heap_committed_bytes >= HEAP


def test_what_to_build_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(library.VARIABLE, raising=False)
    monkeypatch.setattr(library.LIBRARIES, "find", lambda backend: None)
    with pytest.raises(UsageError, match="--target warpheap_graph_host") as raised:
        Graph(3)
    assert library.VARIABLE in str(raised.value)
    with pytest.raises(UsageError, match="--preset cuda-bench"):
        Graph(3, backend="cuda")
    with pytest.raises(UsageError, match="'cuda', 'host' or None"):
        Graph(3, backend="gpu")
    broken = tmp_path / "libwarpheap_graph_host.so"
    broken.write_bytes(b"no library")
    monkeypatch.setenv(library.VARIABLE, str(broken))
    with pytest.raises(UsageError, match="cannot be loaded"):
        Graph(3)


@needs_library
def test_a_library_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.LIBRARIES, "find", lambda backend: None)
    monkeypatch.setenv(library.VARIABLE, str(BUILT))
    with Graph(3, heap_bytes=HEAP) as tested:
        assert tested.backend == "host"
    with pytest.raises(UsageError, match="not of 'cuda'"):
        Graph(3, backend="cuda")


@needs_library
def test_a_library_of_another_interface_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "ABI", 999)
    assert BUILT is not None
    with pytest.raises(UsageError, match="interface 1 and this package needs 999"):
        Library(BUILT)


@needs_library
def test_a_closed_graph_says_so() -> None:
    tested = made()
    assert "10 vertices" in repr(tested)
    tested.close()
    tested.close()
    assert "closed" in repr(tested)
    for call in (
        tested.degrees,
        tested.triangle_count,
        lambda: tested.add_edges_from([(0, 1)]),
        lambda: tested.version,
    ):
        with pytest.raises(ValueError, match="closed"):
            call()


@needs_library
def test_wrong_options_are_refused() -> None:
    for options in ({"vertices": -1}, {"vertices": 2**31}, {"heap_bytes": -1}, {"design": "none"}, {"heap_bytes": 1}):
        with pytest.raises(ValueError):
            made(**options)
    with made(most_vertices=20) as tested, pytest.raises(OverflowError):
        tested.add_vertices(11)


@needs_library
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("degrees", ()), ("pagerank", ()), ("bfs", (0,)), ("triangles", ()), ("to_csr", ()), ("neighbors", (0,)),
     ("changed_vertices", ())],
)  # fmt: skip
def test_no_other_call_comes_between_an_array_and_what_fills_it(
    name: str, arguments: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    others = []
    with made(3) as tested:
        tested.add_edges_from([(0, 1), (1, 2)])

        def make_slowly(*about: Any) -> Any:
            other = threading.Thread(target=tested.add_vertices, args=(1,))
            other.start()
            other.join(0.05)
            others.append(other)
            assert other.is_alive(), "it waits for the call that it would spoil"
            return arrays.make(*about)

        monkeypatch.setattr(graph, "make", make_slowly)
        getattr(tested, name)(*arguments)
        for other in others:
            other.join()
        assert tested.vertices == 3 + len(others) > 3


@needs_library
def test_threads_share_a_graph() -> None:
    with made(400, undirected=False) as tested:

        def add(first: int) -> None:
            for v in range(first, first + 100):
                tested.add_edges_from([(v, (v + 1) % 400), (v, (v + 2) % 400)])

        threads = [threading.Thread(target=add, args=(first,)) for first in range(0, 400, 100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert tested.number_of_edges() == 800


@pytest.mark.usefixtures("where")
@needs_library
def test_the_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if importlib.util.find_spec("networkx") is None:
        club = SimpleNamespace(edges=lambda: KARATE)
        monkeypatch.setitem(sys.modules, "networkx", SimpleNamespace(karate_club_graph=lambda: club))
    runpy.run_path(str(REPOSITORY / "examples" / "edge_stream.py"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert lines[-1].startswith("78 edges, version 6, 45 triangles: vertex 33 ranks first")


def test_the_page_shows_the_example() -> None:
    example = (REPOSITORY / "examples" / "edge_stream.py").read_text(encoding="utf-8").split("# [guide]\n")[1]
    page = (REPOSITORY / "docs" / "graph_python.md").read_text(encoding="utf-8")
    assert f"```python\n{example}```" in page


def test_the_package_names_the_class() -> None:
    assert warpheap.Graph is Graph
    with pytest.raises(AttributeError, match="no attribute 'Graf'"):
        _ = warpheap.Graf
