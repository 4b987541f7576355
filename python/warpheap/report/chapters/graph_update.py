# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The graph-update case in the report: the times of both kernels, and a table of what a batch does to the graph."""

from warpheap.record import Record
from warpheap.report import generic, texts
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Cell, Grid, Section
from warpheap.units import show_count

_HEADS = ("", "vertices", "edges", "edges of a batch", "inserted", "lists that move to insert them")
_NOTE = "Of one allocator's run: the batches depend on the point alone. Medians of the timed rounds."


def sections(records: RecordSet) -> list[Section]:
    """The times, then the batches."""
    made = generic.section(records, generic.charts(records, lambda name: name in ("insert", "delete")))
    return [Section(each.title, each.text, each.charts, _batches(records)) for each in made]


def _batches(records: RecordSet) -> list[Grid]:
    points: dict[tuple[str, int, int], Record] = {}
    for each in records:
        if each["measures"] and "graph" in each:
            points.setdefault((each["mode"], each["threads"], each["size"]), each)
    if not points:
        return []
    return [Grid("Graphs and batches", _HEADS, [_row(each) for _, each in sorted(points.items())], _NOTE)]


def _row(record: Record) -> list[Cell]:
    graph, measures = record["graph"], record["measures"]
    numbers = [graph["vertices"], graph["edges"], graph["batch_edges"]]
    numbers += [round(measures[name]["median"]) for name in ("applied", "moved")]
    return [Cell(texts.words(record["mode"])), *(Cell(show_count(number)) for number in numbers)]
