# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the overview compares: the measures of each case that decide."""

from collections.abc import Sequence
from dataclasses import dataclass

from warpheap.report import texts
from warpheap.report.record_set import RecordSet


@dataclass(frozen=True)
class Column:
    """One column of the heat map."""

    case: str
    measure: str
    label: str
    timing: bool


# The rest of a case's measures is in its chapter. A case that is not here is compared in all its measures.
_DECIDING = {
    "throughput": ("malloc", "free"),
    "latency": ("malloc", "free"),
    "scaling": ("malloc", "free"),
    "orders": ("free", "pair"),
    "temperature": ("malloc", "free"),
    "fragmentation": ("range", "total_range"),
    "out_of_memory": ("share", "total"),
    "exhaustion": ("rate", "refused"),
    "compaction": ("regained", "given_back", "trim"),
    "growth": ("share", "iteration"),
    "huge": ("share", "malloc", "free"),
    "phases": ("phase", "refused", "share"),
    "shift": ("share", "fill"),
    "registers": ("malloc_registers", "free_registers"),
    "initialisation": ("construct", "metadata"),
    "work_generation": ("generate",),
    "memory_access": ("write", "read"),
    "graph_init": ("init",),
    "graph_update": ("insert", "delete"),
    "arena": ("time",),
    "churn": ("rate",),
    "scarce": ("time", "served", "again"),
    "trace": ("replay",),
}
_SHORT = {"malloc_registers": "malloc", "free_registers": "free", "total_range": "all rounds", "range": "one round",
          "construct": "make", "metadata": "own", "iteration": "step", "generate": "time"}  # fmt: skip
_SHORT_CASES = {
    "work_generation": "work", "initialisation": "init", "fragmentation": "fragmen\N{SOFT HYPHEN}tation",
    "temperature": "tempe\N{SOFT HYPHEN}rature",
}  # fmt: skip


def short_case(case: str) -> str:
    """Return a case's name as a heading of narrow columns. Long words have places where they may break."""
    return _SHORT_CASES.get(case, texts.words(case))


def columns_of(records: RecordSet, order: Sequence[str]) -> list[Column]:
    """The columns that the records have values for, in the survey's order of cases."""
    cases = records.cases
    columns = []
    for case in [*(name for name in order if name in cases), *(name for name in cases if name not in order)]:
        found = records.where(case=case).measures
        for name in _DECIDING.get(case, tuple(found)):
            if name in found:
                label = _SHORT.get(name, texts.words(name))
                columns.append(Column(case, name, label, found[name]["timing"]))
    return columns
