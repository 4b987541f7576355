# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix Market: coordinate files of the kinds pattern, integer and real (math.nist.gov/MatrixMarket/formats.html)."""

from pathlib import Path

import numpy as np

from warpheap.graphs.graph import Graph, from_arcs, mirrored
from warpheap.graphs.text import check_ids, find_words, parse, table
from warpheap.graphs.trouble import check_vertex_count, refuse

BANNER = b"%%MatrixMarket"
_FIELDS = {"pattern": 2, "integer": 3, "real": 3}  # columns of an entry
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_HEADER = "begin the file with '%%MatrixMarket matrix coordinate pattern general' or the like"
_SIZES = "after the comments write 'ROWS COLUMNS ENTRIES'"


def read(path: Path, data: bytes) -> Graph:
    """The graph whose arcs are the entries of the matrix, from row to column. A symmetric matrix is undirected.

    A skew-symmetric one has weights of opposite sign in both directions.
    """
    field, symmetry = _kind(path, data.split(b"\n", 1)[0])
    sizes_line, rows, entries, body = _sizes(path, data)
    words = find_words(path, data[body:], b"", sizes_line + 1)
    columns = _FIELDS[field]
    first = table(words, columns, f"as entries of the kind {field} have", "write 'ROW COLUMN' and the value, if any")
    kind = np.float64 if field == "real" else np.int64
    numbers = parse(words, kind, "write numbers, separated by blanks").reshape(-1, columns)
    lines = words.lines[first]
    if len(numbers) != entries:
        what = f"has {len(numbers)} entries, and line {sizes_line} says {entries}"
        refuse(path, words.line_count, what, "fetch it again, or correct that line")
    check_ids(path, numbers[:, :2].reshape(-1), np.repeat(lines, 2), 1, rows)
    ids = numbers[:, :2].astype(np.int64) - 1
    weights = numbers[:, 2].astype(np.float64) if columns == 3 else None
    sources, targets = ids[:, 0], ids[:, 1]
    if symmetry == "skew-symmetric" and bool((sources == targets).any()):
        line = int(lines[np.argmax(sources == targets)])
        refuse(path, line, "lies on the diagonal, which a skew-symmetric matrix leaves out", "remove the line")
    if symmetry != "general":
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        sources, targets, weights = mirrored(sources, targets, weights, sign)
    return from_arcs(rows, sources, targets, weights, symmetry == "general", False)


def _kind(path: Path, line: bytes) -> tuple[str, str]:
    """Field and symmetry that the first line names."""
    words = line.decode("utf-8", errors="replace").lower().split()
    if not words or words[0] != BANNER.decode().lower():
        refuse(path, 1, "is no header of Matrix Market", _HEADER)
    if len(words) != 5 or words[1] != "matrix":
        refuse(path, 1, "the header does not name object, format, field and symmetry", _HEADER)
    if words[2] != "coordinate":
        refuse(path, 1, f"the format is '{words[2][:40]}'", "convert the matrix to the format coordinate")
    if words[3] not in _FIELDS:
        refuse(path, 1, f"the field is '{words[3][:40]}'", f"convert the values to one of {', '.join(_FIELDS)}")
    if words[4] not in _SYMMETRIES:
        refuse(path, 1, f"the symmetry is '{words[4][:40]}'", f"convert it to one of {', '.join(_SYMMETRIES)}")
    return words[3], words[4]


def _sizes(path: Path, data: bytes) -> tuple[int, int, int, int]:
    """Number of the line of sizes, rows, entries, and where the entries begin in `data`."""
    place, number = 0, 0
    while place < len(data):
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        line = data[place:end].strip()
        place, number = end + 1, number + 1
        if not line or line.startswith(b"%"):
            continue
        words = line.split()
        if len(words) != 3 or not all(word.isdigit() for word in words):
            shown = line[:40].decode("utf-8", errors="replace")
            refuse(path, number, f"the numbers of vertices and edges are missing: '{shown}'", _SIZES)
        rows, columns, entries = map(int, words)
        if rows != columns:
            remedy = "a graph needs as many rows as columns; add empty ones"
            refuse(path, number, f"the matrix has {rows} rows and {columns} columns", remedy)
        check_vertex_count(path, number, rows, "split the graph")
        return number, rows, entries, place
    refuse(path, max(number, 1), "ends before the numbers of vertices and edges", _SIZES)
