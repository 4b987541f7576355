# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The memory-access case in the report: writes and reads beside those of a packed array."""

from dataclasses import replace

from warpheap.report import generic, lines
from warpheap.report.chart import Bars, Panel
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Section

_PACKED = "the same bytes in a packed array"


def sections(records: RecordSet) -> list[Section]:
    """Times with the packed array in each panel, then the ratios."""
    times = generic.charts(records, lambda name: name in ("write", "read"), _with_packed)
    ratios = generic.charts(records, lambda name: name.endswith("_ratio"))
    ratios = [replace(each, name=f"{each.name}-ratio", title="Over the packed array") for each in ratios]
    return generic.section(records, [*times, *ratios])


def _with_packed(drawn: generic.Drawn) -> Panel | Bars:
    return lines.with_reference(drawn.panel, drawn.records, f"packed_{drawn.measure}", _PACKED)
