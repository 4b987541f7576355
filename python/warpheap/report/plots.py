# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What all figures of the survey share: logarithmic panels of one line an allocator, with failures on show."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from warpheap.report import style

# The strip at the top of a panel that cases without a result are marked in, as a share of its height.
_STRIP = 0.09
# Labels at line ends keep this distance, in points.
_LABEL_STEP = 12.5
# Crosses of allocators that are lost at the same place stand this far apart, in points.
_CROSS_STEP = 8.0


@dataclass(frozen=True)
class Line:
    """One allocator in one panel: points with their spread, and the places where it has no result."""

    name: str
    position: int  # in the registry
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    lost: Sequence[float]  # x of cases that failed


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Row:
    """Panels side by side that share their y axis."""

    label: str
    panels: Sequence[Panel]


def draw(
    rows: Sequence[Row],
    x_label: str,
    show_x: Callable[[float], str],
    show_y: Callable[[float], str],
    *,
    log_y: bool = True,
    title: str = "",
) -> Canvas:
    """A figure of rows of panels with labels at the line ends of the last panel of each row.

    `title` is for a picture that stands alone; on the page the figure's heading says it.
    """
    with pyplot.rc_context(style.RC):
        columns = max(len(row.panels) for row in rows)
        layout = ConstrainedLayoutEngine(w_pad=0.07, h_pad=0.06, wspace=0.02, hspace=0.03)
        height = 0.75 + 0.35 * bool(title) + 2.55 * len(rows)
        figure, grid = pyplot.subplots(
            len(rows), columns, figsize=(10, height), squeeze=False, sharex=True, layout=layout
        )  # fmt: skip
        if title:
            figure.suptitle(title, x=0.012, ha="left", fontsize=12.5, fontweight="bold", color=style.INK)
        # All panels share the x axis, so that what is missing in one of them is seen to be missing.
        ticks = sorted(
            {x for row in rows for panel in row.panels for line in panel.lines for x in (*line.x, *line.lost)}
        )
        for row, axes_of_row in zip(rows, grid, strict=True):
            limits = _limits(row, log_y)
            for axes, panel in zip(axes_of_row, row.panels, strict=False):
                _draw_panel(axes, panel, ticks, limits, show_x, show_y, log_y)
            for axes in axes_of_row[1:]:
                axes.tick_params(labelleft=False)
            axes_of_row[0].set_ylabel(row.label)
            last = len(row.panels) - 1
            for axes in axes_of_row[last + 1 :]:
                axes.set_visible(False)
            # The strip's own tick label; on the first panel only, like the others of the axis.
            axes_of_row[0].annotate(
                "no result", (0, 1 - _STRIP / 2), (-6, 0), xycoords="axes fraction", textcoords="offset points",
                ha="right", va="center", color=style.SOFT, fontsize=8.5,
            )  # fmt: skip
        for axes in grid[-1]:
            axes.set_xlabel(x_label)
        _label_lines(figure, layout, rows, grid)
        return figure


def _limits(row: Row, log_y: bool) -> tuple[float, float]:
    values = [value for panel in row.panels for line in panel.lines for value in (*line.low, *line.high)]
    if not values:
        return (1.0, 10.0)
    if not log_y:
        low, high = 0.0, max(values)
        return low, low + (high - low) / (1 - _STRIP - 0.08)
    low, high = np.log10(min(values)), np.log10(max(values))
    high = max(high, low + 0.5)
    low -= 0.08 * (high - low)
    return float(10**low), float(10 ** (low + (high - low) / (1 - _STRIP - 0.06)))


