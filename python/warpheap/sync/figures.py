# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of the experiments: Figures 5 and 6 of Gelado & Garland (PPoPP 2019)."""

from collections.abc import Sequence

from warpheap.experiments.page import Page
from warpheap.experiments.records import Record
from warpheap.report.chart import Chart, Line, Lost, Panel, Point
from warpheap.report.looks import looks_of_names
from warpheap.sync.pairs import DELEGATION, SEMAPHORES, Kind, Pair, comparable, limits_of, pairs_of, spread
from warpheap.sync.run import PAGE_NAME

TEXT = (
    "Two experiments of Gelado and Garland, Throughput-oriented GPU memory allocation (PPoPP 2019), with what threads "
    "wait with. Both forms that are compared do the same work. Times are medians of whole kernels, their start "
    "included, in thread blocks of 256."
)
_HOST = " These are times of the host backend, which runs threads one after the other: they mean nothing."


def page_of(records: Sequence[Record]) -> Page:
    """The page for the records."""
    charts = charts_of(records)
    looks = looks_of_names(name for chart in charts for name in chart.allocators())
    title = "Semaphores and read-copy-update"
    return Page(title, "sync", text_of(records), looks, charts, limits_of(records), PAGE_NAME)


def text_of(records: Sequence[Record]) -> str:
    """What there is to say before the figures."""
    return TEXT if comparable(records) else TEXT + _HOST


def charts_of(records: Sequence[Record]) -> list[Chart]:
    """All figures that the records have points for."""
    made = [_rates(records), _ratios_of_semaphores(records), _ratios_of_delegation(records)]
    return [chart for chart in made if chart.panels]


def _rates(records: Sequence[Record]) -> Chart:
    panels = []
    for batch in sorted({each["batch"] for each in records if "batch" in each}):
        lines = [_line(records, subject, batch) for subject in (SEMAPHORES.base, SEMAPHORES.better)]
        if any(line.points for line in lines):
            panels.append(Panel(f"batches of {batch:,}", lines, "ops/s", field="threads", x_label="threads"))
    note = "Each thread takes one unit, of batches that are made as they run out, by one atomic operation each."
    fewer = [each for each in records if "batch" in each and each.get("operations", each["threads"]) < each["threads"]]
    if fewer:
        note += f" At {len(fewer)} points not all threads asked, so that they ended in time: see the table."
    return Chart("semaphores", "Units taken a second, by counting and bulk semaphores", panels, note)


def _line(records: Sequence[Record], subject: str, batch: int) -> Line:
    own = [each for each in records if each.get("batch") == batch and each["subject"] == subject]
    points, lost = [], []
    for each in sorted(own, key=lambda record: record["threads"]):
        if each["status"] == "ok":
            points.append(Point(each["threads"], each["rate"], *spread(each), *spread(each)))
        else:
            lost.append(Lost(each["threads"], each["status"], each["reason"]))
    return Line(subject, points, lost)


def _ratios_of_semaphores(records: Sequence[Record]) -> Chart:
    panels = _ratios(records, SEMAPHORES, "rate of bulk over counting", "batches of {:,}")
    note = "Above 1 bulk is faster. Bars: what the noise of both leaves open."
    return Chart("semaphores-ratio", "Bulk semaphores over counting ones", panels, note)


def _ratios_of_delegation(records: Sequence[Record]) -> Chart:
    panels = _ratios(records, DELEGATION, "speed over the classical barrier", "writers to readers 1:{:,}")
    note = (
        "Each thread looks through a doubly linked list for a tag and takes out what it finds. Above 1 delegation is "
        "faster. Bars: what the noise of both leaves open."
    )
    return Chart("delegation", "RCU delegation over the classical barrier", panels, note)


def _ratios(records: Sequence[Record], kind: Kind, title: str, name: str) -> list[Panel]:
    lines: dict[int, list[Point]] = {}
    for pair in pairs_of(records, kind):
        lines.setdefault(pair.parameter, []).append(_point(pair))
    if not lines:
        return []
    places = [point.x for points in lines.values() for point in points]
    even = [Point(x, 1, 1, 1, 1, 1) for x in sorted({min(places), max(places)})]
    drawn = [Line(name.format(parameter), points) for parameter, points in lines.items()]
    return [Panel(title, drawn, "ratio", field="threads", x_label="threads", reference=even, reference_name="alike")]


def _point(pair: Pair) -> Point:
    return Point(pair.threads, pair.ratio, pair.low, pair.high, pair.low, pair.high)
