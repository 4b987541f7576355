# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as PNG and SVG files, for papers and READMEs: the panels of the page, drawn with matplotlib on white."""

import re
import textwrap
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from warpheap.report import numbers, svg
from warpheap.report.chart import Bars, Chart, Line, Panel, Point
from warpheap.report.looks import Look, Looks
from warpheap.report.scale import Scale, beyond, shared_scales, shared_x_scales, thinned, x_values

# A name between two dollars is a name and no formula. Labels are made when a figure is saved, so this holds for all.
matplotlib.rcParams["text.parse_math"] = False

_COLUMNS = 3
# Entries of a legend side by side.
_LEGEND = 5
# Letters of a panel's title in one line.
_TITLE = 38
_TITLE_BESIDE_NAMES = 28  # where the names of bars take room from the panels
# Inches for the names of bars: what three panels side by side can spare.
_NAMES = 1.25
_INK, _SOFT, _RULE, _BAD = "#1a1e23", "#57616d", "#d5dae0", "#b3261e"
_MARKERS = {
    "circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "cross": "P", "pentagon": "p", "left": "<",
    "right": ">",
}  # fmt: skip
_RC: Any = {
    "font.family": "DejaVu Sans", "font.size": 8.5, "axes.titlesize": 9, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.edgecolor": _SOFT, "axes.linewidth": 0.8, "axes.spines.top": False,
    "axes.spines.right": False, "axes.axisbelow": True, "text.color": _INK, "axes.labelcolor": _SOFT,
    "xtick.color": _INK, "ytick.color": _INK, "grid.color": _RULE, "grid.linewidth": 0.7, "svg.hashsalt": "warpheap",
}  # fmt: skip


