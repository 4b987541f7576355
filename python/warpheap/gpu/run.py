# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The whole GPU run: build or take programs, test, check, measure, report."""

import shlex
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from warpheap import commands, summary, survey, terminal
from warpheap.devices import find_driver
from warpheap.errors import UsageError, unknown_name
from warpheap.gpu import build, gtest, memcheck
from warpheap.gpu.device import Device, describe_machine, write_facts
from warpheap.gpu.result import FAULTS, Result, ResultFile, count
from warpheap.machines import MACHINE_NAME, read_machines
from warpheap.plan import Wishes, make_plan
from warpheap.record import Record, unable
from warpheap.report.sections import Cell, Grid, Section

PARTS = ("tests", "memcheck", "bench")
# The checker may take this share of what is left, so that the measurement gets its turn.
_SHARE_OF_MEMCHECK = 0.4


@dataclass(frozen=True)
class Job:
    """The command line of `warpheap gpu`."""

    out: Path
    prebuilt: Path | None
    only: str | None
    time_limit: float  # seconds for one test program
    budget: float  # seconds for everything
    preset: str
    test_filter: str


@dataclass(frozen=True)
class Course:
    """A run under way."""

    console: Console
    job: Job
    programs: build.Programs
    device: Device
    deadline: float

    def left(self) -> float:
        """Seconds left for everything."""
        return self.deadline - time.monotonic()


def run_gpu(console: Console, job: Job) -> int:
    """Does the job. Returns 0 if nothing failed, 1 otherwise, 130 if interrupted."""
    deadline = time.monotonic() + job.budget
    parts = _parts(job.only)
    try:
        job.out.mkdir(parents=True, exist_ok=True)
        tests = ResultFile(job.out / "tests.jsonl")
        checks = ResultFile(job.out / "memcheck.jsonl")
    except OSError as problem:
        raise UsageError(f"--out: {job.out} cannot be written: {problem.strerror}") from problem
    tools = {name: path for name in ("cmake", "nvcc", "compute-sanitizer") if (path := build.find_tool(name))}
    facts = describe_machine(tools)
    if fingerprint := build.sources_fingerprint():
        facts["sources"] = fingerprint
    write_facts(job.out / MACHINE_NAME, facts)
    records: list[Record] = []
    try:
        programs = _programs(console, job, parts, tests, deadline)
        course = Course(console, job, programs, Device(programs.driver), deadline)
        if "tests" in parts:
            _run_tests(course, tests)
        if "memcheck" in parts:
            _run_memcheck(course, checks)
        if "bench" in parts:
            records = _run_bench(course)
    except KeyboardInterrupt:
        console.print(
            f"\nInterrupted: what was found so far is in {job.out}. The same command begins the tests anew and"
        )
        console.print("goes on with the measurement.")
        return commands.INTERRUPTED
    _report(job.out, tests.results, checks.results, records)
    return _summarise(console, job.out, tests.results, checks.results, records)


def _parts(only: str | None) -> list[str]:
    wanted = list(PARTS) if only is None else [word.strip() for word in only.split(",")]
    for word in wanted:
        if word not in PARTS:
            raise unknown_name("--only", word, PARTS)
    return wanted


def _programs(console: Console, job: Job, parts: Sequence[str], tests: ResultFile, deadline: float) -> build.Programs:
    if job.prebuilt is not None:
        return build.prebuilt(job.prebuilt)
    console.print("[bold]build[/]: CUDA programs for this machine's GPU")
    needs_tests = "tests" in parts or "memcheck" in parts
    log = job.out / "build.log"
    log.write_text("", encoding="utf-8")
    programs, results = build.build(needs_tests, "bench" in parts, log, max(deadline - time.monotonic(), 1))
    for result in results:
        tests.add(result)
        _say(console, result)
    return programs


def _run_tests(course: Course, file: ResultFile) -> None:
    lost = ""

    def why_stop(last: Result) -> str:
        nonlocal lost
        if last.status == "timeout" and not course.device.answers():
            lost = f"the device did not answer after {last.name} was killed"
        return lost or ("the budget was used up" if course.left() <= 0 else "")

    for program in course.programs.tests:
        reason = lost or ("the budget was used up" if course.left() <= 0 else "")
        if reason:
            file.add(Result("test", program.name, program.name, "skipped", 0.0, reason))
            continue
        course.console.print(f"[bold]test[/]: {program.name}")
        limit = min(course.job.time_limit, course.left())
        if build.is_example(program):
            results: Iterable[Result] = [gtest.run_example(program, limit)]
        else:
            results = gtest.run_tests(program, course.job.test_filter, limit, why_stop)
        last = None
        for last in results:
            file.add(last)
            if last.status != "ok":
                _say(course.console, last)
        if last is not None and not lost:
            why_stop(last)


