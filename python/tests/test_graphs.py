# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of graph files: what they read, and that each error names file, place and remedy."""

import gzip
import io
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from warpheap.errors import UsageError
from warpheap.graphs import Graph, GraphFileError, read_csr, read_graph, triangles, write_csr
from warpheap.graphs import text as graph_text
from warpheap.graphs.triangles import count_triangles

Writer = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    """Writes a file and returns its path; a name that ends in .gz is packed."""

    def written(name: str, text: str | bytes) -> Path:
        data = text.encode() if isinstance(text, str) else text
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return written


def lists(graph: Graph) -> list[list[int]]:
    """The neighbours of each vertex."""
    return [graph.neighbours[a:b].tolist() for a, b in zip(graph.offsets, graph.offsets[1:], strict=False)]


def complaint(path: Path, **options: object) -> str:
    """What the error says of this file, after its path."""
    with pytest.raises(GraphFileError) as raised:
        read_graph(path, **options)  # type: ignore[arg-type]
    said = str(raised.value)
    assert said.startswith(str(path))
    assert "; " in said, "it says what to do"
    return said.removeprefix(str(path))


# --- Matrix Market ----------------------------------------------------------------------------------------------------

MTX = "%%MatrixMarket matrix coordinate {} {}\n% a comment\n\n{}\n"


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.MTX", "matrix.txt"])
def test_matrix_market_of_a_pattern(write: Writer, name: str):
    graph = read_graph(write(name, MTX.format("pattern", "general", "4 4 4\n1 3\n1 2\n4 1\n2 2")))
    assert (graph.vertices, graph.directed, graph.weights) == (4, True, None)
    assert lists(graph) == [[1, 2], [1], [], [0]]
    assert (graph.offsets.dtype, graph.neighbours.dtype) == (np.int64, np.uint32)


def test_matrix_market_of_a_symmetric_matrix_is_undirected(write: Writer):
    graph = read_graph(write("a.mtx", MTX.format("integer", "symmetric", "3 3 3\n1 1 5\n2 1 6\n3 2 -7")))
    assert not graph.directed
    assert lists(graph) == [[0, 1], [0, 2], [1]]
    assert graph.weights is not None
    assert graph.weights.tolist() == [5, 6, 6, -7, -7]
    assert (graph.arcs, graph.edges) == (5, 3)


def test_matrix_market_of_a_skew_symmetric_matrix_has_opposite_weights(write: Writer):
    graph = read_graph(write("a.mtx", MTX.format("real", "skew-symmetric", "3 3 2\n2 1 1.5\n3 1 -2e0")))
    assert lists(graph) == [[1, 2], [0], [0]]
    assert graph.weights is not None
    assert graph.weights.tolist() == [-1.5, 2, 1.5, -2]


def test_matrix_market_of_no_entries(write: Writer):
    assert lists(read_graph(write("a.mtx", MTX.format("pattern", "general", "2 2 0")))) == [[], []]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("1 2\n", 1, "is no header of Matrix Market"),
        ("%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, "does not name"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n", 1, "'array'"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", 1, "'complex'"),
        ("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", 1, "'hermitian'"),
        ("%%MatrixMarket matrix coordinate real general\n%only\n", 2, "ends before the numbers of vertices"),
        (MTX.format("pattern", "general", "1 2"), 4, "numbers of vertices and edges are missing: '1 2'"),
        (MTX.format("pattern", "general", "-3 3 0"), 4, "numbers of vertices and edges are missing"),
        (MTX.format("pattern", "general", "2 3 0"), 4, "2 rows and 3 columns"),
        (MTX.format("pattern", "general", "5000000000 5000000000 0"), 4, "too many for ids of 32 bits"),
        (MTX.format("pattern", "general", "4294967296 4294967296 0"), 4, "too many for ids of 32 bits"),
        (MTX.format("pattern", "general", "2 2 2\n1 2"), 5, "has 1 entries, and line 4 says 2"),
        (MTX.format("pattern", "general", "2 2 1\n1 2 7"), 5, "has 3 columns and not 2"),
        (MTX.format("real", "general", "2 2 2\n1 2 7\n\n2 1"), 7, "has 2 columns and not 3"),
        (MTX.format("real", "general", "2 2 1\n1 two 7"), 5, "'two' is no number"),
        (MTX.format("real", "general", "2 2 1\n1 2 inf"), 5, "'inf' is no number"),
        (MTX.format("real", "general", "2 2 1\n1 1.5 7"), 5, "1.5 is no id of a vertex"),
        (MTX.format("integer", "general", "2 2 1\n1 2 7.5"), 5, "'7.5' is no whole number"),
        (MTX.format("pattern", "general", "2 2 2\n1 2\n2 -1"), 6, "-1 is negative"),
        (MTX.format("pattern", "general", "2 2 1\n0 2"), 5, "0 is no id here, where ids are from 1 on"),
        (MTX.format("pattern", "general", "2 2 1\n3 2"), 5, "3 is above 2, the largest id of 2 vertices"),
        (MTX.format("real", "skew-symmetric", "2 2 1\n2 2 1"), 5, "lies on the diagonal"),
    ],
)
def test_matrix_market_says_what_is_wrong(write: Writer, text: str, line: int, said: str):
    heard = complaint(write("a.mtx", text))
    assert heard.startswith(f":{line}: "), heard
    assert said in heard


