# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the survey prints at its end: who did how well, and how far the figures can be trusted."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from warpheap.cases import is_baseline
from warpheap.record import STATUSES, Measure, Record, describe, spread, unable
from warpheap.report.data import point_of
from warpheap.report.record_set import RecordSet
from warpheap.terminal import STYLES
from warpheap.units import show_bytes, show_count, show_measured

# A median whose interval reaches further than this share of it is told of.
NOISY = 0.05
# Results themselves are printed for this many points at most; what is more belongs in the report.
_MOST_POINTS = 6

_POINT = ("mode", "threads", "size", "heap_bytes")


def print_summary(console: Console, records: Sequence[Record]) -> None:
    """The tables of a survey's end."""
    cases = list(dict.fromkeys(record["case"] for record in records))
    if len({(record["case"], *(record[field] for field in _POINT)) for record in records}) <= _MOST_POINTS:
        for case in cases:
            _print_results(console, [record for record in records if record["case"] == case])
    _print_allocators(console, records)
    _print_noise(console, records)
    counts = _counts(records)
    console.print(", ".join(f"[{STYLES[status]}]{count} {status}[/]" for status, count in counts.items() if count))


def _counts(records: Sequence[Record]) -> dict[str, int]:
    """How many ended in each way; a design that lacks what a case needs did not fail it."""
    statuses = ["cannot" if unable(record) else record["status"] for record in records]
    return {status: statuses.count(status) for status in (*STATUSES, "cannot")}


def shown_measures(record: Record) -> Iterator[tuple[str, Measure]]:
    """The measures that may be shown: on the host backend those that do not depend on the machine's speed."""
    for name, measure in record["measures"].items():
        if measure is not None and (record["timing_comparable"] or not measure["timing"]):
            yield name, measure


def _own_measures(record: Record) -> Iterator[tuple[str, Measure]]:
    """Those of them that the allocator has a part in: a baseline is nobody's speed, and nobody's noise."""
    return ((name, measure) for name, measure in shown_measures(record) if not is_baseline(record["case"], name))


def _allocators(records: Sequence[Record]) -> list[str]:
    positions = {record["allocator"]: (record.get("position") or 0, record["allocator"]) for record in records}
    return sorted(positions, key=lambda name: positions[name])


def _print_results(console: Console, records: Sequence[Record]) -> None:
    points = list(dict.fromkeys(tuple(record[field] for field in _POINT) for record in records))
    names = list(dict.fromkeys(name for record in records for name, _ in shown_measures(record)))
    if not names:
        return
    table = _table(escape(f"{records[0]['case']}: {' / '.join(names)}"))
    table.add_column("allocator", no_wrap=True)
    for mode, threads, size, _ in points:
        table.add_column(escape(f"{mode} {show_count(threads)} x {show_bytes(size)}"), justify="right")
    for allocator in _allocators(records):
        own = {tuple(each[field] for field in _POINT): each for each in records if each["allocator"] == allocator}
        table.add_row(escape(allocator), *(_cell(own.get(point), names) for point in points))
    console.print(table)


def _cell(record: Record | None, names: Sequence[str]) -> str:
    if record is None:
        return ""
    if record["status"] != "ok":
        status = "cannot" if unable(record) else record["status"]
        return f"[{STYLES[status]}]{status}[/]"
    measures = dict(shown_measures(record))
    texts = (show_measured(measures[name]["median"], measures[name]["unit"]) if name in measures else "-"
             for name in names)  # fmt: skip
    return " / ".join(texts)


