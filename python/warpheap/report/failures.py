# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What has no result, and what was verified."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from warpheap.cases import CASES
from warpheap.record import Record, unable
from warpheap.report import texts
from warpheap.report.data import point_of
from warpheap.report.places import places_of, some_of
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Cell, Grid

# Points of a case and mode that a line of the table names; the rest is a number.
_NAMED = 4
# An amount: no part of a word, an address or a version, and no code, of which a range would tell nothing.
_NUMBER = re.compile(r"(?<![\w.,:-])(?<!code )(?<!signal )[0-9]+(?:\.[0-9]+)?(?!\w|[.,:-][0-9])")


def failures_grid(records: RecordSet) -> Grid | None:
    """Return all runs without a result and their reasons; None if every run has one.

    A line is of one reason, whose numbers may differ, and of all allocators that it stopped at the same
    places.
    """
    reasons: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        if record["status"] != "ok":
            kind = (record["device"], "cannot" if unable(record) else record["status"], _texts(record["reason"]))
            reasons.setdefault(kind, []).append(record)
    if not reasons:
        return None
    several = len(records.machines) > 1
    rows = []
    for (device, status, _), own in reasons.items():
        all_runs = records.where(device=device)
        for where, stopped in _by_places(all_runs, RecordSet(own)):
            names = stopped.allocators
            run = sum(len(all_runs.where(allocator=name, case=case)) for name in names for case in stopped.cases)
            cells = [
                Cell("", allocators=names),
                Cell(where),
                Cell(status, "skipped" if status == "cannot" else status),
                Cell(f"{len(stopped)} of {run}"),
                Cell(_one_for_all([record["reason"] for record in stopped])),
            ]
            rows.append([*cells[:2], Cell(device), *cells[2:]] if several else cells)
    columns = ["allocators", "where", *(["machine"] if several else []), "status", "runs", "reason"]
    note = (
        "Where a line names a case without a mode, or a mode without points, all of its runs ended so. Runs: of all "
        "that these allocators had in these cases. failed: a fault in what was handed out, or a request refused "
        "that the heap has room for; timeout: killed at its limit; crashed: a kernel failed or the process ended "
        "without a record; cannot: the design lacks what the case needs, which no rule of this page counts as a "
        "failure."
    )
    return Grid("", columns, rows, note)


def _by_places(all_runs: RecordSet, stopped: RecordSet) -> Iterable[tuple[str, RecordSet]]:
    """Return the runs of all allocators that were stopped at the same places, with these places in words."""
    found: dict[str, tuple[str, list[Record]]] = {}
    for name in stopped.allocators:
        own = stopped.where(allocator=name)
        # Places that differ may be told alike: the first few and a number of others.
        told, whole = (_places(all_runs.where(allocator=name), own, most) for most in (_NAMED, len(own)))
        found.setdefault(whole, (told, []))[1].extend(own)
    return [(told, RecordSet(own)) for told, own in found.values()]


def _places(all_runs: RecordSet, stopped: RecordSet, most: int) -> str:
    """Return the places of one allocator in words: a case alone if all of its runs ended so, else `most` points."""
    parts = []
    for case in sorted(stopped.cases, key=lambda name: CASES[name].order if name in CASES else len(CASES) + 1):
        of_case = stopped.where(case=case)
        if len(of_case) == len(all_runs.where(case=case)):
            parts.append(texts.words(case))
            continue
        for mode, own in of_case.by("mode").items():
            name = f"{texts.words(case)} {texts.words(mode)}"
            all_of_mode = all_runs.where(case=case, mode=mode)
            # Points are made of all runs only where these have several heaps, since that takes long.
            among = map(point_of, all_of_mode if len(all_of_mode.by("heap_bytes")) > 1 else own)
            points = some_of(places_of(sorted(map(point_of, own)), among), most)
            parts.append(name if len(own) == len(all_of_mode) else f"{name} ({points})")
    return "; ".join(parts)


def _texts(reason: str) -> tuple[str, ...]:
    """Return what stands before, between and after the numbers of a reason."""
    return tuple(_NUMBER.split(reason))


def _one_for_all(reasons: Sequence[str]) -> str:
    """Return reasons that differ in nothing but numbers as one: a number that differs is a range."""
    numbers = zip(*map(_NUMBER.findall, reasons), strict=True)
    ranges = iter([(min(each, key=Decimal), max(each, key=Decimal)) for each in numbers])

    def told(match: re.Match[str]) -> str:
        low, high = next(ranges)
        return match[0] if Decimal(low) == Decimal(high) else f"{low}\N{EN DASH}{high}"

    return _NUMBER.sub(told, reasons[0])


def verified_grid(records: RecordSet, order: Sequence[str]) -> Grid:
    """Allocators and cases: how many runs are ok and were verified block by block."""
    cases = [case for case in order if any(each["case"] == case for each in records)]
    cases += [case for case in dict.fromkeys(each["case"] for each in records) if case not in cases]
    rows = []
    for name in records.allocators:
        cells = []
        for case in cases:
            own = records.where(allocator=name, case=case)
            good = sum(each["status"] == "ok" and each["verified"] for each in own)
            if not own:
                cells.append(Cell(""))
            elif all(map(unable, own)):
                cells.append(Cell("cannot", "skipped"))
            else:
                cells.append(Cell(f"{good} of {len(own)}", "ok" if good == len(own) else "failed"))
        requests = sum(each.get("requests") or 0 for each in records.where(allocator=name))
        rows.append([Cell(name, allocator=name), *cells, Cell(f"{requests:,}")])
    return Grid("", ["allocator", *map(texts.words, cases), "requests"], rows)
