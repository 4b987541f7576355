# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What did not finish: a line for each reason, and for the allocators that it stopped at the same places."""

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
