# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`Graph`: a dynamic graph that changes by batches, and the algorithms on it."""

import functools
import operator
from collections.abc import Callable, Iterable
from ctypes import byref, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

import numpy as np

from warpheap.dynamic import library as lib
from warpheap.dynamic.arrays import take_floats, take_ids, take_offsets
from warpheap.dynamic.library import ArraysOfGraph, Library, NotConverged, load_library
from warpheap.dynamic.results import Csr, EdgeCounts, Memory, VertexCounts
from warpheap.graphs import read_graph
from warpheap.native.arguments import design_name, whole_number
from warpheap.native.arrays import NOTHING, Taken, address_of, is_array, make, to_host
from warpheap.native.made_object import MadeObject

# As many vertices as a graph can have.
MOST_VERTICES = 2**31 - 1
_UNKNOWN = 2**64 - 1
_P = ParamSpec("_P")
_R = TypeVar("_R")


def _at_once(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """A method of several calls, between which no other thread changes the graph: arrays fit what is written."""

    @functools.wraps(method)
    def locked(*arguments: _P.args, **options: _P.kwargs) -> _R:
        graph: Any = arguments[0]
        with graph._lock:
            return method(*arguments, **options)

    return locked


class Graph(MadeObject):
    """A dynamic graph: vertices 0 to `vertices - 1`, and edges that batches add and remove, each edge once.

    It lives on a GPU or on the host; `backend` None takes a GPU if the library for it is built and one answers. On the
    host, arrays are NumPy's. On a GPU, arguments are anything with `__cuda_array_interface__` or `__dlpack__`, or
    arrays of the host, which are copied there; results are `DeviceArray`. Ids are integers; results are of int32.

    A graph stays on the GPU that was current when it was made, and results are made there: that GPU is current in each
    thread that asks for one. Calls end when their result is there. Threads may share a graph: one call waits for
    another. A batch is all or nothing for each source: edges for which the heap has no room are counted as refused, and
    `grow_heap` makes room. `close`, or the end of a `with`, gives the memory back.
    """

    _kind = "graph"
    _library: Library

    def __init__(
        self,
        vertices: int = 0,
        *,
        undirected: bool = True,
        keep_loops: bool = False,
        weighted: bool = False,
        replace_weights: bool = False,
        design: str | None = None,
        heap_bytes: int = 0,
        most_vertices: int = 0,
        backend: str | None = None,
    ) -> None:
        """A graph without edges.

        `undirected`: each edge of a batch stands for both directions. `keep_loops`: edges from a vertex to itself are
        kept, else dropped and counted. `weighted`: each edge has a float32; `replace_weights`: an edge to add that is
        there gets the new weight. `design`: of the heap, by default warp_slab. `heap_bytes`: memory for edges, by
        default an eighth of the device's, at most 1 GiB. `most_vertices`: as far as it can grow, by default 2^28.
        """
        library = load_library(backend)
        flags = lib.UNDIRECTED * bool(undirected) | lib.KEEP_LOOPS * bool(keep_loops)
        flags |= lib.WEIGHTS * bool(weighted) | lib.REPLACE_WEIGHTS * bool(replace_weights)
        options = lib.GraphOptions(
            None if design is None else design_name(design),
            whole_number(heap_bytes, "heap_bytes", _UNKNOWN),
            flags,
            whole_number(most_vertices, "most_vertices", MOST_VERTICES),
        )
        made = c_void_p()
        library.create(whole_number(vertices, "vertices", MOST_VERTICES), byref(options), byref(made))
        self._hold(library, made, library.destroy)
        self._arrays = ArraysOfGraph(library)
        self._undirected = undirected
        self._keep_loops = keep_loops
        self._weighted = weighted
        self._removed = 0

    # --- Making a graph of what is there ------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any,
        weight: Any = None,
        undirected: bool = True,
        *,
        vertices: int | None = None,
        **options: Any,
    ) -> Self:
        """The graph of the edges from `src[i]` to `dst[i]`.

        Without `vertices` there are as many as the largest id says; on a GPU the ids are copied to the host for that.
        `options` are those of the constructor.
        """
        library = load_library(options.get("backend"))
        sources, targets = _take_pairs(library, src, dst)
        if vertices is None:
            vertices = max(_largest(library, sources), _largest(library, targets)) + 1
            if vertices > MOST_VERTICES:
                raise ValueError(f"an id is negative or above {MOST_VERTICES - 1}: vertices= has it counted as invalid")
        options.setdefault("weighted", weight is not None)
        graph = cls(vertices, undirected=undirected, **options)
        weights = graph._take_weights(weight, sources.size)
        counts = lib.RawEdgeCounts()
        graph._call("assign_edges", sources.address, targets.address, weights.address, sources.size, byref(counts))
        return graph

    @classmethod
    def from_csr(cls, indptr: Any, indices: Any, weight: Any = None, undirected: bool = True, **options: Any) -> Self:
        """The graph of compressed sparse rows, whose ids rise strictly in each row.

        The rows of an undirected graph have both directions of each edge: nobody checks that, and algorithms are wrong
        without it. `options` are those of the constructor.
        """
        library = load_library(options.get("backend"))
        offsets = take_offsets(library, indptr, "indptr")
        neighbours = take_ids(library, indices, "indices")
        if offsets.size == 0:
            raise ValueError("indptr is empty: it has a number more than there are vertices")
        options.setdefault("weighted", weight is not None)
        graph = cls(offsets.size - 1, undirected=undirected, **options)
        weights = graph._take_weights(weight, neighbours.size)
        graph._call("assign_csr", offsets.address, neighbours.address, weights.address, neighbours.size, None)
        return graph

    @classmethod
    def from_file(
        cls, path: Path | str, *, undirected: bool | None = None, vertices: int | None = None, **options: Any
    ) -> Self:
        """The graph of a file of any format that `warpheap.graphs.read_graph` reads, without loops and repeats.

        `undirected` None: as the file says; True adds the opposite of each edge. Weights are taken if there are some.
        """
        read = read_graph(path, undirected=bool(undirected), simple=True, vertices=vertices)
        if undirected is None:
            undirected = not read.directed
        if not undirected and not read.directed:
            raise ValueError(f"{path} holds an undirected graph: leave undirected=False out")
        weight = read.weights if options.get("weighted", True) else None
        return cls.from_csr(read.offsets, read.neighbours, weight, undirected, **options)

    def __repr__(self) -> str:
        if self.closed:
            return "<warpheap.Graph, closed>"
        return f"<warpheap.Graph of {self.vertices} vertices and {self._arcs()} directed edges on {self.backend}>"

    # --- Batches ------------------------------------------------------------------------------------------------------

    def add_edges_from(self, edges: Any, dst: Any = None, weight: Any = None) -> EdgeCounts:
        """Adds a batch of edges and returns what became of them.

        `edges` is an iterable of pairs, or of triples with a weight; or the array of sources, and `dst` that of
        targets; or a pair of the two arrays. Where a batch names an edge more than once, its first weight holds.
        """
        sources, targets, weights = self._batch(edges, dst, weight)
        return self._change("add_edges", sources.address, targets.address, weights.address, sources.size)

    def remove_edges_from(self, edges: Any, dst: Any = None) -> EdgeCounts:
        """Removes a batch of edges, given as for `add_edges_from`, and returns what became of them."""
        sources, targets, _ = self._batch(edges, dst, None)
        return self._change("remove_edges", sources.address, targets.address, sources.size)

    def has_edges(self, edges: Any, dst: Any = None) -> Any:
        """An array of bool: true for each edge, given as for `add_edges_from`, that the graph has."""
        sources, targets, _ = self._batch(edges, dst, None)
        found = make(self._arrays, sources.size, np.bool_)
        self._call("has_edges", sources.address, targets.address, sources.size, address_of(found))
        return found

    @_at_once
    def clear(self) -> None:
        """Removes all edges; removed vertices are there again."""
        self._call("clear")
        self._removed = 0

    def add_vertices(self, count: int) -> int:
        """Adds vertices without edges and returns the first new id."""
        first = c_uint32()
        self._call("add_vertices", whole_number(count, "count", MOST_VERTICES), byref(first))
        return first.value

    @_at_once
    def remove_vertices(self, ids: Any) -> VertexCounts:
        """Removes vertices and their edges. Their ids stay: they are not given again, and are invalid in batches."""
        taken = take_ids(self._arrays, ids, "ids")
        counts = lib.RawVertexCounts()
        self._call("remove_vertices", taken.address, taken.size, byref(counts))
        result = VertexCounts(**_as_words(counts))
        self._removed += result.removed
        return result

    # --- What the graph is --------------------------------------------------------------------------------------------

    @property
    def undirected(self) -> bool:
        """True if each edge of a batch stands for both directions."""
        return self._undirected

    @property
    def vertices(self) -> int:
        """Ids of vertices, those of removed ones included: the length of arrays with a number for each vertex."""
        return int(self._ask("vertices"))

    @property
    def version(self) -> int:
        """A number that rises with each change of vertices or edges."""
        return int(self._ask("version"))

    @_at_once
    def number_of_nodes(self) -> int:
        """Vertices without those that were removed."""
        return self.vertices - self._removed

    @_at_once
    def number_of_edges(self) -> int:
        """Edges: of an undirected graph each one once, of a directed one each direction."""
        arcs = self._arcs()
        if not self._undirected:
            return arcs
        loops = 0
        if self._keep_loops:
            each = np.arange(self.vertices, dtype=np.uint32)
            loops = int(np.count_nonzero(to_host(self.has_edges(each, each))))
        return (arcs + loops) // 2

    @_at_once
    def degrees(self) -> Any:
        """Number of neighbours of each vertex, as int32."""
        found = make(self._arrays, self.vertices, np.int32)
        self._call("degrees", address_of(found))
        return found

    @_at_once
    def neighbors(self, v: int) -> Any:
        """Ids of the neighbours of a vertex, ascending, as int32."""
        vertex = operator.index(v)
        if not 0 <= vertex < self.vertices:
            raise ValueError(f"there is no vertex {vertex}: the graph has {self.vertices}, numbered from 0 on")
        count = c_uint64()
        self._call("neighbours", vertex, None, 0, byref(count))
        found = make(self._arrays, count.value, np.int32)
        self._call("neighbours", vertex, address_of(found), count.value, byref(count))
        return found

    @_at_once
    def to_csr(self) -> Csr:
        """The graph in compressed sparse rows, both directions of undirected edges."""
        edges = self._arcs()
        rows = Csr(
            make(self._arrays, self.vertices + 1, np.int64),
            make(self._arrays, edges, np.int32),
            make(self._arrays, edges, np.float32) if self._weighted else None,
        )
        weights = None if rows.weights is None else address_of(rows.weights)
        self._call("to_csr", address_of(rows.indptr), address_of(rows.indices), weights, edges)
        return rows

    def memory(self) -> Memory:
        """Memory in use, in bytes. Looks at all vertices."""
        figures = lib.RawMemory()
        self._call("memory", byref(figures))
        found: dict[str, Any] = _as_words(figures)
        found |= {name: None for name, value in found.items() if value == _UNKNOWN}
        return Memory(**found)

    def grow_heap(self, heap_bytes: int) -> None:
        """Lets edges take up to so many bytes; a smaller figure than now changes nothing."""
        self._call("grow_heap", whole_number(heap_bytes, "heap_bytes", _UNKNOWN))

    @_at_once
    def changed_vertices(self) -> Any:
        """Ids of vertices whose edges have changed since `clear_changed`, ascending, as int32."""
        count = c_uint64()
        self._call("changed_vertices", None, 0, byref(count))
        found = make(self._arrays, count.value, np.int32)
        self._call("changed_vertices", address_of(found), count.value, byref(count))
        return found

    def clear_changed(self) -> None:
        """Empties the set that `changed_vertices` returns."""
        self._call("clear_changed")

    # --- Algorithms ---------------------------------------------------------------------------------------------------

    @_at_once
    def pagerank(
        self,
        alpha: float = 0.85,
        tol: float = 1e-6,
        max_iter: int = 100,
        nstart: Any = None,
        *,
        fail_on_nonconvergence: bool = True,
    ) -> Any:
        """PageRank of each vertex as float32; all sum up to 1. Weights are ignored.

        Iterations end when the sum of |change| is below `tol` times the number of vertices. Raises `NotConverged` if
        `max_iter` are not enough, unless `fail_on_nonconvergence` is false. `nstart` has a number for each vertex to
        start from, as the ranks before a batch, which saves iterations.
        """
        vertices = self.vertices
        ranks = make(self._arrays, vertices, np.float32)
        if nstart is not None:
            start = take_floats(self._arrays, nstart, "nstart")
            _require_size("nstart", start.size, vertices, "the graph has vertices")
            self._library.array_copy(address_of(ranks), start.address, vertices * 4)
        options = lib.PageRankOptions(alpha, tol, whole_number(max_iter, "max_iter", 2**32 - 1), 0, nstart is not None)
        result = lib.PageRankResult()
        self._call("page_rank", byref(options), address_of(ranks), byref(result))
        if fail_on_nonconvergence and vertices and not result.converged:
            raise NotConverged(
                f"PageRank changed by {result.change:.3g} in the last of {result.iterations} iterations and is not "
                f"within {tol:g} a vertex: raise max_iter or tol"
            )
        return ranks

    def triangle_count(self) -> int:
        """Triangles of an undirected graph, each once."""
        triangles = c_uint64()
        self._call("triangle_count", None, byref(triangles))
        return triangles.value

    @_at_once
    def triangles(self) -> Any:
        """For each vertex of an undirected graph the triangles that it is a corner of, as int64."""
        corners = make(self._arrays, self.vertices, np.int64)
        self._call("triangle_count", address_of(corners), None)
        return corners

    @_at_once
    def bfs(self, source: int) -> Any:
        """Edges of a shortest path from `source` to each vertex, as int32; -1 where no path leads."""
        vertex = operator.index(source)
        if not 0 <= vertex < self.vertices:
            raise ValueError(f"there is no vertex {vertex}: the graph has {self.vertices}, numbered from 0 on")
        # What no path leads to is all ones, which is -1.
        distances = make(self._arrays, self.vertices, np.int32)
        self._call("breadth_first", vertex, address_of(distances), None)
        return distances

    # --- Within -------------------------------------------------------------------------------------------------------

    def _arcs(self) -> int:
        return int(self._ask("edges"))

    def _call(self, name: str, *arguments: Any) -> None:
        with self._lock:
            getattr(self._library, name)(self._open(), *arguments)

    def _ask(self, name: str) -> Any:
        with self._lock:
            return getattr(self._library, name)(self._open())

    def _change(self, name: str, *arguments: Any) -> EdgeCounts:
        counts = lib.RawEdgeCounts()
        self._call(name, *arguments, byref(counts))
        return EdgeCounts(**_as_words(counts))

    def _take_weights(self, weight: Any, edges: int) -> Taken:
        if weight is None:
            return NOTHING
        if not self._weighted:
            raise ValueError("the graph has no weights: make it with weighted=True, or give none")
        taken = take_floats(self._arrays, weight, "weight")
        _require_size("weight", taken.size, edges, "the batch has edges")
        return taken

    def _batch(self, edges: Any, dst: Any, weight: Any) -> tuple[Taken, Taken, Taken]:
        if dst is None and isinstance(edges, tuple | list) and len(edges) in (2, 3) and all(map(is_array, edges)):
            if len(edges) == 3:
                weight = edges[2] if weight is None else weight
            edges, dst = edges[:2]
        elif dst is None:
            edges, dst, weight = _columns(edges, weight)
        sources, targets = _take_pairs(self._arrays, edges, dst)
        return sources, targets, self._take_weights(weight, sources.size)


