# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan: case by case, each result on disk before the next begins."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from warpheap.cases import is_baseline
from warpheap.driver import Driver
from warpheap.errors import UsageError
from warpheap.files import check_writable
from warpheap.machines import MACHINE_NAME, add_facts, facts_beside
from warpheap.plan import Step
from warpheap.record import (
    RECORD_NAME,
    Record,
    RecordFile,
    key,
    out_of_time,
    read_records,
    spread,
    unable,
    write_records,
)
from warpheap.runner import Runner

REPORT_NAME = "report.html"
# Records of other sources or devices, which are moved aside.
OTHERS_NAME = "survey.other.jsonl"
# Records that are not ok, which are moved aside when their cases are to run again.
RETRIED_NAME = "survey.retried.jsonl"
# The records of the workers of a survey on several GPUs, until they are merged.
WORKER_RECORDS = "survey.gpu-*.jsonl"


@dataclass(frozen=True)
class Progress:
    """What a survey tells whoever watches it."""

    started: Callable[[Step], None]
    finished: Callable[[Step, Record], None]


def open_record(folder: Path, driver: Driver, fresh: bool) -> tuple[RecordFile, int]:
    """The record in `folder`, and the number of records of other sources that were moved beside it.

    What workers have left there is part of it, and so is what a survey on another device, or of other sources, moved
    beside it, if it is of this device and these sources.
    """
    try:
        path = folder / RECORD_NAME
        # What is written at the end is tried before hours of measuring.
        check_writable(path, folder / MACHINE_NAME, folder / REPORT_NAME)
        if fresh:
            for each in (path, *folder.glob(WORKER_RECORDS)):
                each.unlink(missing_ok=True)
        file = RecordFile.open(path)
        adopt(file)

        def is_ours(record: Record) -> bool:
            return bool(record["sources"] == driver.sources and record["device"] == driver.device)

        others = file.set_aside(is_ours, OTHERS_NAME)
        _take_back(file, folder / OTHERS_NAME, is_ours, fresh)
        add_facts(folder, facts_beside(driver.machine))
    except OSError as problem:
        raise UsageError(f"--out: {folder} cannot be written: {problem.strerror}") from problem
    return file, others


def _take_back(file: RecordFile, path: Path, is_ours: Callable[[Record], bool], fresh: bool) -> None:
    if not path.exists():
        return
    aside = read_records(path)
    ours = [record for record in aside if is_ours(record)]
    if not ours:
        return
    if not fresh:
        file.extend(record for record in ours if file.find(key(record)) is None)
    # After they are in `file`: an interruption in between leaves them twice, and not nowhere.
    write_records(path, (record for record in aside if not is_ours(record)))


def adopt(file: RecordFile) -> None:
    """Merges the records of workers into `file`, and removes them. Of two records of a case the newest is kept.

    Raises `UsageError` if `file` cannot be written; what it lacks stays in the records of workers.
    """
    paths = sorted(file.path.parent.glob(WORKER_RECORDS))
    wanted = sorted((record for path in paths for record in read_records(path)), key=lambda each: str(each["time"]))
    try:
        file.extend(each for each in wanted if _is_news(file.find(key(each)), each))
    except OSError as problem:
        raise UsageError(f"{file.path} cannot be written: {problem.strerror}") from problem
    for path in paths:
        path.unlink()


def set_failures_aside(steps: Sequence[Step], file: RecordFile, driver: Driver) -> int:
    """Moves the records of `steps` that are not ok beside the record, so that their cases run again; returns how many.

    A fault that is rare stays known there. What the design lacks stays in the record: another run would lack it, too.
    Raises `UsageError` if a file cannot be written.
    """
    wanted = {_key_of(step, driver) for step in steps}

    def stays(record: Record) -> bool:
        return record["status"] == "ok" or unable(record) or key(record) not in wanted

    try:
        return file.set_aside(stays, RETRIED_NAME)
    except OSError as problem:
        raise UsageError(f"--out: {file.path.parent} cannot be written: {problem.strerror}") from problem


