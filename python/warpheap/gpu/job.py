# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a GPU run is asked for, and what its parts know of it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from warpheap.cases.base import PRESETS
from warpheap.errors import unknown_name
from warpheap.gpu.build import Programs, State
from warpheap.gpu.device import Device
from warpheap.gpu.result import ResultFile
from warpheap.record import Record

if TYPE_CHECKING:
    from warpheap.report.sections import Section

# In the order of their turns. The survey is last: it takes what is left of the budget, and can be gone on with.
PARTS = ("tests", "memcheck", "sync", "pool", "bench")
# Parts whose results are one line a test or a program; the others measure.
CHECKS = ("tests", "memcheck")
_PARTS_OF_DEFAULT = ("tests", "memcheck", "bench")


@dataclass(frozen=True)
class Job:
    """The command line of `warpheap gpu`."""

    out: Path
    prebuilt: Path | None
    only: str | None
    time_limit: float  # seconds for one process of a test program
    budget: float  # seconds for everything
    preset: str
    test_filter: str
    jobs: int  # test programs side by side
    resume: bool = False  # go on with the tests of an earlier run of the same state

    @property
    def parts(self) -> list[str]:
        """The parts that are asked for. Raises `UsageError` for a name that no part has."""
        wanted = list(_PARTS_OF_DEFAULT) if self.only is None else [word.strip() for word in self.only.split(",")]
        for word in wanted:
            if word not in PARTS:
                raise unknown_name("--only", word, PARTS)
        return wanted

    def check(self) -> None:
        """Raises `UsageError` for the name of an unknown part or preset."""
        if "bench" in self.parts and self.preset not in PRESETS:
            raise unknown_name("--preset", self.preset, PRESETS)


@dataclass
class Course:
    """A run under way."""

    console: Console
    job: Job
    state: State
    facts: dict[str, Any]  # of the machine
    programs: Programs
    device: Device
    command: str  # that makes the folder again
    deadline: float  # of time.monotonic()
    files: dict[str, ResultFile]  # of the parts of CHECKS that are asked for
    partial: str  # why nobody can know that all tests are there; empty: they are
    lost: str = ""  # why the device is given up
    undone: list[str] = field(default_factory=list)  # measurements that were asked for and did not come to their end

    @property
    def left(self) -> float:
        """Seconds left for everything, 0 at least."""
        return max(self.deadline - time.monotonic(), 0.0)

    def measures_after(self, part: str) -> bool:
        """True if a part that measures is asked for and has its turn after `part`."""
        return any(each in self.job.parts for each in PARTS[PARTS.index(part) + 1 :] if each not in CHECKS)


@dataclass(frozen=True)
class Measures:
    """What the parts that measure do. The layer above gives it, so that this package stands on none of them."""

    parts: Mapping[str, Callable[[Course], Sequence[Record]]]  # each returns its records of the survey
    chapters: "Callable[[Path], list[Section]]"  # of the report, from what the parts left in a folder
