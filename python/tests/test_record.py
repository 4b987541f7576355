# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The record: what is valid, what identifies a case, what is upgraded, and what survives an interruption."""

import json
from pathlib import Path

import pytest
from records import measure, record, single

from warpheap.errors import UsageError
from warpheap.record import KEY_FIELDS, RecordError, RecordFile, key, read_records, spread, validate


def test_a_whole_record_is_valid() -> None:
    assert validate(record()) == record()
    assert validate(record(measures={"malloc": measure(), "free": None}))
    assert validate(record(case="registers", measures={"malloc_registers": single(40, unit="count")}))
    assert validate(record(series={"range": {"unit": "ratio", "values": [1, 1.5]}}, refused=17))
    assert validate(record(status="timeout"))


@pytest.mark.parametrize("field", [*KEY_FIELDS, "status", "reason", "verified", "sources", "measures", "memory"])
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
        {"threads": 0},
        {"size": 0},
        {"heap_bytes": 0},
        {"iterations": 0},
        {"requests": 10**400},
        {"seconds": 1e300},
        {"mode": "\ud800"},
        {"mode": "two\nlines"},
        {"reason": "\udce9"},
        {"most_iterations": "many"},
        {"memory": {"committed_bytes": 1, "metadata_bytes": 1, "span_bytes": "far"}},
        {"measures": {"": measure()}},
        {"measures": {"malloc": measure(median=1e300, min=1e300, max=1e300)}},
        {"measures": {"malloc": measure(count=1.5)}},
        {"backend": "metal"},
        {"status": "fine"},
        {"measures": None},
        {"measures": {}},
        {"measures": {"malloc": None, "free": None}},
        {"measures": {"malloc": 7.5}},
        {"measures": {"malloc": measure(9, min=1, max=2)}},
        {"measures": {"malloc": measure(unit="furlongs")}},
        {"measures": {"malloc": measure(better="smaller")}},
        {"measures": {"malloc": measure(timing=None)}},
        {"measures": {"malloc": measure(median_low=None)}},
        {"measures": {"malloc": measure(median_low=7.6)}},
        {"measures": {"malloc": measure(p99="slow")}},
        {"measures": {"malloc": measure(max=float("inf"))}},
        {"series": {"range": [1, 2]}},
        {"series": {"range": {"unit": "ratio", "values": [None]}}},
        {"refused": -1},
        {"memory": {"committed_bytes": 1}},
        {"verified": False},
        {"failures": 3},
        {"status": "failed", "measures": {"malloc": measure()}},
        {"status": "crashed", "reason": "", "measures": {}},
        {"backend": "host", "timing_comparable": True},
    ],
    ids=str,
)
def test_what_contradicts_itself_is_refused(changes: dict[str, object]) -> None:
    broken = record(**changes) | changes
    with pytest.raises(RecordError):
        validate(broken)


def old_record(**changes: object) -> dict[str, object]:
    """A record of schema 1."""
    times = {"median": 7.5, "p95": 8.0, "min": 7.0, "max": 8.0, "mean": 7.5, "count": 6}
    old = {name: value for name, value in record().items() if name != "measures"}
    return old | {"schema": 1, "malloc_us": times, "free_us": None} | changes


def written(tmp_path: Path, *objects: object) -> Path:
    path = tmp_path / "survey.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in objects))
    return path


def test_records_of_schema_1_are_upgraded_on_reading(tmp_path: Path) -> None:
    lost = old_record(status="timeout", reason="it hung", verified=False, malloc_us=None)
    first, second = read_records(written(tmp_path, old_record(), lost))
    assert first["schema"] == 2
    assert "malloc_us" not in first
    upgraded = first["measures"]["malloc"]
    assert (upgraded["unit"], upgraded["better"], upgraded["timing"]) == ("us", "lower", True)
    assert (upgraded["median"], upgraded["p95"], upgraded["p99"]) == (7.5, 8.0, None)
    assert spread(upgraded) is None
    assert first["measures"]["free"] is None
    assert second["measures"] == {}
    # What is written again is of the present schema.
    RecordFile.open(tmp_path / "survey.jsonl")
    assert all(json.loads(line)["schema"] == 2 for line in (tmp_path / "survey.jsonl").read_text().splitlines())


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"schema": 3}, "line 1: schema 3 is newer than 2"),
        ({"name": "somebody else's"}, "line 1: it has no 'schema'"),
        ([1, 2], "line 1: a record is a JSON object"),
        (old_record(malloc_us={"median": 1}), "measure 'malloc': 'min' should be a number"),
        ({"schema": 1, "case": "throughput"}, "field 'malloc_us' is missing"),
    ],
    ids=str,
)
def test_what_is_foreign_or_newer_is_refused_in_one_line(tmp_path: Path, broken: object, told: str) -> None:
    with pytest.raises(UsageError) as refusal:
        read_records(written(tmp_path, broken))
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_what_was_measured_on_a_gpu_still_loads() -> None:
    kept = list((Path(__file__).parents[2] / "results").glob("*/survey.jsonl"))
    if not kept:
        pytest.skip("the present record has no survey")
    assert all(len(read_records(path)) > 300 for path in kept)


def test_the_spread_is_that_of_the_farther_end() -> None:
    assert spread(measure(10, median_low=9.5, median_high=10.2)) == pytest.approx(0.05)
    assert spread(measure(10, median_low=None, median_high=None)) is None


def test_the_key_tells_cases_apart() -> None:
    assert key(record()) == key(record(measures={"malloc": measure(1)}, time="later"))
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


@pytest.mark.parametrize("length", [1, 5, 12, 100])
def test_a_first_line_that_was_cut_short_is_one_of_ours(tmp_path: Path, length: int) -> None:
    path = tmp_path / "survey.gpu-0.jsonl"
    path.write_text(json.dumps(record())[:length])
    file = RecordFile.open(path)
    assert len(file) == 0
    file.append(record(size=64))
    assert [each["size"] for each in read_records(path)] == [64]


def test_a_last_line_may_be_cut_within_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "survey.jsonl"
    lines = [json.dumps(record(case="file:größe", size=size), ensure_ascii=False).encode() for size in (16, 32)]
    path.write_bytes(b"\n".join(lines)[: -len(lines[1].split("ö".encode())[1]) - 1])
    assert [each["size"] for each in RecordFile.open(path)] == [16]


def test_a_foreign_file_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "survey.jsonl"
    path.write_text(json.dumps(record()) + "\nnot json\n" + json.dumps(record()) + "\n")
    with pytest.raises(UsageError, match="line 2"):
        RecordFile.open(path)
    path.write_text('{"name": "foreign')  # not a record that was cut short
    with pytest.raises(UsageError, match="line 1"):
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
