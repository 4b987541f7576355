# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `graph`: measures, then writes the tables, the report and the figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from warpheap.dynamic_graphs import measure
from warpheap.errors import UsageError, unknown_name
from warpheap.experiments import records, run
from warpheap.experiments.records import Record
from warpheap.files import check_writable, write_text
from warpheap.folders import held
from warpheap.machines import MACHINE_NAME
from warpheap.units import words_of

RECORD_NAME = "graph.jsonl"
TEXT_NAME = "graph.md"
PAGE_NAME = "graph.html"  # a survey that was measured into the same folder has its report.html there


@dataclass(frozen=True)
class Job:
    """The command line of `warpheap graph`. A field that is not given (None) comes from the preset."""

    out: Path
    prebuilt: Path | None
    backend: str
    preset: str = "quick"
    systems: str | None = None
    graphs: str | None = None
    cases: str | None = None
    vertices: int | None = None
    batch: int | None = None
    iterations: int | None = None
    heap_bytes: int | None = None
    time_limit: float = 300  # seconds, of one system on one graph
    verify: bool | None = None
    measures: bool = True


def check(job: Job) -> list[str]:
    """The cases that the job asks for. Raises `UsageError` for a name that no case, preset, graph or system has."""
    if job.preset not in measure.PRESETS:
        raise unknown_name("--preset", job.preset, tuple(measure.PRESETS))
    records.chosen(job.graphs, "--graphs", (*measure.GENERATORS, *measure.STAND_INS))
    # A driver that was built elsewhere knows its systems itself.
    if job.prebuilt is None and (systems := measure.known_systems(job.backend)) is not None:
        records.chosen(job.systems, "--systems", systems)
    return records.chosen(job.cases, "--cases", measure.CASES)


def plan_of(job: Job, known: Sequence[str]) -> measure.Plan:
    """What is measured by a driver that has the systems `known`. Raises `UsageError` for one that it has not."""
    cases = check(job)
    preset = measure.PRESETS[job.preset]
    if job.systems is None:
        systems = [name for name in preset.systems if name in known] or list(known)
    else:
        systems = records.chosen(job.systems, "--systems", known)
    return measure.Plan(
        systems,
        list(preset.graphs) if job.graphs is None else list(dict.fromkeys(words_of(job.graphs))),
        cases,
        preset.vertices if job.vertices is None else job.vertices,
        job.batch or preset.batch,
        job.iterations or preset.iterations,
        job.heap_bytes or preset.heap_bytes,
        job.time_limit,
        preset.verify if job.verify is None else job.verify,
    )


def run_graph(console: Console, job: Job, command: str) -> int:
    """Measure and report, as far as the job asks for it. Returns 0 if all that was begun ended well, 1 if not."""
    check(job)
    try:
        with held(job.out):
            check_writable(*(job.out / name for name in (RECORD_NAME, TEXT_NAME, PAGE_NAME, MACHINE_NAME)))
            if job.measures:
                _measure(console, job)
            measured = records.read(job.out / RECORD_NAME, measure.NEEDS)
            run.report(console, job.out, RECORD_NAME, "graph", lambda: _report(console, job.out, measured, command))
    except OSError as problem:
        raise UsageError(f"--out: {problem.filename} cannot be written or read: {problem.strerror}") from problem
    return 1 if records.something_failed(measured) else 0


def _measure(console: Console, job: Job) -> None:
    program = measure.DRIVER.find(job.prebuilt, job.backend)
    plan = plan_of(job, measure.systems_of(program))
    _say(console, f"Measured by {program}: {len(plan.systems)} systems on {len(plan.graphs)} graphs")
    with run.keeping(job.out, RECORD_NAME) as keep:

        def heard(record: Record) -> None:
            keep(record)
            if record["status"] == "ok":
                _say(console, f"  {measure.name_of(record)}: ok")
            else:
                _say(console, f"  {measure.name_of(record)}: {record['status']}: {record['reason']}")

        measure.measure(program, plan, heard)


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _report(console: Console, folder: Path, measured: Sequence[Record], command: str) -> None:
    from warpheap.dynamic_graphs import figures, text
    from warpheap.experiments import page

    write_text(folder / TEXT_NAME, text.markdown_of(measured, command))
    _say(console, f"Tables: {folder / TEXT_NAME}")
    page.write(console, folder, figures.page_of(measured), measured, command)
