# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The order of frees in the report: the times, and each order over that of allocation."""

from collections.abc import Sequence

from warpheap.record import Record
from warpheap.report import data, generic, texts
from warpheap.report.chart import Chart
from warpheap.report.relative import median_of, relative_panel
from warpheap.report.sections import Section

_BASE = "as_allocated"


def sections(records: Sequence[Record]) -> list[Section]:
    """The ratio first: that is what the case asks."""
    return generic.section(records, [*_over_as_allocated(records), *generic.charts(records)])


def _over_as_allocated(records: Sequence[Record]) -> list[Chart]:
    field = "size" if len(data.in_order(records, "size")) > 1 else "threads"
    if len(data.in_order(records, field)) < 2 or "free" not in data.measures_of(records):
        return []
    other = "threads" if field == "size" else "size"
    most = max(data.in_order(records, other))
    own = [each for each in records if each[other] == most]
    base = [each for each in own if each["mode"] == _BASE]
    panels = []
    for mode in data.modes_of(own):
        part = [each for each in own if each["mode"] == mode]
        # In one kernel the free is not timed alone.
        if mode not in (_BASE, "same_kernel"):
            values = (median_of("free"), median_of("free"))
            panels.append(relative_panel(part, base, field, values, texts.words(mode)))
    panels = [panel for panel in panels if panel.lines]
    return [Chart("orders-ratio", f"Free, over that {texts.words(_BASE)}", panels)] if panels else []