# --- lists of edges ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["edges.txt", "edges.txt.gz", "edges.el", "edges"])
def test_list_of_edges(write: Writer, name: str):
    graph = read_graph(write(name, "# SNAP\n# Nodes: 3 Edges: 3\n0\t4\r\n\n  % more\n4 1\n0 1"))
    assert (graph.vertices, graph.directed) == (5, True)
    assert lists(graph) == [[1, 4], [], [], [], [1]]


def test_list_of_edges_with_weights(write: Writer):
    graph = read_graph(write("e.txt", "1 0 2.5\n0 1 -1e3\n"))
    assert graph.weights is not None
    assert (lists(graph), graph.weights.tolist()) == ([[1], [0]], [-1000, 2.5])


def test_list_of_edges_takes_a_number_of_vertices(write: Writer):
    path = write("e.txt", "0 1\n1 2\n")
    assert read_graph(path, vertices=7).vertices == 7
    assert complaint(path, vertices=2).startswith(":2: 2 is above 1, the largest id of 2 vertices")


def test_list_of_edges_numbers_anew(write: Writer):
    path = write("e.txt", "900000000000 7\n7 40\n")
    assert ":1: the id 900000000000 is too large for 32 bits; read it with renumber" in complaint(path)
    graph = read_graph(path, renumber=True)
    # In their order: 7, 40, 900000000000.
    assert (graph.vertices, lists(graph)) == (3, [[1], [], [0]])
    assert ":1: an id is 9223372036854775807 or above" in complaint(write("b.txt", f"{2**70} 0\n"), renumber=True)
    assert ":1: an id is 9007199254740992 or above" in complaint(write("c.txt", f"{2**53} 0 .5\n"), renumber=True)
    assert "names 3 vertices, more than the 2 asked for" in complaint(path, renumber=True, vertices=2)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_list_of_no_edges(write: Writer, text: str):
    graph = read_graph(write("e.txt", text))
    assert (graph.vertices, graph.arcs, graph.offsets.tolist()) == (0, 0, [0])


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("0 1\n# c\n1 x\n", 3, "'x' is no whole number"),
        ("0 1\n1\n", 2, "has 1 columns and not 2"),
        ("0 1\n1 2 3\n4\n", 2, "has 3 columns and not 2"),
        ("0 1 2 3\n", 1, "has 4 columns"),
        ("7\n", 1, "has 1 columns"),
        ("0 1\n\n2 -5\n", 3, "-5 is negative, and ids are from 0 on"),
        ("0 1\n4294967295 0\n", 2, "4294967295 is too large for 32 bits"),
        ("0 1\n99999999999999999999 0\n", 2, "is too large for 32 bits"),
        ("0 1\n1-2 3\n", 2, "'1-2' is no whole number"),
        ("0,1\n", 1, "has 1 columns"),
        ("0 1 0.5\n1 0.5 2\n", 2, "0.5 is no id of a vertex"),
        ("0 1 nan\n", 1, "'nan' is no number"),
        ("0 1_0\n", 1, "'1_0' is no whole number"),
    ],
)
def test_list_of_edges_says_what_is_wrong(write: Writer, text: str, line: int, said: str):
    heard = complaint(write("e.txt", text))
    assert heard.startswith(f":{line}: "), heard
    assert said in heard


# --- METIS ------------------------------------------------------------------------------------------------------------


