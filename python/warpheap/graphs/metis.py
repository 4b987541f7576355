# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""METIS: a header 'VERTICES EDGES [FORMAT [CONSTRAINTS]]', then a line of neighbours for each vertex, from 1 on."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warpheap.graphs.graph import Graph, from_arcs
from warpheap.graphs.text import Words, check_ids, find_words, parse
from warpheap.graphs.trouble import check_vertex_count, refuse

_HEADER = "write 'VERTICES EDGES' in the first line, and a format such as 001 if there are weights"

_SIZES = "write size and weights before the neighbours, or correct the format in the header"


def read(path: Path, data: bytes) -> Graph:
    """The undirected graph of these lists. Weights of edges are read; sizes and weights of vertices are passed over."""
    words = find_words(path, data, b"%")
    numbers = parse(words, np.int64, "write whole numbers, separated by blanks")
    if len(numbers) == 0:
        refuse(path, 1, "the number of vertices is missing", _HEADER)
    header = int(words.lines[0])
    length = int(np.searchsorted(words.lines, header, side="right"))
    vertices, edges, skipped, has_weights = _header(path, header, numbers[:length])
    numbers, lines = numbers[length:], words.lines[length:]
    # The vertex of a word: its line, counted without header and comments. A line without words is an isolated vertex.
    rows = lines - header - 1 - np.searchsorted(words.comment_lines[words.comment_lines > header], lines)
    if len(rows) and rows[-1] >= vertices:
        line = int(lines[np.argmax(rows >= vertices)])
        refuse(path, line, f"is one more line than {vertices} vertices have", f"correct line {header}, or remove it")
    _check_line_count(path, words, header, vertices)
    return _graph(path, (numbers, lines, rows), (vertices, edges, skipped, has_weights), header)


def _header(path: Path, line: int, numbers: NDArray[np.int64]) -> tuple[int, int, int, bool]:
    """Vertices, edges, numbers in a line before its neighbours, and whether edges have weights."""
    if not 2 <= len(numbers) <= 4:
        refuse(path, line, f"the header has {len(numbers)} numbers", _HEADER)
    vertices, edges, form, constraints = [*map(int, numbers), *(0, 1)[len(numbers) - 2 :]]
    check_vertex_count(path, line, vertices, "split the graph")
    if edges < 0 or constraints < 0:
        refuse(path, line, "the header has a negative number", _HEADER)
    if form not in (0, 1, 10, 11, 100, 101, 110, 111):
        refuse(path, line, f"the format is {form}", "use three digits of 0 and 1: sizes, vertex weights, edge weights")
    skipped = form // 100 + (constraints if form // 10 % 10 else 0)
    return vertices, edges, skipped, form % 10 == 1


def _check_line_count(path: Path, words: Words, header: int, vertices: int) -> None:
    rows = words.line_count - header - int(np.count_nonzero(words.comment_lines > header))
    if rows < vertices:
        what = f"ends after the lines of {rows} of {vertices} vertices"
        refuse(path, words.line_count, what, "fetch it again; an isolated vertex has an empty line")


def _graph(
    path: Path,
    body: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    header: tuple[int, int, int, bool],
    header_line: int,
) -> Graph:
    numbers, lines, rows = body
    vertices, edges, skipped, has_weights = header
    short = np.bincount(rows, minlength=vertices) < skipped
    if short.any():
        refuse(
            path, f"vertex {int(np.argmax(short)) + 1}", f"its line lacks the {skipped} numbers of the vertex", _SIZES
        )
    # The place of each number in its line.
    first = np.ones(len(rows), bool)
    first[1:] = rows[1:] != rows[:-1]
    starts = np.flatnonzero(first)
    place = np.arange(len(rows)) - np.repeat(starts, np.diff(np.concatenate((starts, [len(rows)])))) - skipped
    listed = place >= 0
    numbers, lines, rows, place = numbers[listed], lines[listed], rows[listed], place[listed]
    weights = None
    if has_weights:
        if len(place):
            last = np.concatenate((rows[1:] != rows[:-1], [True]))
            odd = last & (place % 2 == 0)
            if odd.any():
                line = int(lines[np.argmax(odd)])
                refuse(path, line, "its last neighbour has no weight", "write 'NEIGHBOUR WEIGHT' for each edge")
        is_id = place % 2 == 0
        weights = numbers[~is_id].astype(np.float64)
        numbers, lines, rows = numbers[is_id], lines[is_id], rows[is_id]
    check_ids(path, numbers, lines, 1, vertices)
    if len(numbers) != 2 * edges:
        what = f"the lists have {len(numbers)} neighbours, and the header says {edges} edges, each in two lists"
        refuse(path, header_line, what, "correct the header, or the lists")
    targets = numbers - 1
    _check_both_directions(path, rows, targets, lines, vertices)
    return from_arcs(vertices, rows, targets, weights, False, False)


def _check_both_directions(
    path: Path, rows: NDArray[np.int64], targets: NDArray[np.int64], lines: NDArray[np.int64], vertices: int
) -> None:
    """Refuses an edge that only one of its two lists has."""
    there = rows * vertices + targets
    back = targets * vertices + rows
    if np.array_equal(np.sort(there), np.sort(back)):
        return
    alone = ~np.isin(there, back)
    if alone.any():
        at = int(np.argmax(alone))
        what = f"lists {targets[at] + 1} as a neighbour of {rows[at] + 1}, which the other list lacks"
        refuse(path, int(lines[at]), what, f"add {rows[at] + 1} to the list of {targets[at] + 1}")
    refuse(path, None, "an edge is repeated in one of its two lists only", "list each edge once in both")
