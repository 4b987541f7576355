# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Compressed sparse rows in files: the project's binary form, and NumPy's `.npz`.

The binary form, all numbers little-endian, is what <warpheap/graph/csr_file.hpp> reads:

    byte 0    8 bytes     the letters "wheapcsr"
    byte 8    uint32      version, 1
    byte 12   uint32      bit 0: the graph is directed; other bits are 0
    byte 16   uint64      V, number of vertices
    byte 24   uint64      E, number of neighbours in all lists
    byte 32   uint64[V+1] offsets: list v is neighbours[offsets[v]] to neighbours[offsets[v + 1] - 1]
    then      uint32[E]   neighbours, ascending in each list; the file ends with the last
"""

import secrets
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpheap.errors import UsageError
from warpheap.graphs.graph import Graph, from_arcs
from warpheap.graphs.text import refuse_id
from warpheap.graphs.trouble import check_vertex_count, refuse

MAGIC = b"wheapcsr"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQQ")
_AGAIN = "write it again with write_csr"


def write_csr(path: Path, graph: Graph) -> None:
    """Writes the binary form of `graph`, whole or not at all. It has no weights, so a graph with them is refused."""
    if graph.weights is not None:
        raise UsageError(f"{path}: the binary form holds no weights; write replace(graph, weights=None)")
    header = _HEADER.pack(MAGIC, _VERSION, int(graph.directed), graph.vertices, graph.arcs)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.draft")
    with draft.open("xb") as stream:
        try:
            stream.write(header)
            stream.write(np.ascontiguousarray(graph.offsets, "<u8").data)
            stream.write(np.ascontiguousarray(graph.neighbours, "<u4").data)
            stream.flush()
            draft.replace(path)
        except BaseException:
            draft.unlink()
            raise


def read_csr(path: Path) -> Graph:
    """The graph of a file that `write_csr` wrote."""
    try:
        return parse_csr(path, path.read_bytes())
    except OSError as problem:
        refuse(path, None, f"cannot be read: {problem.strerror}", "check the path")


def parse_csr(path: Path, data: bytes) -> Graph:
    """The graph of the bytes that `write_csr` wrote."""
    if not data.startswith(MAGIC):
        refuse(path, "byte 0", "is no file of write_csr", _AGAIN)
    if len(data) < _HEADER.size:
        refuse(path, f"byte {len(data)}", "ends within its header", _AGAIN)
    _, version, flags, vertices, arcs = _HEADER.unpack_from(data)
    if version != _VERSION or flags > 1:
        refuse(path, "byte 8", f"has version {version} and flags {flags}; this reads version {_VERSION}", _AGAIN)
    check_vertex_count(path, "byte 16", vertices, _AGAIN)
    size = _HEADER.size + 8 * (vertices + 1) + 4 * arcs
    if len(data) != size:
        refuse(path, f"byte {len(data)}", f"has {len(data)} bytes, and its header says {size}", _AGAIN)
    offsets = np.frombuffer(data, "<u8", vertices + 1, _HEADER.size).astype(np.int64)
    neighbours = np.frombuffer(data, "<u4", arcs, size - 4 * arcs).astype(np.uint32)
    _check_rows(path, offsets, neighbours)
    return Graph(vertices, offsets, neighbours, None, flags == 1)


def read_npz(path: Path) -> Graph:
    """The directed graph of a `.npz` file with `offsets`, `neighbours` and perhaps `weights` and `directed`.

    What SciPy's save_npz writes for a CSR matrix is read, too: `indptr`, `indices` and `data`.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as problem:
        refuse(path, None, f"cannot be read: {problem.strerror or problem}", "check the path")
    except (ValueError, EOFError, zipfile.BadZipFile) as problem:
        refuse(path, None, f"is no archive of NumPy's arrays: {problem}", "write it again with numpy.savez")
    names = ("offsets", "neighbours", "weights") if "offsets" in arrays else ("indptr", "indices", "data")
    form = arrays.get("format", np.array("csr")).tobytes().strip(b"\0")
    remedy = "save it with the arrays offsets and neighbours, or as a CSR matrix of SciPy"
    if names[0] not in arrays or names[1] not in arrays or form.replace(b"\0", b"") != b"csr":
        refuse(path, None, f"has the arrays {', '.join(sorted(arrays)) or 'none'}", remedy)
    offsets, neighbours, weights = (arrays.get(name) for name in names)
    assert offsets is not None and neighbours is not None
    whole = offsets.dtype.kind in "iu" and neighbours.dtype.kind in "iu"
    if not whole or offsets.ndim != 1 or neighbours.ndim != 1 or len(offsets) == 0:
        refuse(path, None, f"{names[0]} and {names[1]} are no rows of whole numbers", remedy)
    if "shape" in arrays and tuple(arrays["shape"]) != (len(offsets) - 1,) * 2:
        refuse(path, None, f"the matrix has the shape {tuple(map(int, arrays['shape']))}", "make it square")
    if weights is not None and weights.shape != neighbours.shape:
        refuse(path, None, f"has {len(neighbours)} neighbours and {weights.size} weights", "write a weight for each")
    check_vertex_count(path, None, len(offsets) - 1, "split the graph")
    _check_rows(path, offsets.astype(np.int64), neighbours)
    directed = bool(arrays.get("directed", np.array(True)))
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets.astype(np.int64)))
    values = None if weights is None else weights.astype(np.float64)
    return from_arcs(len(offsets) - 1, rows, neighbours, values, directed, False)


def _check_rows(path: Path, offsets: NDArray[np.int64], neighbours: NDArray[np.integer[Any]]) -> None:
    """Checks that the lists lie one after another in all of `neighbours`, and that ids are those of vertices."""
    wrong = np.flatnonzero(np.diff(offsets) < 0)
    if len(wrong):
        refuse(path, f"offset {wrong[0] + 1}", "is below the one before", "write offsets that never fall")
    if offsets[0] != 0 or offsets[-1] != len(neighbours):
        what = f"the offsets go from {offsets[0]} to {offsets[-1]}, and there are {len(neighbours)} neighbours"
        refuse(path, None, what, "let them go from 0 to the number of neighbours")
    vertices = len(offsets) - 1
    bad = (neighbours < 0) | (neighbours >= vertices)
    if bad.any():
        at = int(np.argmax(bad))
        refuse_id(path, f"neighbour {at}", int(neighbours[at]), 0, vertices)