def test_metis(write: Writer):
    graph = read_graph(write("a.graph", "% first\n4 2\n2 3\n1\n% between\n1\n\n"))
    assert (graph.vertices, graph.directed) == (4, False)
    assert lists(graph) == [[1, 2], [0], [0], []]
    assert graph.edges == 2


@pytest.mark.parametrize(
    "text",
    [
        "3 2 001\n2 9\n1 9 3 8\n2 8\n",
        "3 2 011 2\n5 5 2 9\n6 6 1 9 3 8\n7 7 2 8\n",
        "3 2 111\n1 5 2 9\n1 6 1 9 3 8\n1 7 2 8\n",
    ],
)
def test_metis_with_weights(write: Writer, text: str):
    graph = read_graph(write("a.graph", text))
    assert lists(graph) == [[1], [0, 2], [1]]
    assert graph.weights is not None
    assert graph.weights.tolist() == [9, 9, 8, 8]


def test_metis_passes_over_weights_of_vertices(write: Writer):
    graph = read_graph(write("a.graph", "2 1 10\n5 2\n6 1\n"))
    assert (lists(graph), graph.weights) == ([[1], [0]], None)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", ":1", "number of vertices is missing"),
        ("% only\n", ":1", "number of vertices is missing"),
        ("2\n2\n1\n", ":1", "the header has 1 numbers"),
        ("2 1 7\n2\n1\n", ":1", "the format is 7"),
        ("-2 1\n2\n1\n", ":1", "the number of vertices is -2"),
        ("9000000000 1\n2\n1\n", ":1", "too many for ids of 32 bits"),
        ("2 1\n2\n", ":2", "ends after the lines of 1 of 2 vertices"),
        ("2 1\n2\n1\n1\n", ":4", "one more line than 2 vertices have"),
        ("2 2\n2\n1\n", ":1", "have 2 neighbours, and the header says 2 edges"),
        ("2 1\n2\nx\n", ":3", "'x' is no whole number"),
        ("% c\n2 1\n3\n1\n", ":3", "3 is above 2"),
        ("2 1\n0\n1\n", ":2", "0 is no id here, where ids are from 1 on"),
        ("2 1\n-2\n1\n", ":2", "-2 is negative"),
        ("3 1\n2\n3\n\n", ":2", "lists 2 as a neighbour of 1, which the other list lacks; add 1 to the list of 2"),
        ("2 1 1\n2 5\n1\n", ":3", "its last neighbour has no weight"),
        ("2 1 10\n4 2\n\n", ", vertex 2", "lacks the 1 numbers of the vertex"),
    ],
)
def test_metis_says_what_is_wrong(write: Writer, text: str, place: str, said: str):
    heard = complaint(write("a.graph", text))
    assert heard.startswith(f"{place}: "), heard
    assert said in heard


# --- graph-tool -------------------------------------------------------------------------------------------------------


def gt_bytes(adjacency: list[list[int]], directed: bool, order: str = "<", kind: str = "B") -> bytes:
    """A file of graph-tool with a comment and with what follows the lists."""
    data = "\u26fe gt".encode() + bytes([1, order == ">"])
    data += struct.pack(f"{order}Q", 5) + b"hello" + bytes([directed]) + struct.pack(f"{order}Q", len(adjacency))
    for neighbours in adjacency:
        data += struct.pack(f"{order}Q{len(neighbours)}{kind}", len(neighbours), *neighbours)
    return data + struct.pack(f"{order}Q", 0)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("vertices", "kind"), [(3, "B"), (255, "B"), (256, "H"), (65535, "H"), (65536, "I")])
def test_graph_tool(write: Writer, order: str, vertices: int, kind: str):
    adjacency: list[list[int]] = [[vertices - 1, 1], [], *([] for _ in range(vertices - 2))]
    graph = read_graph(write("a.gt.gz", gt_bytes(adjacency, True, order, kind)))
    assert (graph.vertices, graph.directed) == (vertices, True)
    assert lists(graph) == [sorted(adjacency[0]), *adjacency[1:]]


