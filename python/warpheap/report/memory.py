# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What memory each allocator took, as a table."""

from collections.abc import Sequence

from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Cell, Grid
from warpheap.units import show_bytes


def memory_grid(records: RecordSet) -> Grid | None:
    """What each allocator took, over all its cases."""
    rows = []
    for name in records.allocators:
        known = [each["memory"] for each in records.where(allocator=name) if each["memory"] is not None]
        if not known:
            continue
        ratios = [
            each["span_bytes"] / each["requested_bytes"]
            for each in known
            if each.get("requested_bytes") and each.get("span_bytes")
        ]
        live = [
            each["live_bytes"] / each["requested_bytes"]
            for each in known
            if each.get("live_bytes") and each.get("requested_bytes")
        ]
        rows.append(
            [
                Cell(name, allocator=name),
                Cell(show_bytes(max(each["committed_bytes"] for each in known))),
                Cell(show_bytes(max(each["metadata_bytes"] for each in known))),
                Cell(_range(ratios)),
                Cell(_range(live)),
            ]
        )
    if not rows:
        return None
    columns = ["allocator", "committed", "metadata", "address range / asked", "live / asked"]
    note = (
        "address range / asked: from the first byte of the lowest block to the last of the highest, over the bytes "
        "that were asked for; live / asked: what the design counts as handed out, over the same; smallest to largest"
    )
    return Grid("Memory", columns, rows, note)


def _range(values: Sequence[float]) -> str:
    if not values:
        return "not known"
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"
