# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the paper's conclusions hold in a record: each with the figures that say so."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpheap.report import ranking
from warpheap.report.claims import CLAIMS, FAMILIES, OURS, Bound, Claim, Order, Where
from warpheap.report.data import Point
from warpheap.report.numbers import show_in_full
from warpheap.report.places import count_of
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Cell, Grid

# A family that is ahead by less than this is as good.
_AS_GOOD = 1.05

HOLDS, CHANGED, VOID = "holds", "changed", "void"
NOTE = (
    "Figures are geometric means over the points at which each family of the conclusion has a result; a family that "
    "lacks one at other points is named. The best member of a family counts at each point. A family without results "
    "at most points takes no part. A conclusion holds if no family is ahead of one that the paper puts before it by "
    "more than 5 %, and is void if fewer than two of its families, or not the first, take part. "
    f"{OURS} stands beside for comparison, at the same points. The designs are our forms of the originals, on current "
    "hardware."
)


@dataclass(frozen=True)
class Verdict:
    """What a record says of a conclusion."""

    claim: Claim
    word: str  # holds, changed or void
    figures: Mapping[str, float]  # of the families that take part and, if it has all points, of the default; best first
    points: int
    text: str  # the figures with their units, or why the claim is void


@dataclass(frozen=True)
class Comparison:
    """Families of designs, and the default design, at the points at which all of them have a result."""

    families: Sequence[str]  # that take part: those with results at most points
    absent: Sequence[str]  # that were asked for and take no part
    points: Sequence[Mapping[str, float]]  # what each costs there, turned so that less is better
    lacking: Mapping[str, int]  # of those that take part and lack any: at how many of the `asked` points
    asked: int  # points at which some family or the default design has a result
    unit: str
    invert: bool  # more is better in what was measured

    @property
    def shown(self) -> list[str]:
        """The families and, if it has all points, the default design."""
        return [*self.families, *([OURS] if all(OURS in each for each in self.points) else [])]

    @property
    def means(self) -> dict[str, float]:
        """The mean cost of each that is shown."""
        return {family: _mean([each[family] for each in self.points]) for family in self.shown}

    @property
    def figures(self) -> dict[str, float]:
        """What was measured of each that is shown, as means; the best one first."""
        means = self.means
        return {family: _turned(means[family], self.invert) for family in sorted(means, key=lambda name: means[name])}

    @property
    def text(self) -> str:
        """The figures with their units, the number of points, and who takes no part."""
        texts = [f"{family} {show_in_full(value, self.unit, self.invert)}" for family, value in self.figures.items()]
        points = count_of(len(self.points))
        if self.lacking:
            without = ", ".join(f"{family} ({count})" for family, count in self.lacking.items())
            points = f"{len(self.points)} of {self.asked} points: without a result at others are {without}"
        absent = f" Too few results of {', '.join(self.absent)}." if self.absent else ""
        return f"{', '.join(texts)}. {points}.{absent}"


def grid_of(records: RecordSet) -> Grid | None:
    """The table of all conclusions over the records of one machine; None if every one is void."""
    verdicts = [judge(claim, records) for claim in CLAIMS]
    held = sum(each.word == HOLDS for each in verdicts)
    judged = sum(each.word != VOID for each in verdicts)
    if judged == 0:
        return None
    rows = [
        [
            Cell(each.claim.text, aside=f"section {each.claim.section}"),
            Cell(each.word, {HOLDS: "ok", CHANGED: "failed", VOID: "skipped"}[each.word]),
            Cell(each.text),
        ]
        for each in verdicts
    ]
    title = f"The paper's conclusions: {held} of {judged} that this record can answer hold"
    return Grid(title, ["conclusion", "here", "figures"], rows, NOTE)


