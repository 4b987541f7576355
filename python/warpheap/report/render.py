# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A chart as HTML: its panels side by side, and its numbers to unfold."""

from collections.abc import Iterator
from html import escape

from warpheap.report import svg, svg_bars
from warpheap.report.chart import Bars, Chart, Panel
from warpheap.report.looks import Looks
from warpheap.report.scale import Scale, beyond, shared_scales, shared_x_scales


def panels_of(chart: Chart, looks: Looks) -> str:
    """The panels of the chart, each with its title."""
    lines = [panel for panel in chart.panels if isinstance(panel, Panel)]
    x_scales = iter(shared_x_scales(lines) if lines else [])
    pictures = []
    for panel, scale in zip(chart.panels, shared_scales(chart.panels), strict=True):
        pictures.append(
            f'<div class="panel"><h5>{escape(panel.heading)}</h5>{_picture(panel, x_scales, scale, looks)}</div>'
        )
    # Four panels are two of two kinds: they stand in a square.
    four = " four" if len(pictures) == 4 else ""
    return f'<div class="panels{four}">{"".join(pictures)}</div>{_references(chart)}{_beyond(chart)}'


def _references(chart: Chart) -> str:
    names = dict.fromkeys(panel.reference_name for panel in chart.panels if panel.reference_name)
    return "".join(
        '<p class="key"><svg class="swatch reference" viewBox="0 0 30 12" aria-hidden="true"><path d="M1 6H29"/></svg> '
        f"{escape(name)}, measured in the same processes</p>"
        for name in names
    )


def _beyond(chart: Chart) -> str:
    return "".join(
        f'<p class="key">\N{BLACK UP-POINTING TRIANGLE} {escape(name)} runs out above the axis, up to '
        f"{most}: the axis is that of the others.</p>"
        for name, most in beyond(chart.panels).items()
    )


def _picture(panel: Panel | Bars, x_scales: Iterator[Scale], scale: Scale, looks: Looks) -> str:
    if isinstance(panel, Bars):
        return svg_bars.draw(panel, scale, looks)
    return svg.draw(panel, next(x_scales), scale, looks)
