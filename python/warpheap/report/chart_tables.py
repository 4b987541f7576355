# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of a figure as tables: what its panels plot, with the spread of each median."""

from collections.abc import Sequence

from warpheap.report import numbers
from warpheap.report.chart import Bars, Chart, Line, Panel, Point
from warpheap.report.scale import x_values
from warpheap.report.sections import Cell, Grid
from warpheap.report.svg import x_text

# A table wider than this is thinned: it would hide what it is to show.
_MOST_COLUMNS = 24


def grids_of(chart: Chart) -> list[Grid]:
    """A table for each panel of lines, one for all panels of bars; none for lines over rounds."""
    bars = [panel for panel in chart.panels if isinstance(panel, Bars)]
    lines = [panel for panel in chart.panels if isinstance(panel, Panel) and panel.x_unit != "rounds"]
    return ([_of_bars(bars)] if bars else []) + [_of_lines(panel) for panel in lines]


def _of_lines(panel: Panel) -> Grid:
    places = x_values([panel])
    places = places[:: -(-len(places) // _MOST_COLUMNS)] if places else []
    best = {x: _best([p.y for line in panel.lines for p in line.points if p.x == x], panel) for x in places}
    rows = [
        [Cell(line.allocator, allocator=line.allocator), *(_cell(line, x, panel, best[x]) for x in places)]
        for line in panel.lines
    ]
    if panel.reference:
        known = {point.x: point for point in panel.reference}
        rows.append(
            [Cell(panel.reference_name), *(_value(known[x], panel, False) if x in known else Cell("") for x in places)]
        )
    return Grid(panel.heading, [panel.x_label, *(x_text(x, panel.x_unit) for x in places)], rows)


def _of_bars(panels: Sequence[Bars]) -> Grid:
    names = list(dict.fromkeys(bar.allocator for panel in panels for bar in panel.bars))
    rows = []
    for name in names:
        cells = []
        for panel in panels:
            bar = next((each for each in panel.bars if each.allocator == name), None)
            best = _best([each.point.y for each in panel.bars if each.point is not None], panel)
            if bar is None or bar.point is None:
                lost = bar.status if bar is not None and bar.status in ("failed", "timeout", "crashed") else ""
                cells.append(Cell(bar.status if bar else "", lost, bar.reason if bar else ""))
            else:
                cells.append(_value(bar.point, panel, bar.point.y == best and not bar.marks))
        rows.append([Cell(name, allocator=name), *cells])
    return Grid("", ["allocator", *(panel.heading for panel in panels)], rows)


def _cell(line: Line, x: float, panel: Panel, best: float) -> Cell:
    for point in line.points:
        if point.x == x:
            return _value(point, panel, point.y == best)
    for lost in line.lost:
        if lost.x == x:
            return Cell(lost.status, lost.status, lost.reason)
    return Cell("")


def _value(point: Point, panel: Panel | Bars, best: bool) -> Cell:
    shown = numbers.show(point.y, panel.unit, share=panel.share)
    aside = f"±{100 * (point.high - point.low) / 2 / point.y:.0f} %" if point.high > point.low and point.y else ""
    low, high = (numbers.show(value, panel.unit, share=panel.share) for value in (point.least, point.most))
    return Cell(shown, note=f"{low} to {high}", best=best, aside="" if aside == "±0 %" else aside)


def _best(values: Sequence[float], panel: Panel | Bars) -> float:
    """The best of the values; not a number where fewer than two can be compared."""
    if len(values) < 2:
        return float("nan")
    # Of a rate and of a share more is better.
    return max(values) if panel.share or panel.unit == "ops/s" else min(values)
