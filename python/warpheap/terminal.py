# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the survey shows in a terminal."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from warpheap import survey
from warpheap.plan import Step
from warpheap.record import STATUSES, Record
from warpheap.report import tables
from warpheap.units import show_bytes, show_count

STYLES = {"ok": "green", "failed": "red", "timeout": "yellow", "crashed": "magenta", "skipped": "dim"}


@contextmanager
def watch(console: Console, total: int) -> Iterator[survey.Progress]:
    """A bar with the case in hand and the remaining time; failures are printed above it as they come."""
    bar = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
        TextColumn("[dim]{task.fields[point]}"),
        console=console,
        speed_estimate_period=600,
    )
    with bar:
        task = bar.add_task("survey", total=total, point="")

        def started(step: Step) -> None:
            bar.update(task, point=_describe(step))

        def finished(step: Step, record: Record) -> None:
            bar.advance(task)
            if record["status"] != "ok":
                style = STYLES[record["status"]]
                bar.console.print(f"[{style}]{record['status']:>8}[/]  {_describe(step)}: ", end="")
                bar.console.print(record["reason"], markup=False, highlight=False)

        yield survey.Progress(started, finished)


def _describe(step: Step) -> str:
    point = step.point
    return f"{point.allocator} {point.mode} {show_count(point.threads)} x {show_bytes(point.size)}"


def print_summary(console: Console, records: Sequence[Record]) -> None:
    """Times of all allocators side by side, or what was verified where times mean nothing; then the failures."""
    grids = tables.summary_grids(records) if tables.comparable(records) else [tables.overview_grid(records)]
    for grid in grids:
        table = Table(title=grid.title, title_justify="left", title_style="bold", header_style="bold")
        for index, column in enumerate(grid.columns):
            table.add_column(column, justify="left" if index == 0 else "right", no_wrap=index == 0)
        for row in grid.rows:
            table.add_row(*(f"[{STYLES[cell.status]}]{cell.text}[/]" if cell.status else cell.text for cell in row))
        console.print(table)
    counts = {status: sum(record["status"] == status for record in records) for status in STATUSES}
    console.print(", ".join(f"[{STYLES[status]}]{counts[status]} {status}[/]" for status in STATUSES if counts[status]))
