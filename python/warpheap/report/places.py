# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Points in words: what a reader needs to find them in a table or a figure."""

from collections.abc import Iterable, Sequence

from warpheap.report import texts
from warpheap.report.data import Point
from warpheap.report.numbers import TIMES
from warpheap.units import show_bytes, show_count


def place_text(threads: int, size: int) -> str:
    """Return threads and size of a point, as in a table of points; what is 0 is left out."""
    parts = [show_count(threads) if threads else "", show_bytes(size) if size else ""]
    return f" {TIMES} ".join(part for part in parts if part)


def places_of(points: Sequence[Point], among: Iterable[Point]) -> list[str]:
    """Return threads and size of each point, with its heap where points of `among` differ in nothing else."""
    known = set(among)
    told = len({point._replace(heap_bytes=0) for point in known}) < len(known)
    return [
        place_text(point.threads, point.size) + (f" in {show_bytes(point.heap_bytes)}" if told else "")
        for point in points
    ]


def words_of_points(points: Sequence[Point], among: Iterable[Point]) -> list[str]:
    """Return each point in words, with its case and mode where `among` has several of them."""
    known = list(among)
    cases, modes = ({point[field] for point in known} for field in (0, 3))
    return [
        " ".join(
            [
                *([texts.words(point.case)] if len(cases) > 1 else []),
                *([texts.words(point.mode)] if len(modes) > 1 else []),
                place,
            ]
        )
        for point, place in zip(points, places_of(points, known), strict=True)
    ]


def some_of(names: Iterable[str], most: int) -> str:
    """Return at most `most` of the different names and the number of the others."""
    different = list(dict.fromkeys(names))
    more = len(different) - most
    return ", ".join(different[:most]) + (f" and {more} more" if more > 0 else "")


def count_of(number: int, noun: str = "point") -> str:
    """Return the number with its noun, such as `1 point` or `12 points`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
