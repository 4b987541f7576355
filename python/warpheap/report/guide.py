# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Which one for me: for each need the allocator that the record speaks for, by rules that the page states."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from warpheap.record import Record
from warpheap.report import data
from warpheap.report.profiles import PROFILES, Profile
from warpheap.report.ranking import Field, field_of, geometric_mean, table_of
from warpheap.report.verdict import AS_GOOD

RULES = (
    "For each need only the points and measures that its card names count.",
    "A candidate must have a result at every one of these points at which any candidate has one: who failed, ran out "
    "of time or crashed at one is out, and so is who was not measured there. Each card says who is out, and why.",
    "Where blocks are freed one by one, designs without individual free are out.",
    "Of those left the lowest geometric mean of the ratio to the best at each point is recommended. Whoever is within "
    "5 % of it is named with it, since two runs may differ by as much. The next is named with its distance.",
    "Never failed: over all cases of the survey, nothing but ok, and what the design by itself cannot do; in the "
    "registry's order.",
)


@dataclass(frozen=True)
class Advice:
    """What the record says about one need."""

    need: str
    rule: str
    names: Sequence[str]  # the recommended, best first
    next_name: str
    next_ratio: float
    points: int
    out: Sequence[tuple[str, str]]  # allocator and why


def advise(records: Sequence[Record]) -> tuple[list[Advice], list[str]]:
    """The advice for each need, and the needs that the record says nothing about."""
    field = field_of(records)
    given, silent = [], []
    for profile in PROFILES:
        own = [each for each in records if profile.counts(each)]
        table = table_of(own, profile.measures)
        if table:
            given.append(_advice(profile, field, own, table))
        else:
            silent.append(profile.need)
    return [*given, _never_failed(field)], silent


def _advice(profile: Profile, field: Field, records: Sequence[Record], table: dict) -> Advice:  # type: ignore[type-arg]
    out, candidates = [], []
    allowed = field.ranked() if profile.free else list(field.allocators)
    points = [costs for costs in table.values() if any(name in costs for name in allowed)]
    for name in field.allocators:
        own = [each for each in records if each["allocator"] == name]
        failed = sum(map(data.lost, own))
        have = sum(name in costs for costs in points)
        if name not in allowed:
            out.append((name, "no individual free"))
        elif failed:
            out.append((name, f"no result in {failed} of {len(own)} runs"))
        elif have < len(points):
            out.append((name, f"not measured at {len(points) - have} of {len(points)} points"))
        else:
            candidates.append(name)
    means = {}
    for name in candidates:
        ratios = [_ratio(costs, name, candidates) for costs in points]
        means[name] = geometric_mean([ratio for ratio in ratios if ratio]) or 1.0
    ordered = sorted(candidates, key=lambda name: means[name])
    close = [name for name in ordered if means[name] <= AS_GOOD * means[ordered[0]]]
    rest = ordered[len(close) :]
    ratio = means[rest[0]] / means[ordered[0]] if rest else 0.0
    return Advice(profile.need, profile.rule, close, rest[0] if rest else "", ratio, len(points), out)


def _ratio(costs: dict[str, float], name: str, candidates: Sequence[str]) -> float:
    best = min(costs[each] for each in candidates)
    # A point at which the best costs nothing, or all have nothing, tells no ratio.
    return min(costs[name] / best, 1000.0) if best > 0 and not math.isinf(best) else 0.0


def _never_failed(field: Field) -> Advice:
    counts = {
        name: (sum(map(data.lost, own)), len(own))
        for name in field.allocators
        if (own := [each for each in field.records if each["allocator"] == name])
    }
    good = [name for name, (failed, _) in counts.items() if not failed]
    out = [(name, f"{failed} of {count} runs without a result") for name, (failed, count) in counts.items() if failed]
    return Advice("It must never fail", "all cases: no run without a result", good, "", 0.0, len(field.records), out)
