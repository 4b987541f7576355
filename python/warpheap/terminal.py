# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the survey shows in a terminal while it runs."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from warpheap import survey
from warpheap.forecast import Forecast
from warpheap.plan import Step
from warpheap.record import Record, describe, unable
from warpheap.units import show_seconds

STYLES = {
    "ok": "green",
    "failed": "red",
    "timeout": "yellow",
    "crashed": "magenta",
    "missed": "red",
    "skipped": "dim",
    "cannot": "dim",
}

# A log has no bar that moves: it gets a line from time to time.
SECONDS_BETWEEN_LINES = 30.0


class _LeftColumn(ProgressColumn):
    """Seconds until the end that is foreseen, counting down between two cases."""

    def render(self, task: Task) -> Text:
        left = max(0.0, task.fields["end"] - time.monotonic())
        return Text("" if task.finished else f"left {show_seconds(left)}", style="cyan")


@contextmanager
def watch(console: Console, steps: Sequence[Step], forecast: Forecast) -> Iterator[survey.Progress]:
    """A bar with the cases in hand and the remaining time; failures are printed above it as they come."""
    total = len(steps)
    bar = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _LeftColumn(),
        TextColumn("[dim]{task.fields[point]}"),
        console=console,
        disable=not console.is_terminal,
    )
    end = time.monotonic() + forecast.seconds_left()
    in_hand: list[Step] = []
    count = 0

    def now() -> str:
        shown = in_hand.copy()  # a case may end while another thread tells what runs
        if not shown:
            return ""
        more = f" and {len(shown) - 1} more" if len(shown) > 1 else ""
        return describe(asdict(shown[0].point)) + more

    with bar:
        task = bar.add_task("survey", total=total, point="", end=end)

        def started(step: Step) -> None:
            in_hand.append(step)
            bar.update(task, point=now())

        def finished(step: Step, record: Record) -> None:
            nonlocal count, end
            count += 1
            in_hand.remove(step)
            forecast.done(step)
            forecast.learn(record)
            end = time.monotonic() + forecast.seconds_left()
            bar.update(task, advance=1, end=end, point=now())
            if record["status"] != "ok":
                status = "cannot" if unable(record) else record["status"]
                print_status(bar.console, status, f"{describe(record)}: {record['reason']}")

        def tell() -> None:
            left = max(0.0, end - time.monotonic())
            text = f"{count:,} of {total:,} runs, about {show_seconds(left)} left; now {now()}"
            console.print(text, markup=False, highlight=False, soft_wrap=True)

        with nullcontext() if console.is_terminal else _at_intervals(tell, SECONDS_BETWEEN_LINES):
            yield survey.Progress(started, finished)


@contextmanager
def _at_intervals(tell: Callable[[], None], seconds: float) -> Iterator[None]:
    """Calls `tell` from time to time, also while one case takes long."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(seconds):
            tell()

    watcher = threading.Thread(target=run, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def print_status(console: Console, status: str, text: str) -> None:
    """A coloured status, and text as it is."""
    # In one piece: a bar that is on the screen would come between two.
    console.print(Text.assemble((f"{status:>8}", STYLES[status]), "  ", text))
