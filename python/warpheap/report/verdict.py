# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The heat map of allocators and cases, and which allocator wins at which block size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from warpheap.report.columns import Column, columns_of
from warpheap.report.contest import as_good_as_first, distance, why_no_contest
from warpheap.report.ranking import Field, Score, field_of, geometric_mean, scores
from warpheap.report.record_set import RecordSet

# Scores this close to the winner's are called as good: less than what two runs of the survey differ by.
AS_GOOD = 1.05


@dataclass(frozen=True)
class Row:
    """One allocator of the heat map. `overall` is the geometric mean over the columns that it has a value in."""

    allocator: str
    overall: float | None
    covered: int  # columns that `overall` is made of
    lost: int
    measured: int
    cells: Sequence[Score]
    baseline: bool


@dataclass(frozen=True)
class HeatMap:
    """Rows from the best to the worst; designs without individual free come last."""

    columns: Sequence[Column]
    overall_of: Sequence[Column]  # the columns that `overall` may be made of
    rows: Sequence[Row]

    def groups(self) -> list[tuple[str, int]]:
        """Each case with its number of columns."""
        return [(case, len(list(group))) for case, group in groupby(self.columns, key=lambda column: column.case)]


@dataclass(frozen=True)
class Win:
    """The best over some points: the winner, those as good, and the next with its distance."""

    names: Sequence[str]  # empty: no allocator wins, and `note` says why
    next_name: str
    next_ratio: float  # 0: no ratio tells it, since the winner is at 0 where the next is not
    points: int
    note: str = ""


@dataclass(frozen=True)
class WinRow:
    """One measure over all modes, by block size; one entry for all where size is no axis."""

    case: str
    measure: str
    wins: Sequence[Win | None]


SIZE_CLASSES: Sequence[tuple[str, Callable[[int], bool]]] = (
    ("up to 64 B", lambda size: size <= 64),
    ("65 B to 1 KiB", lambda size: 64 < size <= 1024),
    ("above 1 KiB", lambda size: size > 1024),
)


def heat_map(records: RecordSet, order: Sequence[str]) -> HeatMap | None:
    """The heat map of one machine's records, or None if nothing in them may be compared."""
    field, columns = field_of(records), columns_of(records, order)
    if not columns:
        return None
    by_column = [scores(field, records.where(case=column.case), [column.measure]) for column in columns]
    timed = [column for column in columns if column.timing]
    counted = timed or columns
    rows = []
    for name in field.allocators:
        cells = [column_scores[name] for column_scores in by_column]
        means = [
            cell.mean
            for column, cell in zip(columns, cells, strict=True)
            if column in counted and cell.mean is not None
        ]
        own = records.where(allocator=name)
        rows.append(
            Row(
                name,
                geometric_mean(means),
                len(means),
                len(own.lost),
                len(own),
                cells,
                name in field.baselines,
            )
        )
    rows.sort(key=lambda row: (row.baseline, row.overall is None, row.overall or 0.0))
    return HeatMap(columns, counted, rows)


def winners(records: RecordSet, order: Sequence[str]) -> list[WinRow]:
    """The winners for each deciding measure and class of sizes."""
    field = field_of(records)
    rows = []
    for column in columns_of(records, order):
        own = records.where(case=column.case)
        several = len(own.values("size")) > 1
        parts = [_of_sizes(own, fits) for _, fits in SIZE_CLASSES] if several else [own]
        wins = [win_of(field, part, [column.measure]) for part in parts]
        rows.append(WinRow(column.case, column.label, wins))
    return rows


def _of_sizes(records: RecordSet, fits: Callable[[int], bool]) -> RecordSet:
    return records.only(lambda each: fits(each["size"]))


def win_of(field: Field, records: RecordSet, names: Sequence[str]) -> Win | None:
    """The winner among the ranked that have a value at every point at which any of them has one; None of no records.

    Only points count at which most of the allocators were run.
    """
    if not records:
        return None
    if not records.contested(field.allocators):
        return Win([], "", 0.0, 0, why_no_contest(records, field.allocators))
    found = scores(field, records, names)
    most = max((found[name].points for name in field.ranked()), default=0)
    if not most:
        return Win([], "", 0.0, 0, "no result")
    whole = [found[name].standing for name in field.ranked() if found[name].points == most and not found[name].lost]
    if not whole:
        return Win([], "", 0.0, most, "no allocator at every point")
    ordered = sorted(whole, key=lambda standing: standing.rank)
    close = as_good_as_first(ordered, AS_GOOD)
    rest = [standing for standing in ordered if standing not in close]
    next_name, next_ratio = (rest[0].allocator, distance(ordered[0], rest[0])) if rest else ("", 0.0)
    return Win([standing.allocator for standing in close], next_name, next_ratio, most)
