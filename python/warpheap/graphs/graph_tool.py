# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""graph-tool's binary format `.gt` (graph-tool.skewed.de, The gt file format). Property maps are passed over."""

import struct
from pathlib import Path
from typing import Literal

import numpy as np

from warpheap.graphs.graph import Graph, from_arcs, mirrored
from warpheap.graphs.text import refuse_id
from warpheap.graphs.trouble import check_vertex_count, refuse

MAGIC = "\u26fe gt".encode()
_VERSION = 1
_AGAIN = "fetch it again, or save it anew with graph-tool"


class _Bytes:
    """The bytes of the file, and the place that is read next."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path, self.data, self.place = path, data, 0
        self.order: Literal["<", ">"] = "<"

    def take(self, count: int, what: str) -> int:
        """Passes over `count` bytes; returns where they begin."""
        begin = self.place
        if count > len(self.data) - begin:
            refuse(self._path, f"byte {begin}", f"ends within {what}", _AGAIN)
        self.place = begin + count
        return begin

    def number(self, form: str, what: str) -> int:
        """The next number, in the byte order of the file."""
        begin = self.take(struct.calcsize(form), what)
        return int(struct.unpack_from(self.order + form, self.data, begin)[0])


def read(path: Path, data: bytes) -> Graph:
    """The graph of the file; it says itself whether it is directed."""
    if not data.startswith(MAGIC):
        refuse(path, "byte 0", "is no file of graph-tool", "check the name, or save it as .gt with graph-tool")
    source = _Bytes(path, data)
    source.take(len(MAGIC), "the magic bytes")
    version = source.number("B", "the version")
    if version != _VERSION:
        refuse(path, f"byte {len(MAGIC)}", f"has version {version}", f"save it as version {_VERSION}")
    source.order = ">" if source.number("B", "the byte order") else "<"
    source.take(source.number("Q", "the length of the comment"), "the comment")
    directed = source.number("B", "the direction") != 0
    place = f"byte {source.place}"
    vertices = source.number("Q", "the number of vertices")
    check_vertex_count(path, place, vertices, "split the graph")
    if vertices * 8 > len(data) - source.place:
        refuse(path, place, f"says {vertices} vertices, more than its bytes can hold", _AGAIN)
    kind = np.dtype(np.uint8 if vertices < 2**8 else np.uint16 if vertices < 2**16 else np.uint32)
    kind = kind.newbyteorder(source.order)
    degrees = np.zeros(vertices, np.int64)
    lists = []
    # The length of a list stands before it, so where the next one begins is known only then.
    for vertex in range(vertices):
        degree = source.number("Q", f"the degree of vertex {vertex}")
        begin = source.take(degree * kind.itemsize, f"the neighbours of vertex {vertex}")
        degrees[vertex] = degree
        lists.append(np.frombuffer(data, kind, degree, begin))
    targets = np.concatenate([np.zeros(0, np.int64), *lists]).astype(np.int64)
    sources = np.repeat(np.arange(vertices, dtype=np.int64), degrees)
    if bool((targets >= vertices).any()):
        at = int(np.argmax(targets >= vertices))
        refuse_id(path, f"list of vertex {sources[at]}", int(targets[at]), 0, vertices)
    if not directed:
        sources, targets, _ = mirrored(sources, targets, None)
    return from_arcs(vertices, sources, targets, None, directed, False)
