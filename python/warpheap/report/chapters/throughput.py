# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The throughput case in the report: against size, against threads, and what memory the blocks lie in."""

from collections.abc import Sequence

from matplotlib.figure import Figure as Canvas

from warpheap.record import Record
from warpheap.report import generic, lines, plots, ranking, texts
from warpheap.report.chart import Bars, Chart, Line, Panel, Point
from warpheap.report.families import family_of
from warpheap.report.looks import Looks
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Cell, Grid, Section
from warpheap.units import show_bytes, show_count

MEASURES = ("malloc", "free")
_FLOOR = "the floor: each thread only stores a pointer"


def sections(records: RecordSet) -> list[Section]:
    """Times of each mode where they mean something, and the address range, which no machine's speed is in."""
    drawn = []
    for mode in records.modes:
        own = records.where(mode=mode)
        for field, most in (("size", 3), ("threads", 2)):
            chart = generic.against(own, MEASURES, field, most, with_floor)
            if chart is not None:
                drawn.append(chart)
    drawn = drawn or generic.charts(records, lambda name: name in MEASURES, with_floor)
    ranges = memory_chart(records)
    memory = memory_grid(records)
    shown = [*drawn, *([ranges] if ranges else [])]
    if not shown:
        return []
    text = texts.TEXTS["throughput"] if drawn else "Blocks were checked; times of the host backend are not shown."
    return [Section(texts.title_of("throughput"), text, shown, [memory] if memory else [])]


def with_floor(drawn: generic.Drawn) -> Panel | Bars:
    """The panel with what no allocator can beat; records of older sources do not have it."""
    return lines.with_reference(drawn.panel, drawn.records, "floor", _FLOOR)


def memory_chart(records: RecordSet) -> Chart | None:
    """Address range over bytes asked for: a panel for each mode, at the largest number of threads that has any."""
    panels = []
    for mode in records.modes:
        own = records.where(mode=mode).only(lambda each: _ratio(each) is not None)
        if not own:
            continue
        threads = max(own.values("threads"))
        own = own.where(threads=threads)
        found = [
            Line(name, [_point(each) for each in sorted(own.where(allocator=name), key=lambda e: e["size"])])
            for name in own.allocators
        ]
        title = f"{mode}, {show_count(threads)} {'warps' if mode == 'warp' else 'threads'}"
        panels.append(Panel(title, found, "ratio", False, "size"))
    note = (
        "From the first byte of the lowest block to the last of the highest, over the bytes that were asked for, in "
        "the last round that was checked: 1 is the least."
    )
    return Chart("throughput-memory", "Address range over bytes asked for", panels, note) if panels else None


def fastest_of_families(records: Sequence[Record]) -> RecordSet:
    """The records of one allocator of each family: of the one that lacks the fewest times, and among these of the one
    whose times are, in the geometric mean, the shortest.

    An allocator that no table of families knows is a family by itself. A family without any result is there with its
    first allocator, so that the picture shows that it has no time.
    """
    own = RecordSet.of(records)
    found = ranking.scores(ranking.field_of(own), own, MEASURES)
    fastest: dict[str, str] = {}
    for name in own.allocators:
        family = family_of(name)
        known = fastest.setdefault(family.name if family else name, name)
        if found[name].order < found[known].order:
            fastest[family.name if family else name] = name
    return own.only(lambda each: each["allocator"] in fastest.values())


def against_size(records: Sequence[Record], looks: Looks, title: str = "") -> Canvas:
    """Time against size of the records of one mode, as a picture with the `looks` of the page beside it."""
    return _picture(RecordSet.of(records), "size", looks, title)


def against_threads(records: Sequence[Record], looks: Looks, title: str = "") -> Canvas:
    """Time against threads of the records of one mode, as a picture with the `looks` of the page beside it."""
    return _picture(RecordSet.of(records), "threads", looks, title)


def _picture(records: RecordSet, field: str, looks: Looks, title: str) -> Canvas:
    chart = generic.against(records, MEASURES, field, change=with_floor) or Chart("empty", "", [])
    return plots.draw(chart, looks, title or chart.title)


def _ratio(record: Record) -> float | None:
    memory = record["memory"]
    if record["status"] != "ok" or not memory or not memory.get("requested_bytes") or not memory.get("span_bytes"):
        return None
    return float(memory["span_bytes"] / memory["requested_bytes"])


def _point(record: Record) -> Point:
    value = _ratio(record) or 0.0
    return Point(record["size"], value, value, value, value, value)


def memory_grid(records: RecordSet) -> Grid | None:
    """What each allocator took, over all its cases."""
    rows = []
    for name in records.allocators:
        known = [each["memory"] for each in records.where(allocator=name) if each["memory"] is not None]
        if not known:
            continue
        ratios = [
            each["span_bytes"] / each["requested_bytes"]
            for each in known
            if each.get("requested_bytes") and each.get("span_bytes")
        ]
        live = [
            each["live_bytes"] / each["requested_bytes"]
            for each in known
            if each.get("live_bytes") and each.get("requested_bytes")
        ]
        rows.append(
            [
                Cell(name, allocator=name),
                Cell(show_bytes(max(each["committed_bytes"] for each in known))),
                Cell(show_bytes(max(each["metadata_bytes"] for each in known))),
                Cell(_range(ratios)),
                Cell(_range(live)),
            ]
        )
    if not rows:
        return None
    columns = ["allocator", "committed", "metadata", "address range / asked", "live / asked"]
    note = (
        "address range / asked: from the first byte of the lowest block to the last of the highest, over the bytes "
        "that were asked for; live / asked: what the design counts as handed out, over the same; smallest to largest"
    )
    return Grid("Memory", columns, rows, note)


def _range(values: Sequence[float]) -> str:
    if not values:
        return "not known"
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"