def _print_allocators(console: Console, records: Sequence[Record]) -> None:
    speeds = _against_best(records)
    bad = [status for status, count in _counts(records).items() if count and status != "ok"]
    table = _table("Allocators")
    table.add_column("allocator", no_wrap=True)
    for column in ("ok", *bad, *(("time, 1 is the best", "worst interval") if speeds else ())):
        table.add_column(column, justify="right")
    for allocator in _allocators(records):
        own = [record for record in records if record["allocator"] == allocator]
        counts = _counts(own)
        whole = counts["ok"] + counts["cannot"] == len(own)
        cells = [f"[{'green' if whole else 'red'}]{counts['ok']} of {len(own)}[/]"]
        cells += [f"[{STYLES[status]}]{counts[status]}[/]" if counts[status] else "" for status in bad]
        if speeds:
            widest = max((wide for wide, _, _ in _spreads(own)), default=None)
            cells.append(f"{speeds[allocator]:.2f}" if allocator in speeds else "")
            cells.append("" if widest is None else f"{widest:.1%}")
        table.add_row(escape(allocator), *cells)
    console.print(table)


def _against_best(records: Sequence[Record]) -> dict[str, float]:
    """For each allocator the geometric mean of its time over the best one's, over all timings of all its cases."""
    groups: dict[tuple[object, ...], list[tuple[str, float]]] = defaultdict(list)
    for record in _contested(records):
        for name, measure in _own_measures(record):
            if measure["timing"] and measure["median"] > 0:
                cost = measure["median"] if measure["better"] == "lower" else 1 / measure["median"]
                point = (record["case"], record["device"], *(record[field] for field in _POINT), name)
                groups[point].append((record["allocator"], cost))
    logs: dict[str, list[float]] = defaultdict(list)
    for group in groups.values():
        best = min(cost for _, cost in group)
        for allocator, cost in group:
            logs[allocator].append(math.log(cost / best))
    return {allocator: math.exp(sum(values) / len(values)) for allocator, values in logs.items()}


def _contested(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the records at points at which most of the allocators were run: elsewhere the few would win by walkover."""
    allocators = _allocators(records)
    for case in dict.fromkeys(record["case"] for record in records):
        own = [record for record in records if record["case"] == case]
        points = RecordSet(own).contested(allocators)
        yield from (record for record in own if point_of(record) in points)


def _spreads(records: Sequence[Record]) -> list[tuple[float, str, Record]]:
    """The intervals of all timings that have one, as shares of the median."""
    return [
        (wide, name, record)
        for record in records
        for name, measure in _own_measures(record)
        if measure["timing"] and (wide := spread(measure)) is not None
    ]


def _print_noise(console: Console, records: Sequence[Record]) -> None:
    everything = _spreads(records)
    if not everything:
        return
    table = _table("Noise: how far the confidence interval of a median reaches from it")
    table.add_column("case", no_wrap=True)
    for column in ("medians", "half of them within", "worst", "without an interval"):
        table.add_column(column, justify="right")
    table.add_column("the worst one")
    for case in dict.fromkeys(record["case"] for record in records):
        own = [record for record in records if record["case"] == case]
        found = sorted(_spreads(own), key=lambda each: each[0])
        timings = sum(measure["timing"] for record in own for _, measure in _own_measures(record))
        if not timings:
            continue
        cells = ["", "", "", ""]
        if found:
            wide, name, record = found[-1]
            cells = [str(len(found)), f"{found[(len(found) - 1) // 2][0]:.1%}", f"{wide:.1%}", ""]
            cells[3] = str(timings - len(found)) if timings > len(found) else ""
            table.add_row(escape(case), *cells, escape(f"{name} of {_without_case(record)}"))
        else:
            table.add_row(escape(case), "0", "", "", str(timings), "")
    console.print(table)
    noisy = [each for each in everything if each[0] > NOISY]
    if noisy:
        wide, name, record = max(noisy, key=lambda each: each[0])
        worst = escape(f"{name} of {describe(record)}")
        console.print(
            f"[yellow]warning:[/] {len(noisy)} of {len(everything)} medians are uncertain by more than {NOISY:.0%}, "
            f"worst {worst} by {wide:.0%}; more --most-iterations or --time-limit narrow them",
            highlight=False, soft_wrap=True,
        )  # fmt: skip


def _without_case(record: Record) -> str:
    return describe(record).removeprefix(f"{record['case']} ")


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", header_style="bold")
