# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""From records to the lines of a panel."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from warpheap.record import Measure, unable
from warpheap.report import data
from warpheap.report.chart import Bar, Bars, Line, Lost, Panel, Point
from warpheap.report.record_set import RecordSet

X_LABELS = {"size": "block size", "threads": "threads", "heap_bytes": "heap"}


def lines_of(records: RecordSet, field: str, name: str) -> list[Line]:
    """A line for each allocator: the measure of that name against a field of the record."""
    lines = []
    for allocator in records.allocators:
        own = sorted(records.where(allocator=allocator), key=lambda each: each[field])
        points = [point_of(each[field], value) for each in own if (value := data.measure(each, name)) is not None]
        gaps = [Lost(each[field], each["status"], each["reason"]) for each in own if data.lost(each)]
        if points or gaps:
            lines.append(Line(allocator, points, gaps))
    return lines


def point_of(x: float, value: Measure) -> Point:
    """A measure at that place of the x axis."""
    low, high = data.spread(value)
    return Point(x, value["median"], low, high, value["min"], value["max"])


def is_share(unit: str, better: str) -> bool:
    """A ratio of which more is better is a share of a whole; any other is a multiple."""
    return unit == "ratio" and better == "higher"


def panel_of(records: RecordSet, field: str, name: str, example: Measure, title: str) -> Panel:
    """The measure against size or threads."""
    label = X_LABELS[field]
    if field == "size" and {each["mode"] for each in records} == {"mixed"}:
        label = "largest block size"
    if field == "threads" and {each["mode"] for each in records} == {"warp"}:
        label = "warps"  # of which one thread each asks
    return Panel(
        title,
        lines_of(records, field, name),
        example["unit"],
        is_share(example["unit"], example["better"]),
        field,
        label,
    )


def bars_of(records: RecordSet, name: str, example: Measure, title: str) -> Bars:
    """A bar for each allocator; where there are several records of one, its first."""
    bars = []
    for allocator in records.allocators:
        own = records.where(allocator=allocator)[0]
        value = data.measure(own, name)
        if value is None and own["status"] == "ok":
            bars.append(Bar(allocator, None, "none"))
        elif value is None:
            bars.append(Bar(allocator, None, "cannot" if unable(own) else own["status"], own["reason"]))
        else:
            bars.append(Bar(allocator, point_of(0, value)))
    share = is_share(example["unit"], example["better"])
    # Bars of different measures are on scales of their own: nobody compares their lengths.
    return Bars(title, bars, example["unit"], share, scale=name)


def spread_over(values: Sequence[int], most: int) -> list[int]:
    """At most so many of the values, from the first to the last."""
    if len(values) <= most:
        return list(values)
    return [values[round(index * (len(values) - 1) / (most - 1))] for index in range(most)]


def with_reference(panel: Panel | Bars, records: RecordSet, measure: str, name: str) -> Panel | Bars:
    """The panel with the baseline that the processes of `records` measured; as it is if none did."""
    points = reference_of(records, panel.field if isinstance(panel, Panel) else "size", measure)
    if isinstance(panel, Panel):
        return replace(panel, reference=points, reference_name=name) if points else panel
    return replace(panel, reference=points[0].y, reference_name=name) if len(points) == 1 else panel


def reference_of(records: RecordSet, field: str, name: str) -> list[Point]:
    """A baseline that every process measures anew: at each place the median over all allocators' processes."""
    found: dict[int, list[float]] = {}
    for record in records:
        value = data.measure(record, name)
        if value is not None:
            found.setdefault(record[field], []).append(value["median"])
    return [
        Point(x, median(values), min(values), max(values), min(values), max(values))
        for x, values in sorted(found.items())
    ]
