# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The exhaustion case in the report: rate and refused share by size, and the rate over that of the toolkit's heap."""

import math
from collections.abc import Sequence

from warpheap.record import Record
from warpheap.report import data, generic, texts
from warpheap.report.chart import Chart, Line, Panel, Point
from warpheap.report.lines import X_LABELS, panel_of
from warpheap.report.relative import median_of
from warpheap.report.sections import Section

_BASELINE = "cuda_malloc"


def sections(records: Sequence[Record]) -> list[Section]:
    """Each measure against the size, whose heap and number of threads go with it."""
    return generic.section(records, [*_by_size(records), *_over_baseline(records)])


def _by_size(records: Sequence[Record]) -> list[Chart]:
    made = []
    measures = data.measures_of(records)
    for names in (("rate", "served"), ("refused",)):
        panels = [
            panel_of(records, "size", name, measures[name], texts.words(name)) for name in names if name in measures
        ]
        if panels:
            title = " and ".join(texts.words(name) for name in names if name in measures).capitalize()
            made.append(Chart(f"exhaustion-{'-'.join(names)}", title, panels))
    return made


def _over_baseline(records: Sequence[Record]) -> list[Chart]:
    """The rate of each allocator over the baseline's at the same size, with the geometric means below."""
    value = median_of("rate")
    baseline = {each["size"]: value(each) for each in records if each["allocator"] == _BASELINE}
    lines, means = [], []
    for name in data.allocators_of(records):
        points = []
        for each in sorted(records, key=lambda record: record["size"]):
            rate, base = value(each), baseline.get(each["size"])
            if each["allocator"] == name and name != _BASELINE and rate and base:
                points.append(Point(each["size"], rate / base, rate / base, rate / base, rate / base, rate / base))
        if points:
            lines.append(Line(name, points))
            mean = math.exp(sum(math.log(point.y) for point in points) / len(points))
            means.append(f"{name} {mean:.3g} over {len(points)} sizes")
    if not lines:
        return []
    note = f"Geometric means: {'; '.join(means)}. Rates count refused requests, too, as the paper does."
    panel = Panel(f"rate over {_BASELINE}", lines, "ratio", False, "size", X_LABELS["size"])
    return [Chart("exhaustion-over-baseline", f"Rate over that of {_BASELINE}", [panel], note)]
