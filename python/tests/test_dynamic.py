# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap.Graph` on the library of the host, and its arrays of a GPU with the host's memory in their place."""

import ctypes
import gc
import importlib.util
import runpy
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpheap
from warpheap.dynamic import Csr, DeviceArray, EdgeCounts, Graph, NotConverged, graph, library
from warpheap.dynamic.library import Library, find_library, load_library
from warpheap.errors import UsageError
from warpheap.graphs import read_graph
from warpheap.graphs.triangles import count_triangles
from warpheap.native import arrays, dlpack

REPOSITORY = Path(__file__).parents[2]
HEAP = 16 << 20
BUILT = find_library("host")

needs_library = pytest.mark.skipif(
    BUILT is None,
    reason="libwarpheap_graph_host.so is not built; the target warpheap_graph_host makes it",
)

# Zachary's karate club: tests/graph/karate_club.hpp names the source.
KARATE = [
    (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0, 8), (0, 10), (0, 11), (0, 12), (0, 13), (0, 17),
    (0, 19), (0, 21), (0, 31), (1, 2), (1, 3), (1, 7), (1, 13), (1, 17), (1, 19), (1, 21), (1, 30), (2, 3), (2, 7),
    (2, 8), (2, 9), (2, 13), (2, 27), (2, 28), (2, 32), (3, 7), (3, 12), (3, 13), (4, 6), (4, 10), (5, 6), (5, 10),
    (5, 16), (6, 16), (8, 30), (8, 32), (8, 33), (9, 33), (13, 33), (14, 32), (14, 33), (15, 32), (15, 33), (18, 32),
    (18, 33), (19, 33), (20, 32), (20, 33), (22, 32), (22, 33), (23, 25), (23, 27), (23, 29), (23, 32), (23, 33),
    (24, 25), (24, 27), (24, 31), (25, 31), (26, 29), (26, 33), (27, 33), (28, 31), (28, 33), (29, 32), (29, 33),
    (30, 32), (30, 33), (31, 32), (31, 33), (32, 33),
]  # fmt: skip


