# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The parts that measure: the survey, what threads wait with, and the host-side pool."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from warpheap import commands, survey
from warpheap.devices import find_driver
from warpheap.errors import UsageError
from warpheap.gpu.job import Course
from warpheap.plan import Wishes, make_plan
from warpheap.pool import run as pool
from warpheap.pool.training import training_log
from warpheap.record import Record
from warpheap.sync import run as sync
from warpheap.words import quoted

# The pool may take this share of what is left, so that the survey gets its turn.
_SHARE_OF_POOL = 0.5


def own_command() -> str:
    """The command line that we were started by, as a checkout's user writes it."""
    return quoted(["./run", *sys.argv[1:]])


def run_bench(course: Course) -> list[Record]:
    """Measure the survey's preset into the folder of the record, and return what is there of it."""
    if course.programs.driver is None:
        raise UsageError("there is no warpheap_bench_cuda to measure with")
    driver = find_driver(course.programs.driver, "cuda")
    plan = make_plan(Wishes(preset=course.job.preset), driver)
    steps = plan.steps
    file, _ = survey.open_record(course.job.out, driver, fresh=False)
    todo = survey.still_to_run(steps, file, driver)
    done = commands.measure(course.console, plan, todo, file, course.deadline)
    if done < len(todo):
        course.console.print(f"[yellow]bench[/]: {len(todo) - done} of {len(steps)} cases did not fit into the budget")
    return survey.of_plan(steps, file, driver)


def run_sync(course: Course) -> None:
    """Measure what threads wait with into sync.jsonl; its chapter is part of the survey's report."""
    budget = min(sync.Job.budget, course.left)
    job = sync.Job(course.job.out, course.job.prebuilt, "cuda", budget, reports=False)
    _note_failure(course, "sync", lambda: sync.run_sync(course.console, job, own_command()))


def run_pool(course: Course) -> None:
    """Measure the host-side pool into pool.jsonl."""
    share = _SHARE_OF_POOL if course.measures_after("pool") else 1.0
    budget = min(pool.Job.budget, share * course.left)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / pool.LOG_NAME
        log.write_text(training_log(), encoding="utf-8")
        job = pool.Job(course.job.out, course.job.prebuilt, "cuda", budget, log=log, reports=False)
        _note_failure(course, "pool", lambda: pool.run_pool(course.console, job, own_command()))


def _note_failure(course: Course, part: str, measure: Callable[[], int]) -> None:
    course.console.print(f"[bold]{part}[/]")
    if measure() != 0:
        course.undone.append(f"{part}: some measurements failed")


def attempt(course: Course, part: str, measure: Callable[[], None]) -> None:
    """Call `measure` for a part, unless the device is lost; what stops it is noted and does not stop other parts."""
    try:
        if course.lost:
            raise UsageError(course.lost)
        measure()
    except UsageError as problem:
        course.undone.append(f"{part}: {problem}")
