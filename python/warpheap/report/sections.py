# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The parts that a report is made of."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """A cell of a table; `status` colours it, `note` is what a pointer held over it shows."""

    text: str
    status: str = ""
    note: str = ""
    best: bool = False


@dataclass(frozen=True)
class Grid:
    """A table."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture as inline SVG, with a text for those who cannot see it."""

    title: str
    svg: str
    alt: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A chapter: text, then figures, then tables."""

    title: str
    text: str = ""
    figures: list[Figure] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
