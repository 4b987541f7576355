# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The cold and warm heap in the report: both times, and the one over the other."""

from warpheap.report import generic
from warpheap.report.chapters.throughput import MEASURES
from warpheap.report.chart import Chart
from warpheap.report.record_set import RecordSet
from warpheap.report.relative import median_of, relative_panel
from warpheap.report.sections import Section


def sections(records: RecordSet) -> list[Section]:
    """The ratio first: that is what the case asks."""
    return generic.section(
        records, [*_cold_over_warm(records), *generic.charts(records, lambda name: name in MEASURES)]
    )


def _cold_over_warm(records: RecordSet) -> list[Chart]:
    field = "size" if len(records.values("size")) > 1 else "threads"
    if len(records.values(field)) < 2:
        return []
    cold, warm = (records.where(mode=mode) for mode in ("cold", "warm"))
    other = "threads" if field == "size" else "size"
    most = max(records.values(other))
    cold = cold.where(**{other: most})
    panels = [
        relative_panel(cold, warm, field, (median_of(name), median_of(name)), name)
        for name in records.measures
        if name in MEASURES
    ]
    panels = [panel for panel in panels if panel.lines]
    note = "Above 1 the first round on a heap costs more than a later one."
    return [Chart("temperature-ratio", "Cold over warm", panels, note)] if panels else []
