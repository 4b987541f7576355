# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays that `warpheap.Graph` takes and returns: those of the host, and of a GPU with memory of the host instead."""

import ctypes
import gc
from typing import Any

import numpy as np
import pytest
from small_graphs import karate, made, needs_library
from small_graphs import where as where

from warpheap.dynamic import DeviceArray, EdgeCounts, graph
from warpheap.dynamic.library import load_library
from warpheap.native import arrays, dlpack


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
