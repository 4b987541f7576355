# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured: each case of each subject in a process of its own, within a budget of seconds."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpheap import process
from warpheap.errors import UsageError
from warpheap.experiments.check import Needs, validate
from warpheap.experiments.driver import SECONDS_TO_ANSWER, Driver
from warpheap.experiments.records import Record, without_result
from warpheap.pool import peers, recorded
from warpheap.record import ParseError, RecordError, parse

DRIVER = Driver("warpheap_pool_bench", ("--case", "churn", "--subject", "pool", "--quick"))
CASES = ("sizes", "fill", "live", "churn", "streams", "replay", "recording")
# What a process takes beside the case: its start, and the memory that a pool takes at once.
_SECONDS_AROUND = 2.5
# All libraries that some case can measure.
LIBRARIES = tuple(dict.fromkeys((*peers.LIBRARIES, *recorded.OPENERS)))
NEEDS: Needs = {
    "sizes": ("size",),
    "fill": ("size",),
    "live": ("live",),
    "streams": ("threads",),
    "recording": ("log", "threads"),
}


@dataclass(frozen=True)
class Step:
    """One case of one subject."""

    case: str
    subject: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Wishes:
    """What to measure, and how much."""

    bytes: int
    repetitions: int
    cases: Sequence[str]
    peers: Sequence[str]
    python: str  # that has the peers
    log: Path  # for the case `replay`
    recordings: Sequence[Path] = ()  # for the case `recording`


def steps_of(program: Path, wishes: Wishes) -> list[Step]:
    """All that there is to do: case by case, so that a budget that ends early leaves whole figures."""
    steps = []
    for case in wishes.cases:
        common = ["--case", case, "--bytes", str(wishes.bytes), "--repetitions", str(wishes.repetitions)]
        if case == "recording":
            for path in wishes.recordings:
                logged = [*common, "--log", str(path)]
                steps += _driver_steps(program, case, logged)
                before = recorded.command(wishes.python)
                steps += [
                    Step(case, library, (*before, "--library", library, *logged))
                    for library in wishes.peers
                    if library in recorded.OPENERS
                ]
            continue
        if case == "replay":
            common += ["--log", str(wishes.log)]
        steps += _driver_steps(program, case, common)
        if case in peers.CASES:
            steps += [
                Step(case, library, (wishes.python, str(peers.__file__), "--library", library, *common))
                for library in wishes.peers
                if library in peers.LIBRARIES
            ]
    return steps


def _driver_steps(program: Path, case: str, words: Sequence[str]) -> list[Step]:
    listing = ["--list"] if case != "recording" else ["--case", case, "--list"]
    outcome = process.run([program, *listing], SECONDS_TO_ANSWER)
    subjects = outcome.stdout.split()
    if outcome.exit_code != 0 or not subjects:
        raise UsageError(f"{program} does not tell its subjects: {outcome.describe_end()}")
    return [Step(case, subject, (str(program), "--subject", subject, *words)) for subject in subjects]


def measure(steps: Sequence[Step], budget: float, tell: Callable[[Step, str], None]) -> Iterator[Record]:
    """Runs the steps and yields what they print; a step that fails or has no time left is a record that says so."""
    end = time.monotonic() + budget
    missing: set[str] = set()
    for place, step in enumerate(steps):
        left = end - time.monotonic()
        share = left / (len(steps) - place)
        if step.subject in missing:
            continue
        if left < _SECONDS_AROUND:
            tell(step, "skipped")
            yield without_result(step.case, step.subject, "skipped", "the budget was used up")
            continue
        seconds = max(share - _SECONDS_AROUND, 0.5)
        tell(step, "")
        outcome = process.run([*step.command, "--seconds", f"{seconds:.2f}"], max(min(left, 6 * share), 20.0))
        if outcome.exit_code == peers.NOT_HERE and step.command[0] != step.subject:
            missing.add(step.subject)
            tell(step, outcome.last_words)
            yield without_result(step.case, step.subject, "absent", outcome.last_words)
            continue
        for line in outcome.stdout.splitlines():
            try:
                said = parse(line)
            except ParseError:
                continue  # the end of a line that a killed process did not finish
            try:
                yield _without_folder(validate({**said, "status": "ok"} if isinstance(said, dict) else said, NEEDS))
            except RecordError as problem:
                tell(step, f"failed: {problem}")
                yield without_result(step.case, step.subject, "failed", f"a record breaks the format: {problem}")
        if outcome.timed_out or outcome.exit_code != 0:
            status = "timeout" if outcome.timed_out else "failed"
            tell(step, status)
            yield without_result(step.case, step.subject, status, outcome.describe_end())


def _without_folder(record: Record) -> Record:
    """A record names the log, and not where it lay on the machine that replayed it."""
    return {**record, "log": str(record["log"]).rpartition("/")[2]} if "log" in record else record


def own_python() -> str:
    """The interpreter that runs us."""
    return sys.executable
