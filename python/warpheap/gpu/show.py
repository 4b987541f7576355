# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a GPU run shows at its end: tables on the console, and chapters of the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from warpheap import terminal
from warpheap.gpu.result import FAULTS, Result, ResultFile, count
from warpheap.machines import read_machines
from warpheap.record import Record
from warpheap.report.sections import Cell, Grid, Section

_SLOWEST = 10


def say(console: Console, result: Result) -> None:
    """Print how something ended and how long it took."""
    terminal.print_status(console, result.status, f"{result.name}, {result.seconds:.0f} s {result.reason}".strip())


def write_report(
    out: Path,
    tests: Sequence[Result],
    checks: Sequence[Result],
    records: Sequence[Record],
    command: str,
    chapters: Sequence[Section],
) -> None:
    """Write report.html and, of a GPU, throughput.png into the folder of the record.

    `chapters` come before those of the tests.
    """
    # Plotting takes long to load, and a run of the tests alone does not need it.
    from warpheap.report import page, plots
    from warpheap.report.chapters import throughput
    from warpheap.report.looks import Looks
    from warpheap.report.record_set import RecordSet

    extra = [section for section in (_section("Tests", tests), _section("Memory check", checks)) if section]
    page.write_report(out / "report.html", records, command, [*chapters, *extra], read_machines(out))
    newest = RecordSet.of(records).latest()
    threads = newest.where(case="throughput", mode="thread")
    if threads and all(record["timing_comparable"] for record in threads):
        title = f"GPU malloc and free on {threads[0]['device']}, mode thread, of each family the fastest design"
        fastest = throughput.fastest_of_families(threads)
        # The picture shows some of the allocators; each looks there as it does on the page.
        plots.to_png(throughput.against_size(fastest, Looks(newest), title), out / "throughput.png")


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
    grids = [Grid("", ["program", *count(()), "seconds"], rows)]
    faults = [result for result in results if result.status in FAULTS]
    if faults:
        cells_of = ([Cell(each.name), Cell(each.status, each.status), Cell(each.reason)] for each in faults)
        grids.append(Grid("What failed", ["name", "status", "reason"], list(cells_of)))
    return Section(title, grids=grids)


def print_slowest(console: Console, files: Mapping[str, ResultFile]) -> None:
    """Print the programs that took longest in all parts together, their starts included."""
    total: dict[str, float] = {}
    for file in files.values():
        for program, seconds in file.seconds.items():
            total[program] = total.get(program, 0.0) + seconds
    slowest = sorted((program for program in total if total[program] > 0), key=lambda program: -total[program])
    if not slowest:
        return
    table = _table("Slowest programs, seconds", ["", *files])
    for program in slowest[:_SLOWEST]:
        table.add_row(program, *(f"{file.seconds.get(program, 0.0):.1f}" for file in files.values()))
    console.print(table)


def print_counts(console: Console, numbers: Mapping[str, Mapping[str, int]]) -> None:
    """Print how many ended in each way; a row for each kind of thing."""
    table = _table("Summary", ["", *count(())])
    for name, counts in numbers.items():
        table.add_row(name, *(str(number) for number in counts.values()))
    console.print(table)


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column else "left")
    return table
