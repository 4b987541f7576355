# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How far an allocator is from the best: geometric means of ratios over the points that were measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from warpheap.report import data
from warpheap.report.contest import NOTHING, Standing, standings
from warpheap.report.data import Point
from warpheap.report.numbers import TIMES
from warpheap.report.record_set import RecordSet

RULE = (
    "A point is one combination of case, mode, threads, size and heap. At each point the ratio to the best is the "
    "median over the lowest median of all allocators (or the highest over it, where more is better), so 1.00 is the "
    "best and 2.00 takes twice as long or twice as much. The best is sought among designs with individual free; a "
    "design without it, which does less, is measured against them, may be below 1, and wins nothing. Means of ratios "
    "are geometric. A point without a result is in no mean: it is counted and marked. Where the best is 0 no ratio to "
    "it exists: an allocator that is at 0, too, comes before one that is not. Only points count at which more than "
    "half of the allocators were run, so that none wins where the others were not tried."
)


@dataclass(frozen=True)
class Score:
    """One allocator over some points."""

    allocator: str
    standing: Standing  # over the points that count
    lost: int  # without a result though the design should have one
    unable: int  # where the design lacks what the case needs

    @property
    def mean(self) -> float | None:
        """The geometric mean of the ratios to the best; None if no point that counts has one."""
        return self.standing.mean

    @property
    def points(self) -> int:
        """Points that count and have a value."""
        return self.standing.points

    @property
    def order(self) -> tuple[int, float]:
        """Sorts designs: who lacks the fewest results first, then by the mean.

        A mean over the points that are left favours who ran out of time at the slow ones.
        """
        return self.lost, math.inf if self.mean is None else self.mean


@dataclass(frozen=True)
class Field:
    """The records of one machine, and which allocators are ranked in them."""

    records: RecordSet
    allocators: Sequence[str]
    baselines: frozenset[str]  # designs without individual free

    def ranked(self) -> list[str]:
        """The allocators that can win."""
        return [name for name in self.allocators if name not in self.baselines]


def field_of(records: RecordSet) -> Field:
    """The field of a machine. If no design has individual free, all are ranked."""
    allocators = records.allocators
    without = frozenset(name for name in allocators if records.frees_individually(name) is False)
    return Field(records, allocators, without if len(without) < len(allocators) else frozenset())


def table_of(records: RecordSet, names: Sequence[str]) -> dict[tuple[Point, str], dict[str, float]]:
    """For each point and measure the value of each allocator, turned so that less is better."""
    table: dict[tuple[Point, str], dict[str, float]] = {}
    for record in records:
        for name in names:
            value = data.measure(record, name)
            if value is not None:
                median = value["median"]
                cost = median if value["better"] == "lower" else (1 / median if median > 0 else math.inf)
                table.setdefault((data.point_of(record), name), {})[record["allocator"]] = cost
    return table


def scores(field: Field, records: RecordSet, names: Sequence[str]) -> dict[str, Score]:
    """The score of each allocator over those records and measures, at the points that are contested."""
    counted = records.contested(field.allocators)
    points = [costs for place, costs in table_of(records, names).items() if place[0] in counted]
    found = standings(points, field.allocators, field.ranked())
    return {
        name: Score(
            name,
            standing,
            len(records.where(allocator=name).lost),
            len(records.where(allocator=name).unable),
        )
        for name, standing in found.items()
    }


def geometric_mean(values: Sequence[float]) -> float | None:
    """Of values above 0; None of none."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values)) if values else None


# From this ratio on a cell has no colour.
_PALE = 30


def ratio_text(value: float) -> str:
    """Three digits, fewer for what is far from 1."""
    if value >= 0.999 * NOTHING:
        return f"≥1k{TIMES}"
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}{TIMES}"


def text_on(shade: float) -> str:
    """Which colour text needs on a cell of that much colour: strong, some, or as elsewhere."""
    return "strong" if shade > 0.75 else "some" if shade > 0.12 else ""


def heat_of(value: float) -> float:
    """All of the colour at 1 and below, less with the logarithm of the ratio, none far from it."""
    far = math.log(max(value, 1.0)) / math.log(_PALE)
    # Steeper near 1, where most ratios are.
    return round(max(1 - math.pow(far, 0.6), 0.0), 3)
