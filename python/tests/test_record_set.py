# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The set of records: its parts, its common points, and what has no result."""

from records import record

from warpheap.record import LACKS_FREE
from warpheap.report.record_set import Machine, RecordSet


def grid(*names: str, sizes: tuple[int, ...] = (16, 64)) -> list[dict[str, object]]:
    return [record(allocator=name, position=place, size=size) for place, name in enumerate(names) for size in sizes]


def test_a_part_has_the_records_of_its_values_in_their_order() -> None:
    records = RecordSet(grid("one", "two"))
    assert [each["size"] for each in records.where(allocator="two")] == [16, 64]
    assert [each["allocator"] for each in records.where(size=64)] == ["one", "two"]
    assert list(records.where(allocator="two", size=16)) == [records[2]]
    assert len(records.where(allocator="three", size=16)) == 0


def test_a_part_that_is_asked_for_twice_is_made_once() -> None:
    records = RecordSet(grid("one", "two"))
    assert records.where(allocator="one", size=16) is records.where(allocator="one", size=16)
    assert records.measures is records.measures
    assert records.contested(["one", "two"]) is records.contested(["two", "one"])
    assert RecordSet.of(records) is records


def test_names_and_values_are_in_order() -> None:
    records = RecordSet([
        record(allocator="late", position=2, size=64), record(allocator="early", position=1, size=16),
        record(allocator="early", position=1, device="Processor", backend="host", timing_comparable=False),
    ])  # fmt: skip
    assert records.allocators == ["early", "late"]
    assert records.values("size") == [16, 64]
    assert RecordSet(reversed(records)).machines == [Machine("Fake GPU", "cuda"), Machine("Processor", "host")]
    assert len(records.of_machine(("Fake GPU", "cuda"))) == 2


def test_common_points_are_those_at_which_most_were_run() -> None:
    records = RecordSet([*grid("one", "two", sizes=(16, 64)), *grid("three", sizes=(16, 256))])
    assert {point.size for point in records.contested(["one", "two", "three"])} == {16, 64}
    assert {point.size for point in records.contested(["two", "three"])} == {16}


def test_what_is_lost_is_apart_from_what_a_design_cannot_do() -> None:
    records = RecordSet([
        record(), record(allocator="bad", status="crashed", reason="illegal access"),
        record(allocator="none", status="failed", reason=LACKS_FREE),
    ])  # fmt: skip
    assert [each["allocator"] for each in records.lost] == ["bad"]
    assert [each["allocator"] for each in records.unable] == ["none"]
    assert records.frees_individually("none") is False
    assert records.frees_individually("bad") is None


def test_of_one_point_the_latest_record_stays() -> None:
    old, new = record(time="2026-01-01T00:00:00Z"), record(time="2026-01-02T00:00:00Z")
    assert list(RecordSet([new, old]).latest()) == [new]


def test_a_run_that_ended_is_not_replaced_by_one_that_ran_out_of_time() -> None:
    ended = record(time="2026-01-01T00:00:00Z")
    late = record(time="2026-01-02T00:00:00Z", status="timeout", reason="still running", measures={})
    assert list(RecordSet([ended, late]).latest()) == [ended]
    assert list(RecordSet([late, ended]).latest()) == [ended]
    hangs = {**late, "sources": "b" * 64}
    assert list(RecordSet([ended, hangs]).latest()) == [hangs], "other sources may hang anew"
