# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The latency case in the report: percentiles as ladders, then medians and tails against size or threads."""

from warpheap.record import unable
from warpheap.report import data, generic, lines
from warpheap.report.chart import Bar, Bars, Chart
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Section
from warpheap.units import show_bytes, show_count

_STEPS = (("median", "median"), ("95 %", "p95"), ("99 %", "p99"), ("longest", "max"))
_SIZES = 2


def sections(records: RecordSet) -> list[Section]:
    """Ladders first: what a single request may cost is what this case is for."""
    return generic.section(records, [*_ladders(records), *generic.charts(records)])


def _ladders(records: RecordSet) -> list[Chart]:
    drawn = []
    for mode in records.modes:
        of_mode = records.where(mode=mode)
        most = max(of_mode.values("threads"))
        of_mode = of_mode.where(threads=most)
        panels = []
        for size in lines.spread_over(of_mode.values("size"), _SIZES):
            own = of_mode.where(size=size)
            for name, example in own.measures.items():
                bound = "up to " if mode == "mixed" else ""
                title = f"{name}, {bound}{show_bytes(size)}"
                panels.append(Bars(title, [_bar(own, each, name) for each in own.allocators], example["unit"]))
        if panels:
            note = "Dots from left to right: median, 95 %, 99 %, the longest request. The number is the median's."
            title = f"Percentiles, mode {mode}, {show_count(most)} {'warps' if mode == 'warp' else 'threads'}"
            drawn.append(Chart(f"latency-{mode}-percentiles", title, panels, note))
    return drawn


def _bar(records: RecordSet, allocator: str, name: str) -> Bar:
    own = records.where(allocator=allocator)[0]
    value = data.measure(own, name)
    if value is None:
        status = "none" if own["status"] == "ok" else "cannot" if unable(own) else own["status"]
        return Bar(allocator, None, status, own["reason"])
    marks = [(label, value[key]) for label, key in _STEPS if value.get(key) is not None]
    return Bar(allocator, lines.point_of(0, value), marks=marks)
