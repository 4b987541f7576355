# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What has no result, and what was verified."""

from collections.abc import Sequence
from typing import Any

from warpheap.record import Record, unable
from warpheap.report import texts
from warpheap.report.numbers import TIMES
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Cell, Grid
from warpheap.units import show_bytes, show_count

# Points that a line of the table names; the rest is a number.
_NAMED = 4


def failures_grid(records: RecordSet) -> Grid | None:
    """All runs without a result and their reasons; runs of one allocator that differ only in the point share a line."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        if record["status"] != "ok":
            what = (record["allocator"], record["case"], record["mode"], record["device"])
            groups.setdefault((*what, record["status"], record["reason"]), []).append(record)
    if not groups:
        return None
    several = len(records.machines) > 1
    measured: dict[tuple[Any, ...], int] = {}
    for record in records:
        place = (record["allocator"], record["case"], record["mode"], record["device"])
        measured[place] = measured.get(place, 0) + 1
    rows = []
    for (allocator, case, mode, device, status, reason), own in groups.items():
        shown = "cannot" if unable(own[0]) else status
        cells = [
            Cell(allocator, allocator=allocator),
            Cell(f"{texts.words(case)}, {texts.words(mode)}"),
            Cell(shown, "skipped" if shown == "cannot" else status),
            Cell(f"{len(own)} of {measured[allocator, case, mode, device]}"),
            Cell(_points(own)),
            Cell(reason),
        ]
        rows.append([*cells[:2], Cell(device), *cells[2:]] if several else cells)
    columns = ["allocator", "case, mode", *(["machine"] if several else []), "status", "runs", "where", "reason"]
    note = (
        "failed: a fault in what was handed out, or a request refused that the heap has room for; timeout: killed at "
        "its limit; crashed: a kernel failed or the process ended without a record; cannot: the design lacks what "
        "the case needs, which no rule of this page counts as a failure."
    )
    return Grid("", columns, rows, note)


def _points(records: Sequence[Record]) -> str:
    def text(record: Record) -> str:
        parts = [
            show_count(record["threads"]) if record["threads"] else "",
            show_bytes(record["size"]) if record["size"] else "",
        ]
        return f" {TIMES} ".join(part for part in parts if part)

    named = list(dict.fromkeys(text(record) for record in records))
    more = len(named) - _NAMED
    return ", ".join(named[:_NAMED]) + (f" and {more} more" if more > 0 else "")


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