@pytest.fixture(params=["host", "device"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Graphs take and return arrays of the host; then those of a device, which for this library is the host, too."""
    if request.param == "device":
        assert BUILT is not None
        as_on_a_gpu = Library(BUILT)
        as_on_a_gpu.uses_device_arrays = True
        monkeypatch.setattr(graph, "load_library", lambda backend=None: as_on_a_gpu)
    return str(request.param)


def made(vertices: int = 10, **options: Any) -> Graph:
    return Graph(vertices, **{"backend": "host", "heap_bytes": HEAP, **options})


def karate(**options: Any) -> Graph:
    club = made(34, **options)
    club.add_edges_from(KARATE)
    return club


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


class OnGpu:
    """An array of a GPU, as another library shows it."""

    def __init__(self, values: np.ndarray, **changes: Any) -> None:
        self.values = values
        strides = None if values.flags.c_contiguous else values.strides
        self.__cuda_array_interface__ = {
            "shape": values.shape, "typestr": values.dtype.str, "data": (values.ctypes.data, True), "version": 3,
            "strides": strides, "stream": None, **changes,
        }  # fmt: skip


class ByDlpack:
    """An array of a GPU that only knows DLPack."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.stream: int | None = None

    def __dlpack_device__(self) -> tuple[int, int]:
        return (dlpack.CUDA, 0)

    def __dlpack__(self, *, stream: int | None = None) -> Any:
        self.stream = stream
        return self.values.__dlpack__()


# --- Batches ----------------------------------------------------------------------------------------------------------


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


# --- Making and reading -----------------------------------------------------------------------------------------------


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


# --- Algorithms -------------------------------------------------------------------------------------------------------


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


# --- Arrays -----------------------------------------------------------------------------------------------------------


@needs_library
@pytest.mark.parametrize("where", ["device"], indirect=True)
@pytest.mark.parametrize("shown", [OnGpu, ByDlpack])
@pytest.mark.parametrize("kind", ["int32", "uint32", "int64"])
def test_arrays_of_a_gpu_are_read(where: str, shown: type, kind: str) -> None:
    sources, targets = np.array([0, 1, -1]).astype(kind), np.array([1, 2, 1], kind)
    with made(5) as tested:
        assert tested.add_edges_from(shown(sources), shown(targets)) == EdgeCounts(offered=6, added=4, invalid=2)
        assert tested.add_edges_from((shown(sources[:2]), targets[:2])).present == 4
        ranks = tested.pagerank(tol=1e-7)
        assert tested.pagerank(nstart=shown(np.asarray(ranks))).size == 5


@needs_library
@pytest.mark.parametrize("where", ["device"], indirect=True)
@pytest.mark.parametrize(
    ("array", "error", "said"),
    [
        (OnGpu(np.zeros(3, np.float32)), TypeError, "src is of 'f4'.*int32"),
        (OnGpu(np.zeros(3, np.int16)), TypeError, "src is of 'i2'"),
        (OnGpu(np.zeros(6, np.int32)[::2]), ValueError, "stride of 2 elements"),
        (OnGpu(np.zeros(6, np.int32)[::-1]), ValueError, "stride of -1 elements"),
        (ByDlpack(np.zeros(6, np.int32)[::2]), ValueError, "stride of 2 elements"),
        (OnGpu(np.zeros((3, 1), np.int32)), ValueError, r"shape \(3, 1\)"),
        (OnGpu(np.zeros(3, np.int32), typestr=">i4"), TypeError, "big-endian"),
        (OnGpu(np.zeros(3, np.int32), mask=OnGpu(np.zeros(3, bool))), TypeError, "mask"),
        (OnGpu(np.zeros(2, np.int32)), ValueError, "src has 2 ids and dst 3"),
        (np.zeros(3), TypeError, "src is of float64"),
        (np.zeros(3, bool), TypeError, "src is of bool"),
        (["a", "b", "c"], TypeError, "src is of <U1"),
        ([[1], [2, 3]], TypeError, "src is no array of numbers"),
    ],
)
def test_wrong_arrays_are_refused_with_a_reason(where: str, array: Any, error: type[Exception], said: str) -> None:
    with made(5) as tested:
        with pytest.raises(error, match=said):
            tested.add_edges_from(array, np.arange(3))
        assert tested.number_of_edges() == 0


@needs_library
@pytest.mark.parametrize("where", ["device"], indirect=True)
def test_work_of_the_producer_is_waited_for(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []
    as_on_a_gpu = graph.load_library()
    monkeypatch.setattr(as_on_a_gpu, "await_stream", waited.append, raising=False)
    ids = np.arange(3, dtype=np.int32)
    by_dlpack = ByDlpack(ids)
    with made(5) as tested:
        tested.has_edges(OnGpu(ids, stream=7), by_dlpack)
    assert waited == [7]
    assert by_dlpack.stream == dlpack.DEFAULT_STREAM


@needs_library
@pytest.mark.parametrize("where", ["device"], indirect=True)
def test_results_lie_where_the_graph_is(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with karate() as club:
        ids = DeviceArray(graph.load_library(), 1, np.int32)
        ctypes.memset(ids.address, 0, 4)
        monkeypatch.setattr(graph.load_library(), "device", lambda: 1, raising=False)
        of_pairs = (lambda: club.has_edges([0], [1]), lambda: club.has_edges(ids, ids))
        for call in (club.degrees, club.to_csr, club.pagerank, club.triangles, *of_pairs):
            with pytest.raises(ValueError, match="the graph is on GPU 0, and GPU 1 is current"):
                call()
        assert club.number_of_nodes() == 34
        assert club.remove_edges_from(ids, ids).absent + club.add_edges_from(ids, ids).loops == 2
        elsewhere = DeviceArray(graph.load_library(), 1, np.int32)
        with pytest.raises(ValueError, match="dst lies on GPU 1, and this works on GPU 0"):
            club.add_edges_from(ids, elsewhere)
        monkeypatch.undo()


@needs_library
def test_a_graph_of_the_host_reads_no_array_of_a_gpu() -> None:
    ids = np.arange(3, dtype=np.int32)
    with made(5) as tested:
        for array in (OnGpu(ids), ByDlpack(ids), DeviceArray(load_library("host"), 3, np.int32)):
            with pytest.raises(TypeError, match="backend='cuda'"):
                tested.add_edges_from(array, array)


@needs_library
def test_strided_and_read_only_arrays_of_the_host_are_read() -> None:
    pairs = np.array([[0, 1], [1, 2]], np.int32)
    pairs.flags.writeable = False
    with made(5) as tested:
        assert tested.add_edges_from(pairs[:, 0], pairs[:, 1]).added == 4
        assert tested.has_edges(pairs).all()


@needs_library
@pytest.mark.parametrize("where", ["device"], indirect=True)
def test_results_are_handed_on_by_both_protocols(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with karate() as club:
        degrees = club.degrees()
        found = club.has_edges([0], [1])
    assert isinstance(degrees, DeviceArray)
    assert (degrees.shape, degrees.ndim, len(degrees), degrees.dtype) == ((34,), 1, 34, np.dtype(np.int32))
    assert not hasattr(degrees, "__cuda_array_interface__"), "the library of the host has no memory of a GPU"
    assert np.from_dlpack(found).tolist() == [True]
    view = np.from_dlpack(degrees)
    assert view.ctypes.data == degrees.address, "no copy"
    monkeypatch.setattr(graph.load_library(), "backend", "cuda")
    interface = degrees.__cuda_array_interface__
    assert interface["typestr"] == "<i4"
    assert interface["data"] == (degrees.address, False)
    assert interface["shape"] == (34,)
    assert degrees.__dlpack_device__() == (dlpack.CUDA, 0)
    with pytest.raises(BufferError):
        degrees.__dlpack__(copy=True)


@needs_library
@pytest.mark.parametrize("where", ["device"], indirect=True)
def test_memory_lives_as_long_as_the_last_view(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    as_on_a_gpu = graph.load_library()
    real = as_on_a_gpu.array_end
    monkeypatch.setattr(as_on_a_gpu, "array_end", lambda at: (ended.append(at), real(at)), raising=False)
    array = arrays.make(as_on_a_gpu, 4, np.int32)
    address = array.address
    view = np.from_dlpack(array)
    unused = array.__dlpack__()
    del array
    gc.collect()
    assert ended == []
    ctypes.memset(address, 1, 16)
    assert view.tolist() == [0x01010101] * 4
    del view
    gc.collect()
    assert ended == [], "a capsule that nobody took holds it, too"
    del unused
    gc.collect()
    assert ended == [address]
    assert dlpack._exported == {}


# --- The library and the graph's end ----------------------------------------------------------------------------------


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
    ("edges", "error"),
    [(3, TypeError), ([(0,)], ValueError), ([(0, 1), (0, 1, 2.0)], ValueError), (np.zeros(3, int), ValueError)],
)
def test_what_is_no_batch_is_refused(edges: Any, error: type[Exception]) -> None:
    with made() as tested, pytest.raises(error, match="edges"):
        tested.add_edges_from(edges)


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
