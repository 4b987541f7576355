# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Bars and ladders as SVG: a row for each allocator, with its name, its bar and its value."""

from html import escape

from warpheap.report import numbers
from warpheap.report.chart import Bar, Bars
from warpheap.report.looks import Looks
from warpheap.report.scale import Scale
from warpheap.report.svg import Place

WIDTH = 360
_ROW, _TOP, _BOTTOM, _LEFT, _RIGHT = 18, 4, 22, 108, 58
# Ticks of an axis, at most; the page's script makes as many.
_TICKS = 4
# Marks of a ladder, from the first to the last: half of a row's height.
_RADII = (4.2, 3.4, 2.8, 2.2)


def draw(panel: Bars, scale: Scale, looks: Looks) -> str:
    """The panel's picture."""
    ladder = any(bar.marks for bar in panel.bars)
    height = _TOP + _ROW * len(panel.bars) + _BOTTOM

    def x(value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * min(max(scale.share(value), 0.0), 1.0)

    parts = ['<g class="xs">']
    for tick in scale.ticks(_TICKS):
        parts.append(f'<path class="grid" d="M{x(tick):.1f} {_TOP}V{height - _BOTTOM}"/>')
        text = numbers.show(tick, panel.unit, share=panel.share)
        parts.append(f'<text x="{x(tick):.1f}" y="{height - 7}" class="c">{text}</text>')
    parts.append("</g>")
    if panel.reference is not None:
        at = x(panel.reference)
        path = f'<path d="M{at:.1f} {_TOP}V{height - _BOTTOM}"{_values(panel.reference)}/>'
        parts.append(f'<g class="reference">{path}</g>')
    for row, bar in enumerate(panel.bars):
        parts.append(_row(bar, panel, looks, x, _TOP + _ROW * row, ladder, scale.log))
    label = f"{panel.heading}: {', '.join(bar.allocator for bar in panel.bars)}"
    return (
        f'<svg class="plot bars" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}"'
        f"{_scale_data(panel, scale, height)}>{''.join(parts)}</svg>"
    )


def _scale_data(panel: Bars, scale: Scale, height: float) -> str:
    """The x axis for the page's script, which makes another one when allocators are hidden."""
    kind = "log" if scale.log else "linear"
    unit = "share" if panel.share else panel.unit
    box = f'data-box="{_LEFT} {WIDTH - _RIGHT} {_TOP} {height - _BOTTOM}"'
    return f' data-scale="{scale.low:.6g} {scale.high:.6g} {kind} {unit} bars" {box}'


def _values(*values: float) -> str:
    """The values at which an element lies, for the script that moves it."""
    return f' data-v="{" ".join(f"{value:.6g}" for value in values)}"'


def _row(bar: Bar, panel: Bars, looks: Looks, x: Place, top: float, ladder: bool, lollipop: bool) -> str:
    look = looks[bar.allocator]
    middle = top + _ROW / 2
    # A name too long for its column is squeezed rather than cut.
    squeeze = ' textLength="98" lengthAdjust="spacingAndGlyphs"' if len(bar.allocator) > 16 else ""
    parts = [
        f'<g class="s" data-a="{look.index}" style="color:var(--a{look.index})">'
        f'<text x="{_LEFT - 7}" y="{middle + 3.6}" class="e ink"{squeeze}>{escape(bar.allocator)}</text>'
    ]
    if bar.point is None:
        text = bar.status or "-"
        kind = "bad" if bar.status in ("failed", "timeout", "crashed") else "soft"
        parts.append(f'<text x="{_LEFT + 4}" y="{middle + 3.6}" class="{kind}">{escape(text)}</text>')
    elif ladder:
        values = [value for _, value in bar.marks]
        stroke = f'd="M{x(min(values)):.1f} {middle}H{x(max(values)):.1f}"{_values(min(values), max(values))}'
        parts.append(f'<path class="w" {stroke}/>')
        for (name, value), radius in zip(bar.marks, _RADII, strict=False):
            shown = numbers.show(value, panel.unit, share=panel.share)
            parts.append(
                f'<circle class="{"m" if radius == _RADII[0] else "m open"}" cx="{x(value):.1f}" cy="{middle}" '
                f'r="{radius}"{_values(value)}><title>{name} {shown}</title></circle>'
            )
        text = numbers.show(bar.point.y, panel.unit, share=panel.share)
        parts.append(_value(x(max(values)), 8, middle, text, _values(max(values))))
    else:
        end = max(x(bar.point.y), _LEFT + 1.0)
        if lollipop:
            # No length is to be read on a logarithmic axis: a dot marks the place.
            parts.append(f'<path class="w thin" d="M{_LEFT} {middle}H{end:.1f}"{_values(bar.point.y)}/>')
            parts.append(f'<circle class="m" cx="{end:.1f}" cy="{middle}" r="4"{_values(bar.point.y)}/>')
        else:
            size = f'width="{end - _LEFT:.1f}" height="{_ROW - 7}"'
            parts.append(f'<rect class="b" x="{_LEFT}" y="{top + 3.5}" {size} rx="1.5"{_values(bar.point.y)}/>')
        if x(bar.point.high) - x(bar.point.low) > 3:
            spread = _values(bar.point.low, bar.point.high)
            parts.append(f'<path class="w ink" d="M{x(bar.point.low):.1f} {middle}H{x(bar.point.high):.1f}"{spread}/>')
        text = numbers.show(bar.point.y, panel.unit, share=panel.share)
        parts.append(_value(max(end, x(bar.point.high)), 5, middle, text, _values(bar.point.y, bar.point.high)))
    return "".join(parts) + "</g>"


def _value(x: float, after: float, middle: float, text: str, values: str) -> str:
    """The value in words, `after` units to the right of `x`, where the marks of `values` end."""
    return f'<text x="{x + after:.1f}" y="{middle + 3.6}" class="ink" data-after="{after:g}"{values}>{text}</text>'
