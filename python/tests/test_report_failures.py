# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What did not finish: a line for each reason, and for the allocators that it stopped at the same places."""

import pytest
from records import record

from warpheap.record import LACKS_FREE, Record
from warpheap.report.failures import failures_grid
from warpheap.report.numbers import TIMES
from warpheap.report.record_set import RecordSet


def rows_of(records: list[Record]) -> list[tuple[str, ...]]:
    grid = failures_grid(RecordSet(records))
    assert grid is not None
    assert grid.columns == ["allocators", "where", "status", "runs", "reason"]
    return [(" ".join(row[0].allocators), *(cell.text for cell in row[1:])) for row in grid.rows]


def run(name: str, case: str, mode: str = "thread", status: str = "ok", reason: str = "", **changes: object) -> Record:
    position = ("one", "two", "three").index(name)
    return record(allocator=name, position=position, case=case, mode=mode, status=status, reason=reason, **changes)


def test_a_reason_is_one_line_for_all_allocators_that_it_stopped_everywhere() -> None:
    records = [
        run(name, case, mode, "failed", LACKS_FREE)
        for case, mode in (("orders", "shuffled"), ("orders", "reversed"), ("growth", "thread"))
        for name in ("one", "two")
    ]
    records += [run("three", "orders", "shuffled"), run("three", "growth", status="failed", reason=LACKS_FREE)]
    assert rows_of(records) == [
        ("one two", "orders; growth", "cannot", "6 of 6", LACKS_FREE),
        ("three", "growth", "cannot", "1 of 1", LACKS_FREE),
    ]


def test_places_are_told_as_far_as_others_ended_well() -> None:
    large = "the design serves requests of up to 1024 bytes"
    records = [run("one", "throughput", "thread", size=16), run("one", "throughput", "mixed", size=16)]
    records += [run("one", "throughput", "thread", "failed", large, size=size) for size in (8192, 2048)]
    records += [run("one", "throughput", "warp", "failed", large, size=2048)]
    where = f"throughput thread (10,000 {TIMES} 2 KiB, 10,000 {TIMES} 8 KiB); throughput warp"
    assert rows_of(records) == [("one", where, "cannot", "3 of 5", large)]


def test_reasons_that_differ_in_numbers_are_one_with_ranges() -> None:
    records = [
        run(name, "growth", status="failed", reason=f"not full: {rounds} rounds had got {got} of 400 bytes")
        for name, rounds, got in (("one", 27, 100), ("two", 9, 200), ("three", 27, 150))
    ]
    told = "not full: 9\N{EN DASH}27 rounds had got 100\N{EN DASH}200 of 400 bytes"
    assert rows_of(records) == [("one two three", "growth", "failed", "3 of 3", told)]


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        (("took 12.25 s", "took 2.5 s"), ["took 2.5\N{EN DASH}12.25 s"]),
        (("at 10.0.0.1", "at 10.2.3.0"), ["at 10.0.0.1", "at 10.2.3.0"]),
        (("at 0x70a1", "at 0x71a2"), ["at 0x70a1", "at 0x71a2"]),
        (("1,296 lost", "12,960 lost"), ["1,296 lost", "12,960 lost"]),
        (("ended with exit code 3", "ended with exit code 1"), ["ended with exit code 3", "ended with exit code 1"]),
        (("block #", "block 3"), ["block #", "block 3"]),
        (("9" * 5000 + " lost", "1 lost"), [f"1\N{EN DASH}{'9' * 5000} lost"]),
    ],
)
def test_only_amounts_are_ranges(reasons: tuple[str, str], told: list[str]) -> None:
    records = [
        run(name, "growth", status="crashed", reason=reason)
        for name, reason in zip(("one", "two"), reasons, strict=True)
    ]
    assert [row[-1] for row in rows_of(records)] == told


def test_places_that_are_told_alike_but_differ_stay_apart() -> None:
    sizes = {"one": (16, 32, 64, 128, 256), "two": (16, 32, 64, 128, 512)}
    records = [
        run(name, "growth", status="crashed" if size in own else "ok", reason="r" if size in own else "", size=size)
        for name, own in sizes.items()
        for size in (16, 32, 64, 128, 256, 512)
    ]
    assert [(row[0], row[1][-11:]) for row in rows_of(records)] == [("one", "and 1 more)"), ("two", "and 1 more)")]


def test_a_place_has_its_heap_where_nothing_else_tells_it() -> None:
    records = [
        run("one", "growth", status=status, reason=reason, heap_bytes=heap << 30)
        for heap, status, reason in ((1, "crashed", "r"), (2, "ok", ""))
    ]
    assert rows_of(records)[0][1] == f"growth thread (10,000 {TIMES} 16 B in 1 GiB)"


def test_statuses_and_machines_stay_apart() -> None:
    records = [
        run("one", "growth", status="timeout", reason="slow"),
        run("two", "growth", status="crashed", reason="slow"),
    ]
    assert [row[2] for row in rows_of(records)] == ["timeout", "crashed"]
    grid = failures_grid(RecordSet([*records, record(device="Other GPU", status="timeout", reason="slow")]))
    assert grid is not None
    assert [row[2].text for row in grid.rows] == ["Fake GPU", "Fake GPU", "Other GPU"]


def test_without_a_failure_there_is_no_table() -> None:
    assert failures_grid(RecordSet([record()])) is None
