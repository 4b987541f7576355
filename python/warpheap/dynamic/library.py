# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled library of graphs: where it is, and its functions as ctypes knows them."""

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int32, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError
from warpheap.project import find_checkout

ABI = 1
VARIABLE = "WARPHEAP_GRAPH_LIBRARY"
# Build folders that can hold the library of a backend, the best for measuring first.
_FOLDERS = {"cuda": ("cuda-bench", "cuda"), "host": ("host",)}

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
    "wh_graph_array_make": (c_uint64, POINTER(c_void_p)),
    "wh_graph_array_copy": (_ARRAY, _ARRAY, c_uint64),
    "wh_graph_array_narrow": (_ARRAY, _ARRAY, c_uint64),
    "wh_graph_array_widen": (_ARRAY, _ARRAY, c_uint64),
    "wh_graph_await_stream": (c_uint64,),
    "wh_graph_create": (c_uint32, POINTER(GraphOptions), POINTER(c_void_p)),
    "wh_graph_add_edges": (_GRAPH, _ARRAY, _ARRAY, _ARRAY, c_uint64, c_void_p),
    "wh_graph_remove_edges": (_GRAPH, _ARRAY, _ARRAY, c_uint64, c_void_p),
    "wh_graph_has_edges": (_GRAPH, _ARRAY, _ARRAY, c_uint64, _ARRAY),
    "wh_graph_assign_edges": (_GRAPH, _ARRAY, _ARRAY, _ARRAY, c_uint64, c_void_p),
    "wh_graph_assign_csr": (_GRAPH, _ARRAY, _ARRAY, _ARRAY, c_uint64, c_void_p),
    "wh_graph_clear": (_GRAPH,),
    "wh_graph_add_vertices": (_GRAPH, c_uint32, POINTER(c_uint32)),
    "wh_graph_remove_vertices": (_GRAPH, _ARRAY, c_uint64, c_void_p),
    "wh_graph_degrees": (_GRAPH, _ARRAY),
    "wh_graph_to_csr": (_GRAPH, _ARRAY, _ARRAY, _ARRAY, c_uint64),
    "wh_graph_neighbours": (_GRAPH, c_uint32, _ARRAY, c_uint64, POINTER(c_uint64)),
    "wh_graph_memory": (_GRAPH, c_void_p),
    "wh_graph_grow_heap": (_GRAPH, c_uint64),
    "wh_graph_changed_vertices": (_GRAPH, _ARRAY, c_uint64, POINTER(c_uint64)),
    "wh_graph_clear_changed": (_GRAPH,),
    "wh_graph_page_rank": (_GRAPH, POINTER(PageRankOptions), _ARRAY, POINTER(PageRankResult)),
    "wh_graph_triangle_count": (_GRAPH, _ARRAY, POINTER(c_uint64)),
    "wh_graph_breadth_first": (_GRAPH, c_uint32, _ARRAY, POINTER(BreadthFirstResult)),
}
_ANSWERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "wh_graph_abi": (c_uint32, ()),
    "wh_graph_backend": (c_char_p, ()),
    "wh_graph_designs": (c_char_p, ()),
    "wh_graph_device_available": (c_uint32, ()),
    "wh_graph_device": (c_int32, ()),
    "wh_graph_error": (c_char_p, ()),
    "wh_graph_array_end": (None, (_ARRAY,)),
    "wh_graph_destroy": (None, (_GRAPH,)),
    "wh_graph_vertices": (c_uint32, (_GRAPH,)),
    "wh_graph_edges": (c_uint64, (_GRAPH,)),
    "wh_graph_version": (c_uint64, (_GRAPH,)),
    "wh_graph_flags": (c_uint32, (_GRAPH,)),
}
# What the numbers of `wh_graph_status` are raised as; all others as a GraphError.
_ERRORS: dict[int, type[Exception]] = {1: ValueError, 2: OverflowError, 3: MemoryError}


class Library:
    """A loaded library. Its functions are attributes without the prefix `wh_graph_`; a call that fails raises."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._loaded = ctypes.CDLL(str(path))
        except OSError as error:
            raise UsageError(f"the library of graphs {path} cannot be loaded: {error}; {_remedy(path)}") from error
        for name, (result, arguments) in _ANSWERS.items():
            self._declare(name, result, arguments)
        found = self.abi()
        if found != ABI:
            raise UsageError(f"{path} has interface {found} and this package needs {ABI}; {_remedy(path)}")
        for name, arguments in _CALLS.items():
            self._declare(name, c_int32, arguments)
        self.backend: str = self._loaded.wh_graph_backend().decode()
        # Arrays of the caller are in memory of a GPU, and results too.
        self.uses_device_arrays = self.backend == "cuda"
        self.designs: list[str] = self._loaded.wh_graph_designs().decode().split(",")

    def _declare(self, name: str, result: Any, arguments: tuple[Any, ...]) -> None:
        try:
            function = getattr(self._loaded, name)
        except AttributeError as error:
            raise UsageError(f"{self.path} has no {name} and is no library of graphs; {_remedy(self.path)}") from error
        function.restype = result
        function.argtypes = arguments

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        whole = f"wh_graph_{name}"
        function = getattr(self._loaded, whole)
        if whole not in _CALLS:
            return function

        # ctypes lets other threads of Python run meanwhile, so a caller guards what it calls with a lock of its own.
        def call(*arguments: Any) -> None:
            status = function(*arguments)
            if status != 0:
                text = self._loaded.wh_graph_error().decode(errors="replace")
                raise _ERRORS.get(status, GraphError)(text or "no memory for the text of an error")

        return call


def _remedy(path: Path) -> str:
    backend = "cuda" if "cuda" in path.name else "host"
    return f"build it anew: {_command(backend)}"


def _command(backend: str) -> str:
    preset = _FOLDERS[backend][0]
    return f"cmake --preset {preset} && cmake --build --preset {preset} --target warpheap_graph_{backend}"


def find_library(backend: str) -> Path | None:
    """The library of a backend that was built in the checkout."""
    checkout = find_checkout()
    if checkout is None:
        return None
    name = f"libwarpheap_graph_{backend}.so"
    paths = (checkout / "build" / folder / "lib" / name for folder in _FOLDERS[backend])
    return next((path for path in paths if path.is_file()), None)


@lru_cache
def _load(path: Path) -> Library:
    return Library(path)


def load_library(backend: str | None = None) -> Library:
    """The library of a backend, "cuda" or "host"; without a name the one for a GPU if that is built and a GPU answers.

    The environment variable WARPHEAP_GRAPH_LIBRARY names another file than the one that the checkout's build made.
    Raises `UsageError` that says what to build.
    """
    if backend not in (None, "cuda", "host"):
        raise UsageError(f"backend is '{backend}'; use 'cuda', 'host' or None")
    named = os.environ.get(VARIABLE)
    if named:
        library = _load(Path(named))
        if backend not in (None, library.backend):
            raise UsageError(f"{VARIABLE} names a library of the backend '{library.backend}', not of '{backend}'")
        return library
    if backend is None:
        path = find_library("cuda")
        if path is not None and _load(path).device_available():
            return _load(path)
    path = find_library(backend or "host")
    if path is None:
        raise UsageError(
            f"no library of graphs was found for the backend '{backend or 'host'}'. In the checkout: "
            f"{_command(backend or 'host')}. Or name one with the environment variable {VARIABLE}."
        )
    return _load(path)
