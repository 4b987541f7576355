# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""One function for all formats of graph files."""

from pathlib import Path

from warpheap.graphs import csr_file, edge_list, graph_tool, matrix_market, metis
from warpheap.graphs.graph import Graph, as_simple, as_undirected
from warpheap.graphs.text import load
from warpheap.graphs.trouble import refuse

_ZIP = b"PK\x03\x04"
_READERS = {
    ".mtx": matrix_market.read,
    ".graph": metis.read,
    ".gt": graph_tool.read,
    ".csr": csr_file.parse_csr,
}


def read_graph(
    path: Path | str,
    *,
    undirected: bool = False,
    simple: bool = False,
    vertices: int | None = None,
    renumber: bool = False,
) -> Graph:
    """The graph of a file: Matrix Market, METIS, graph-tool, the project's CSR, NumPy's `.npz`, or a list of edges.

    The suffix names the format (`.mtx`, `.graph`, `.gt`, `.csr`, `.npz`, each but the last also with `.gz`). A file of
    another name is what its first bytes say, and else a list of edges.

    `undirected` adds the opposite of each arc. `simple` drops loops and, of repeated arcs, all but the first.
    `vertices` and `renumber` are for lists of edges, which name no number of vertices: ids must then be below
    `vertices`, or the ids that occur are numbered anew in their order.

    Raises `GraphFileError` with the file, the line or byte, and the remedy.
    """
    path = Path(path)
    graph = _read(path, vertices, renumber)
    if undirected and graph.directed:
        return as_undirected(graph, simple)
    return as_simple(graph) if simple else graph


def _read(path: Path, vertices: int | None, renumber: bool) -> Graph:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    of_edges = vertices is not None or renumber
    if suffix == ".npz":
        _refuse_options(path, of_edges)
        return csr_file.read_npz(path)
    data = load(path)
    reader = _READERS.get(suffix)
    if reader is None:
        begins = {
            matrix_market.BANNER: matrix_market.read,
            graph_tool.MAGIC: graph_tool.read,
            csr_file.MAGIC: csr_file.parse_csr,
        }
        reader = next((found for magic, found in begins.items() if data.startswith(magic)), None)
    if reader is not None:
        _refuse_options(path, of_edges)
        return reader(path, data)
    if data.startswith(_ZIP):
        refuse(path, None, "is a zip archive", "unpack it, or name it .npz if NumPy wrote it")
    return edge_list.read(path, data, vertices, renumber)


def _refuse_options(path: Path, given: bool) -> None:
    if given:
        refuse(path, None, "is no list of edges and knows its vertices", "leave out vertices and renumber")