def judge(claim: Claim, records: RecordSet) -> Verdict:
    """Whether the conclusion holds over the records of one machine."""
    named = _named(claim.says)
    field = compare(claim.where, records, named)
    if not _enough(claim.says, field.families):
        return Verdict(claim, VOID, {}, 0, f"too few results of {', '.join(field.absent)}")
    if not field.points:
        return Verdict(claim, VOID, {}, 0, f"no point at which all have a result: {', '.join(field.families)}")
    if isinstance(claim.says, Order):
        right = _in_order(claim.says, field.families, field.means)
    elif claim.says.most:
        sides = [_within(claim.says, [_turned(field.means[family], field.invert)]) for family in field.families]
        right = 2 * sum(sides) > len(sides)
    else:
        values = [_turned(each[family], field.invert) for each in field.points for family in field.families]
        right = _within(claim.says, values)
    return Verdict(claim, HOLDS if right else CHANGED, field.figures, len(field.points), field.text)


def compare(where: Where, records: RecordSet, named: Sequence[str]) -> Comparison:
    """The families of these names over the records of one machine, at the points that `where` chooses."""
    own = _chosen(where, records)
    costs = _costs(where, own)
    # A family without results at most points takes no part: the others would be judged by the few that it has.
    found = [family for family in named if 2 * sum(family in each for each in costs.values()) > len(costs)]
    common = [each for each in costs.values() if found and all(family in each for family in found)]
    lacking = {family: count for family in found if (count := sum(family not in each for each in costs.values()))}
    example = own.measures.get(where.measure)
    unit, better = (example["unit"], example["better"]) if example else ("", "lower")
    return Comparison(
        found,
        [each for each in named if each not in found],
        common,
        lacking,
        len(costs),
        unit,
        better == "higher",
    )


def _named(says: Order | Bound) -> list[str]:
    return list(says.families) if isinstance(says, Bound) else [family for tier in says.tiers for family in tier]


def _enough(says: Order | Bound, found: Sequence[str]) -> bool:
    if isinstance(says, Bound):
        return bool(found)
    tiers = [any(family in found for family in tier) for tier in says.tiers]
    return tiers[0] and sum(tiers) >= 2


def _chosen(where: Where, records: RecordSet) -> RecordSet:
    return records.where(case=where.case).only(
        lambda each: (
            each["mode"] in where.modes
            and where.sizes[0] <= each["size"] <= where.sizes[1]
            and where.least_threads <= each["threads"] <= where.most_threads
            and (not where.threads or each["threads"] in where.threads)
        )
    )


def _costs(where: Where, records: RecordSet) -> dict[Point, dict[str, float]]:
    """At each point the cost of each family and of the default design, turned so that less is better."""
    field = FAMILIES | {OURS: (OURS,)}
    costs = {}
    for (place, _), values in ranking.table_of(records, [where.measure]).items():
        members = {family: [values[name] for name in names if name in values] for family, names in field.items()}
        costs[place] = {family: min(of) for family, of in members.items() if of}
    return costs


def _turned(cost: float, invert: bool) -> float:
    """What was measured, from a cost, or the other way round."""
    if not invert:
        return cost
    return 0.0 if math.isinf(cost) else 1 / cost if cost > 0 else math.inf


def _mean(costs: Sequence[float]) -> float:
    """The geometric mean. A share of nothing costs infinitely much, and then so does the mean."""
    if any(math.isinf(cost) for cost in costs):
        return math.inf
    return 0.0 if 0.0 in costs else ranking.geometric_mean(costs) or 0.0


def _in_order(says: Order, found: Sequence[str], means: Mapping[str, float]) -> bool:
    tiers = [[means[family] for family in tier if family in found] for tier in says.tiers]
    tiers = [tier for tier in tiers if tier]
    if any(max(before) > _AS_GOOD * min(after) for place, before in enumerate(tiers) for after in tiers[place + 1 :]):
        return False
    return not says.close or max(tiers[1]) <= says.close * min(tiers[0])


def _within(says: Bound, values: Sequence[float]) -> bool:
    return all(value >= says.limit if says.at_least else value <= says.limit for value in values)
