# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Measures over the rounds of a case: `series` of the record."""

from collections.abc import Sequence
from statistics import median

from warpheap.report import texts
from warpheap.report.chart import Chart, Line, Panel, Point
from warpheap.report.lines import spread_over
from warpheap.report.record_set import RecordSet
from warpheap.units import show_bytes

# Points that a line has at most: what is longer is shown by the medians of equal stretches.
_MOST_POINTS = 120
_SIZES = 3


def series_charts(records: RecordSet) -> list[Chart]:
    """A figure for each series: a panel for each mode and each of a few sizes, at the largest number of threads."""
    drawn = []
    measured = records.where(status="ok")
    for name, unit in records.series.items():
        own = measured.only(lambda each, name=name: name in (each.get("series") or {}))  # type: ignore[misc]
        most = max(own.values("threads"))
        own = own.where(threads=most)
        panels = []
        for mode in own.modes:
            of_mode = own.where(mode=mode)
            for size in spread_over(of_mode.values("size"), _SIZES):
                part = of_mode.where(size=size)
                bound = "up to " if mode == "mixed" else ""
                panels.append(_panel(part, name, unit, f"{texts.words(mode)}, {bound}{show_bytes(size)}"))
        longest = max(len(each["series"][name]["values"]) for each in own)
        note = f"Lines of more than {_MOST_POINTS} rounds show the medians of equal stretches." * (
            longest > _MOST_POINTS
        )
        drawn.append(
            Chart(f"{own[0]['case']}-{name}-rounds", f"{texts.words(name).capitalize()} over rounds", panels, note)
        )
    return drawn


def _panel(records: RecordSet, name: str, unit: str, title: str) -> Panel:
    lines = []
    for record in sorted(records, key=lambda each: each.get("position") or 0):
        lines.append(Line(record["allocator"], thinned(record["series"][name]["values"])))
    return Panel(title, lines, unit, field="rounds", x_label="round")


def thinned(values: Sequence[float]) -> list[Point]:
    """The values as points; medians of equal stretches where they are many."""
    step = -(-len(values) // _MOST_POINTS)
    points = []
    for start in range(0, len(values), max(step, 1)):
        part = values[start : start + step]
        middle = median(part)
        points.append(Point(start + 1 + (len(part) - 1) / 2, middle, middle, middle, min(part), max(part)))
    return points
