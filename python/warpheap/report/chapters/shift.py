# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The shift case in the report: its measures, and what each change of size comes to in a table."""

from dataclasses import replace

from warpheap.record import Record
from warpheap.report import generic, texts
from warpheap.report.chart import Chart
from warpheap.report.lines import bars_of
from warpheap.report.record_set import RecordSet
from warpheap.report.relative import median_of
from warpheap.report.sections import Cell, Grid, Section
from warpheap.units import show_bytes

_share, _slowdown = median_of("share"), median_of("slowdown")
_FIRST = "after_"
# Changes that have a panel each; with more, sizes are an axis.
_MOST = 6
_TITLES = {
    "share": "Share of a new heap that the second fill gets",
    "fill": "Time of the second fill",
    "fresh": "Time to fill a new heap",
    "slowdown": "Time of a byte over that in a new heap",
}


def sections(records: RecordSet) -> list[Section]:
    """The case's measures, and a table of the changes."""
    few = len({_change(each) for each in records}) <= _MOST
    made = generic.section(records, _by_change(records) if few else generic.charts(records))
    return [replace(section, grids=_summary(records)) for section in made]


def _by_change(records: RecordSet) -> list[Chart]:
    """A figure for each measure, with a panel for each change: in the largest heap, for the most threads."""
    made = []
    for name, example in records.measures.items():
        panels = []
        for first, second in sorted({_change(each) for each in records}):
            own = records.only(lambda each, change=(first, second): _change(each) == change)  # type: ignore[misc]
            own = own.where(heap_bytes=max(own.values("heap_bytes")))
            own = own.where(threads=max(own.values("threads")))
            panels.append(bars_of(own, name, example, f"{show_bytes(first)} to {show_bytes(second)}"))
        made.append(Chart(f"shift-{name}", _TITLES.get(name, texts.words(name).capitalize()), panels))
    return made


def _change(each: Record) -> tuple[int, int]:
    """Bytes of the first and of the second blocks; 0 for a mode that does not tell the first."""
    first = str(each["mode"]).removeprefix(_FIRST)
    return (int(first) if first.isdecimal() else 0), int(each["size"])


def _summary(records: RecordSet) -> list[Grid]:
    """A row for each allocator, a column for each change: the share that came back, and how much slower it was.

    Of several heaps the largest counts, since it has the most to lose.
    """
    changes = sorted({_change(each) for each in records})
    rows = []
    for name in records.allocators:
        own = sorted(records.where(allocator=name), key=lambda each: int(each["heap_bytes"]))
        found = {_change(each): each for each in own if _share(each) is not None}
        if found:
            cells = [_cell(found.get(change)) for change in changes]
            rows.append([Cell(name, allocator=name), *cells])
    if not rows:
        return []
    heads = ["", *(f"{show_bytes(first)} to {show_bytes(second)}" for first, second in changes)]
    note = "The share of a new heap's bytes that the second fill gets, and the time of a byte over that of a new heap."
    return [Grid("What comes back for the other size", heads, rows, note)]


def _cell(each: Record | None) -> Cell:
    share = None if each is None else _share(each)
    if each is None or share is None:
        return Cell("")
    slower = _slowdown(each)
    return Cell(f"{100 * share:.3g} %", aside="" if slower is None else f"{slower:.3g} times the time")
