# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Which allocator for my program: the one that the record speaks for at each need, by rules that the page states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpheap.report.contest import (
    Costs,
    as_good_as_first,
    distance,
    standings,
    why_no_contest,
)
from warpheap.report.data import Point
from warpheap.report.profiles import PROFILES, Profile
from warpheap.report.ranking import Field, field_of, table_of
from warpheap.report.record_set import RecordSet
from warpheap.report.verdict import AS_GOOD

RULES = (
    "For each need only the points and measures that its card names count.",
    "Of these only those count at which more than half of the allocators were run: no allocator wins where the others "
    "were not tried. Without such a point the card says that the need has no contest.",
    "A candidate must have a result at every one of these points. An allocator is out if it failed, ran out of time or "
    "crashed anywhere in what the card names, if it cannot serve a point, or if it was not run there. Each card names "
    "the allocators that are out, and why.",
    "Where blocks are freed one by one, designs without individual free are out.",
    "Of the candidates left, the card recommends the one with the lowest geometric mean of the ratio to the best at "
    "each point. It also names all within 5 % of that mean, since two runs may differ by as much, and the next one "
    "with its distance.",
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
    of_points: int = 0  # that the record has, those without a contest included
    note: str = ""  # why no allocator is recommended; empty: all are out, or one is recommended
    first: bool = False  # among the answers that the page begins with


def advise(records: RecordSet) -> tuple[list[Advice], list[str]]:
    """The advice for each need, and the needs that the record says nothing about."""
    field = field_of(records)
    given, silent = [], []
    for profile in PROFILES:
        own = records.only(profile.counts)
        table = table_of(own, profile.measures)
        # Where no run has a result, the record says at least that; where times mean nothing, it says nothing.
        if table or (own and all(each["status"] != "ok" for each in own)):
            given.append(_advice(profile, field, own, table))
        else:
            silent.append(profile.need)
    return [*given, _never_failed(field)], silent


def _advice(profile: Profile, field: Field, records: RecordSet, table: Mapping[tuple[Point, str], Costs]) -> Advice:
    allowed = field.ranked() if profile.free else list(field.allocators)
    counted = records.contested(field.allocators)
    points = [costs for place, costs in table.items() if place[0] in counted and any(name in costs for name in allowed)]
    reasons = {name: _why_out(name, name in allowed, records, points) for name in field.allocators}
    out = [(name, why) for name, why in reasons.items() if why]
    of_points = len({place for place, costs in table.items() if any(name in costs for name in allowed)})
    if not counted:
        note = why_no_contest(records, field.allocators)
        return Advice(profile.need, profile.rule, [], "", 0.0, 0, out, of_points, note, profile.first)
    candidates = [name for name, why in reasons.items() if not why]
    ordered = sorted(standings(points, candidates, candidates).values(), key=lambda each: each.rank)
    close = [each.allocator for each in as_good_as_first(ordered, AS_GOOD)]
    rest = ordered[len(close) :]
    next_name, next_ratio = (rest[0].allocator, distance(ordered[0], rest[0])) if rest else ("", 0.0)
    return Advice(
        profile.need, profile.rule, close, next_name, next_ratio, len(points), out, of_points, "", profile.first
    )


def _why_out(name: str, allowed: bool, records: RecordSet, points: Sequence[Costs]) -> str:
    """Why that allocator is no candidate over `records`, of which `points` count; empty if it is one."""
    own = records.where(allocator=name)
    failed = len(own.lost)
    cannot = own.unable
    have = sum(name in costs for costs in points)
    if not allowed:
        return "no individual free"
    if not own:
        return "not measured"
    if failed:
        return f"no result in {failed} of {len(own)} runs"
    if cannot:
        return f"{cannot[0]['reason']} ({len(cannot)} of {len(own)} runs)"
    if have < len(points):
        return f"not measured at {len(points) - have} of {len(points)} points"
    return ""


def _never_failed(field: Field) -> Advice:
    counts = {
        name: (len(own.lost), len(own)) for name in field.allocators if (own := field.records.where(allocator=name))
    }
    good = [name for name, (failed, _) in counts.items() if not failed]
    out = [(name, f"{failed} of {count} runs without a result") for name, (failed, count) in counts.items() if failed]
    # An allocator that was run less often had less occasion to fail.
    most = max((count for _, count in counts.values()), default=0)
    fewer = [f"{name} had {counts[name][1]} runs of {most}" for name in good if counts[name][1] < most]
    rule = "; ".join(["all cases: no run without a result", *fewer])
    return Advice("It must never fail", rule, good, "", 0.0, len(field.records), out, len(field.records), "", True)
