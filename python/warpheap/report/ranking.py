# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How far an allocator is from the best: geometric means of ratios over the points that were measured."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from warpheap.record import Record, unable
from warpheap.report import data

# What an allocator counts as at a point where more is better and it has nothing: a share of zero.
NOTHING = 1000.0

RULE = (
    "A point is one combination of case, mode, threads, size and heap. At each point the ratio to the best is the "
    "median over the lowest median of all allocators (or the highest over it, where more is better), so 1.00 is the "
    "best and 2.00 takes twice as long or twice as much. The best is sought among designs with individual free; a "
    "design without it, which does less, is measured against them, may be below 1, and wins nothing. Means of ratios "
    "are geometric. A point without a result is in no mean: it is counted and marked."
)


@dataclass(frozen=True)
class Score:
    """One allocator over some points. `mean` is None if it has no value at any."""

    allocator: str
    mean: float | None
    points: int  # with a value
    lost: int  # without a result though the design should have one
    unable: int  # where the design lacks what the case needs


@dataclass(frozen=True)
class Field:
    """The records of one machine, and who is ranked in them."""

    records: Sequence[Record]
    allocators: Sequence[str]
    baselines: frozenset[str]  # designs without individual free

    def ranked(self) -> list[str]:
        """The allocators that can win."""
        return [name for name in self.allocators if name not in self.baselines]


def field_of(records: Sequence[Record]) -> Field:
    """The field of a machine. If no design has individual free, all are ranked."""
    allocators = data.allocators_of(records)
    without = frozenset(name for name in allocators if data.frees_individually(records, name) is False)
    return Field(records, allocators, without if len(without) < len(allocators) else frozenset())


def table_of(records: Iterable[Record], names: Sequence[str]) -> dict[tuple[Any, ...], dict[str, float]]:
    """For each point and measure the value of each allocator, turned so that less is better."""
    table: dict[tuple[Any, ...], dict[str, float]] = {}
    for record in records:
        for name in names:
            value = data.measure(record, name)
            if value is not None:
                median = value["median"]
                cost = median if value["better"] == "lower" else (1 / median if median > 0 else math.inf)
                table.setdefault((*data.point_of(record), name), {})[record["allocator"]] = cost
    return table


def scores(field: Field, records: Sequence[Record], names: Sequence[str]) -> dict[str, Score]:
    """The score of each allocator over those records and measures."""
    logs: dict[str, list[float]] = {name: [] for name in field.allocators}
    ranked = field.ranked()
    for costs in table_of(records, names).values():
        best = min((costs[name] for name in ranked if name in costs), default=math.inf)
        # Where the best costs nothing no ratio to it exists.
        if best <= 0 or math.isinf(best):
            continue
        for name, cost in costs.items():
            if cost > 0:
                logs[name].append(math.log(min(cost / best, NOTHING)))
    return {
        name: Score(
            name,
            math.exp(math.fsum(own) / len(own)) if own else None,
            len(own),
            sum(data.lost(each) for each in records if each["allocator"] == name),
            sum(unable(each) for each in records if each["allocator"] == name),
        )
        for name, own in logs.items()
    }


def geometric_mean(values: Sequence[float]) -> float | None:
    """Of values above 0; None of none."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values)) if values else None
