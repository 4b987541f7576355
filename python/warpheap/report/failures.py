# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What has no result, and what was verified."""

import re
from collections.abc import Sequence
from typing import Any

from warpheap.cases import CASES
from warpheap.record import Record, unable
from warpheap.report import texts
from warpheap.report.places import place_text, some_of
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Cell, Grid

# Points of a case and mode that a line of the table names; the rest is a number.
_NAMED = 4
_NUMBER = re.compile(r"\d+")


def failures_grid(records: RecordSet) -> Grid | None:
    """Return all runs without a result and their reasons; None if every run has one.

    A line is of one reason, whose numbers may differ, and of all allocators that it stopped at the same
    places.
    """
    reasons: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        if record["status"] != "ok":
            kind = (record["device"], "cannot" if unable(record) else record["status"], _plain(record["reason"]))
            reasons.setdefault(kind, []).append(record)
    if not reasons:
        return None
    several = len(records.machines) > 1
    rows = []
    for (device, status, _), own in reasons.items():
        all_runs = records.where(device=device)
        for where, stopped in _by_places(all_runs, RecordSet(own)).items():
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


def _by_places(all_runs: RecordSet, stopped: RecordSet) -> dict[str, RecordSet]:
    """Return the runs of all allocators that were stopped at the same places, by these places in words."""
    found: dict[str, list[Record]] = {}
    for name in stopped.allocators:
        own = stopped.where(allocator=name)
        found.setdefault(_places(all_runs.where(allocator=name), own), []).extend(own)
    return {where: RecordSet(own) for where, own in found.items()}


def _places(all_runs: RecordSet, stopped: RecordSet) -> str:
    """Return the places of one allocator in words: a case alone if all of its runs ended so."""
    parts = []
    for case in sorted(stopped.cases, key=lambda name: CASES[name].order if name in CASES else len(CASES) + 1):
        of_case = stopped.where(case=case)
        if len(of_case) == len(all_runs.where(case=case)):
            parts.append(texts.words(case))
            continue
        for mode, own in of_case.by("mode").items():
            name = f"{texts.words(case)} {texts.words(mode)}"
            places = sorted((each["threads"], each["size"]) for each in own)
            points = some_of((place_text(*place) for place in places), _NAMED)
            parts.append(name if len(own) == len(all_runs.where(case=case, mode=mode)) else f"{name} ({points})")
    return "; ".join(parts)


def _plain(reason: str) -> str:
    return _NUMBER.sub("#", reason)


def _one_for_all(reasons: Sequence[str]) -> str:
    """Return reasons that differ in nothing but numbers as one: a number that differs is a range."""
    numbers = zip(*([int(number) for number in _NUMBER.findall(reason)] for reason in reasons), strict=True)
    ranges = iter([(min(each), max(each)) for each in numbers])

    def told(match: re.Match[str]) -> str:
        low, high = next(ranges)
        return match[0] if low == high else f"{low}\N{EN DASH}{high}"

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
