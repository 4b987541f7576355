# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Axes: where a value lies between 0 and 1, and which values get a tick."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warpheap.report import numbers
from warpheap.report.chart import Bars, Panel

# Bars of values that span more than this cannot be told apart on a linear axis.
_LINEAR_BARS = 40
# If one allocator alone stretches a logarithmic axis so much that all others fill less than this share, it runs out.
_CROWDED = 0.6
# With fewer allocators a long axis hides nothing.
_SEVERAL = 4


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`."""

    low: float
    high: float
    log: bool
    binary: bool = False  # bytes: ticks at powers of two

    def share(self, value: float) -> float:
        """Where the value lies: 0 at the low end, 1 at the high end."""
        if self.log:
            value = max(value, 1e-12)
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        """At most about `most` round values on the axis."""
        if self.log:
            ticks = _binary_ticks(self.low, self.high) if self.binary else _log_ticks(self.low, self.high)
            return ticks[:: max(-(-len(ticks) // most), 1)]
        unit = 1024.0 ** max(math.floor(math.log(max(self.high, 1.0), 1024)), 0) if self.binary else 1.0
        return [tick * unit for tick in _linear_ticks(self.low / unit, self.high / unit, most)]


def scale_of(values: Iterable[float], unit: str = "", share: bool = False, linear_to: float = 5) -> Scale:
    """An axis with room for the values; logarithmic if they span more than a factor of `linear_to`."""
    known = [value for value in values if math.isfinite(value)]
    positive = [value for value in known if value > 0]
    binary = unit == "bytes"
    if positive and not share and len(positive) == len(known) and max(positive) > linear_to * min(positive):
        low, high = min(positive), max(positive)
        if high < 10 * low:
            middle = math.sqrt(low * high)
            low, high = min(low, middle / 3.2), max(high, middle * 3.2)
        room = (high / low) ** 0.05
        return Scale(low / room, high * room, True, binary)
    high = max(known, default=1.0)
    return Scale(0.0, max(high * 1.06, 1.02 if share else 0.0) or 1.0, False, binary)


def shared_scales(panels: Sequence[Panel | Bars]) -> list[Scale]:
    """The y axis of each panel (x axis of bars): one for all with the same scale, so that panels can be compared."""
    groups: dict[str, list[Panel | Bars]] = {}
    for panel in panels:
        groups.setdefault(_group(panel), []).append(panel)
    scales = {name: _scale_of_group(group) for name, group in groups.items()}
    return [scales[_group(panel)] for panel in panels]


def _scale_of_group(group: Sequence[Panel | Bars]) -> Scale:
    # A bar tells by its length, which only a linear axis keeps.
    linear_to = _LINEAR_BARS if isinstance(group[0], Bars) and not any(bar.marks for bar in group[0].bars) else 5
    whole = scale_of((value for panel in group for value in _values(panel)), group[0].unit, group[0].share, linear_to)
    alone = _stretching(group, whole)
    if not alone:
        return whole
    rest = scale_of((value for panel in group for value in _values(panel, alone)), group[0].unit, False, linear_to)
    return Scale(min(rest.low, whole.low), rest.high, True, rest.binary) if rest.log else whole


def _stretching(group: Sequence[Panel | Bars], whole: Scale) -> str:
    """The allocator whose high values alone stretch a logarithmic axis; empty if no allocator does."""
    extents: dict[str, tuple[float, float]] = {}
    for panel in group:
        for line in panel.lines if isinstance(panel, Panel) else ():
            values = [value for point in line.points for value in (point.low, point.high) if value > 0]
            low, high = extents.get(line.allocator, (math.inf, 0.0))
            extents[line.allocator] = (min([low, *values]), max([high, *values]))
    if not whole.log or len(extents) < _SEVERAL:
        return ""
    highest = max(extents, key=lambda name: extents[name][1])
    others = [extent for name, extent in extents.items() if name != highest and extent[1] > 0]
    if not others:
        return ""
    return highest if whole.share(max(high for _, high in others)) < _CROWDED else ""


def beyond(panels: Sequence[Panel | Bars]) -> dict[str, str]:
    """Return the allocators whose lines run out above their axis, and how far: the highest value in each unit."""
    found: dict[tuple[str, str], float] = {}
    for panel, scale in zip(panels, shared_scales(panels), strict=True):
        for line in panel.lines if isinstance(panel, Panel) else ():
            above = [point.y for point in line.points if point.y > scale.high]
            if above:
                place = line.allocator, panel.unit
                found[place] = max([found.get(place, 0.0), *above])
    texts: dict[str, list[str]] = {}
    for (allocator, unit), most in found.items():
        texts.setdefault(allocator, []).append(numbers.show_in_full(most, unit))
    return {allocator: " and ".join(each) for allocator, each in texts.items()}


def shared_x_scales(panels: Sequence[Panel]) -> list[Scale]:
    """The x axis of each panel: one for all of a kind, so that what one lacks is seen to be missing."""
    kinds = [(panel.field, panel.scale) for panel in panels]
    scales = {
        kind: _x_scale([panel for panel, own in zip(panels, kinds, strict=True) if own == kind])
        for kind in dict.fromkeys(kinds)
    }
    return [scales[kind] for kind in kinds]


def _x_scale(panels: Sequence[Panel]) -> Scale:
    ticks = x_values(panels)
    if panels[0].x_unit == "rounds":
        return Scale(0.0, max(ticks, default=1.0) or 1.0, False)
    low, high = min(ticks, default=1.0), max(ticks, default=2.0)
    room = (high / low) ** 0.04 if high > low else 1.5
    return Scale(low / room, high * room, True)


def x_values(panels: Iterable[Panel]) -> list[float]:
    """All places where something was measured."""
    lines = [line for panel in panels for line in panel.lines]
    found = {point.x for line in lines for point in line.points} | {lost.x for line in lines for lost in line.lost}
    return sorted(found | {point.x for panel in panels for point in panel.reference})


def thinned(ticks: Sequence[float], scale: Scale, most: int) -> list[float]:
    """Those of the measured places whose labels have room beside each other."""
    kept: list[float] = []
    for tick in ticks:
        if not kept or scale.share(tick) - scale.share(kept[-1]) >= 0.999 / most:
            kept.append(tick)
    return kept


def _group(panel: Panel | Bars) -> str:
    return panel.scale or panel.unit + ("share" if panel.share else "")


def _values(panel: Panel | Bars, without: str = "") -> list[float]:
    if isinstance(panel, Bars):
        points = [bar.point for bar in panel.bars if bar.point is not None]
        marks = [value for bar in panel.bars for _, value in bar.marks]
        reference = [panel.reference] if panel.reference is not None else []
        return [point.y for point in points] + [point.high for point in points] + marks + reference
    points = [point for line in panel.lines if line.allocator != without for point in line.points]
    points += panel.reference
    return [value for point in points for value in (point.low, point.y, point.high)]


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    decades = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(decades) >= 3:
        return decades
    # Within two decades powers of ten alone would leave the reader without a scale.
    return [step * 10.0**power for power in powers for step in (1, 2, 5) if low <= step * 10.0**power <= high]


def _binary_ticks(low: float, high: float) -> list[float]:
    return [2.0**power for power in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)]


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if each * power >= raw * 0.999)
    return [round(low + step * index, 12) for index in range(int((high - low) / step + 1e-9) + 1)]
