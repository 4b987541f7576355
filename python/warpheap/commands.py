# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands do, once the command line is read."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from warpheap import survey, terminal
from warpheap.cases import CASES
from warpheap.driver import Driver, find_driver
from warpheap.errors import UsageError, unknown_name
from warpheap.plan import Step, Wishes, make_plan
from warpheap.record import Record, RecordFile, read_records

INTERRUPTED = 130


def run_survey(
    console: Console, wishes: Wishes, out: Path | None, driver_path: Path | None, backend: str, fresh: bool, again: str
) -> int:
    """The command `survey`: measures what is missing, then the table, then the report. Returns the exit code."""
    driver = find_driver(driver_path, backend)
    steps = make_plan(wishes, driver)
    folder = out or Path("out") / "survey" / driver.backend
    file, others = survey.open_record(folder, driver, fresh)
    survey.write_machine(folder, driver)
    todo = survey.still_to_run(steps, file, driver)
    console.print(f"[bold]{driver.device}[/], {driver.backend} backend: {', '.join(_allocators(steps))}")
    if others:
        console.print(f"{others} records of other sources or devices were moved to {folder / 'survey.other.jsonl'}")
    if len(todo) < len(steps):
        console.print(f"{len(steps) - len(todo)} of {len(steps)} cases are in {file.path} already; --fresh begins anew")
    try:
        measure(console, todo, driver, file)
    except KeyboardInterrupt:
        done = len(steps) - len(survey.still_to_run(steps, file, driver))
        console.print(
            f"\nInterrupted: {done} of {len(steps)} cases are in {file.path}. The same command goes on from there:"
        )
        console.print(f"  {again.replace(' --fresh', '')}", markup=False, highlight=False, soft_wrap=True)
        return INTERRUPTED
    records = survey.of_plan(steps, file, driver)
    terminal.print_summary(console, records)
    report = folder / "report.html"
    write_page(report, records, again)
    console.print(f"Report: {report}", highlight=False, soft_wrap=True)
    return 0


def measure(
    console: Console, steps: Sequence[Step], driver: Driver, file: RecordFile, deadline: float | None = None
) -> int:
    """Runs `steps` under a progress bar; returns how many were run before `deadline`."""
    if not steps:
        return 0
    with terminal.watch(console, len(steps)) as progress:
        return survey.run(steps, driver, file, progress, deadline)


def _allocators(steps: Sequence[Step]) -> list[str]:
    return list(dict.fromkeys(step.point.allocator for step in steps))


def write_page(path: Path, records: Sequence[Record], command: str) -> None:
    """Writes the report; plotting is loaded only now, since it takes longer to load than a case to run."""
    from warpheap.report.page import write_report

    try:
        write_report(path, records, command)
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror}") from problem


def make_report(console: Console, source: Path, out: Path | None) -> None:
    """The command `report`."""
    records = _records(source)
    path = out or source.with_name("report.html")
    write_page(path, records, _command_for(records))
    console.print(f"Report: {path}", highlight=False, soft_wrap=True)


def make_plot(console: Console, source: Path, out: Path, case: str, mode: str, against: str) -> None:
    """The command `plot`: one figure of the report as a picture."""
    if case not in CASES:
        raise unknown_name("--case", case, CASES)
    records = [record for record in _records(source) if record["case"] == case]
    modes = list(dict.fromkeys(record["mode"] for record in records))
    if mode not in modes:
        raise unknown_name("--mode", mode, modes)
    if not all(record["timing_comparable"] for record in records):
        raise UsageError(f"{source} has times of the host backend; they are not comparable and are not plotted")
    from warpheap.cases.throughput import show
    from warpheap.report import plots

    figures = {"size": show.against_size, "threads": show.against_threads}
    if against not in figures:
        raise unknown_name("--against", against, figures)
    shown = [record for record in records if record["mode"] == mode]
    title = f"GPU malloc and free on {shown[0]['device']}, mode {mode}"
    plots.to_png(figures[against](shown, title), out)
    console.print(f"Picture: {out}", highlight=False, soft_wrap=True)


def _records(source: Path) -> list[Record]:
    records = read_records(source)
    if not records:
        raise UsageError(f"{source} holds no records")
    return records


def _command_for(records: Sequence[Record]) -> str:
    def values(field: str) -> str:
        return ",".join(str(value) for value in dict.fromkeys(record[field] for record in records))

    words = ["./run", "survey", "--allocators", values("allocator"), "--modes", values("mode")]
    words += ["--threads", values("threads"), "--sizes", values("size"), "--heap", str(records[0]["heap_bytes"])]
    return shlex.join([*words, "--iterations", str(records[0]["iterations"])])
