# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A survey on several GPUs of one kind: a worker for each, which takes point after point out of a queue.

All allocators of a point run on one GPU, one after the other: two GPUs of a kind are not quite alike, and none of them
should decide a comparison. Each worker writes a record of its own, and has one process of the driver at a time. The
records are merged when the survey ends, when it is interrupted, and, after a crash, when the next one begins.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from warpheap import process, survey
from warpheap.plan import Step
from warpheap.record import Record, RecordFile
from warpheap.runner import Runner

_SECONDS_BETWEEN_KILLS = 0.05
# A worker looks for the longest point once so few are left, or four for each worker: it adds up all their steps.
_FEW_POINTS = 64


@dataclass(frozen=True)
class Worker:
    """A GPU, as nvidia-smi numbers or names it, and what measures each case on it."""

    gpu: str
    runners: Mapping[str, Runner]

    def record_in(self, folder: Path) -> Path:
        """The file of the worker's record."""
        return folder / survey.WORKER_RECORDS.replace("*", self.gpu.replace("/", "_"))


@dataclass(frozen=True)
class _Started:
    step: Step


@dataclass(frozen=True)
class _Finished:
    step: Step
    record: Record


@dataclass(frozen=True)
class _Ended:
    """A worker has no more to do; `problem` is what ended it early."""

    problem: BaseException | None = None


_Event = _Started | _Finished | _Ended


@dataclass
class _Queue:
    """Points that no worker has taken yet. Nothing is taken any more once it is closed."""

    points: list[list[Step]]
    workers: int
    seconds_of: Callable[[Step], float]
    closed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> list[Step]:
        """The steps of the next point; none at the end.

        Near the end a point that takes as long as its worker's share of all that is left comes first: taken last, it
        would leave the other workers idle.
        """
        with self.lock:
            if not self.points or self.closed:
                return []
            if len(self.points) > max(_FEW_POINTS, 4 * self.workers):
                return self.points.pop(0)
            seconds = [sum(map(self.seconds_of, point)) for point in self.points]
            longest = max(seconds)
            return self.points.pop(seconds.index(longest) if longest * self.workers >= sum(seconds) else 0)


def points_of(steps: Iterable[Step]) -> list[list[Step]]:
    """The steps of each point, in their order: those that differ in the allocator alone."""
    return [list(own) for _, own in groupby(steps, key=lambda step: replace(step.point, allocator=""))]


def run(
    steps: Sequence[Step],
    workers: Sequence[Worker],
    file: RecordFile,
    progress: survey.Progress,
    seconds_of: Callable[[Step], float],
) -> None:
    """Measures `steps` with all workers and adds the records to `file`. An interruption loses the cases in hand.

    `seconds_of` guesses how long a step takes.
    """
    waiting = _Queue(points_of(steps), len(workers), seconds_of)
    events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
    try:
        with ThreadPoolExecutor(len(workers)) as threads:
            futures: list[Future[None]] = []
            try:
                futures += [threads.submit(_work, each, waiting, file.path.parent, events) for each in workers]
                _follow(len(workers), events, progress)
            except BaseException:
                _end(waiting, futures)
                raise
    finally:
        survey.adopt(file)


def _work(worker: Worker, waiting: _Queue, folder: Path, events: "queue.SimpleQueue[_Event]") -> None:
    try:
        own = RecordFile.open(worker.record_in(folder))
        while steps := waiting.take():
            for step in steps:
                if waiting.closed:
                    break
                events.put(_Started(step))
                record = survey.measured(step, worker.runners) | {"gpu": worker.gpu}
                if waiting.closed:
                    break  # the process was killed, which is no result
                survey.keep(own, record)
                events.put(_Finished(step, record))
    except BaseException as problem:  # told to the thread that waits for all
        events.put(_Ended(problem))
    else:
        events.put(_Ended())


def _follow(running: int, events: "queue.SimpleQueue[_Event]", progress: survey.Progress) -> None:
    """Tells what workers do until all have ended. Raises what ended one of them early."""
    while running:
        event = events.get()
        if isinstance(event, _Started):
            progress.started(event.step)
        elif isinstance(event, _Finished):
            progress.finished(event.step, event.record)
        elif event.problem is not None:
            raise event.problem
        else:
            running -= 1


def _end(waiting: _Queue, futures: Sequence[Future[None]]) -> None:
    """Ends what runs. A worker may start its process only now, so that is done until all have ended."""
    waiting.closed = True
    while not all(future.done() for future in futures):
        process.kill_running()
        time.sleep(_SECONDS_BETWEEN_KILLS)
