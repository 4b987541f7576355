# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of one run over another: cold over warm, shuffled over as allocated, a part over the whole."""

from collections.abc import Callable
from typing import Any

from warpheap.record import Record
from warpheap.report import data
from warpheap.report.chart import Line, Panel, Point
from warpheap.report.lines import X_LABELS
from warpheap.report.record_set import RecordSet

Value = Callable[[Record], float | None]


def median_of(name: str) -> Value:
    """The median of that measure."""

    def value(record: Record) -> float | None:
        found = data.measure(record, name)
        return None if found is None else float(found["median"])

    return value


def relative_panel(
    records: RecordSet,
    over: RecordSet,
    field: str,
    values: tuple[Value, Value],
    title: str,
    share: bool = False,
) -> Panel:
    """For each allocator and place the first value of `records` over the second of `over` at the same point."""
    known: dict[tuple[Any, ...], float] = {}
    for record in over:
        value = values[1](record)
        if value:
            known[_place(record)] = value
    lines = []
    for allocator in records.allocators:
        points = []
        for record in sorted(records, key=lambda each: each[field]):
            value = values[0](record)
            if record["allocator"] == allocator and value is not None and _place(record) in known:
                ratio = value / known[_place(record)]
                points.append(Point(record[field], ratio, ratio, ratio, ratio, ratio))
        if points:
            lines.append(Line(allocator, points))
    return Panel(title, lines, "ratio", share, field, X_LABELS[field])


def _place(record: Record) -> tuple[Any, ...]:
    return record["allocator"], record["threads"], record["size"], record["heap_bytes"]