def _columns(edges: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Sources, targets and perhaps weights of an iterable of pairs or triples, or of an array of so many columns."""
    if is_array(edges) and not isinstance(edges, np.ndarray):
        raise TypeError("targets are missing: give two arrays, those of sources and of targets")
    if not isinstance(edges, Iterable):
        raise TypeError(f"edges is {type(edges).__name__}: give pairs, or the arrays of sources and of targets")
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise ValueError(f"edges has the shape {edges.shape}: give pairs in rows, or sources and targets")
        return edges[:, 0], edges[:, 1], weight
    rows = [_parts(edge) for edge in edges]
    widths = {len(row) for row in rows}
    if not widths <= {2} and widths != {3}:
        raise ValueError(f"edges have {sorted(widths)} parts: each is (source, target), or each also has a weight")
    if not rows:
        none = np.empty(0, np.uint32)
        return none, none, weight
    columns = list(zip(*rows, strict=True))
    if len(columns) == 3:
        if weight is not None:
            raise ValueError("weights are given twice: in the edges and as weight")
        weight = columns[2]
    return columns[0], columns[1], weight


def _parts(edge: Any) -> tuple[Any, ...]:
    if not isinstance(edge, Iterable):
        raise TypeError(f"an edge is {edge!r}: give pairs (source, target), or two arrays, and dst is that of targets")
    return tuple(edge)


def _take_pairs(library: Library | ArraysOfGraph, src: Any, dst: Any) -> tuple[Taken, Taken]:
    sources, targets = take_ids(library, src, "src"), take_ids(library, dst, "dst")
    if sources.size != targets.size:
        raise ValueError(f"src has {sources.size} ids and dst {targets.size}: each edge has both")
    return sources, targets


def _largest(library: Library, ids: Taken) -> int:
    if ids.size == 0:
        return -1
    here = np.empty(ids.size, np.uint32)
    library.array_copy(here.ctypes.data, ids.address, here.nbytes)
    return int(here.max())


def _require_size(name: str, size: int, right: int, what: str) -> None:
    if size != right:
        raise ValueError(f"{name} has {size} numbers, and {what}: {right}")


def _as_words(figures: Any) -> dict[str, int]:
    return {name: int(getattr(figures, name)) for name, _ in figures._fields_}
