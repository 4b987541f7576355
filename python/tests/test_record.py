# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The record: what is valid, what identifies a case, and what survives an interruption."""

import json
from pathlib import Path

import pytest
from records import record

from warpheap.errors import UsageError
from warpheap.record import KEY_FIELDS, RecordError, RecordFile, key, read_records, validate


def test_a_whole_record_is_valid() -> None:
    assert validate(record()) == record()
    assert validate(record(free_us=None))
    assert validate(record(status="timeout"))


@pytest.mark.parametrize("field", [*KEY_FIELDS, "status", "reason", "verified", "sources", "malloc_us", "memory"])
def test_a_missing_field_is_named(field: str) -> None:
    broken = record()
    del broken[field]
    with pytest.raises(RecordError, match=field):
        validate(broken)


@pytest.mark.parametrize(
    "changes",
    [
        {"threads": "many"},
        {"threads": True},
        {"threads": -1},
        {"backend": "metal"},
        {"status": "fine"},
        {"malloc_us": {"median": 1}},
        {"malloc_us": {"median": 9, "min": 1, "max": 2}},
        {"malloc_us": None},
        {"memory": {"committed_bytes": 1}},
        {"verified": False},
        {"failures": 3},
        {"status": "failed", "malloc_us": {"median": 1, "min": 1, "max": 1}},
        {"status": "crashed", "reason": "", "malloc_us": None, "free_us": None},
        {"backend": "host", "timing_comparable": True},
    ],
    ids=str,
)
def test_what_contradicts_itself_is_refused(changes: dict[str, object]) -> None:
    broken = record(**changes) | changes
    with pytest.raises(RecordError):
        validate(broken)


def test_a_newer_schema_is_refused_with_advice() -> None:
    with pytest.raises(RecordError, match="newer"):
        validate(record(schema=2))


def test_the_key_tells_cases_apart() -> None:
    assert key(record()) == key(record(malloc_us={"median": 1, "min": 1, "max": 1}, time="later"))
    assert key(record()) != key(record(size=32))
    assert key(record()) != key(record(device="another"))


def test_records_come_back_and_replace_their_like(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "survey.jsonl"
    file = RecordFile.open(path)
    file.append(record())
    file.append(record(size=32))
    file.append(record(time="later"))
    again = RecordFile.open(path)
    assert [each["size"] for each in again] == [16, 32]
    found = again.find(key(record()))
    assert found is not None
    assert found["time"] == "later"
    assert len(path.read_text().splitlines()) == 2


def test_a_last_line_that_was_cut_short_costs_that_case_only(tmp_path: Path) -> None:
    path = tmp_path / "survey.jsonl"
    path.write_text(json.dumps(record()) + "\n" + json.dumps(record(size=32))[:100])
    file = RecordFile.open(path)
    assert len(file) == 1
    file.append(record(size=64))
    assert [each["size"] for each in read_records(path)] == [16, 64]


def test_a_foreign_file_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "survey.jsonl"
    path.write_text(json.dumps(record()) + "\nnot json\n" + json.dumps(record()) + "\n")
    with pytest.raises(UsageError, match="line 2"):
        RecordFile.open(path)
    path.write_text('{"schema": 1}\n')
    with pytest.raises(UsageError, match=r"record 1.*case"):
        RecordFile.open(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="no text file"):
        RecordFile.open(path)


def test_records_of_other_sources_are_kept_aside(tmp_path: Path) -> None:
    file = RecordFile.open(tmp_path / "survey.jsonl")
    file.append(record())
    file.append(record(size=32, sources="b" * 64))
    assert file.set_aside(lambda each: each["sources"] == "b" * 64, "other.jsonl") == 1
    assert [each["size"] for each in read_records(tmp_path / "survey.jsonl")] == [32]
    assert [each["size"] for each in read_records(tmp_path / "other.jsonl")] == [16]