def _draw_panel(
    axes: Axes,
    panel: Panel,
    ticks: Sequence[float],
    limits: tuple[float, float],
    show_x: Callable[[float], str],
    show_y: Callable[[float], str],
    log_y: bool,
) -> None:
    axes.set_xscale("log", base=2)
    axes.set_title(panel.title)
    if log_y:
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylim(*limits)
    axes.yaxis.set_major_locator(FixedLocator(_y_ticks(limits, log_y)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: show_y(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(FixedLocator(_thinned(ticks)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: show_x(value)))
    if ticks:
        axes.set_xlim(ticks[0] / 1.5, ticks[-1] * 1.5)
    axes.grid(axis="y")
    strip = Rectangle(
        (0, 1 - _STRIP), 1, _STRIP, transform=axes.transAxes, facecolor=style.STRIP, edgecolor=style.RULE, hatch="////",
        linewidth=0, zorder=0.5,
    )  # fmt: skip
    axes.add_patch(strip)
    losers = [line for line in panel.lines if line.lost]
    for line in panel.lines:
        look = style.look_of(line.position)
        if len(line.x) > 0:
            x, y, low, high = _with_gaps(line)
            axes.fill_between(x, low, high, color=look.colour, alpha=0.15, linewidth=0)
            axes.plot(
                x, y, color=look.colour, marker=look.marker, linestyle=look.dash, linewidth=1.8, markersize=5,
                markeredgecolor=style.PAPER, markeredgewidth=0.6, clip_on=False, zorder=3,
            )  # fmt: skip
    for rank, line in enumerate(losers):
        # Allocators that are lost at the same place stand side by side, so that none hides another.
        points = _CROSS_STEP * (rank - (len(losers) - 1) / 2)
        beside = ScaledTranslation(points / 72, 0, axes.figure.dpi_scale_trans)
        axes.plot(
            line.lost, [1 - _STRIP / 2] * len(line.lost), transform=axes.get_xaxis_transform() + beside,
            color=style.look_of(line.position).colour, marker="x", linestyle="none", markersize=5.5,
            markeredgewidth=1.8, clip_on=False, zorder=4,
        )  # fmt: skip


def _y_ticks(limits: tuple[float, float], log_y: bool) -> list[float]:
    """Ticks below the strip."""
    low, high = limits
    if not log_y:
        return [tick for tick in MaxNLocator(6).tick_values(low, high) if tick < low + (high - low) * (1 - _STRIP)]
    top = low * (high / low) ** (1 - _STRIP - 0.02)
    decades = [10.0**power for power in range(-3, 13) if low <= 10.0**power <= top]
    if len(decades) >= 2:
        return decades
    # Within one decade powers of ten alone would leave the reader without a scale.
    return [step * 10.0**power for power in range(-3, 13) for step in (1, 2, 5) if low <= step * 10.0**power <= top]


def _thinned(ticks: Sequence[float], most: int = 7) -> list[float]:
    """Those of the ticks whose labels have room beside each other on a logarithmic axis."""
    kept: list[float] = []
    room = np.log2(ticks[-1] / ticks[0]) / most if ticks else 0.0
    for tick in ticks:
        if not kept or np.log2(tick / kept[-1]) >= room:
            kept.append(tick)
    return kept


def _with_gaps(line: Line) -> tuple[list[float], list[float], list[float], list[float]]:
    """x, y, low and high of the line with nothing at the places that it lost, so that no stroke bridges them."""
    points = dict.fromkeys(line.lost, (np.nan, np.nan, np.nan))
    points.update(zip(line.x, zip(line.y, line.low, line.high, strict=True), strict=True))
    x = sorted(points)
    y, low, high = zip(*(points[place] for place in x), strict=True)
    return x, list(y), list(low), list(high)


def _label_lines(figure: Canvas, layout: ConstrainedLayoutEngine, rows: Sequence[Row], grid: Any) -> None:
    """Names each line at its end in the last panel of its row; lines that end early get a thin leader."""
    # The labels take room from the panels, and where they go depends on the panels: reserve the room first.
    names = {line.name for row in rows for panel in row.panels for line in panel.lines}
    room = 0.0105 * max((len(name) for name in names), default=0) + 0.02
    layout.set(rect=(0, 0, 1 - room, 1))
    figure.canvas.draw()
    figure.set_layout_engine("none")
    for row, axes_of_row in zip(rows, grid, strict=True):
        axes = axes_of_row[len(row.panels) - 1]
        _label_panel(axes, row.panels[-1])


def _label_panel(axes: Axes, panel: Panel) -> None:
    # In shares of the panel throughout, which hold at any resolution that the figure is saved with.
    to_share = axes.transData + axes.transAxes.inverted()
    ends = []
    for line in panel.lines:
        if len(line.x) > 0:
            x, y = to_share.transform((line.x[-1], line.y[-1]))
        elif line.lost:
            x, y = to_share.transform((line.lost[-1], 1))[0], 1 - _STRIP / 2
        else:
            continue
        ends.append((x, y, line))
    ends.sort(key=lambda end: end[1])
    window = axes.get_window_extent()
    width, height = (pixels * 72 / axes.figure.dpi for pixels in (window.width, window.height))
    places = _spread([y for _, y, _ in ends], _LABEL_STEP / height)
    for place, (x, y, line) in zip(places, ends, strict=True):
        colour = style.look_of(line.position).colour
        axes.annotate(
            line.name, xy=(x, y), xycoords="axes fraction", xytext=(1 + 14 / width, place),
            textcoords="axes fraction", va="center", color=colour, fontweight="bold", fontsize=9.5,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 2, "shrinkB": 5, "alpha": 0.55,
                "relpos": (0, 0.5),
            },
        )  # fmt: skip


def _spread(wanted: Sequence[float], step: float) -> list[float]:
    """Places near the wanted ones, in their order, that keep their distance and stay between 0 and 1."""
    step = min(step, 1 / max(len(wanted) - 1, 1))
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + step) if places else max(place, 0.0))
    highest = 1.0
    for index in range(len(places) - 1, -1, -1):
        places[index] = min(places[index], highest)
        highest = places[index] - step
    return places


def to_svg(figure: Canvas, alt: str) -> str:
    """The figure as inline SVG in the page's own colours."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    escaped = alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escaped}"', 1)
    for colour, variable in ((style.INK, "ink"), (style.SOFT, "soft"), (style.RULE, "rule"), (style.STRIP, "strip")):
        svg = svg.replace(colour, f"var(--{variable})")
    for index, colour in enumerate(style.COLOURS):
        svg = svg.replace(colour, f"var(--series-{index})")
    return svg.replace(f"stroke: {style.PAPER}", "stroke: var(--paper)")


def to_png(figure: Canvas, path: Path) -> None:
    """The figure as a picture for a README: on white, 2,000 pixels wide."""
    figure.savefig(path, dpi=200, facecolor=style.PAPER)
    pyplot.close(figure)
