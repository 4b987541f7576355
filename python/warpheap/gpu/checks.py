# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The parts `tests` and `memcheck`: every program that is expected gets a result, if only that it had no turn."""

import os
import time
from collections.abc import Callable, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from warpheap import terminal
from warpheap.gpu import build, gtest, memcheck
from warpheap.gpu.build import State
from warpheap.gpu.device import Environment, orders_of_devices
from warpheap.gpu.expected import longest_first, recorded_costs
from warpheap.gpu.job import CHECKS, Course, Job
from warpheap.gpu.result import FAULTS, Head, Result, ResultFile
from warpheap.gpu.resume import Earlier, earlier_run, refuse_another
from warpheap.gpu.turns import Gate, Turn, side_by_side

# The checker may take this share of what is left, so that measurements get their turn.
_SHARE_OF_MEMCHECK = 0.4


def run_tests(course: Course, built: list[Result]) -> None:
    """Run all test programs. `built` tells how the build ended, if this part is the first to say so."""
    gate = Gate(course.device, course.deadline, "the budget was used up")

    def work(program: Path, environment: Environment) -> list[Result]:
        if build.is_example(program):
            return [gtest.run_example(program, limit(), environment)]
        return list(gtest.run_tests(program, course.job.test_filter, limit, gate.after, environment))

    def limit() -> float:
        return min(course.job.time_limit, gate.left)

    _run(course, "test", course.files["tests"], scale_of_tests(), gate, work, built)


def run_memcheck(course: Course, built: list[Result]) -> None:
    """Run all test programs under the checker. `built` tells how the build ended, if no part has said so before."""
    share = _SHARE_OF_MEMCHECK if course.measures_after("memcheck") else 1.0
    end = time.monotonic() + share * course.left
    gate = Gate(course.device, end, "the checker's share of the budget was used up", course.lost)

    def work(program: Path, environment: Environment) -> list[Result]:
        return [memcheck.check(program, course.job.test_filter, min(course.job.time_limit, gate.left), environment)]

    _run(course, "memcheck", course.files["memcheck"], memcheck.SCALE, gate, work, built)


def check_job(job: Job, state: State, facts: Mapping[str, Any]) -> None:
    """Raises `UsageError` if a file of the folder cannot be gone on with; before anything is built or written."""
    own = {"evidence": state.evidence, "sources": state.sources, "filter": _filter(job)}
    own |= {name: facts.get(name, "") for name in ("device", "driver")}
    for what in CHECKS:
        if job.resume and what in job.parts:
            refuse_another(job.out / f"{what}.jsonl", own | {"scale": _scale(what)})


def check_programs(course: Course) -> None:
    """Raises `UsageError` if a file that is to be gone on with has other programs; before any part takes its time."""
    for what, file in course.files.items():
        if course.job.resume:
            earlier_run(file.path, _head(course, what, _scale(what)))


def scale_of_tests() -> str:
    """How much work the tests do, by the environment that they inherit."""
    return os.environ.get("WARPHEAP_TEST_SCALE") or "normal"


def _run(
    course: Course,
    kind: str,
    file: ResultFile,
    scale: str,
    gate: Gate,
    work: Callable[[Path, Environment], list[Result]],
    built: list[Result],
) -> None:
    start = time.monotonic()
    head = _head(course, file.path.stem, scale)
    there = {test.name for test in course.programs.tests}
    earlier = earlier_run(file.path, head, there) if course.job.resume else Earlier()
    programs = longest_first(course.programs.tests, _costs(course, file.path.stem))
    programs = [program for program in programs if not earlier.kept(program.name)]
    first = earlier.first_line(head, {program.name for program in programs})
    file.begin(first, [*built, *earlier.results], earlier.seconds)
    for name in course.programs.absent:
        if not earlier.kept(name):
            _keep(course, file, [Result(kind, name, name, "missed", 0.0, "it was not built")])
    orders = orders_of_devices()
    environments = dict(zip(programs, cycle(orders)))
    over = f" on {len(orders)} GPUs" if len(orders) > 1 else ""
    before = f"; {len(earlier.seconds)} more ended in the earlier run" if earlier.seconds else ""
    course.console.print(
        f"[bold]{file.path.stem}[/]: {len(programs)} programs, {head.jobs} at a time{over}{before}", highlight=False
    )
    if course.programs.unlisted:
        names = ", ".join(course.programs.unlisted)
        course.console.print(
            f"  left out, since the list does not have them: {names}", markup=False, highlight=False, soft_wrap=True
        )
    for fault in earlier.faults:
        text = f"  runs again, and had {fault.status}: {fault.program} {fault.name}: {fault.reason}"
        course.console.print(text, markup=False, highlight=False, soft_wrap=True)
    ended = 0

    def turn(program: Path) -> list[Result]:
        if reason := gate.why_closed():
            return [Result(kind, program.name, program.name, "missed", 0.0, reason)]
        try:
            results = work(program, environments[program])
        except OSError as problem:
            return [Result(kind, program.name, program.name, "crashed", 0.0, f"did not start: {problem.strerror}")]
        if results:
            gate.after(results[-1])
        return results

    def keep(turn: Turn) -> None:
        nonlocal ended
        ended += 1
        place = f"{ended}/{len(programs)}"
        course.console.print(f"  {place:>7}  {turn.seconds:6.1f} s  {turn.program.name}", highlight=False)
        _keep(course, file, turn.results, turn.seconds)

    alone = course.programs.alone
    side_by_side([program for program in programs if program.name not in alone], head.jobs, gate, turn, keep)
    side_by_side([program for program in programs if program.name in alone], 1, gate, turn, keep)
    course.lost = gate.lost
    file.end(earlier.total + time.monotonic() - start)


def _keep(course: Course, file: ResultFile, results: list[Result], seconds: float = 0.0) -> None:
    file.add_program(results, seconds)
    for result in results:
        if result.status in FAULTS:
            terminal.print_status(course.console, result.status, f"{result.name} {result.reason}")


def _costs(course: Course, what: str) -> dict[str, float]:
    listed = course.programs.expected.costs(what) if course.programs.expected is not None else {}
    return listed or recorded_costs(what, course.facts.get("device", ""))


def _head(course: Course, what: str, scale: str) -> Head:
    facts = course.facts
    return Head(
        what,
        course.state.evidence,
        course.state.sources,
        facts.get("device", ""),
        facts.get("driver", ""),
        facts.get("nvcc", ""),
        facts["started"],
        scale,
        tuple(course.programs.names),
        _filter(course.job),
        course.partial,
        max(1, min(course.job.jobs, os.cpu_count() or 1)),
    )


def _filter(job: Job) -> str:
    return "" if job.test_filter == "*" else job.test_filter


def _scale(what: str) -> str:
    return memcheck.SCALE if what == "memcheck" else scale_of_tests()
