# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The tables as a page of Markdown, to keep beside the record."""

from collections.abc import Sequence

from warpheap.dynamic_graphs.figures import charts_of, limits_of, text_of
from warpheap.dynamic_graphs.measure import name_of
from warpheap.experiments.markdown import joined, lost
from warpheap.experiments.records import Record
from warpheap.report.chart import Bars, Chart
from warpheap.report.numbers import show
from warpheap.words import table


def markdown_of(records: Sequence[Record], command: str) -> str:
    """The page."""
    charts = charts_of(records)
    parts = [
        f"# Dynamic graphs on {joined(records, 'device')}",
        f"{text_of(records)} Sources {joined(records, 'sources')[:12]}; `{command}`.",
        table(["", "measured", "bar", ""], [[each.title, each.measured, each.asked, each.verdict]
                                             for each in limits_of(records)]),
        *(part for chart in charts for part in _case(chart)),
        *_stages(records),
        *_counts(records),
        *lost(records, name_of),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _case(chart: Chart) -> list[str]:
    names = chart.allocators()
    has_reference = any(isinstance(panel, Bars) and panel.reference for panel in chart.panels)
    rows = []
    for panel in chart.panels:
        assert isinstance(panel, Bars)
        bars = {bar.allocator: bar for bar in panel.bars}
        row = [panel.title]
        for name in names:
            bar = bars.get(name)
            row.append("" if bar is None else show(bar.point.y, panel.unit) if bar.point else bar.status)
        if has_reference:
            row.append("" if panel.reference is None else f"{show(panel.reference, panel.unit)}")
        rows.append(row)
    heads = ["graph", *names, *(["beside"] if has_reference else [])]
    note = [chart.note] if chart.note else []
    return [f"## {chart.title}", *note, table(heads, rows)]


def _stages(records: Sequence[Record]) -> list[str]:
    """Where the time of a batch goes on the device."""
    stages = ("sort", "mark", "allocate", "move", "settle", "at_once")
    rows = []
    for each in records:
        for what in ("add", "remove"):
            if each["status"] == "ok" and (times := each.get(f"{what}_stages_us")):
                whole = sum(times[stage] for stage in stages)
                shares = [f"{times[stage] / whole:.0%}" if whole else "" for stage in stages]
                rows.append([f"{name_of(each)}, {what}", show(whole, "us"), *shares])
    heads = ["batch", "on the device", "sort", "mark", "allocate", "move", "settle and free", "in one kernel"]
    return ["## Stages of a batch", table(heads, rows)] if rows else []


def _counts(records: Sequence[Record]) -> list[str]:
    """What became of the edges of batches that are added."""
    rows = []
    for each in records:
        if each["status"] == "ok" and (counts := each.get("add_counts")):
            rate = show(each["add_rate"], "ops/s") if "add_rate" in each else ""
            fields = ("offered", "added", "present", "repeated", "loops", "refused")
            rows.append([name_of(each), *(f"{counts[field]:,}" for field in fields), rate])
    heads = ["added", "offered", "applied", "present", "repeated", "loops", "refused", "applied a second"]
    return ["## Edges of batches", table(heads, rows)] if rows else []
