# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The out-of-memory case in the report: the share handed out, and how much of the time its last tenth took."""

from warpheap.report import generic, texts
from warpheap.report.chart import Chart, Panel
from warpheap.report.record_set import RecordSet
from warpheap.report.relative import median_of, relative_panel
from warpheap.report.sections import Section


def sections(records: RecordSet) -> list[Section]:
    """The case's measures, and the last tenth over the whole."""
    return generic.section(records, [*generic.charts(records), *_last_tenth(records)])


def _last_tenth(records: RecordSet) -> list[Chart]:
    if not {"total", "last_tenth"} <= set(records.measures) or len(records.values("size")) < 2:
        return []
    panels: list[Panel] = []
    threads = max(records.values("threads"))
    for mode in records.modes:
        own = records.where(mode=mode, threads=threads)
        values = (median_of("last_tenth"), median_of("total"))
        panels.append(relative_panel(own, own, "size", values, texts.words(mode), share=True))
    panels = [panel for panel in panels if panel.lines]
    note = "A design that is as fast at the end as at the start spends 10 % of the time on the last tenth."
    return [Chart("out_of_memory-last-tenth", "Share of the time that the last tenth took", panels, note)] * bool(
        panels
    )
