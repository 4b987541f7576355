# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `warpheap watch`: looks again and again, and shows each look."""

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.live import Live

from warpheap.errors import UsageError
from warpheap.watch.board import folder
from warpheap.watch.look import Look, look, nothing_of
from warpheap.watch.view import as_object, show


@dataclass(frozen=True)
class Job:
    """What is watched, and how it is shown."""

    process: int | None = None  # None: all processes of this user
    once: bool = False
    as_json: bool = False
    interval: float = 0.5


def check(job: Job) -> None:
    """Raises `UsageError` for what is wrong with the words of the command."""
    if job.process is not None and job.process < 1:
        raise UsageError(f"{job.process} is the number of no process; the table's first column has numbers")
    if not 0.05 <= job.interval <= 3600:
        raise UsageError(f"--interval {job.interval:g}: give seconds from 0.05 to 3600")


def run(console: Console, job: Job) -> int:
    """Shows until Ctrl-C, or until the process ends; with `once` shows one time. Returns the exit code.

    Raises `UsageError` if the process that is named has nothing to show.
    """
    check(job)
    where = folder()
    first = look(where, job.process)
    if job.process is not None and not first.processes:
        if first.problems:
            raise UsageError("; ".join(first.problems))
        raise nothing_of(where, job.process)
    try:
        if job.once:
            _once(console, job, where, first)
        else:
            _go_on(console, job, where, first)
    except KeyboardInterrupt:
        pass  # how a live view ends
    except BrokenPipeError:
        # The reader has seen enough. What is left in the buffer must not complain at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _once(console: Console, job: Job, where: Path, first: Look) -> None:
    time.sleep(job.interval)  # rates are between two looks
    second = look(where, job.process, first)
    has_ended = job.process is not None and not second.processes
    shown = first if has_ended else second
    if job.as_json:
        _write(shown)
    else:
        console.print(show(shown, job.process if has_ended else None))


def _go_on(console: Console, job: Job, where: Path, first: Look) -> None:
    is_live = console.is_terminal and not job.as_json
    with Live(console=console, auto_refresh=False) if is_live else _Lines(console) as page:
        now = first
        while True:
            if job.as_json:
                _write(now)
            else:
                page.update(show(now), refresh=True)
            time.sleep(job.interval)
            last, now = now, look(where, job.process, now)
            if job.process is not None and not now.processes:
                break
        if not job.as_json:
            page.update(show(last, job.process), refresh=True)


class _Lines:
    """What is not a terminal gets one table after another."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> "_Lines":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, shown: object, refresh: bool) -> None:
        """Print it."""
        self._console.print(shown)
        self._console.file.flush()


def _write(now: Look) -> None:
    print(json.dumps(as_object(now)), flush=True)