def test_graph_tool_of_an_undirected_graph_has_both_directions(write: Writer):
    graph = read_graph(write("any", gt_bytes([[1, 0], [2], []], False)))
    assert not graph.directed
    assert (lists(graph), graph.edges) == ([[0, 1], [0, 2], [1]], 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[:31], "more than its bytes can hold"),
        (lambda data: data[:30] + struct.pack("<QB2Q", 30, 1, 2, 0), "byte 38: ends within the neighbours of vertex 0"),
        (lambda data: data[:30] + struct.pack("<Q16s", 16, b""), "byte 54: ends within the degree of vertex 1"),
        (lambda data: data[:7], "byte 7: ends within the byte order"),
        (lambda data: data[:12], "ends within the length of the comment"),
        (lambda data: b"x" + data, "byte 0: is no file of graph-tool"),
        (lambda data: data[:6] + b"\x02" + data[7:], "byte 6: has version 2"),
        (lambda data: data[:22] + struct.pack("<Q", 1 << 40) + data[30:], "too many for ids of 32 bits"),
        (lambda data: data[:22] + struct.pack("<Q", 1 << 30) + data[30:], "more than its bytes can hold"),
        (lambda data: data[:38] + b"\x09" + data[39:], "list of vertex 0: 9 is above 2"),
    ],
)
def test_graph_tool_says_what_is_wrong(write: Writer, change: Callable[[bytes], bytes], said: str):
    assert said in complaint(write("a.gt", change(gt_bytes([[1, 2], [2], []], True))))


# --- compressed sparse rows -------------------------------------------------------------------------------------------


def sample(directed: bool = True) -> Graph:
    offsets = np.array([0, 2, 2, 3], np.int64)
    return Graph(3, offsets, np.array([1, 2, 0], np.uint32), None, directed)


@pytest.mark.parametrize("directed", [True, False])
def test_own_file_is_read_again(tmp_path: Path, directed: bool):
    path = tmp_path / "a.csr"
    write_csr(path, sample(directed))
    for graph in (read_csr(path), read_graph(path)):
        assert (graph.vertices, graph.directed, lists(graph)) == (3, directed, [[1, 2], [], [0]])
    assert [file.name for file in tmp_path.iterdir()] == ["a.csr"]


def test_own_file_has_the_bytes_that_are_promised(tmp_path: Path):
    path = tmp_path / "a.csr"
    write_csr(path, sample())
    assert path.read_bytes() == b"wheapcsr" + struct.pack("<IIQQ4Q3I", 1, 1, 3, 3, 0, 2, 2, 3, 1, 2, 0)


def test_weights_are_not_lost_silently(tmp_path: Path):
    weighted = Graph(1, np.array([0, 1]), np.array([0], np.uint32), np.array([1.0]), True)
    with pytest.raises(UsageError, match="holds no weights"):
        write_csr(tmp_path / "a.csr", weighted)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[:20], "byte 20: ends within its header"),
        (lambda data: b"W" + data[1:], "byte 0: is no file of write_csr"),
        (lambda data: data[:8] + b"\x02" + data[9:], "byte 8: has version 2"),
        (lambda data: data[:-1], "has 75 bytes, and its header says 76"),
        (lambda data: data + b"x", "has 77 bytes, and its header says 76"),
        (lambda data: data[:40] + b"\x03" + data[41:], "offset 2: is below the one before"),
        (lambda data: data[:32] + b"\x01" + data[33:], "the offsets go from 1 to 3"),
        (lambda data: data[:-4] + b"\x03" + data[-3:], "neighbour 2: 3 is above 2"),
    ],
)
def test_own_file_says_what_is_wrong(tmp_path: Path, change: Callable[[bytes], bytes], said: str):
    path = tmp_path / "a.csr"
    write_csr(path, sample())
    path.write_bytes(change(path.read_bytes()))
    assert said in complaint(path)


def npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def test_npz(write: Writer):
    graph = read_graph(write("a.npz", npz(offsets=[0, 2, 2], neighbours=[1, 0], weights=[7.0, 8.0], directed=False)))
    assert (graph.directed, lists(graph)) == (False, [[0, 1], []])
    assert graph.weights is not None
    assert graph.weights.tolist() == [8, 7]


def test_npz_of_scipy(write: Writer):
    indices = np.array([1, 0], np.int32)
    data = npz(indptr=np.array([0, 1, 2], np.int32), indices=indices, data=[1, 2], shape=[2, 2], format=b"csr")
    assert lists(read_graph(write("a.npz", data))) == [[1], [0]]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04 no", "is no archive"),
        (b"nothing", "is no archive"),
        (npz(a=[1]), "has the arrays a"),
        (npz(indptr=[0], indices=[0], format=b"csc"), "has the arrays"),
        (npz(offsets=[0.5], neighbours=[0]), "no rows of whole numbers"),
        (npz(offsets=[0, 1], neighbours=[-1]), "neighbour 0: -1 is negative"),
        (npz(offsets=[0, 1], neighbours=[1]), "neighbour 0: 1 is above 0"),
        (npz(offsets=[0, 1], neighbours=[0], weights=[1.0, 2.0]), "1 neighbours and 2 weights"),
        (npz(indptr=[0, 0], indices=np.zeros(0, int), shape=[1, 2]), "make it square"),
    ],
)
def test_npz_says_what_is_wrong(write: Writer, data: bytes, said: str):
    assert said in complaint(write("a.npz", data))


