# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The exhaustion case in the report: rate and refused share by size, and the rate over that of the toolkit's heap."""

import math
from dataclasses import dataclass, replace

from warpheap.record import Record
from warpheap.report import generic, texts
from warpheap.report.chart import Chart, Line, Panel, Point
from warpheap.report.lines import X_LABELS, panel_of
from warpheap.report.record_set import RecordSet
from warpheap.report.relative import median_of
from warpheap.report.sections import Cell, Grid, Section
from warpheap.units import show_bytes

_BASELINE = "cuda_malloc"
# From here on the paper's allocator, and what the project asks of its own, refuses nothing.
_LARGE = 4096

_rate, _refused = median_of("rate"), median_of("refused")


def sections(records: RecordSet) -> list[Section]:
    """Each measure against the size, whose heap and number of threads go with it, and a table of what they come to."""
    made = generic.section(records, [*_by_size(records), *_over_baseline(records)])
    return [replace(section, grids=_summary(records)) for section in made]


def _by_size(records: RecordSet) -> list[Chart]:
    made = []
    measures = records.measures
    for names in (("rate", "served"), ("refused",)):
        panels = [
            panel_of(records, "size", name, measures[name], texts.words(name)) for name in names if name in measures
        ]
        if panels:
            title = " and ".join(texts.words(name) for name in names if name in measures).capitalize()
            made.append(Chart(f"exhaustion-{'-'.join(names)}", title, [_in_per_cent(panel) for panel in panels]))
    return made


def _in_per_cent(panel: Panel) -> Panel:
    """Shares of a few per cent, on an axis of their own: one up to the whole would hide them."""
    if panel.unit != "ratio":
        return panel

    def scaled(point: Point) -> Point:
        return Point(point.x, *(100 * y for y in (point.y, point.low, point.high, point.least, point.most)))

    lines = [Line(line.allocator, [scaled(point) for point in line.points], line.lost) for line in panel.lines]
    return replace(panel, lines=lines, unit="%")


def _over_baseline(records: RecordSet) -> list[Chart]:
    """The rate of each allocator over the baseline's at the same size."""
    lines = []
    for each in _sides(records):
        points = [Point(size, ratio, ratio, ratio, ratio, ratio) for size, ratio in each.ratios.items()]
        if points:
            lines.append(Line(each.allocator, points))
    if not lines:
        return []
    places = [point.x for line in lines for point in line.points]
    even = [Point(x, 1, 1, 1, 1, 1) for x in sorted({min(places), max(places)})]
    panel = Panel(f"rate over {_BASELINE}", lines, "ratio", False, "size", X_LABELS["size"], even, _BASELINE)
    note = "Rates count refused requests, too, as the paper does."
    return [Chart("exhaustion-over-baseline", f"Rate over that of {_BASELINE}", [panel], note)]


@dataclass(frozen=True)
class _Side:
    """An allocator: by size its rate over the baseline's, and the share that it refused, at most in any heap."""

    allocator: str
    ratios: dict[int, float]
    refused: dict[int, float]

    @property
    def mean(self) -> float:
        """The geometric mean of the ratios."""
        return math.exp(sum(map(math.log, self.ratios.values())) / len(self.ratios))


def _sides(records: RecordSet) -> list[_Side]:
    # In a heap of another size there are more or fewer requests at once, and another rate.
    baseline = {_place(each): _rate(each) for each in records.where(allocator=_BASELINE)}
    made = []
    for name in records.allocators:
        own = sorted(records.where(allocator=name), key=_place)
        ratios: dict[int, float] = {}
        refused: dict[int, float] = {}
        for each in own:
            size, rate, base, share = each["size"], _rate(each), baseline.get(_place(each)), _refused(each)
            if name != _BASELINE and rate and base:
                ratios[size] = rate / base
            if share is not None:
                refused[size] = max(share, refused.get(size, 0.0))
        made.append(_Side(name, ratios, refused))
    return made


def _place(each: Record) -> tuple[int, int]:
    return each["size"], each["heap_bytes"]


def _summary(records: RecordSet) -> list[Grid]:
    sizes = len({each["size"] for each in records})
    rows = []
    for each in _sides(records):
        if not each.refused:
            continue
        small = {size: share for size, share in each.refused.items() if size < _LARGE}
        large = {size: share for size, share in each.refused.items() if size >= _LARGE}
        rows.append([
            Cell(each.allocator, allocator=each.allocator), *_ratio_cells(each),
            _worst(small), _worst(large), Cell(f"{len(each.refused)} of {sizes}"),
        ])  # fmt: skip
    if not rows:
        return []
    heads = ["", f"rate over {_BASELINE}: geometric mean", "least", f"most refused below {show_bytes(_LARGE)}",
             f"most refused from {show_bytes(_LARGE)} on", "sizes with a result"]  # fmt: skip
    note = (
        f"Over the sizes at which both have a result. The paper has a mean of 16.56 for its allocator on a Titan V, "
        f"four sizes below 1, and nothing refused from {show_bytes(_LARGE)} on."
    )
    return [Grid(f"Over {_BASELINE}, and what was refused", heads, rows, note)]


def _ratio_cells(side: _Side) -> list[Cell]:
    if not side.ratios:
        return [Cell(""), Cell("")]
    size, least = min(side.ratios.items(), key=lambda each: each[1])
    over = f"{len(side.ratios)} size{'s' if len(side.ratios) > 1 else ''}"
    return [Cell(f"{side.mean:.3g}", aside=over), Cell(f"{least:.3g}", aside=f"at {show_bytes(size)}")]


def _worst(refused: dict[int, float]) -> Cell:
    if not refused:
        return Cell("")
    size, most = max(refused.items(), key=lambda each: each[1])
    return Cell(f"{100 * most:.3g} %", aside=f"at {show_bytes(size)}" if most else "")
