# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `sync`: measures, then writes the tables, the report and the figures."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from warpheap.errors import UsageError
from warpheap.experiments import records, run
from warpheap.experiments.records import Record
from warpheap.files import check_writable, write_text
from warpheap.folders import held
from warpheap.machines import MACHINE_NAME
from warpheap.sync import measure

RECORD_NAME = "sync.jsonl"
TEXT_NAME = "sync.md"
PAGE_NAME = "sync.html"  # a survey that was measured into the same folder has its report.html there

# A log has no bar that moves: it gets a line from time to time.
_SECONDS_BETWEEN_LINES = 5.0


@dataclass(frozen=True)
class Job:
    """The command line of `warpheap sync`."""

    out: Path
    prebuilt: Path | None
    backend: str
    budget: float = 60  # seconds
    cases: str | None = None
    measures: bool = True
    reports: bool = True


def check(job: Job) -> list[str]:
    """The cases that the job asks for. Raises `UsageError` for a name that no case has."""
    return records.chosen(job.cases, "--cases", measure.CASES)


def run_sync(console: Console, job: Job, command: str) -> int:
    """Measure and report, as far as the job asks for it. Returns 0 if the driver came to its end, 1 if not."""
    cases = check(job)
    try:
        with held(job.out):
            check_writable(*(job.out / name for name in (RECORD_NAME, TEXT_NAME, PAGE_NAME, MACHINE_NAME)))
            if job.measures:
                _measure(console, job, cases)
            measured = records.read(job.out / RECORD_NAME, measure.NEEDS)
            if job.reports:
                run.report(console, job.out, RECORD_NAME, "sync", lambda: _report(console, job.out, measured, command))
    except OSError as problem:
        raise UsageError(f"--out: {problem.filename} cannot be written or read: {problem.strerror}") from problem
    return 1 if records.something_failed(measured) else 0


def _measure(console: Console, job: Job, cases: Sequence[str]) -> None:
    program = measure.DRIVER.find(job.prebuilt, job.backend)
    console.print(
        f"Measured by {program}, within about {job.budget:.0f} s", markup=False, highlight=False, soft_wrap=True
    )
    with run.keeping(job.out, RECORD_NAME) as keep, _watch(console, job.budget) as tell:

        def heard(record: Record) -> None:
            keep(record)
            tell(record)

        measure.measure(program, job.budget, cases, heard)


@contextmanager
def _watch(console: Console, budget: float) -> Iterator[Callable[[Record], None]]:
    """A bar of the budget with the last point; what failed is printed above it."""
    begin = told = time.monotonic()
    columns = (
        TextColumn("[bold]sync"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[point]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("sync", total=budget, point="")

        def tell(record: Record) -> None:
            nonlocal told
            now = time.monotonic()
            name = measure.name_of(record)
            bar.update(task, completed=now - begin, point=name)
            if record["status"] in ("failed", "timeout"):
                bar.console.print(
                    f"  {name}: {record['status']}: {record['reason']}", markup=False, highlight=False, soft_wrap=True
                )
            elif not console.is_terminal and now - told > _SECONDS_BETWEEN_LINES:
                told = now
                console.print(f"  {now - begin:.0f} s: {name}", markup=False, highlight=False, soft_wrap=True)

        yield tell


def _report(console: Console, folder: Path, measured: Sequence[Record], command: str) -> None:
    from warpheap.experiments import page
    from warpheap.sync import figures, text

    write_text(folder / TEXT_NAME, text.markdown_of(measured, command))
    console.print(f"Tables: {folder / TEXT_NAME}", markup=False, highlight=False, soft_wrap=True)
    page.write(console, folder, figures.page_of(measured), measured, command)
