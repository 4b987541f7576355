# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan: case by case, each result on disk before the next begins."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpheap.driver import Driver
from warpheap.errors import UsageError
from warpheap.plan import Step
from warpheap.record import Record, RecordFile, key

RECORD_NAME = "survey.jsonl"
MACHINE_NAME = "machine.json"


@dataclass(frozen=True)
class Progress:
    """What a survey tells whoever watches it."""

    started: Callable[[Step], None]
    finished: Callable[[Step, Record], None]


def open_record(folder: Path, driver: Driver, fresh: bool) -> tuple[RecordFile, int]:
    """The record in `folder`, and the number of records of other sources that were moved beside it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / RECORD_NAME
        if fresh:
            path.unlink(missing_ok=True)
        file = RecordFile.open(path)
        others = file.set_aside(
            lambda each: each["sources"] == driver.sources and each["device"] == driver.device, "survey.other.jsonl"
        )
    except OSError as problem:
        raise UsageError(f"--out: {folder} cannot be written: {problem.strerror}") from problem
    return file, others


def write_machine(folder: Path, driver: Driver) -> None:
    """Keeps what the driver says of the machine beside the record; what is there already stays."""
    path = folder / MACHINE_NAME
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | driver.machine, indent=2) + "\n", encoding="utf-8")


def still_to_run(steps: Sequence[Step], file: RecordFile, driver: Driver) -> list[Step]:
    """The steps that the record does not have. One that ran out of time is run again if it now has more."""

    def done(step: Step) -> bool:
        record = file.find(_key_of(step, driver))
        if record is None or record["sources"] != driver.sources:
            return False
        return record["status"] != "timeout" or step.time_limit <= float(record.get("time_limit_s", 0))

    return [step for step in steps if not done(step)]


def run(
    steps: Sequence[Step], driver: Driver, file: RecordFile, progress: Progress, deadline: float | None = None
) -> int:
    """Measures `steps` and adds them to `file`. Returns how many were run before `deadline` (of time.monotonic)."""
    for count, step in enumerate(steps):
        if deadline is not None and time.monotonic() > deadline:
            return count
        progress.started(step)
        record = driver.measure(step.point, step.time_limit)
        file.append(record)
        progress.finished(step, record)
    return len(steps)


def of_plan(steps: Sequence[Step], file: RecordFile, driver: Driver) -> list[Record]:
    """The records of a plan, as far as they are there, in its order."""
    found = (file.find(_key_of(step, driver)) for step in steps)
    return [record for record in found if record is not None]


def _key_of(step: Step, driver: Driver) -> tuple[object, ...]:
    return key(step.point.__dict__ | {"backend": driver.backend, "device": driver.device})
