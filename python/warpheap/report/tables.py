# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of records, for the terminal and for the page."""

from collections.abc import Iterable, Sequence

from warpheap.record import Record
from warpheap.report.sections import Cell, Grid
from warpheap.units import show_bytes, show_count, show_microseconds


def allocators_of(records: Iterable[Record]) -> list[str]:
    """The allocators that occur, in the registry's order."""
    positions = {record["allocator"]: (record.get("position", 0), record["allocator"]) for record in records}
    return sorted(positions, key=lambda name: positions[name])


def in_order(records: Iterable[Record], field: str) -> list[int]:
    """The values of a field that occur, in rising order."""
    return sorted({record[field] for record in records})


def modes_of(records: Iterable[Record]) -> list[str]:
    """The modes that occur, in the order of the record."""
    return list(dict.fromkeys(record["mode"] for record in records))


def comparable(records: Iterable[Record]) -> bool:
    """True if the times of all records may be shown."""
    return all(record["timing_comparable"] for record in records)


def summary_grids(records: Sequence[Record]) -> list[Grid]:
    """Times side by side on a GPU; what was verified where times mean nothing."""
    if not comparable(records):
        return [_verification(records)]
    grids = []
    for mode in modes_of(records):
        for threads in in_order(records, "threads"):
            part = [each for each in records if each["mode"] == mode and each["threads"] == threads]
            if part:
                grids.append(_times(part))
    return grids


def overview_grid(records: Sequence[Record]) -> Grid:
    """What was verified and what memory it took, a line for each allocator."""
    modes = modes_of(records)
    memory = memory_grid(records)
    taken = {row[0].text: row[1:] for row in memory.rows} if memory else {}
    rows = []
    for name in allocators_of(records):
        cells = []
        for mode in modes:
            own = [each for each in records if each["allocator"] == name and each["mode"] == mode]
            good = sum(each["status"] == "ok" for each in own)
            cells.append(Cell(f"{good} of {len(own)}", "ok" if good == len(own) else "failed"))
        rows.append([Cell(name), *cells, *taken.get(name, [])])
    return Grid("Cases verified, and memory", ["allocator", *modes, *(memory.columns[1:] if memory else [])], rows)


def _times(part: Sequence[Record]) -> Grid:
    best: dict[int, float] = {}
    for record in part:
        if record["status"] == "ok":
            median = record["malloc_us"]["median"]
            best[record["size"]] = min(median, best.get(record["size"], median))

    def cell(record: Record) -> Cell:
        if record["status"] != "ok":
            return Cell(record["status"], record["status"], record["reason"])
        malloc, free = record["malloc_us"], record["free_us"]
        text = f"{show_microseconds(malloc['median'])} / {show_microseconds(free['median']) if free else '-'}"
        note = f"malloc {show_microseconds(malloc['min'])} to {show_microseconds(malloc['max'])} µs"
        return Cell(text, note=note, best=malloc["median"] <= best[record["size"]])

    mode = part[0]["mode"]
    bound = "up to " if mode == "mixed" else ""
    sizes = in_order(part, "size")
    rows = []
    for name in allocators_of(part):
        own = {record["size"]: record for record in part if record["allocator"] == name}
        rows.append([Cell(name), *(cell(own[size]) if size in own else Cell("") for size in sizes)])
    return Grid(
        f"Mode {mode}, {show_count(part[0]['threads'])} threads: malloc / free, µs",
        ["allocator", *(f"{bound}{show_bytes(size)}" for size in sizes)],
        rows,
        'Medians, for the whole kernel; "-" where the design has no individual free.',
    )


def _verification(records: Sequence[Record]) -> Grid:
    def cell(record: Record) -> Cell:
        if record["status"] != "ok":
            return Cell(record["status"], record["status"], record["reason"])
        return Cell("verified", "ok", f"{show_count(record.get('requests', 0))} requests, no failures")

    columns = sorted({(record["threads"], record["size"]) for record in records})
    rows = []
    for name in allocators_of(records):
        for mode in modes_of(records):
            own = {
                (each["threads"], each["size"]): each
                for each in records
                if each["allocator"] == name and each["mode"] == mode
            }
            if own:
                cells = (cell(own[column]) if column in own else Cell("") for column in columns)
                rows.append([Cell(f"{name}, {mode}"), *cells])
    return Grid(
        "Verification",
        ["allocator, mode", *(f"{show_count(threads)} x {show_bytes(size)}" for threads, size in columns)],
        rows,
        "Threads x bytes. Times of the host backend are not comparable and are not shown.",
    )


def failures_grid(records: Sequence[Record]) -> Grid | None:
    """All cases that are not ok, with their reasons."""
    failed = [record for record in records if record["status"] != "ok"]
    if not failed:
        return None
    rows = [
        [
            Cell(record["allocator"]),
            Cell(record["mode"]),
            Cell(show_count(record["threads"])),
            Cell(show_bytes(record["size"])),
            Cell(record["status"], record["status"]),
            Cell(record["reason"]),
        ]
        for record in failed
    ]
    return Grid("Cases without a result", ["allocator", "mode", "threads", "size", "status", "reason"], rows)


def memory_grid(records: Sequence[Record]) -> Grid | None:
    """What each allocator took, over all its cases."""
    rows = []
    for name in allocators_of(records):
        known = [each["memory"] for each in records if each["allocator"] == name and each["memory"] is not None]
        if not known:
            continue
        ratios = [each["span_bytes"] / each["requested_bytes"] for each in known if each.get("requested_bytes")]
        live = [each["live_bytes"] / each["requested_bytes"] for each in known if each.get("live_bytes")]
        rows.append(
            [
                Cell(name),
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
