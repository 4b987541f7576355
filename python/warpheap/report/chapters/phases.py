# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The phases case in the report: its measures, and time and refused share of each of the ten phases."""

from dataclasses import replace

from warpheap.report import generic
from warpheap.report.chart import Bars, Chart, Line, Panel, Point
from warpheap.report.record_set import RecordSet
from warpheap.report.rounds import series_charts
from warpheap.report.sections import Section

_TITLES = {
    "phases-phase-rounds": "Time of each phase",
    "phases-refused-rounds": "Share of its requests that each phase was refused",
}
_NOTE = "Of the first run through the ten phases, whose sizes jump up and down."


def sections(records: RecordSet) -> list[Section]:
    """The measures first; the rounds of a series are phases here."""
    drawn = [*generic.charts(records), *map(_by_phase, series_charts(records))]
    return generic.section(
        records, [replace(chart, panels=[_in_per_cent(panel) for panel in chart.panels]) for chart in drawn]
    )


def _by_phase(chart: Chart) -> Chart:
    panels: list[Panel | Bars] = [
        replace(panel, x_label="phase") if isinstance(panel, Panel) else panel for panel in chart.panels
    ]
    return replace(chart, title=_TITLES.get(chart.name, chart.title), panels=panels, note=_NOTE)


def _in_per_cent(panel: Panel | Bars) -> Panel | Bars:
    """A refused share is no multiple of anything, though less of it is better."""
    if panel.unit != "ratio" or panel.share:
        return panel
    if isinstance(panel, Bars):
        bars = [each if each.point is None else replace(each, point=_scaled(each.point)) for each in panel.bars]
        return replace(panel, bars=bars, unit="%")
    lines = [Line(each.allocator, [_scaled(point) for point in each.points], each.lost) for each in panel.lines]
    return replace(panel, lines=lines, unit="%")


def _scaled(point: Point) -> Point:
    return Point(point.x, *(100 * y for y in (point.y, point.low, point.high, point.least, point.most)))
