# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the page says of each machine before the chapters: verdict, advice, the paper's figures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warpheap.cases import CASES
from warpheap.record import Record
from warpheap.report import data, guide, paper, verdict
from warpheap.report.chart import Chart
from warpheap.report.paper import Missing


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
    comparable: bool


def parts_of(records: Sequence[Record]) -> list[MachinePart]:
    """The parts of all machines, GPUs first. The second GPU stands in for the paper's second GPU."""
    machines = data.machines_of(records)
    gpus = [each for each in machines if each[1] == "cuda"]
    parts = []
    for place, each in enumerate(machines):
        own = data.of_machine(records, each)
        rest = [other for other in gpus if other != each]
        others = data.of_machine(records, rest[0]) if rest and each[1] == "cuda" else []
        figures, missing = paper.charts(own, others)
        name = f"-{place + 1}" if place else ""
        advice, silent = guide.advise(own)
        parts.append(
            MachinePart(
                *each, name, verdict.heat_map(own, list(CASES)), verdict.winners(own, list(CASES)), advice, silent,
                [replace(chart, name=chart.name + name) for chart in figures], missing,
                all(record["timing_comparable"] for record in own),
            )
        )  # fmt: skip
    return parts
