# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The compaction case in the report: its measures, and a table of what each allocator regains."""

from dataclasses import replace

from warpheap.cases.compaction import NEXT_BYTES
from warpheap.record import Record
from warpheap.report import generic
from warpheap.report.record_set import RecordSet
from warpheap.report.relative import median_of
from warpheap.report.sections import Cell, Grid, Section
from warpheap.units import show_bytes

_regained, _given_back = median_of("regained"), median_of("given_back")
_KEPT = 0.01


def bound(mode: str, size: int) -> float:
    """The share of all spans of 8 KiB that hold no survivor: what a design can regain that moves no block."""
    return (1 - _KEPT) ** (NEXT_BYTES / size) if mode == "few_kept" else 1.0


def sections(records: RecordSet) -> list[Section]:
    """The case's measures, and a table of what came back."""
    return [replace(section, grids=_summary(records)) for section in generic.sections(records)]


def _key(each: Record) -> tuple[str, int]:
    return str(each["mode"]), int(each["size"])


def _summary(records: RecordSet) -> list[Grid]:
    """A row for each allocator, a column for each mode and size, and a row of what can be had at most.

    Of several heaps the largest counts.
    """
    columns = sorted({_key(each) for each in records if _regained(each) is not None})
    rows = []
    for name in records.allocators:
        own = sorted(records.where(allocator=name), key=lambda each: int(each["heap_bytes"]))
        found = {_key(each): each for each in own if _regained(each) is not None}
        if found:
            rows.append([Cell(name, allocator=name), *(_cell(found.get(column)) for column in columns)])
    if not rows:
        return []
    rows.append([Cell("blocks stay in place"), *(Cell(_percent(bound(mode, size))) for mode, size in columns)])
    words = {"all_freed": "all of {} freed", "few_kept": "99 % of {} freed"}
    heads = ["", *(words.get(mode, mode + " {}").format(show_bytes(size)) for mode, size in columns)]
    note = (
        "Blocks of 8 KiB that the heap holds afterwards, over those of a new heap; and the share of its memory that "
        "trim gave back to the machine. The last row is the most that is expected where no block is moved."
    )
    return [Grid("What small blocks leave", heads, rows, note)]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _cell(each: Record | None) -> Cell:
    regained = None if each is None else _regained(each)
    if each is None or regained is None:
        return Cell("")
    trimmed = _given_back(each)
    return Cell(_percent(regained), aside="" if trimmed is None else f"{_percent(trimmed)} given back")
