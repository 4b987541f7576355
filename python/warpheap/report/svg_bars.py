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
# Marks of a ladder, from the first to the last: half of a row's height.
_RADII = (4.2, 3.4, 2.8, 2.2)


def draw(panel: Bars, scale: Scale, looks: Looks) -> str:
    """The panel's picture."""
    ladder = any(bar.marks for bar in panel.bars)
    height = _TOP + _ROW * len(panel.bars) + _BOTTOM

    def x(value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * min(max(scale.share(value), 0.0), 1.0)

    parts = []
    for tick in scale.ticks(4):
        parts.append(f'<path class="grid" d="M{x(tick):.1f} {_TOP}V{height - _BOTTOM}"/>')
        text = numbers.show(tick, panel.unit, share=panel.share)
        parts.append(f'<text x="{x(tick):.1f}" y="{height - 7}" class="c">{text}</text>')
    if panel.reference is not None:
        at = x(panel.reference)
        parts.append(f'<g class="reference"><path d="M{at:.1f} {_TOP}V{height - _BOTTOM}"/></g>')
    for row, bar in enumerate(panel.bars):
        parts.append(_row(bar, panel, looks, x, _TOP + _ROW * row, ladder, scale.log))
    label = f"{panel.title}: {', '.join(bar.allocator for bar in panel.bars)}"
    return (
        f'<svg class="plot bars" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )


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
        parts.append(f'<path class="w" d="M{x(min(values)):.1f} {middle}H{x(max(values)):.1f}"/>')
        for (name, value), radius in zip(bar.marks, _RADII, strict=False):
            shown = numbers.show(value, panel.unit, share=panel.share)
            parts.append(
                f'<circle class="{"m" if radius == _RADII[0] else "m open"}" cx="{x(value):.1f}" cy="{middle}" '
                f'r="{radius}"><title>{name} {shown}</title></circle>'
            )
        parts.append(_value(x(max(values)) + 8, middle, numbers.show(bar.point.y, panel.unit, share=panel.share)))
    else:
        end = max(x(bar.point.y), _LEFT + 1.0)
        if lollipop:
            # No length is to be read on a logarithmic axis: a dot marks the place.
            parts.append(f'<path class="w thin" d="M{_LEFT} {middle}H{end:.1f}"/>')
            parts.append(f'<circle class="m" cx="{end:.1f}" cy="{middle}" r="4"/>')
        else:
            size = f'width="{end - _LEFT:.1f}" height="{_ROW - 7}"'
            parts.append(f'<rect class="b" x="{_LEFT}" y="{top + 3.5}" {size} rx="1.5"/>')
        if x(bar.point.high) - x(bar.point.low) > 3:
            parts.append(f'<path class="w ink" d="M{x(bar.point.low):.1f} {middle}H{x(bar.point.high):.1f}"/>')
        after = max(end, x(bar.point.high)) + 5
        parts.append(_value(after, middle, numbers.show(bar.point.y, panel.unit, share=panel.share)))
    return "".join(parts) + "</g>"


def _value(x: float, middle: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{middle + 3.6}" class="ink">{text}</text>'
