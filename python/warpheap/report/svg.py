# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Panels as small SVG pictures in the page's own colours: each fits a phone, and the page lays them side by side.

Every mark carries its allocator (`data-a`) and what a pointer held over it shows, for the page's script.
"""

from collections.abc import Callable, Sequence
from html import escape

from warpheap.report import numbers
from warpheap.report.chart import Line, Panel, Point
from warpheap.report.looks import Look, Looks
from warpheap.report.scale import Scale, thinned, x_values

# Where a value lies in the picture.
Place = Callable[[float], float]

WIDTH, HEIGHT = 360, 246
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 10, 26, 36
# The strip above a panel that holds the places without a result.
_STRIP_TOP, _STRIP = 4, 16

_MARKER = {
    "circle": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "square": "M-2.7 -2.7h5.4v5.4h-5.4z",
    "up": "M0 -3.6L3.4 2.6H-3.4z",
    "diamond": "M0 -3.9L3.3 0L0 3.9L-3.3 0z",
    "down": "M0 3.6L3.4 -2.6H-3.4z",
    "cross": "M-1.2 -3.4h2.4v2.2h2.2v2.4h-2.2v2.2h-2.4v-2.2h-2.2v-2.4h2.2z",
    "pentagon": "M0 -3.6L3.4 -1.1L2.1 2.9H-2.1L-3.4 -1.1z",
    "left": "M-3.6 0L2.6 -3.4V3.4z",
    "right": "M3.6 0L-2.6 -3.4V3.4z",
}


def shared_shapes(looks: Looks) -> str:
    """The shapes that all pictures and legends of the page use, once."""
    shapes = "".join(f'<path id="m-{name}" d="{path}"/>' for name, path in _MARKER.items())
    # What runs out above its axis ends at the axis' end.
    shapes += (
        f'<clipPath id="frame"><rect x="{_LEFT - 4}" y="{_TOP - 4}" width="{WIDTH - _LEFT - _RIGHT + 8}" '
        f'height="{HEIGHT - _TOP - _BOTTOM + 8}"/></clipPath>'
    )
    shapes += "".join(
        f'<g id="w-{look.index}" style="color:var(--a{look.index})"><path class="l" d="M1 6H29"{_dash(look)}/>'
        f'<use href="#m-{look.marker}" class="m" x="15" y="6"/></g>'
        for look in looks
    )
    return f'<svg class="defs" aria-hidden="true"><defs>{shapes}</defs></svg>'


def swatch(look: Look) -> str:
    """A piece of the allocator's line, for legends."""
    return f'<svg class="swatch" viewBox="0 0 30 12" aria-hidden="true"><use href="#w-{look.index}"/></svg>'


def x_text(value: float, unit: str) -> str:
    """A value of the x axis."""
    if unit == "bytes":
        return numbers.show(value, "bytes", 4)
    return numbers.show_count(value) if unit == "threads" else f"{value:,.0f}"


def draw(panel: Panel, x_scale: Scale, y_scale: Scale, looks: Looks) -> str:
    """The panel's picture."""
    ticks = x_values([panel])

    def x(value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * x_scale.share(value)

    def y(value: float) -> float:
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * y_scale.share(value)

    parts = [_frame(panel, ticks, x_scale, y_scale, x, y)]
    if panel.reference:
        path = _path([(x(point.x), y(point.y)) for point in panel.reference])
        parts.append(f'<g class="reference"><path d="{path}"/>')
        parts += [
            f'<circle cx="{x(point.x):.1f}" cy="{y(point.y):.1f}" r="2" data-x="{point.x:g}" '
            f'data-n="{escape(panel.reference_name)}" data-t="{_text(point.y, panel)}"/>'
            for point in panel.reference
        ]
        parts.append("</g>")
    losers = [line.allocator for line in panel.lines if line.lost]
    for line in panel.lines:
        parts.append(
            _line(
                line, panel, looks[line.allocator], losers, x, y, (WIDTH - _LEFT - _RIGHT) / max(len(ticks), 1), y_scale
            )
        )
    label = f"{panel.heading}: {', '.join(line.allocator for line in panel.lines)} against {panel.x_label}"
    place = f' data-u="{panel.x_unit}" data-of="{escape(panel.x_label)}"'
    return _svg(WIDTH, HEIGHT, label, "".join(parts), place + _scale_data(panel, y_scale))


def _frame(panel: Panel, ticks: Sequence[float], x_scale: Scale, y_scale: Scale, x: Place, y: Place) -> str:
    parts = ['<g class="ys">']
    for tick in y_scale.ticks():
        parts.append(f'<path class="grid" d="M{_LEFT} {y(tick):.1f}H{WIDTH - _RIGHT}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(tick) + 3.6:.1f}" class="e">{_text(tick, panel)}</text>')
    parts.append("</g>")
    shown = x_scale.ticks(5) if panel.x_unit == "rounds" else thinned(ticks, x_scale, 6)
    for tick in shown:
        parts.append(f'<path class="tick" d="M{x(tick):.1f} {HEIGHT - _BOTTOM}v4"/>')
        parts.append(
            f'<text x="{x(tick):.1f}" y="{HEIGHT - _BOTTOM + 15}" class="c">{x_text(tick, panel.x_unit)}</text>'
        )
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 4}" class="c soft">{escape(panel.x_label)}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {HEIGHT - _BOTTOM}H{WIDTH - _RIGHT}"/>')
    if any(line.lost for line in panel.lines):
        wide = WIDTH - _LEFT - _RIGHT
        parts.append(f'<rect class="strip" x="{_LEFT}" y="{_STRIP_TOP}" width="{wide}" height="{_STRIP}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{_STRIP_TOP + 11.5}" class="e bad">no result</text>')
    return "".join(parts)


