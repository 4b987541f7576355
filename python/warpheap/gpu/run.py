# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The whole GPU run: build or take programs, test, check, measure, report."""

import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from warpheap import summary
from warpheap.errors import INTERRUPTED, UsageError
from warpheap.folders import held
from warpheap.gpu import build, checks, folder, show
from warpheap.gpu.device import Device
from warpheap.gpu.job import CHECKS, PARTS, Course, Job, Measures
from warpheap.gpu.result import FAULTS, Result, ResultFile, count
from warpheap.machines import describe_machine
from warpheap.record import Record, unable
from warpheap.words import where_to_report


def run_gpu(console: Console, job: Job, measures: Measures, command: str) -> int:
    """Do the job, which `command` asked for.

    Return 0 if all went well, 1 if something failed or had no turn, 130 if interrupted.
    """
    deadline = time.monotonic() + job.budget
    state = build.state_of_checkout()
    folder.refuse_another_state(job.out, job.parts, state)
    tools = {name: path for name in ("cmake", "nvcc", "compute-sanitizer") if (path := build.find_tool(name))}
    fingerprints = {"sources": state.sources, "evidence": state.evidence}
    facts = describe_machine(tools) | {name: value for name, value in fingerprints.items() if value}
    checks.check_job(job, state, facts)
    with held(job.out):
        folder.begin(job.out, facts)
        records: list[Record] = []
        try:
            programs, built = _programs(console, job, deadline)
            files = {part: ResultFile(job.out / f"{part}.jsonl") for part in CHECKS if part in job.parts}
            partial = _why_partial(job, state, programs)
            device = Device(programs.driver)
            course = Course(console, job, state, facts, programs, device, command, deadline, files, partial)
            if partial and files:
                console.print(Text.assemble(("partial", "yellow"), f": {partial}"), highlight=False, soft_wrap=True)
            checks.check_programs(course)
            if "tests" in files:
                checks.run_tests(course, built)
            if "memcheck" in files:
                checks.run_memcheck(course, [] if "tests" in files else built)
            for part in PARTS:
                if part in measures.parts and part in job.parts:
                    records += _attempt(course, part, measures.parts[part])
        except KeyboardInterrupt:
            console.print(
                f"\nInterrupted: what was found so far is in {job.out}. The same command goes on with the measurement.",
                markup=False,
            )
            console.print("It begins the tests anew, or goes on with them if --resume is added.")
            return INTERRUPTED
        if records:
            tests, checked = (_results(course, part) for part in CHECKS)
            try:
                show.write_report(job.out, tests, checked, records, command, measures.chapters(job.out))
            except ImportError as problem:
                told = where_to_report(job.out, problem, "report", job.out)
                console.print(told, markup=False, highlight=False, soft_wrap=True)
        return _summarise(course, built, records)


def _attempt(course: Course, part: str, measure: Callable[[Course], Sequence[Record]]) -> Sequence[Record]:
    """Measure a part unless the device is lost. A part that cannot be measured is noted; the others go on."""
    try:
        if course.lost:
            raise UsageError(course.lost)
        return measure(course)
    except UsageError as problem:
        course.undone.append(f"{part}: {problem}")
        return []


def _programs(console: Console, job: Job, deadline: float) -> tuple[build.Programs, list[Result]]:
    if job.prebuilt is not None:
        return build.prebuilt(job.prebuilt), []
    console.print("[bold]build[/]: CUDA programs for this machine's GPU")
    log = job.out / "build.log"
    log.write_text("", encoding="utf-8")
    tests = any(part in CHECKS for part in job.parts)
    drivers = any(part not in CHECKS for part in job.parts)
    programs, results = build.build(tests, drivers, log, max(deadline - time.monotonic(), 1))
    for result in results:
        show.say(console, result)
    if all(result.status == "ok" for result in results):
        log.unlink()
    return programs, results


def _why_partial(job: Job, state: build.State, programs: build.Programs) -> str:
    """Why results of these programs cannot stand for all tests of the state; empty if they can."""
    reasons = []
    if programs.expected is None:
        reasons.append("no list of programs")
    if job.prebuilt is None and build.state_of_checkout() != state:
        reasons.append("the sources changed while the programs were built")
    if job.prebuilt is not None:
        sources = build.sources_of(programs.driver)
        if sources and sources != state.sources:
            reasons.append(f"the programs were built from other sources ({sources[:12]})")
    return "; ".join(reasons)


def _results(course: Course, part: str) -> list[Result]:
    """The results of a part, of this run or of an earlier one of the same state."""
    if part in course.files:
        return course.files[part].results
    return folder.recorded_results(course.job.out / f"{part}.jsonl")


def _summarise(course: Course, built: Sequence[Result], records: Sequence[Record]) -> int:
    """Print the tables and return the exit code. A case out of time is a result, an unsound block is a fault."""
    console, out = course.console, course.job.out
    if records:
        summary.print_summary(console, records)
    show.print_slowest(console, course.files)
    statuses = [record["status"] for record in records]
    numbers = {part: count(file.results) for part, file in course.files.items()}
    show.print_counts(console, numbers | {"cases": {status: statuses.count(status) for status in count(())}})
    for reason in course.undone:
        console.print(reason, style="red", markup=False, highlight=False, soft_wrap=True)
    for name in folder.parts_of_another_state(out, course.job.parts, course.state):
        text = f"{out / name} is of another state: measure it again, or remove it"
        console.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Results: {out}", markup=False, highlight=False, soft_wrap=True)
    results = [*built, *(result for file in course.files.values() for result in file.results)]
    faults = [result for result in results if result.status in FAULTS]
    unsound = [each for each in records if each["status"] == "failed" and not (each["verified"] or unable(each))]
    return 1 if faults or unsound or course.undone or "crashed" in statuses else 0