def still_to_run(steps: Sequence[Step], file: RecordFile, driver: Driver) -> list[Step]:
    """The steps that the record does not have.

    One that ran out of time is run again if it now has more; one whose medians are not known well enough, if it now
    has more rounds, or more time where the time ended its rounds.
    """

    def done(step: Step) -> bool:
        record = file.find(_key_of(step, driver))
        if record is None or record["sources"] != driver.sources:
            return False
        has_more_time = step.effort.time_limit > float(record.get("time_limit_s") or 0)
        if out_of_time(record):
            return not has_more_time
        had = int(record.get("most_iterations") or record["iterations"])
        has_more_rounds = step.effort.most_iterations > had or (has_more_time and _time_ended_rounds(record))
        return not has_more_rounds or _settled(record, step.effort.precision)

    return [step for step in steps if not done(step)]


def _settled(record: Record, precision: float) -> bool:
    named = record["measures"].items()
    # The driver runs no further rounds for a floor, so another run would know it no better.
    measures = [
        each for name, each in named if each is not None and each["timing"] and not is_baseline(record["case"], name)
    ]
    spreads = [spread(each) for each in measures if (each.get("count") or 0) > 1]
    return record["status"] != "ok" or all(each is not None and each <= precision for each in spreads)


def _time_ended_rounds(record: Record) -> bool:
    """True if a case may have had too little time for the rounds that it was allowed."""
    # The driver begins no round once half the limit is over. On the host it has no rounds to begin.
    seconds, limit = record.get("seconds") or 0, record.get("time_limit_s") or 0
    return bool(record["timing_comparable"] and float(seconds) >= float(limit) / 2 > 0)


def run(
    steps: Sequence[Step],
    runners: Mapping[str, Runner],
    file: RecordFile,
    progress: Progress,
    deadline: float | None = None,
) -> int:
    """Measures `steps`, each by its case's runner, and adds them to `file`.

    Returns how many were run before `deadline` (of time.monotonic). An interruption loses the case in hand.
    """
    for count, step in enumerate(steps):
        if deadline is not None and time.monotonic() > deadline:
            return count
        progress.started(step)
        record = measured(step, runners)
        keep(file, record)
        progress.finished(step, record)
    return len(steps)


def measured(step: Step, runners: Mapping[str, Runner]) -> Record:
    """The record of a step, by the runner of its case."""
    record = runners[step.point.case].measure(step.point, step.effort)
    return record | {"precision": step.effort.precision, "most_iterations": step.effort.most_iterations}


def keep(file: RecordFile, record: Record) -> None:
    """Adds a record to `file`. Raises `UsageError` if that cannot be written.

    What ran out of time tells nothing of a case that is known to end in more time, and is left out.
    """
    if _ended_in_more_time(file.find(key(record)), record):
        return
    try:
        file.append(record)
    except OSError as problem:
        raise UsageError(f"{file.path} cannot be written: {problem.strerror}") from problem


def _is_news(known: Record | None, record: Record) -> bool:
    return known is None or (known["time"] <= record["time"] and not _ended_in_more_time(known, record))


def _ended_in_more_time(known: Record | None, record: Record) -> bool:
    return bool(
        known is not None
        and known["status"] == "ok"
        and known["sources"] == record["sources"]
        and out_of_time(record)
        and float(record.get("time_limit_s") or 0) < float(known.get("time_limit_s") or 0)
    )


def of_plan(steps: Sequence[Step], file: RecordFile, driver: Driver) -> list[Record]:
    """The records of a plan, as far as they are there, in its order."""
    found = (file.find(_key_of(step, driver)) for step in steps)
    return [record for record in found if record is not None]


def _key_of(step: Step, driver: Driver) -> tuple[object, ...]:
    return key(asdict(step.point) | {"backend": driver.backend, "device": driver.device})
