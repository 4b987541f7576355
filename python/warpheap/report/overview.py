# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the page says of each machine before the chapters: answers, verdict, the paper's figures and conclusions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warpheap.cases import CASES
from warpheap.report import conclusions, guide, paper, verdict
from warpheap.report.chart import Chart
from warpheap.report.paper import Missing
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Grid

_FEWEST_ANSWERS = 4


@dataclass(frozen=True)
class MachinePart:
    """One machine."""

    device: str
    backend: str
    name: str  # of its anchors
    heat: verdict.HeatMap | None
    wins: Sequence[verdict.WinRow]
    advice: Sequence[guide.Advice]
    silent: Sequence[str]
    paper: Sequence[Chart]
    missing: Sequence[Missing]
    conclusions: Grid | None
    comparable: bool

    @property
    def answers(self) -> Sequence[guide.Advice]:
        """The cards that the page begins with: those of the first needs, and others if these are fewer than four."""
        first = [each for each in self.advice if each.first]
        return [*first, *self.more_needs[: max(_FEWEST_ANSWERS - len(first), 0)]]

    @property
    def more_answers(self) -> Sequence[guide.Advice]:
        """The cards of all other needs."""
        shown = self.answers
        return [each for each in self.more_needs if each not in shown]

    @property
    def more_needs(self) -> Sequence[guide.Advice]:
        """The cards of needs that are not among the first."""
        return [each for each in self.advice if not each.first]


def parts_of(records: RecordSet) -> list[MachinePart]:
    """The parts of all machines, GPUs first. The second GPU stands in for the paper's second GPU."""
    machines = records.machines
    gpus = [each for each in machines if each[1] == "cuda"]
    parts = []
    for place, each in enumerate(machines):
        own = records.of_machine(each)
        rest = [other for other in gpus if other != each]
        others = records.of_machine(rest[0]) if rest and each[1] == "cuda" else RecordSet()
        figures, missing = paper.charts(own, others)
        name = f"-{place + 1}" if place else ""
        advice, silent = guide.advise(own)
        parts.append(
            MachinePart(
                *each, name, verdict.heat_map(own, list(CASES)), verdict.winners(own, list(CASES)), advice, silent,
                [replace(chart, name=chart.name + name) for chart in figures], missing,
                conclusions.grid_of(own), all(record["timing_comparable"] for record in own),
            )
        )  # fmt: skip
    return parts
