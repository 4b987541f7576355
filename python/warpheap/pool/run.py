# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `pool`: measures, then writes the report and the figures."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from warpheap.errors import UsageError, unknown_name
from warpheap.gpu.device import describe_machine
from warpheap.machines import add_facts, read_machines
from warpheap.pool import measure, peers
from warpheap.pool.measure import Record, Step, Wishes
from warpheap.pool.training import training_log
from warpheap.units import words_of

RECORD_NAME = "pool.jsonl"
LOG_NAME = "training.log"


@dataclass(frozen=True)
class Job:
    """The command line."""

    out: Path
    prebuilt: Path | None
    backend: str
    budget: float
    bytes: int
    repetitions: int
    cases: str | None
    peers: str | None
    python: str | None
    log: Path | None
    measures: bool


def run_pool(console: Console, job: Job, command: str) -> int:
    """Does the job. Returns 0 if all that was to be measured was, 1 if something failed."""
    cases = _known(job.cases, "--cases", measure.CASES)
    libraries = _known(job.peers, "--peers", peers.LIBRARIES)
    try:
        job.out.mkdir(parents=True, exist_ok=True)
        if job.measures:
            _measure(console, job, cases, libraries)
        records = _read(job.out / RECORD_NAME)
    except OSError as problem:
        raise UsageError(f"--out: {problem.filename} cannot be written or read: {problem.strerror}") from problem
    _report(console, job.out, records, command)
    return 1 if any(record["status"] in ("failed", "timeout") for record in records) else 0


def _known(text: str | None, option: str, names: Sequence[str]) -> list[str]:
    wanted = list(names) if text is None else words_of(text)
    for word in wanted:
        if word not in names:
            raise unknown_name(option, word, names)
    return wanted


def _measure(console: Console, job: Job, cases: Sequence[str], libraries: Sequence[str]) -> None:
    program = measure.find_program(job.prebuilt, job.backend)
    log = job.log
    if log is None:
        log = job.out / LOG_NAME
        log.write_text(training_log(), encoding="utf-8")
    python = job.python or measure.own_python()
    steps = measure.steps_of(program, Wishes(job.bytes, job.repetitions, cases, libraries, python, log))
    console.print(f"{len(steps)} measurements by {program}, within {job.budget:.0f} s", highlight=False, soft_wrap=True)

    def tell(step: Step, end: str) -> None:
        console.print(f"  {step.case} {step.subject}{': ' + end if end else ''}", highlight=False, soft_wrap=True)

    devices = {}
    with (job.out / RECORD_NAME).open("w", encoding="utf-8") as stream:
        for record in measure.measure(steps, job.budget, tell):
            stream.write(json.dumps(record) + "\n")
            stream.flush()
            if record.get("backend") in ("cuda", "host"):
                devices[record["device"]] = True
    for device in devices:
        add_facts(job.out, {"device": device, **describe_machine({})})


def _read(path: Path) -> list[Record]:
    if not path.is_file():
        raise UsageError(f"{path} is not there: measure first, without --no-measure")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _report(console: Console, folder: Path, records: Sequence[Record], command: str) -> None:
    try:
        from warpheap.pool import page
    except ImportError as problem:
        console.print(
            f"The measurements are in {folder / RECORD_NAME}. For the report {problem.name} is missing here; where it "
            f"is: python3 -m warpheap pool --out {folder} --no-measure",
            highlight=False,
            soft_wrap=True,
        )
        return
    facts = read_machines(folder)
    path = page.write_report(folder, records, facts[0] if facts else {}, command)
    written = page.write_figures(folder / "figures", records)
    console.print(f"Report: {path}", highlight=False, soft_wrap=True)
    console.print(f"Figures: {folder / 'figures'}, {len(written)} files", highlight=False, soft_wrap=True)
