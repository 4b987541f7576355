# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A record beside Winter, Parger, Mlakar and Steinberger (PPoPP 2021), as text in Markdown."""

from collections.abc import Iterable

from warpheap.record import Record
from warpheap.report import conclusions, paper
from warpheap.report.claims import CLAIMS, FAMILIES, Where
from warpheap.report.conclusions import HOLDS, VOID
from warpheap.report.paper import Figure
from warpheap.report.record_set import Machine, RecordSet
from warpheap.units import show_count
from warpheap.words import table


def markdown_of(records: Iterable[Record]) -> str:
    """For each machine the paper's conclusions, the families at each of its figures, and the figures without points."""
    newest = RecordSet.of(records).latest()
    return "\n\n".join(part for machine in newest.machines for part in _parts(machine, newest.of_machine(machine)))


def _parts(machine: Machine, records: RecordSet) -> list[str]:
    verdicts = [conclusions.judge(claim, records) for claim in CLAIMS]
    held = sum(each.word == HOLDS for each in verdicts)
    judged = sum(each.word != VOID for each in verdicts)
    _, missing = paper.charts(records)
    parts = [
        f"## {machine.device}, {machine.backend} backend",
        _origin(records),
        f"### Conclusions: {held} of {judged} that can be judged hold",
        table(
            ("conclusion", "section", "here", "figures"),
            [(each.claim.text, each.claim.section, each.word, each.text) for each in verdicts],
        ),
        conclusions.NOTE,
        "### Figures",
        table(("figure", "what", "families, the best one first"), _rankings(records)),
    ]
    if missing:
        lines = [f"- {each.number}, {each.what}: {each.why}" for each in missing]
        parts += ["### Figures without points", "\n".join(lines)]
    return parts


def _origin(records: RecordSet) -> str:
    days = sorted({str(record["time"])[:10] for record in records})
    states = ", ".join(str(state)[:12] for state in records.by("sources"))
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"Measured {when}, sources {states}: {show_count(len(records))} points of {len(records.allocators)} designs."


def _rankings(records: RecordSet) -> list[tuple[str, str, str]]:
    """A line for each figure of the paper that the record has points for."""
    rows = []
    for figure in paper.FIGURES:
        field = conclusions.compare(where_of(figure), records, list(FAMILIES))
        if field.points and not figure.second_machine:
            rows.append((figure.number, figure.label, field.text))
    return rows


def where_of(figure: Figure) -> Where:
    """The points that a figure of the paper plots."""
    if figure.field == "size":
        return Where(figure.case, figure.measure, (figure.mode,), threads=(figure.at,))
    return Where(figure.case, figure.measure, (figure.mode,), sizes=(figure.at, figure.at))
