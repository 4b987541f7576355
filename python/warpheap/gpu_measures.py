# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a GPU run that measure: the survey, semaphores and read-copy-update, and the host-side pool.

The package `gpu` runs them in their turns and knows none of them.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warpheap import commands, survey
from warpheap.devices import find_driver
from warpheap.errors import UsageError
from warpheap.gpu.job import Course, Measures
from warpheap.plan import Wishes, make_plan
from warpheap.pool import run as pool
from warpheap.pool.training import training_log
from warpheap.record import Record
from warpheap.sync import run as sync

if TYPE_CHECKING:
    from warpheap.report.sections import Section

# The pool may take this share of what is left, so that the survey gets its turn.
_SHARE_OF_POOL = 0.5


def run_bench(course: Course) -> Sequence[Record]:
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


def run_sync(course: Course) -> Sequence[Record]:
    """Measure semaphores and read-copy-update into sync.jsonl. The survey's report has a chapter on them."""
    budget = min(sync.Job.budget, course.left)
    job = sync.Job(course.job.out, course.job.prebuilt, "cuda", budget, reports=False)
    _note_failure(course, "sync", lambda: sync.run_sync(course.console, job, course.command))
    return []


def run_pool(course: Course) -> Sequence[Record]:
    """Measure the host-side pool into pool.jsonl."""
    share = _SHARE_OF_POOL if course.measures_after("pool") else 1.0
    budget = min(pool.Job.budget, share * course.left)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / pool.LOG_NAME
        log.write_text(training_log(), encoding="utf-8")
        job = pool.Job(
            course.job.out, course.job.prebuilt, "cuda", budget, log=log, reports=False, kept_in=Path(folder)
        )
        _note_failure(course, "pool", lambda: pool.run_pool(course.console, job, course.command))
    return []


def _note_failure(course: Course, part: str, measure: Callable[[], int]) -> None:
    course.console.print(f"[bold]{part}[/]")
    if measure() != 0:
        course.undone.append(f"{part}: some measurements failed")


def chapters_beside(folder: Path) -> "list[Section]":
    """Return the report's chapters on what the parts left in `folder`."""
    # Plotting takes long to load, and a machine that only measures may lack it.
    from warpheap.sync.chapter import sections_beside

    return sections_beside(folder)


MEASURES = Measures({"sync": run_sync, "pool": run_pool, "bench": run_bench}, chapters_beside)
