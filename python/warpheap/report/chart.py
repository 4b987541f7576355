# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a figure is made of, apart from how it is drawn: the page draws it as SVG, `plots` for paper and README."""

from collections.abc import Sequence
from dataclasses import dataclass, field

# Units that no number shows: it is a plain count. A heading names them.
_UNSHOWN = ("cycles",)


def _heading(title: str, unit: str) -> str:
    return ", ".join(part for part in (title, f"in {unit}" if unit in _UNSHOWN else "") if part)


@dataclass(frozen=True)
class Point:
    """A measured value, the spread of its median, and the range of all samples."""

    x: float
    y: float
    low: float
    high: float
    least: float
    most: float


@dataclass(frozen=True)
class Lost:
    """A place where an allocator has no result."""

    x: float
    status: str
    reason: str


@dataclass(frozen=True)
class Line:
    """One allocator in one panel."""

    allocator: str
    points: Sequence[Point]
    lost: Sequence[Lost] = ()


@dataclass(frozen=True)
class Panel:
    """One pair of axes. `reference` is a line that is no allocator's: a baseline to compare with."""

    title: str
    lines: Sequence[Line]
    unit: str
    share: bool = False  # a ratio that is a share of a whole
    field: str = "size"  # of the record, on the x axis: size, threads, heap_bytes; rounds for a series
    x_label: str = "block size"
    reference: Sequence[Point] = ()
    reference_name: str = ""
    scale: str = ""  # panels of a figure with the same scale share their y axis; empty: those of the same unit

    @property
    def heading(self) -> str:
        """The title, and the unit of the y axis where its numbers do not show it."""
        return _heading(self.title, self.unit)

    @property
    def x_unit(self) -> str:
        """What the x axis counts: bytes, threads or rounds."""
        return "bytes" if self.field in ("size", "heap_bytes") else self.field


@dataclass(frozen=True)
class Bar:
    """One allocator: a value, marks beside it (percentiles), or why the value is missing."""

    allocator: str
    point: Point | None
    status: str = ""
    reason: str = ""
    marks: Sequence[tuple[str, float]] = ()


@dataclass(frozen=True)
class Bars:
    """A panel where neither size nor threads vary: a bar for each allocator, or a ladder of marks."""

    title: str
    bars: Sequence[Bar]
    unit: str
    share: bool = False
    scale: str = ""
    reference: float | None = None
    reference_name: str = ""

    @property
    def heading(self) -> str:
        """The title, and the unit of the values where their numbers do not show it."""
        return _heading(self.title, self.unit)


@dataclass(frozen=True)
class Chart:
    """A figure: panels of the same kind. `name` is that of its files and of its anchor on the page."""

    name: str
    title: str
    panels: Sequence[Panel | Bars] = field(default_factory=list)
    note: str = ""

    def allocators(self) -> list[str]:
        """All allocators that occur, in the order of their first panel."""
        names: dict[str, None] = {}
        for panel in self.panels:
            for each in panel.bars if isinstance(panel, Bars) else panel.lines:
                names.setdefault(each.allocator)
        return list(names)
