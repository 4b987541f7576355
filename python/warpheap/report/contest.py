# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Where allocators can be compared, and in which order they stand there."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from warpheap.report.record_set import RecordSet

# At one point and in one measure: the cost of each allocator that has a value.
Costs = dict[str, float]

# What an allocator counts as at a point where more is better and it has nothing: a share of zero.
NOTHING = 1000.0


def why_no_contest(records: RecordSet, allowed: Sequence[str]) -> str:
    """Return why no allocator can win over `records`, which have no contested point."""
    run = records.by("allocator")
    names = [name for name in allowed if name in run]
    if len(names) == 1:
        return f"no contest: only {names[0]} was run"
    return "no contest: no point at which most of them were run" if names else "not measured"


@dataclass(frozen=True)
class Standing:
    """An allocator over some points. `mean` is that of the ratios to the best; None if no point has such a ratio."""

    allocator: str
    mean: float | None
    points: int  # with a value
    zeros: int  # at which the best is 0 and this one as well
    above: int  # at which the best is 0 and this one is not

    @property
    def rank(self) -> tuple[int, float]:
        """The key that orders standings. An allocator that is at 0 wherever the best is comes first."""
        return self.above, 1.0 if self.mean is None else self.mean


def standings(points: Iterable[Costs], names: Iterable[str], best_of: Collection[str]) -> dict[str, Standing]:
    """The standing of each of `names`; the best at a point is sought among `best_of`."""
    logs: dict[str, list[float]] = {name: [] for name in names}
    known, zeros, above = (dict.fromkeys(logs, 0) for _ in range(3))
    for costs in points:
        best = min((cost for name, cost in costs.items() if name in best_of), default=None)
        if best is None:
            continue
        for name, cost in costs.items():
            if name not in logs:
                continue
            known[name] += 1
            if best <= 0:
                zeros[name] += cost <= 0
                above[name] += cost > 0
            elif cost > 0 and not math.isinf(best):
                # Where all have nothing no ratio exists.
                logs[name].append(math.log(min(cost / best, NOTHING)))
    return {
        name: Standing(
            name, math.exp(math.fsum(own) / len(own)) if own else None, known[name], zeros[name], above[name]
        )
        for name, own in logs.items()
    }


def as_good_as_first(ordered: Sequence[Standing], factor: float) -> list[Standing]:
    """The first of those in the order of their ranks, and all whose mean is within `factor` of its mean."""
    if not ordered:
        return []
    above, mean = ordered[0].rank
    return [each for each in ordered if each.rank[0] == above and each.rank[1] <= factor * mean]


def distance(first: Standing, other: Standing) -> float:
    """Return how far `other` is from `first` as a ratio; 0 if only `first` is at 0 somewhere, which no ratio tells."""
    return other.rank[1] / first.rank[1] if other.above == first.above else 0.0
