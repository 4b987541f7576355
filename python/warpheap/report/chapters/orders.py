# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The order of frees in the report: the times, and each order over that of allocation."""

from warpheap.report import generic, texts
from warpheap.report.chart import Chart
from warpheap.report.record_set import RecordSet
from warpheap.report.relative import median_of, relative_panel
from warpheap.report.sections import Section

_BASE = "as_allocated"


def sections(records: RecordSet) -> list[Section]:
    """The ratio first: that is what the case asks."""
    return generic.section(records, [*_over_as_allocated(records), *generic.charts(records)])


def _over_as_allocated(records: RecordSet) -> list[Chart]:
    field = "size" if len(records.values("size")) > 1 else "threads"
    if len(records.values(field)) < 2 or "free" not in records.measures:
        return []
    other = "threads" if field == "size" else "size"
    most = max(records.values(other))
    own = records.where(**{other: most})
    base = own.where(mode=_BASE)
    panels = []
    for mode in own.modes:
        part = own.where(mode=mode)
        # In one kernel the free is not timed alone.
        if mode not in (_BASE, "same_kernel"):
            values = (median_of("free"), median_of("free"))
            panels.append(relative_panel(part, base, field, values, texts.words(mode)))
    panels = [panel for panel in panels if panel.lines]
    return [Chart("orders-ratio", f"Free, over that {texts.words(_BASE)}", panels)] if panels else []
