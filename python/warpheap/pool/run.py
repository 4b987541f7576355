# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `pool`: measures, then writes the report and the figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from warpheap.errors import UsageError
from warpheap.experiments import records, run
from warpheap.files import check_writable, write_text
from warpheap.folders import held
from warpheap.interposer.calls import read_events
from warpheap.interposer.run import find_library
from warpheap.machines import MACHINE_NAME
from warpheap.pool import measure, peers, recordings
from warpheap.pool.measure import Step, Wishes
from warpheap.pool.training import training_log

RECORD_NAME = "pool.jsonl"
LOG_NAME = "training.log"
PAGE_NAME = "pool.html"
RECORDINGS_NAME = "recordings"


@dataclass(frozen=True)
class Job:
    """The command line of `warpheap pool`."""

    out: Path
    prebuilt: Path | None
    backend: str
    budget: float = 360  # seconds
    bytes: int = 32 << 30
    repetitions: int = 9
    cases: str | None = None
    peers: str | None = None
    python: str | None = None
    log: Path | None = None
    measures: bool = True
    reports: bool = True
    recordings: Sequence[Path] = ()  # traces of `warpheap run`
    records: bool = False  # our programs are run and recorded first
    kept_in: Path | None = None  # where recordings are written; None: in `out`


def check(job: Job) -> tuple[list[str], list[str]]:
    """Cases and peers that the job asks for. Raises `UsageError` for an unknown name or a file that is no log."""
    cases = records.chosen(job.cases, "--cases", measure.CASES)
    libraries = records.chosen(job.peers, "--peers", measure.LIBRARIES)
    if (job.recordings or job.records) and not (job.measures and "recording" in cases):
        raise UsageError("--recording and --record need the case 'recording', and no --no-measure")
    if job.records:
        find_library()
    for trace in job.recordings:
        read_events(trace)
    if job.log is not None:
        if not (job.measures and "replay" in cases):
            raise UsageError("--log needs the case 'replay', and no --no-measure")
        _check_log(job.log)
    return cases, libraries


def run_pool(console: Console, job: Job, command: str) -> int:
    """Measure and report, as far as the job asks for it. Returns 0 if no measurement failed, 1 if one did."""
    cases, libraries = check(job)
    with held(job.out):
        return _run(console, job, command, (cases, libraries))


def _run(console: Console, job: Job, command: str, chosen: tuple[list[str], list[str]]) -> int:
    cases, libraries = chosen
    try:
        check_writable(*(job.out / name for name in (RECORD_NAME, PAGE_NAME, MACHINE_NAME)))
        if job.measures:
            _measure(console, job, cases, libraries)
        measured = records.read(job.out / RECORD_NAME, measure.NEEDS)
    except OSError as problem:
        raise UsageError(f"--out: {problem.filename} cannot be written or read: {problem.strerror}") from problem

    def make() -> None:
        from warpheap.experiments import page
        from warpheap.pool import figures

        page.write(console, job.out, figures.page_of(measured), measured, command)

    if job.reports:
        run.report(console, job.out, RECORD_NAME, "pool", make)
    return 1 if records.something_failed(measured) else 0


def _check_log(path: Path) -> None:
    """Reads the log once before anything is measured. Raises `UsageError` that says what is wrong with it."""
    try:
        peers.read_log(path)
    except OSError as problem:
        raise UsageError(f"--log: {path} cannot be read: {problem.strerror}") from problem
    except ValueError as problem:
        raise UsageError(f"--log: {path}: {problem}; use a log of logging_adaptor") from problem


def _measure(console: Console, job: Job, cases: Sequence[str], libraries: Sequence[str]) -> None:
    program = measure.DRIVER.find(job.prebuilt, job.backend)
    log = job.log
    if log is None:
        log = job.out / LOG_NAME
        write_text(log, training_log())
    python = job.python or measure.own_python()

    def say(text: str) -> None:
        console.print(f"  {text}", markup=False, highlight=False, soft_wrap=True)

    replayed = _recordings(job, python, say) if "recording" in cases else []
    steps = measure.steps_of(program, Wishes(job.bytes, job.repetitions, cases, libraries, python, log, replayed))
    console.print(
        f"{len(steps)} measurements by {program}, within {job.budget:.0f} s",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )

    def tell(step: Step, end: str) -> None:
        say(f"{step.case} {step.subject}{': ' + end if end else ''}")

    with run.keeping(job.out, RECORD_NAME) as keep:
        for record in measure.measure(steps, job.budget, tell):
            keep(record)


def _recordings(job: Job, python: str, say: Callable[[str], None]) -> list[Path]:
    """What is replayed: traces that were named and recorded, else one that is generated."""
    folder = job.kept_in or job.out / RECORDINGS_NAME
    folder.mkdir(parents=True, exist_ok=True)
    traces = [*job.recordings, *(recordings.record(python, folder, say) if job.records else ())]
    return recordings.prepare(traces, folder) if traces else [recordings.generate(folder)]
