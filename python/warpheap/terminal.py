# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the survey shows in a terminal while it runs."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
_SECONDS_BETWEEN_LINES = 30.0


class _LeftColumn(ProgressColumn):
    """Seconds until the end that is foreseen, counting down between two cases."""

    def render(self, task: Task) -> Text:
        left = max(0.0, task.fields["end"] - time.monotonic())
        return Text("" if task.finished else f"left {show_seconds(left)}", style="cyan")


@contextmanager
def watch(console: Console, steps: Sequence[Step], forecast: Forecast) -> Iterator[survey.Progress]:
    """A bar with the case in hand and the remaining time; failures are printed above it as they come."""
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
    told = time.monotonic()
    count = 0
    with bar:
        task = bar.add_task("survey", total=total, point="", end=end)

        def started(step: Step) -> None:
            bar.update(task, point=describe(step.point.__dict__))

        def finished(step: Step, record: Record) -> None:
            nonlocal told, count
            count += 1
            forecast.done(step)
            forecast.learn(record)
            left = forecast.seconds_left()
            bar.update(task, advance=1, end=time.monotonic() + left)
            if record["status"] != "ok":
                status = "cannot" if unable(record) else record["status"]
                print_status(bar.console, status, f"{describe(record)}: {record['reason']}")
            if not console.is_terminal and time.monotonic() - told > _SECONDS_BETWEEN_LINES:
                told = time.monotonic()
                console.print(f"{count} of {total} cases, about {show_seconds(left)} left", highlight=False)

        yield survey.Progress(started, finished)


def print_status(console: Console, status: str, text: str) -> None:
    """A coloured status, and text as it is."""
    # In one piece: a bar that is on the screen would come between two.
    console.print(Text.assemble((f"{status:>8}", STYLES[status]), "  ", text))