def _run_memcheck(course: Course, file: ResultFile) -> None:
    end = time.monotonic() + _SHARE_OF_MEMCHECK * course.left()
    lost = ""
    for program in course.programs.tests:
        left = end - time.monotonic()
        if lost or left <= 0:
            reason = lost or "the checker's share of the budget was used up"
            file.add(Result("memcheck", program.name, program.name, "skipped", 0.0, reason))
            continue
        course.console.print(f"[bold]memcheck[/]: {program.name}")
        result = memcheck.check(program, course.job.test_filter, min(course.job.time_limit, left))
        file.add(result)
        if result.status != "ok":
            _say(course.console, result)
        if result.status == "timeout" and not course.device.answers():
            lost = f"the device did not answer after {program.name} was killed"


def _run_bench(course: Course) -> list[Record]:
    if course.programs.driver is None:
        course.console.print("[red]bench[/]: there is no warpheap_bench_cuda to measure with")
        return []
    driver = find_driver(course.programs.driver, "cuda")
    plan = make_plan(Wishes(preset=course.job.preset), driver)
    steps = plan.steps
    file, _ = survey.open_record(course.job.out, driver, fresh=False)
    todo = survey.still_to_run(steps, file, driver)
    done = commands.measure(course.console, plan, todo, file, course.deadline)
    if done < len(todo):
        course.console.print(f"[yellow]bench[/]: {len(todo) - done} of {len(steps)} cases did not fit into the budget")
    return survey.of_plan(steps, file, driver)


def _report(out: Path, tests: Sequence[Result], checks: Sequence[Result], records: Sequence[Record]) -> None:
    from warpheap.cases.throughput import show
    from warpheap.report import plots
    from warpheap.report.page import write_report

    extra = [section for section in (_section("Tests", tests), _section("Memory check", checks)) if section]
    if not records:
        return
    write_report(
        out / "report.html",
        records,
        shlex.join(["./run", *sys.argv[1:]]),
        extra,
        facts=read_machines(out),
    )
    threads = [record for record in records if record["case"] == "throughput" and record["mode"] == "thread"]
    if threads and all(record["timing_comparable"] for record in threads):
        title = f"GPU malloc and free on {threads[0]['device']}, mode thread"
        plots.to_png(show.against_size(threads, title), out / "throughput.png")


def _section(title: str, results: Sequence[Result]) -> Section | None:
    if not results:
        return None
    programs = list(dict.fromkeys(result.program for result in results))
    rows = []
    for program in programs:
        own = [result for result in results if result.program == program]
        numbers = count(own)
        cells = [Cell(str(number), status if number and status != "ok" else "") for status, number in numbers.items()]
        rows.append([Cell(program), *cells, Cell(f"{sum(result.seconds for result in own):.1f}")])
    grids = [Grid("", ["program", *numbers, "seconds"], rows)]
    faults = [result for result in results if result.status in FAULTS]
    if faults:
        cells_of = ([Cell(each.name), Cell(each.status, each.status), Cell(each.reason)] for each in faults)
        grids.append(Grid("What failed", ["name", "status", "reason"], list(cells_of)))
    return Section(title, grids=grids)


def _say(console: Console, result: Result) -> None:
    terminal.print_status(console, result.status, f"{result.name} {result.reason}")


def _summarise(
    console: Console, out: Path, tests: Sequence[Result], checks: Sequence[Result], records: Sequence[Record]
) -> int:
    """Prints the table; returns the exit code. A case out of time is a result, a block that is unsound is a fault."""
    if records:
        summary.print_summary(console, records)
    table = Table(title="Summary", title_justify="left", title_style="bold")
    for column in ("", "ok", "failed", "timeout", "crashed", "skipped"):
        table.add_column(column, justify="right" if column else "left")
    statuses = [record["status"] for record in records]
    measured = {status: statuses.count(status) for status in count(())}
    for name, numbers in (("tests", count(tests)), ("memcheck", count(checks)), ("cases", measured)):
        table.add_row(name, *(str(number) for number in numbers.values()))
    console.print(table)
    unsound = [each for each in records if each["status"] == "failed" and not (each["verified"] or unable(each))]
    console.print(f"Results: {out}", highlight=False, soft_wrap=True)
    faults = [result for result in (*tests, *checks) if result.status in FAULTS]
    return 1 if faults or unsound or "crashed" in statuses else 0
