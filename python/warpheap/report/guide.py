# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Which allocator for my program: the one that the record speaks for at each need, by rules that the page states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from warpheap.report.candidates import Candidates
from warpheap.report.contest import Costs, as_good_as_first, distance, why_no_contest
from warpheap.report.data import Point, point_of
from warpheap.report.places import count_of
from warpheap.report.profiles import PROFILES, Profile
from warpheap.report.ranking import Field, field_of, table_of
from warpheap.report.record_set import RecordSet
from warpheap.report.verdict import AS_GOOD

RULES = (
    "For each need only the points and measures that its card names count.",
    "Of these only those count at which more than half of the allocators were run: no allocator wins where the others "
    "were not tried. Without such a point the card says that the need has no contest.",
    "A point is one combination of case, mode, threads, size and heap; the measures of a card are compared at each.",
    "A candidate needs a result at more than half of these points. An allocator is out if it has fewer, or if it "
    "cannot serve a point. Where a candidate lacks a result, be it that the run failed, ran out of time or crashed, "
    "or that there was no run, it counts as twice the worst that any candidate has there. Each card names the "
    "allocators that are out or lack results, and why.",
    "Where blocks are freed one by one, designs without individual free are out.",
    "Of the candidates left, the card recommends the one with the lowest geometric mean of the ratio to the best at "
    "each point and in each measure, and says at how many points it is first. It also names all within 5 % of that "
    "mean, since two runs may differ by as much, and the next one with its distance.",
    "Never failed: over all cases of the survey, nothing but ok, and what the design by itself cannot do; in the "
    "registry's order.",
)


@dataclass(frozen=True)
class Advice:
    """What the record says about one need. `candidates` says which points count, and what a lost one costs."""

    need: str
    rule: str
    names: Sequence[str]  # the recommended, best first
    next_name: str
    next_ratio: float
    points: int  # that can be compared
    out: Sequence[tuple[str, str]]  # allocator and why
    of_points: int = 0  # that the record has, those without a contest included
    note: str = ""  # why no allocator is recommended; empty: all are out, or one is recommended
    first: bool = False  # among the answers that the page begins with
    firsts: Mapping[str, int] = field(default_factory=dict)  # at how many points each candidate is first
    lacking: Sequence[tuple[str, str]] = ()  # candidates without a result somewhere, and where

    @property
    def first_at(self) -> str:
        """Say at how many of the points each of the recommended is first; empty where nothing is ranked."""
        counts = {name: self.firsts[name] for name in self.names if name in self.firsts}
        if not counts:
            return ""
        told = [f"{count} ({name})" for name, count in counts.items() if count] if len(counts) > 1 else []
        return f"First at {' and '.join(told) or max(counts.values())} of {count_of(self.points)}."

    @property
    def without(self) -> str:
        """Say which of the recommended lack results, and where; empty if all have all."""
        return " ".join(f"{name}: {where}." for name, where in self.lacking if name in self.names)

    @property
    def others_lacking(self) -> Sequence[tuple[str, str]]:
        """The other candidates that lack results, and where."""
        return [each for each in self.lacking if each[0] not in self.names]

    @property
    def scope(self) -> str:
        """Say by which rule and at how many points of the record the answer is found."""
        more = self.of_points - self.points
        too_few = f"; at {count_of(more)} more too few were run" if more > 0 else ""
        return f"By {self.rule}; {count_of(self.points)}{too_few}."


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
    known = {cell: costs for cell, costs in table.items() if any(name in costs for name in allowed)}
    contested = records.contested(field.allocators)
    cells = {cell: costs for cell, costs in known.items() if cell[0] in contested}
    points = list(dict.fromkeys(point for point, _ in cells)) or [
        point for point in dict.fromkeys(map(point_of, records)) if point in contested
    ]
    of_points = len({point for point, _ in known})
    if not contested:
        note = why_no_contest(records, field.allocators)
        return Advice(profile.need, profile.rule, [], "", 0.0, 0, [], of_points, note, profile.first)
    found = Candidates(records, cells, points, field.allocators, allowed)
    ordered = found.standings
    close = [each.allocator for each in as_good_as_first(ordered, AS_GOOD)]
    rest = ordered[len(close) :]
    next_name, next_ratio = (rest[0].allocator, distance(ordered[0], rest[0])) if rest else ("", 0.0)
    out = [(name, why) for name, why in found.reasons.items() if why]
    lacking = [(name, where) for name in found.names if (where := found.lacks(name))]
    return Advice(
        profile.need, profile.rule, close, next_name, next_ratio, len(points), out, of_points, "", profile.first,
        found.firsts, lacking,
    )  # fmt: skip


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
    points = len(set(map(point_of, field.records)))
    return Advice("It must never fail", rule, good, "", 0.0, points, out, points, "", True)
