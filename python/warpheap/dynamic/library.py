# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled library of graphs: where it is, and its functions as ctypes knows them."""

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int32, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from warpheap.native import library as native

ABI = 1
VARIABLE = "WARPHEAP_GRAPH_LIBRARY"

UNDIRECTED, KEEP_LOOPS, WEIGHTS, REPLACE_WEIGHTS = 1, 2, 4, 8


class GraphError(RuntimeError):
    """The library could not do what it was asked for; the message is the library's."""


class NotConverged(GraphError):
    """PageRank ran all its iterations and did not come to the tolerance."""


class GraphOptions(ctypes.Structure):
    """How a graph is made."""

    _fields_ = (
        ("design", c_char_p),
        ("heap_bytes", c_uint64),
        ("flags", c_uint32),
        ("most_vertices", c_uint32),
    )


def _structure(name: str, kind: Any, fields: str) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": [(field, kind) for field in fields.split()]})


RawEdgeCounts = _structure(
    "RawEdgeCounts", c_uint64, "offered added present removed absent repeated loops refused invalid"
)
RawVertexCounts = _structure("RawVertexCounts", c_uint64, "removed invalid removed_edges")
RawMemory = _structure(
    "RawMemory",
    c_uint64,
    "live_bytes block_bytes record_bytes scratch_bytes heap_committed_bytes heap_live_bytes",
)


class PageRankOptions(ctypes.Structure):
    """How PageRank runs."""

    _fields_ = (
        ("alpha", c_double),
        ("tolerance", c_double),
        ("max_iterations", c_uint32),
        ("fixed_iterations", c_uint32),
        ("warm_start", c_uint32),
    )


class PageRankResult(ctypes.Structure):
    """What PageRank did."""

    _fields_ = (("iterations", c_uint32), ("converged", c_uint32), ("change", c_double))


class BreadthFirstResult(ctypes.Structure):
    """What the search found."""

    _fields_ = (("reached", c_uint64), ("depth", c_uint32))


# Arrays are addresses of device memory, which ctypes passes on as numbers.
_ARRAY = c_void_p
_GRAPH = c_void_p
_CALLS: dict[str, tuple[Any, ...]] = {
    "array_make": (c_uint64, POINTER(c_void_p)),
    "array_copy": (_ARRAY, _ARRAY, c_uint64),
    "array_narrow": (_ARRAY, _ARRAY, c_uint64),
    "array_widen": (_ARRAY, _ARRAY, c_uint64),
    "await_stream": (c_uint64,),
    "create": (c_uint32, POINTER(GraphOptions), POINTER(c_void_p)),
    "add_edges": (_GRAPH, _ARRAY, _ARRAY, _ARRAY, c_uint64, c_void_p),
    "remove_edges": (_GRAPH, _ARRAY, _ARRAY, c_uint64, c_void_p),
    "has_edges": (_GRAPH, _ARRAY, _ARRAY, c_uint64, _ARRAY),
    "assign_edges": (_GRAPH, _ARRAY, _ARRAY, _ARRAY, c_uint64, c_void_p),
    "assign_csr": (_GRAPH, _ARRAY, _ARRAY, _ARRAY, c_uint64, c_void_p),
    "clear": (_GRAPH,),
    "add_vertices": (_GRAPH, c_uint32, POINTER(c_uint32)),
    "remove_vertices": (_GRAPH, _ARRAY, c_uint64, c_void_p),
    "degrees": (_GRAPH, _ARRAY),
    "to_csr": (_GRAPH, _ARRAY, _ARRAY, _ARRAY, c_uint64),
    "neighbours": (_GRAPH, c_uint32, _ARRAY, c_uint64, POINTER(c_uint64)),
    "memory": (_GRAPH, c_void_p),
    "grow_heap": (_GRAPH, c_uint64),
    "changed_vertices": (_GRAPH, _ARRAY, c_uint64, POINTER(c_uint64)),
    "clear_changed": (_GRAPH,),
    "page_rank": (_GRAPH, POINTER(PageRankOptions), _ARRAY, POINTER(PageRankResult)),
    "triangle_count": (_GRAPH, _ARRAY, POINTER(c_uint64)),
    "breadth_first": (_GRAPH, c_uint32, _ARRAY, POINTER(BreadthFirstResult)),
}
_ANSWERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "device_available": (c_uint32, ()),
    "device": (c_int32, ()),
    "array_end": (None, (_ARRAY,)),
    "destroy": (None, (_GRAPH,)),
    "vertices": (c_uint32, (_GRAPH,)),
    "edges": (c_uint64, (_GRAPH,)),
    "version": (c_uint64, (_GRAPH,)),
    "flags": (c_uint32, (_GRAPH,)),
}
# What the numbers of `wh_graph_status` are raised as; all others as a GraphError.
_ERRORS: dict[int, type[Exception]] = {1: ValueError, 2: OverflowError, 3: MemoryError}
INTERFACE = native.Interface("graph", "graphs", VARIABLE, _CALLS, _ANSWERS, _ERRORS, GraphError)


class Library(native.CLibrary):
    """A loaded library. Its functions are attributes without the prefix `wh_graph_`; a call that fails raises."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, INTERFACE, ABI)

    def array_device(self) -> int:
        """Number of the device that arrays are made on."""
        return int(self.device())


class ArraysOfGraph:
    """The functions for arrays, as `warpheap.native.arrays` calls them, on the device of one graph.

    The library makes arrays on the device that is current for the calling thread. A graph stays where it was made, and
    its kernels write to no other device, so an array that would lie there is refused.
    """

    def __init__(self, library: Library) -> None:
        """Arrays on the device that is current, where the graph was made."""
        self._library = library
        self._device = library.array_device()
        self.array_copy = library.array_copy
        self.array_end = library.array_end
        self.array_narrow = library.array_narrow
        self.array_widen = library.array_widen
        self.await_stream = library.await_stream

    @property
    def backend(self) -> str:
        """Where arrays are: "cuda" or "host"."""
        return self._library.backend

    @property
    def uses_device_arrays(self) -> bool:
        """True if arrays are in memory of a GPU."""
        return bool(self._library.uses_device_arrays)

    def array_make(self, size: int, place: Any) -> None:
        """Set what `place` points to, to `size` bytes of memory. Raises `ValueError` if another device is current."""
        current = self._library.array_device()
        if current != self._device:
            raise ValueError(
                f"the graph is on GPU {self._device}, and GPU {current} is current: make the graph's GPU current first"
            )
        self._library.array_make(size, place)

    def array_device(self) -> int:
        """Number of the device."""
        return self._device


LIBRARIES = native.Libraries(INTERFACE, Library)
find_library = LIBRARIES.find
load_library = LIBRARIES.load
