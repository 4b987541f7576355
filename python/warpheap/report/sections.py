# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The parts that a report is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from warpheap.report.chart import Chart


@dataclass(frozen=True)
class Cell:
    """A cell of a table; `status` colours it, `aside` follows the text in small letters, `note` under a pointer."""

    text: str
    status: str = ""
    note: str = ""
    best: bool = False
    aside: str = ""
    allocator: str = ""
    allocators: Sequence[str] = ()  # instead of the text


@dataclass(frozen=True)
class Grid:
    """A table."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A chapter: text, then figures, then tables."""

    title: str
    text: str = ""
    charts: Sequence[Chart] = field(default_factory=list)
    grids: Sequence[Grid] = field(default_factory=list)