# --- all formats ------------------------------------------------------------------------------------------------------


def test_simple_and_undirected(write: Writer):
    path = write("e.txt", "0 0\n0 1\n1 0\n0 1\n2 1\n")
    assert lists(read_graph(path, simple=True)) == [[1], [0], [1]]
    assert lists(read_graph(path, undirected=True)) == [[0, 1, 1, 1], [0, 0, 0, 2], [1]]
    graph = read_graph(path, undirected=True, simple=True)
    assert (lists(graph), graph.directed, graph.edges) == ([[1], [0, 2], [1]], False, 2)


def test_simple_keeps_the_first_weight(write: Writer):
    graph = read_graph(write("e.txt", "0 1 5\n0 1 6\n1 1 7\n"), simple=True)
    assert graph.weights is not None
    assert graph.weights.tolist() == [5]
    # So many that a sort which need not keep the order of equal ones does not.
    many = "".join(f"0 {target} {weight}\n" for weight in range(1000) for target in (3, 1, 2))
    graph = read_graph(write("m.txt", many), simple=True)
    assert graph.weights is not None
    assert (lists(graph)[0], graph.weights.tolist()) == ([1, 2, 3], [0, 0, 0])


def test_gzip_that_was_cut_off(write: Writer):
    path = write("e.txt.gz", "0 1\n" * 1000)
    path.write_bytes(path.read_bytes()[:-10])
    assert "ends in the middle of its gzip data; fetch it again" in complaint(path)


def test_gzip_that_is_damaged(write: Writer):
    path = write("e.txt.gz", "0 1\n" * 1000)
    data = bytearray(path.read_bytes())
    data[-6] ^= 1  # in the checksum
    path.write_bytes(bytes(data))
    assert "is damaged" in complaint(path)


def test_names_that_mislead(tmp_path: Path, write: Writer):
    plain = tmp_path / "plain.gz"
    plain.write_text("0 1\n")
    assert "is not packed by gzip" in complaint(plain)
    assert "is a zip archive" in complaint(write("e.txt", b"PK\x03\x04"))
    assert "cannot be read: No such file" in complaint(tmp_path / "absent.mtx")
    assert "leave out vertices and renumber" in complaint(write("a.graph", "0 0\n"), vertices=3)


def test_long_files_are_not_read_line_by_line(write: Writer, monkeypatch: pytest.MonkeyPatch):
    def slow(*_: object) -> None:
        raise AssertionError("a good file was searched for an error")

    monkeypatch.setattr(graph_text, "_refuse_word", slow)
    random = np.random.default_rng(1)
    pairs = random.integers(0, 1000, (20_000, 2))
    text = "\n".join(f"{a} {b}" for a, b in pairs)
    graph = read_graph(write("e.txt", text), vertices=1000)
    expected = sorted(map(tuple, pairs.tolist()))
    assert list(zip(graph.sources().tolist(), graph.neighbours.tolist(), strict=True)) == expected


@pytest.mark.parametrize("at_a_time", [1, 7, 1 << 22])
def test_triangles_are_those_of_a_plain_count(monkeypatch: pytest.MonkeyPatch, at_a_time: int):
    monkeypatch.setattr(triangles, "_AT_A_TIME", at_a_time)
    random = np.random.default_rng(2)
    for vertices in (0, 1, 3, 12, 40):
        adjacent = np.triu(random.random((vertices, vertices)) < 0.4, 1)
        both = adjacent | adjacent.T
        neighbours = np.concatenate([np.flatnonzero(row) for row in both] or [np.zeros(0, int)]).astype(np.uint32)
        offsets = np.concatenate(([0], np.cumsum(both.sum(axis=1)))).astype(np.int64)
        graph = Graph(vertices, offsets, neighbours, None, False)
        assert count_triangles(graph) == int(np.trace(np.linalg.matrix_power(both.astype(int), 3))) // 6
