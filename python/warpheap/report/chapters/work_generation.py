# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The work-generation case in the report: the time to generate beside that of the prefix sum."""

from dataclasses import replace

from warpheap.report import generic, lines
from warpheap.report.chart import Bars, Panel
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Section

_BASELINE = "prefix sum and one allocation, with CUB"
_RATIO_NOTE = "Below 1 is faster. ratio_kept: over a baseline that keeps its memory from round to round."


def sections(records: RecordSet) -> list[Section]:
    """The times with the baseline in each panel, then the ratio."""
    times = generic.charts(records, lambda name: name == "generate", _with_baseline)
    ratios = generic.charts(records, lambda name: name.startswith("ratio"))
    ratios = [replace(each, name=f"{each.name}-ratio", title="Over the baseline", note=_RATIO_NOTE) for each in ratios]
    return generic.section(records, [*times, *ratios])


def _with_baseline(drawn: generic.Drawn) -> Panel | Bars:
    return lines.with_reference(drawn.panel, drawn.records, "baseline", _BASELINE)