def _line(
    line: Line, panel: Panel, look: Look, losers: list[str], x: Place, y: Place, room: float, scale: Scale
) -> str:
    parts = [f'<g class="s" data-a="{look.index}" style="color:var(--a{look.index})">']
    crowded = len(line.points) > 40
    parts.append('<g clip-path="url(#frame)">')
    for stretch in stretches(line):
        if len(stretch) > 1:
            band = [(x(p.x), y(p.most)) for p in stretch] + [(x(p.x), y(p.least)) for p in reversed(stretch)]
            parts.append(f'<path class="band" d="{_path(band)}z"/>')
            parts.append(f'<path class="l" d="{_path([(x(p.x), y(p.y)) for p in stretch])}"{_dash(look)}/>')
    parts.append("</g>")
    # A crowded line has no markers, and what a pointer shows of it is every fifth of its points.
    for point in line.points[:: 5 if crowded else 1]:
        # A spread that the marker hides would only add to the page.
        if not crowded and point.high <= scale.high and abs(y(point.low) - y(point.high)) > 5:
            parts.append(f'<path class="w" d="M{x(point.x):.1f} {y(point.low):.1f}V{y(point.high):.1f}"/>')
        if point.y > scale.high:
            # An arrow at the axis' end stands for a value above it; `data-y` keeps the value.
            parts.append(
                f'<use href="#m-up" class="beyond" x="{x(point.x):.1f}" y="{_TOP}" data-x="{point.x:g}" '
                f'data-y="{point.y:.4g}" data-t="{_text(point.y, panel)}"/>'
            )
            continue
        mark = "" if crowded else f' href="#m-{look.marker}"'
        place = f'x="{x(point.x):.1f}" y="{y(point.y):.1f}" data-x="{point.x:g}"'
        parts.append(f'<use{mark} {place} data-t="{_text(point.y, panel)}"/>')
    if line.lost:
        # Allocators that are lost at the same place stand side by side, so that none hides another.
        step = min(7.0, 0.85 * room / max(len(losers), 1))
        shift = step * (losers.index(line.allocator) - (len(losers) - 1) / 2)
        for gap in line.lost:
            at = min(max(x(gap.x) + shift, _LEFT + 4), WIDTH - _RIGHT - 4)
            parts.append(
                f'<path class="x" d="M{at - 2.6:.1f} {_STRIP_TOP + 5.4}l5.2 5.2m0 -5.2l-5.2 5.2" data-x="{gap.x:g}" '
                f'data-t="{escape(gap.status)}"/>'
            )
    return "".join(parts) + "</g>"


_BOX = f'data-box="{_LEFT} {WIDTH - _RIGHT} {_TOP} {HEIGHT - _BOTTOM}"'


def _scale_data(panel: Panel, scale: Scale) -> str:
    """The y axis for the page's script, which makes another one when allocators are hidden."""
    kind = "log" if scale.log else "linear"
    unit = "share" if panel.share else panel.unit
    return f' data-scale="{scale.low:.6g} {scale.high:.6g} {kind} {unit}" {_BOX}'


def stretches(line: Line) -> list[list[Point]]:
    """The points in runs between the places without a result, so that no stroke bridges one."""
    runs: list[list[Point]] = [[]]
    gaps = sorted(gap.x for gap in line.lost)
    for point in line.points:
        if runs[-1] and any(runs[-1][-1].x < gap < point.x for gap in gaps):
            runs.append([])
        runs[-1].append(point)
    return runs


def _svg(width: float, height: float, label: str, body: str, extra: str = "") -> str:
    head = f'class="plot" viewBox="0 0 {width} {height:g}" role="img" aria-label="{escape(label)}"{extra}'
    return f"<svg {head}>{body}</svg>"


def _text(value: float, panel: Panel) -> str:
    return numbers.show(value, panel.unit, share=panel.share)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _dash(look: Look) -> str:
    return f' stroke-dasharray="{" ".join(f"{part:g}" for part in look.dash)}"' if look.dash else ""
