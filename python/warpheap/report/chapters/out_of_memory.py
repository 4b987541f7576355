# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The out-of-memory case in the report: the share handed out, and how much of the time its last tenth took."""

from collections.abc import Sequence

from warpheap.record import Record
from warpheap.report import data, generic, texts
from warpheap.report.chart import Chart, Panel
from warpheap.report.relative import median_of, relative_panel
from warpheap.report.sections import Section


def sections(records: Sequence[Record]) -> list[Section]:
    """The case's measures, and the last tenth over the whole."""
    return generic.section(records, [*generic.charts(records), *_last_tenth(records)])


def _last_tenth(records: Sequence[Record]) -> list[Chart]:
    if not {"total", "last_tenth"} <= set(data.measures_of(records)) or len(data.in_order(records, "size")) < 2:
        return []
    panels: list[Panel] = []
    threads = max(data.in_order(records, "threads"))
    for mode in data.modes_of(records):
        own = [each for each in records if each["mode"] == mode and each["threads"] == threads]
        values = (median_of("last_tenth"), median_of("total"))
        panels.append(relative_panel(own, own, "size", values, texts.words(mode), share=True))
    panels = [panel for panel in panels if panel.lines]
    note = "A design that is as fast at the end as at the start spends 10 % of the time on the last tenth."
    return [Chart("out_of_memory-last-tenth", "Share of the time that the last tenth took", panels, note)] * bool(
        panels
    )
