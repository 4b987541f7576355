# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The chapters of the cases: each drawn by the module of its name here if there is one, else from its measures."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from warpheap.cases import CASES
from warpheap.report import generic
from warpheap.report.chart import Chart
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Section

_OWN = {module.name for module in pkgutil.iter_modules(__path__)}


@dataclass(frozen=True)
class Chapter:
    """A chapter of the page; `parts` has one section list for each machine."""

    title: str
    name: str
    parts: Sequence[tuple[str, Sequence[Section]]]


def sections_of(case: str) -> Callable[[RecordSet], list[Section]]:
    """Return what draws the chapter of a case. `generic` draws each case that has no module here."""
    if case not in _OWN:
        return generic.sections
    own: Callable[[RecordSet], list[Section]] = importlib.import_module(f"{__name__}.{case}").sections
    return own


def chapters(records: RecordSet) -> list[Chapter]:
    """A chapter for each case that has something to show. Host and GPU records never share a figure."""
    cases = records.cases
    ordered = [*(case for case in CASES if case in cases), *(case for case in cases if case not in CASES)]
    machines = records.machines
    made = []
    for case in ordered:
        parts = []
        for place, machine in enumerate(machines):
            own = records.of_machine(machine).where(case=case)
            drawn = sections_of(case)(own) if own else []
            if drawn:
                suffix = f"-{place + 1}" if place else ""
                parts.append((_machine_name(machine, machines), [_renamed(section, suffix) for section in drawn]))
        if parts:
            made.append(Chapter(parts[0][1][0].title, case.replace("_", "-"), parts))
    return made


def named(extra: Sequence[Section]) -> list[Chapter]:
    """Chapters that others add."""
    return [Chapter(section.title, f"extra-{place}", [("", [section])]) for place, section in enumerate(extra, 1)]


def charts_of(records: RecordSet) -> list[Chart]:
    """All figures of all chapters."""
    parts = [part for chapter in chapters(records) for part in chapter.parts]
    return [chart for _, sections in parts for section in sections for chart in section.charts]


def _machine_name(machine: tuple[str, str], machines: Sequence[tuple[str, str]]) -> str:
    if len(machines) == 1:
        return ""
    return f"{machine[0]}, host backend" if machine[1] == "host" else machine[0]


def _renamed(section: Section, suffix: str) -> Section:
    return replace(section, charts=[replace(chart, name=chart.name + suffix) for chart in section.charts])
