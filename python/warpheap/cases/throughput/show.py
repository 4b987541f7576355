# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The throughput case in the report."""

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure as Canvas

from warpheap.cases.throughput.axes import MODES
from warpheap.record import Record
from warpheap.report import plots, tables
from warpheap.report.sections import Figure, Grid, Section
from warpheap.units import show_bytes, show_count

_LEGEND = (
    "Lines are medians, bands reach from the fastest to the slowest round. A cross in the strip at the top is a case "
    "without a result: it failed, ran out of time or crashed; the table of such cases gives the reason."
)
# Time against threads is drawn for at most this many sizes, spread over those that were measured.
_SIZES_SHOWN = 3


def sections(records: Sequence[Record]) -> list[Section]:
    """The case's chapter: pictures and tables for each mode, or, where times mean nothing, what was verified."""
    if not tables.comparable(records):
        return [_host_section(records)]
    return [_mode_section([each for each in records if each["mode"] == mode]) for mode in tables.modes_of(records)]


def _mode_section(records: Sequence[Record]) -> Section:
    mode = records[0]["mode"]
    figures = []
    if len(tables.in_order(records, "size")) > 1:
        alt = (
            f"Time of a malloc and a free kernel against block size, mode {mode}, one panel for each number of threads"
        )
        figures.append(Figure("Time against size", plots.to_svg(against_size(records), alt), alt, _LEGEND))
    if len(tables.in_order(records, "threads")) > 1:
        alt = f"Time of a malloc and a free kernel against threads, mode {mode}, one panel for each block size"
        figures.append(Figure("Time against threads", plots.to_svg(against_threads(records), alt), alt, _LEGEND))
    what = MODES[mode] if mode in MODES else str(mode)
    text = f"{what[0].upper()}{what[1:]}. Times are those of the whole kernel, its start included."
    return Section(f"Throughput: mode {mode}", text, figures, tables.summary_grids(records))


def _host_section(records: Sequence[Record]) -> Section:
    alt = "Address range that blocks lie in, as a multiple of the bytes asked for, against block size"
    figure = Figure(
        "Memory: address range over bytes asked for",
        plots.to_svg(memory_against_size(records), alt),
        alt,
        "From the first byte of the lowest block to the last of the highest, over the bytes that were asked for, in "
        "the last round that was checked: 1 is the least. This depends on the design and not on the machine's speed.",
    )
    memory = tables.memory_grid(records)
    grids: list[Grid] = [*tables.summary_grids(records), *([memory] if memory else [])]
    text = (
        "Kernels ran on the host backend, which shows whether blocks are sound and what memory a design takes. Its "
        "times say nothing about a GPU, so none are shown."
    )
    return Section("Throughput: verification and memory", text, [figure], grids)


def against_size(records: Sequence[Record], title: str = "") -> Canvas:
    """Time against size: a row for malloc and one for free, a panel for each number of threads."""
    panels = [
        (f"{show_count(threads)} threads", [each for each in records if each["threads"] == threads])
        for threads in tables.in_order(records, "threads")
    ]
    return _timing_figure(panels, "size", _size_label(records), lambda value: show_bytes(round(value)), title)


def against_threads(records: Sequence[Record], title: str = "") -> Canvas:
    """Time against threads: a row for malloc and one for free, a panel for each of a few sizes."""
    sizes = tables.in_order(records, "size")
    shown = [sizes[index * (len(sizes) - 1) // max(_SIZES_SHOWN - 1, 1)] for index in range(_SIZES_SHOWN)]
    bound = "up to " if records[0]["mode"] == "mixed" else ""
    panels = [
        (f"{bound}{show_bytes(size)}", [each for each in records if each["size"] == size])
        for size in dict.fromkeys(shown)
    ]
    return _timing_figure(panels, "threads", "threads", lambda value: _short_count(round(value)), title)


def memory_against_size(records: Sequence[Record]) -> Canvas:
    """Address range over bytes asked for: a panel for each mode, at the largest number of threads."""
    threads = max(tables.in_order(records, "threads"))

    def ratio(record: Record) -> tuple[float, float, float] | None:
        memory = record["memory"]
        if record["status"] != "ok" or not memory or not memory.get("requested_bytes"):
            return None
        value = memory["span_bytes"] / memory["requested_bytes"]
        return value, value, value

    panels = [
        plots.Panel(
            f"mode {mode}, {show_count(threads)} threads",
            _lines([each for each in records if each["mode"] == mode and each["threads"] == threads], "size", ratio),
        )
        for mode in tables.modes_of(records)
    ]
    rows = [plots.Row("range / asked", panels)]
    return plots.draw(rows, "size", lambda value: show_bytes(round(value)), lambda value: f"{value:g}", log_y=False)


def _timing_figure(
    panels: Sequence[tuple[str, Sequence[Record]]], field: str, label: str, show_x: Callable[[float], str], title: str
) -> Canvas:
    rows = []
    for operation in ("malloc", "free"):

        def times(record: Record, name: str = f"{operation}_us") -> tuple[float, float, float] | None:
            measured = record[name]
            return None if measured is None else (measured["median"], measured["min"], measured["max"])

        drawn = [plots.Panel(f"{operation}, {title}", _lines(part, field, times)) for title, part in panels]
        if operation == "malloc" or any(line.x for panel in drawn for line in panel.lines):
            rows.append(plots.Row("time of the kernel", drawn))
    return plots.draw(rows, label, show_x, _short_microseconds, title=title)


def _lines(
    records: Sequence[Record], field: str, value: Callable[[Record], tuple[float, float, float] | None]
) -> list[plots.Line]:
    lines = []
    for name in tables.allocators_of(records):
        own = sorted((each for each in records if each["allocator"] == name), key=lambda each: each[field])
        points = [(each[field], found) for each in own if (found := value(each)) is not None]
        lost = [each[field] for each in own if each["status"] != "ok"]
        lines.append(
            plots.Line(
                name,
                own[0].get("position", 0),
                [x for x, _ in points],
                [y for _, (y, _, _) in points],
                [low for _, (_, low, _) in points],
                [high for _, (_, _, high) in points],
                lost,
            )
        )
    return [line for line in lines if line.x or line.lost]


def _size_label(records: Sequence[Record]) -> str:
    return "largest size" if records[0]["mode"] == "mixed" else "size"


def _short_count(value: int) -> str:
    for unit, letter in ((10**6, "M"), (10**3, "k")):
        if value >= unit and value % unit == 0:
            return f"{value // unit}{letter}"
    return f"{value:,}"


def _short_microseconds(value: float) -> str:
    for unit, name in ((1e6, "s"), (1e3, "ms")):
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value:g} µs"
