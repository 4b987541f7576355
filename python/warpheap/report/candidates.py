# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The candidates of an answer card, and what it costs a candidate to lack a result.

A *point* is one combination of case, mode, threads, size and heap: a card that names two measures
counts it once. A point is *comparable* if more than half of the allocators were run there and one
that may win has a result.

A lost run of one point does not take an allocator out of a card. Of hundreds of points one may be
lost to a time limit, or not be measured yet, and the card would be silent on the allocator that is
first at all others. A lost run must not help the allocator either: the points that are lost are the
slow ones, and a mean over the rest would favour it. So, as in the scores of solver competitions
(PAR2), a point without a result counts as twice the worst that any candidate has there, and the card
says at how many points that is so, and why.

An allocator with results at half of the points or fewer is out: it would be judged by what it lacks.
An allocator that by its design cannot serve a point is out as well, since a program with this need
would meet that point.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from warpheap.record import Record, unable
from warpheap.report import data, texts
from warpheap.report.contest import Costs, Standing, standings
from warpheap.report.data import Point
from warpheap.report.places import count_of, some_of, words_of_points
from warpheap.report.record_set import RecordSet

# A point without a result counts as this many times the worst result of a candidate.
_PENALTY = 2
# Points that a sentence names of each cause; the rest is a number.
_NAMED = 2

Cells = Mapping[tuple[Point, str], Costs]


@dataclass(frozen=True)
class Candidates:
    """The allocators of one card: those that may win, and the comparable points."""

    records: RecordSet  # of the card
    cells: Cells  # at each comparable point the costs in each measure
    points: Sequence[Point]  # comparable; where no point is, those that most allocators were run at
    allocators: Sequence[str]
    allowed: Sequence[str]  # that can win, as far as the card's rule goes

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why an allocator is no candidate; empty for a candidate."""
        return {name: self._why_out(name) for name in self.allocators}

    @cached_property
    def names(self) -> list[str]:
        """The candidates in the registry's order."""
        return [name for name, why in self.reasons.items() if not why]

    @cached_property
    def standings(self) -> list[Standing]:
        """The candidates from the first to the last, over all comparable points."""
        found = standings([self._costs(cell) for cell in self.cells], self.names, self.names)
        return sorted(found.values(), key=lambda each: each.rank)

    @cached_property
    def firsts(self) -> dict[str, int]:
        """At how many points each candidate is first over all measures; equals are first together.

        A candidate that lacks a result there is not first, whatever it counts as.
        """
        firsts = dict.fromkeys(self.names, 0)
        for measures in self._measures.values():
            own = standings([self._costs(cell) for cell in measures], self.names, self.names)
            whole = [each for name, each in own.items() if all(name in self.cells[cell] for cell in measures)]
            best = min((each.rank for each in whole), default=None)
            for each in whole:
                firsts[each.allocator] += each.rank == best
        return firsts

    def lacks(self, name: str) -> str:
        """Say at how many comparable points an allocator lacks a result, and why; empty if at none."""
        causes: dict[str, list[Point]] = {}
        for point in self._lacking(name):
            causes.setdefault(self._cause(name, point), []).append(point)
        count = sum(map(len, causes.values()))
        if not count:
            return ""
        places = {cause: some_of(words_of_points(own, self.points), _NAMED) for cause, own in causes.items()}
        told = "; ".join(f"{cause} at {where}" for cause, where in places.items())
        return f"no result at {count} of {count_of(len(self.points))} ({told})"

    @cached_property
    def _measures(self) -> dict[Point, list[tuple[Point, str]]]:
        found: dict[Point, list[tuple[Point, str]]] = {}
        for cell in self.cells:
            found.setdefault(cell[0], []).append(cell)
        return found

    @cached_property
    def _runs(self) -> dict[tuple[Point, str], Record]:
        return {(data.point_of(record), record["allocator"]): record for record in self.records}

    def _why_out(self, name: str) -> str:
        if name not in self.allowed:
            return "no individual free"
        own = [run for point in self.points if (run := self._runs.get((point, name))) is not None]
        if not own:
            return "not measured"
        cannot = [run for run in own if unable(run)]
        if cannot:
            return f"{cannot[0]['reason']} ({len(cannot)} of {count_of(len(self.points))})"
        return self.lacks(name) if 2 * len(self._lacking(name)) >= len(self.points) else ""

    def _lacking(self, name: str) -> list[Point]:
        return [
            point
            for point in self.points
            if point not in self._measures or any(name not in self.cells[cell] for cell in self._measures[point])
        ]

    def _cause(self, name: str, point: Point) -> str:
        run = self._runs.get((point, name))
        if run is None:
            return "not measured"
        if run["status"] != "ok":
            return str(run["status"])
        missing = [measure for at, measure in self._measures.get(point, ()) if name not in self.cells[at, measure]]
        return f"no {', '.join(map(texts.words, missing))}" if missing else "nothing to compare"

    def _costs(self, cell: tuple[Point, str]) -> Costs:
        """The cost of each candidate in a cell, also of those that lack one; empty if all do."""
        known = {name: cost for name, cost in self.cells[cell].items() if name in self.names}
        if not known:
            return {}
        # Twice a worst cost of 0 would be as good as the best.
        worst = max(known.values())
        return dict.fromkeys(self.names, _PENALTY * worst if worst > 0 else math.inf) | known
