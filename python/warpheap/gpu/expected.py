# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a whole run has: the programs that are expected, and how long each of them took when it last ran."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from warpheap import project
from warpheap.gpu.result import read_head, read_seconds

LIST_NAME = "cuda_tests.txt"


@dataclass(frozen=True)
class ProgramList:
    """The list of test programs that a build leaves: a name in each line, perhaps followed by the word `alone`."""

    path: Path
    names: list[str]  # sorted
    alone: frozenset[str]  # of the programs that take all memory of the GPU, so that no other can run beside them

    @classmethod
    def find(cls, *folders: Path) -> "ProgramList | None":
        """The list in the first folder that has one with a name in it."""
        for folder in folders:
            path = folder / LIST_NAME
            lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
            entries = [line.split() for line in lines if line.strip()]
            if entries:
                alone = frozenset(name for name, *marks in entries if "alone" in marks)
                return cls(path, sorted({name for name, *_ in entries}), alone)
        return None

    def costs(self, what: str) -> dict[str, float]:
        """Seconds of each program in a record of `what` beside the list; empty without one.

        That record may be of any state: it only makes the order better.
        """
        record = self.path.with_name(f"{what}.jsonl")
        return read_seconds(record) if record.is_file() else {}


def recorded_costs(what: str, device: str) -> dict[str, float]:
    """Seconds of each program in the checkout's last record of `what`, of the same device if it has one of that."""
    checkout = project.find_checkout()
    paths = [] if checkout is None else list(checkout.glob(f"results/*/{what}.jsonl"))
    if not paths:
        return {}
    heads = {path: read_head(path) for path in paths}
    return read_seconds(max(paths, key=lambda path: _rank(heads[path], device)))


def _rank(head: Mapping[str, object], device: str) -> tuple[bool, str]:
    return head.get("device") == device, str(head.get("started", ""))


def longest_first(programs: Iterable[Path], costs: Mapping[str, float]) -> list[Path]:
    """The programs in the order in which to start them: those of unknown cost, then the others from the longest on."""
    return sorted(programs, key=lambda program: (-costs.get(program.name, math.inf), program.name))
