# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of edges: a pair of ids a line, as SNAP (snap.stanford.edu) has them, perhaps with a weight."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warpheap.graphs.graph import Graph, from_arcs
from warpheap.graphs.text import Numbers, Words, check_ids, find_words, parse, table
from warpheap.graphs.trouble import MOST_VERTICES, check_vertex_count, refuse

_REMEDY = "write 'SOURCE TARGET' or 'SOURCE TARGET WEIGHT' in each line, comments after # or %"


def read(path: Path, data: bytes, vertices: int | None, renumber: bool) -> Graph:
    """The directed graph of these pairs. `vertices` is their number, by default the largest id and one.

    `renumber` gives the ids that occur the numbers from 0 on, in their order; they may then have 63 bits.
    """
    words = find_words(path, data, b"#%")
    first = words.first_of_line()
    starts = np.flatnonzero(first)
    columns = 2 if len(starts) == 0 else int(np.diff([*starts[:2], len(first)])[0])
    if columns not in (2, 3):
        refuse(path, int(words.lines[0]), f"has {columns} columns", _REMEDY)
    table(words, columns, "as the lines before have", _REMEDY)
    numbers = _parse(words, columns)
    lines = np.repeat(words.lines[first], 2)
    ids = numbers[:, :2].reshape(-1)
    weights = numbers[:, 2].astype(np.float64) if columns == 3 else None
    if renumber:
        _check_exact(path, ids, lines)
        names, ids = np.unique(ids, return_inverse=True)
        vertices = len(names) if vertices is None else vertices
        if len(names) > vertices:
            refuse(path, None, f"names {len(names)} vertices, more than the {vertices} asked for", "raise vertices")
        check_vertex_count(path, None, vertices, "split the graph")
    else:
        vertices = _check_range(path, ids, lines, vertices)
    pairs = ids.astype(np.int64).reshape(-1, 2)
    return from_arcs(vertices, pairs[:, 0], pairs[:, 1], weights, True, False)


def _parse(words: Words, columns: int) -> Numbers:
    """The numbers as rows: whole ones, if no weight has a point or an exponent."""
    whole = columns == 2 or not np.isin(words.text, np.frombuffer(b".eEnN", np.uint8)).any()
    return parse(words, np.int64 if whole else np.float64, _REMEDY).reshape(-1, columns)


def _check_range(path: Path, ids: Numbers, lines: NDArray[np.int64], vertices: int | None) -> int:
    """The number of vertices, if all ids are below it and it has ids of 32 bits."""
    if vertices is not None:
        check_vertex_count(path, None, vertices, "split the graph")
        check_ids(path, ids, lines, 0, vertices)
        return vertices
    check_ids(path, ids, lines, 0, 2**63)
    largest = int(ids.max(initial=-1))
    if largest >= MOST_VERTICES:
        line = int(lines[np.argmax(ids)])
        refuse(path, line, f"the id {largest} is too large for 32 bits", "read it with renumber, if fewer ids occur")
    return largest + 1


def _check_exact(path: Path, ids: Numbers, lines: NDArray[np.int64]) -> None:
    """Refuses ids that two different words may have: beside weights with a point they are read as floating numbers."""
    check_ids(path, ids, lines, 0, 2**63)
    # Words of larger numbers become the largest one.
    exact = 2**53 if ids.dtype == np.float64 else 2**63 - 1
    if len(ids) and ids.max() >= exact:
        what = f"an id is {exact} or above, which is too large to be told from others"
        refuse(path, int(lines[np.argmax(ids)]), what, "write smaller ids, or leave out the weights")