def draw(chart: Chart, looks: Looks, title: str = "") -> Canvas:
    """The chart as one picture with its legend below."""
    with pyplot.rc_context(_RC):
        panels = max(len(chart.panels), 1)
        names = _room_for_names(chart.panels)
        rows = -(-panels // (_COLUMNS if names <= _NAMES else _COLUMNS - 1))
        columns = -(-panels // rows)  # the last row has as few gaps as can be
        tallest = max((len(panel.bars) for panel in chart.panels if isinstance(panel, Bars)), default=0)
        lines = [panel for panel in chart.panels if isinstance(panel, Panel)]
        legend = _legend_of(chart, lines, looks) if lines else []
        figure, grid = _grid(rows, columns, max(1.75, 0.17 * tallest), 0.19 * -(-len(legend) // _LEGEND), names)
        figure.suptitle(title or chart.title, x=0.01, y=1 - 0.08 / figure.get_figheight(), ha="left", va="top",
                        fontsize=11, fontweight="bold")  # fmt: skip
        x_scales = iter(shared_x_scales(lines) if lines else [])
        cells = iter(grid.flat)
        for panel, scale in zip(chart.panels, shared_scales(chart.panels), strict=True):
            axes = next(cells)
            # No line begins with the unit of a number.
            whole = re.sub(r"(\d) ([A-Za-z]+)", "\\1\N{NO-BREAK SPACE}\\2", panel.heading)
            axes.set_title(textwrap.fill(whole, _TITLE if not tallest else _TITLE_BESIDE_NAMES))
            if isinstance(panel, Bars):
                _bars(axes, panel, scale, looks)
            else:
                _lines(axes, panel, next(x_scales), scale, looks, 4 if tallest else 6)
        for axes in cells:
            axes.set_visible(False)
        if legend:
            figure.legend(handles=legend, loc="lower center", ncols=_LEGEND, frameon=False, fontsize=8.5)
        return figure


def _room_for_names(panels: Sequence[Panel | Bars]) -> float:
    """Inches left of a panel of bars for the longest of their names; 0 where there are no bars."""
    names = [bar.allocator for panel in panels if isinstance(panel, Bars) for bar in panel.bars]
    return max(_NAMES, *(0.2 + _width_of(name) for name in set(names))) if names else 0.0


@cache
def _width_of(name: str) -> float:
    """Inches that a name takes."""
    return float(TextPath((0, 0), name, size=_RC["font.size"]).get_extents().width / 72)


def _grid(rows: int, columns: int, panel: float, legend: float, names: float) -> tuple[Canvas, Any]:
    """Axes with room, in inches, for what stands around them: a layout that is solved anew takes seconds a figure."""
    top, bottom, gap, left, between = 0.85, 0.62 + legend, 1.0, names or 0.75, names + 0.05 if names else 0.75
    width, height = 10.0, top + bottom + rows * panel + (rows - 1) * gap
    figure, grid = pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False)
    wide = (width - left - 0.2 - (columns - 1) * between) / columns
    figure.subplots_adjust(left=left / width, right=1 - 0.2 / width, top=1 - top / height, bottom=bottom / height,
                           wspace=between / wide, hspace=gap / panel)  # fmt: skip
    return figure, grid


def to_png(figure: Canvas, path: Path) -> None:
    """Writes the figure as its suffix says: a PNG of 2,000 pixels, or SVG, or PDF."""
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
    try:
        with warnings.catch_warnings():
            # A letter that the font lacks is drawn as a box, which the reader sees.
            warnings.filterwarnings("ignore", message="Glyph")
            figure.savefig(path, dpi=200, facecolor="#ffffff", metadata=metadata)
    finally:
        pyplot.close(figure)


def _lines(axes: Axes, panel: Panel, x_scale: Scale, y_scale: Scale, looks: Looks, most_ticks: int) -> None:
    if x_scale.log:
        axes.set_xscale("log", base=2)
    if y_scale.log:
        axes.set_yscale("log")
    axes.set_xlim(x_scale.low, x_scale.high)
    axes.set_ylim(y_scale.low, y_scale.high)
    ticks = x_scale.ticks(5) if panel.field == "rounds" else thinned(x_values([panel]), x_scale, most_ticks)
    _ticks(axes.xaxis, ticks, lambda value: svg.x_text(value, panel.x_unit))
    _ticks(axes.yaxis, y_scale.ticks(), lambda value: numbers.show(value, panel.unit, share=panel.share))
    axes.grid(axis="y")
    axes.set_xlabel(panel.x_label)
    if panel.reference:
        points = panel.reference
        axes.plot([p.x for p in points], [p.y for p in points], color=_SOFT, linestyle=(0, (4, 2)), linewidth=1.3)
    losers = [line.allocator for line in panel.lines if line.lost]
    room = 0.85 * 72 * axes.get_window_extent().width / axes.figure.dpi / max(len(x_values([panel])), 1)
    for line in panel.lines:
        look = looks[line.allocator]
        for stretch in svg.stretches(line):
            _stroke(axes, stretch, look, crowded=len(line.points) > 40)
        # An empty line takes as long to draw as another.
        if above := [point.x for point in line.points if point.y > y_scale.high]:
            axes.plot(above, [1.0] * len(above), transform=axes.get_xaxis_transform(), marker="^", markersize=5,
                      linestyle="none", color=look.light, clip_on=False)  # fmt: skip
        _crosses(axes, line, look, losers, room)


def _stroke(axes: Axes, points: Sequence[Point], look: Look, crowded: bool) -> None:
    x, y = [point.x for point in points], [point.y for point in points]
    axes.plot(
        x, y, color=look.light, linestyle=(0, look.dash) if look.dash else "-", linewidth=1.4,
        marker=None if crowded else _MARKERS[look.marker], markersize=4, markeredgecolor="white", markeredgewidth=0.4,
    )  # fmt: skip
    spreads = [] if crowded else [point for point in points if point.high > point.low]
    if spreads:
        places, ends = [point.x for point in spreads], [(point.low, point.high) for point in spreads]
        axes.vlines(places, *zip(*ends, strict=True), color=look.light, linewidth=1)


def _crosses(axes: Axes, line: Line, look: Look, losers: Sequence[str], room: float) -> None:
    if not line.lost:
        return
    # Above the panel; allocators that are lost at the same place stand side by side, so that none hides another, and
    # together they stay within the `room` of their place, in points, which ends before the next place's.
    points = min(5.0, min(24.0, room) / len(losers)) * (losers.index(line.allocator) - (len(losers) - 1) / 2)
    beside = ScaledTranslation(points / 72, 5 / 72, axes.figure.dpi_scale_trans)
    axes.plot(
        [gap.x for gap in line.lost], [1.0] * len(line.lost), transform=axes.get_xaxis_transform() + beside, marker="x",
        markersize=3.5, linestyle="none", color=look.light, clip_on=False,
    )  # fmt: skip
    axes.set_title(axes.get_title(loc="left"), pad=12)


def _bars(axes: Axes, panel: Bars, scale: Scale, looks: Looks) -> None:
    if scale.log:
        axes.set_xscale("log")
    axes.set_xlim(scale.low, scale.high * (scale.high / scale.low) ** 0.25 if scale.log else scale.high * 1.2)
    _ticks(axes.xaxis, scale.ticks(4), lambda value: numbers.show(value, panel.unit, share=panel.share))
    axes.grid(axis="x")
    if panel.reference is not None:
        axes.axvline(panel.reference, color=_SOFT, linestyle=(0, (4, 2)), linewidth=1.3)
    for row, bar in enumerate(panel.bars):
        colour = looks[bar.allocator].light
        if bar.point is None:
            axes.text(0.01, row, bar.status, va="center", color=_BAD, transform=axes.get_yaxis_transform())
            continue
        if bar.marks:
            values = [value for _, value in bar.marks]
            axes.plot(values, [row] * len(values), color=colour, linewidth=1)
            axes.scatter(values, [row] * len(values), s=[34, 22, 14, 9][: len(values)], color=colour, zorder=3)
        else:
            if scale.log:
                axes.plot([scale.low, bar.point.y], [row, row], color=colour, linewidth=0.8)
                axes.plot([bar.point.y], [row], color=colour, marker="o", markersize=5)
            else:
                axes.barh(row, bar.point.y, height=0.6, color=colour)
        end = max([bar.point.y, *(value for _, value in bar.marks)])
        text = numbers.show(bar.point.y, panel.unit, share=panel.share)
        axes.annotate(text, (end, row), (4, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(panel.bars)), [bar.allocator for bar in panel.bars])
    axes.set_ylim(len(panel.bars) - 0.5, -0.5)


def _legend_of(chart: Chart, panels: Sequence[Panel], looks: Looks) -> list[Line2D]:
    shown = set(chart.allocators())
    handles = [
        Line2D([], [], color=look.light, linestyle=(0, look.dash) if look.dash else "-", marker=_MARKERS[look.marker],
               markersize=4.5, label=look.name)
        # In the order of the page's legend.
        for _, members in looks.families()
        for look in members
        if look.name in shown
    ]  # fmt: skip
    for name in dict.fromkeys(panel.reference_name for panel in panels if panel.reference):
        handles.append(Line2D([], [], color=_SOFT, linestyle=(0, (4, 2)), label=name))
    for name, most in beyond(panels).items():
        above = f"{name}: above, up to {most}"
        handles.append(Line2D([], [], color=looks[name].light, marker="^", linestyle="none", markersize=5, label=above))
    if any(line.lost for panel in panels for line in panel.lines):
        handles.append(Line2D([], [], color=_SOFT, marker="x", linestyle="none", markersize=4.5, label="no result"))
    return handles


def _ticks(axis: Any, ticks: Sequence[float], show: Any) -> None:
    axis.set_minor_locator(NullLocator())
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: show(value)))
