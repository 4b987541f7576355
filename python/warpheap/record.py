# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The record: JSON lines, one object a case. docs/survey.md describes each field.

The schema has a version. A field that is added leaves it as it is; one that goes or changes its meaning raises it.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError

SCHEMA = 1
STATUSES = ("ok", "failed", "timeout", "crashed")
BACKENDS = ("cuda", "host")

Record = dict[str, Any]
Key = tuple[Any, ...]

# What tells one case from another. A record with the same key and sources is a measurement of the same thing.
KEY_FIELDS = (
    "case",
    "allocator",
    "backend",
    "device",
    "mode",
    "threads",
    "size",
    "heap_bytes",
    "iterations",
    "warmup",
    "seed",
)


class RecordError(ValueError):
    """An object that is no valid record."""


def key(record: Record) -> Key:
    """What tells the case from others."""
    return tuple(record[field] for field in KEY_FIELDS)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _is_times(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, dict) or not all(_is_number(value.get(name)) for name in ("median", "min", "max")):
        return False
    return bool(value["min"] <= value["median"] <= value["max"])


def _is_memory(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(_is_count(value.get(name)) for name in ("committed_bytes", "metadata_bytes"))
        and (value.get("live_bytes") is None or _is_count(value["live_bytes"]))
    )


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (lambda value: value == SCHEMA, f"the number {SCHEMA}"),
    "case": (_is_name, "a name"),
    "allocator": (_is_name, "a name"),
    "backend": (lambda value: value in BACKENDS, " or ".join(BACKENDS)),
    "device": (_is_name, "a name"),
    "mode": (_is_name, "a name"),
    "threads": (_is_count, "a count"),
    "size": (_is_count, "bytes"),
    "heap_bytes": (_is_count, "bytes"),
    "iterations": (_is_count, "a count"),
    "warmup": (_is_count, "a count"),
    "seed": (_is_count, "a whole number"),
    "status": (lambda value: value in STATUSES, ", ".join(STATUSES)),
    "reason": (_is_text, "text"),
    "verified": (_is_flag, "true or false"),
    "failures": (_is_count, "a count"),
    "malloc_us": (_is_times, "{median, min, max} or null"),
    "free_us": (_is_times, "{median, min, max} or null"),
    "timing_comparable": (_is_flag, "true or false"),
    "memory": (_is_memory, "{committed_bytes, metadata_bytes, live_bytes} or null"),
    "sources": (_is_name, "a fingerprint"),
    "version": (_is_name, "a version"),
    "time": (_is_name, "a date and time"),
}


def validate(record: Any) -> Record:
    """Returns `record` if it is valid. Raises `RecordError` that names the field and what it should be."""
    if not isinstance(record, dict):
        raise RecordError("a record is a JSON object")
    if _is_count(record.get("schema")) and record["schema"] > SCHEMA:
        raise RecordError(f"schema {record['schema']} is newer than {SCHEMA}, which this warpheap knows; update it")
    for field, (check, right) in _FIELDS.items():
        if field not in record:
            raise RecordError(f"field '{field}' is missing; it should be {right}")
        if not check(record[field]):
            raise RecordError(f"field '{field}' is {json.dumps(record[field])}; it should be {right}")
    if record["status"] == "ok":
        if not record["verified"] or record["failures"] != 0 or record["malloc_us"] is None:
            raise RecordError("a case of status ok is verified, has no failures, and has times")
    elif record["malloc_us"] is not None or record["free_us"] is not None:
        raise RecordError(f"a case of status {record['status']} has no times")
    elif record["reason"] == "":
        raise RecordError(f"a case of status {record['status']} has a reason")
    if record["backend"] == "host" and record["timing_comparable"]:
        raise RecordError("times of the host backend are not comparable")
    return record


class RecordFile:
    """A record on disk. Each line is on disk before the next case starts, so an interruption costs the case in hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records: dict[Key, Record] = {}

    @classmethod
    def open(cls, path: Path) -> "RecordFile":
        """The record at `path`, or an empty one. A last line that was cut short is dropped, any other fault raises."""
        file = cls(path)
        if path.exists():
            for record in read_records(path):
                file._records[key(record)] = record
            file._rewrite()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
        return file

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    def find(self, wanted: Key) -> Record | None:
        """The record of that key."""
        return self._records.get(wanted)

    def append(self, record: Record) -> None:
        """Adds a valid record, in place of one with its key."""
        replaces = key(validate(record)) in self._records
        self._records[key(record)] = record
        if replaces:
            self._rewrite()
            return
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(_line(record))
            stream.flush()
            os.fsync(stream.fileno())

    def set_aside(self, keep: Callable[[Record], bool], name: str) -> int:
        """Moves records that `keep` refuses to the file `name` beside this one; returns how many."""
        others = [record for record in self if not keep(record)]
        if others:
            with (self.path.parent / name).open("a", encoding="utf-8") as stream:
                stream.writelines(_line(record) for record in others)
            self._records = {key(record): record for record in self if keep(record)}
            self._rewrite()
        return len(others)

    def _rewrite(self) -> None:
        # Through a second file, so that an interruption leaves the old record or the new one.
        draft = self.path.with_suffix(".draft")
        write_records(draft, self)
        draft.replace(self.path)


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Writes JSON lines."""
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(_line(record) for record in records)


def read_lines(path: Path) -> list[Any]:
    """The objects of a file of JSON lines. A last line without its end is dropped if it is cut short."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path} is no text file of JSON lines") from problem
    objects = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip() == "":
            continue
        try:
            objects.append(json.loads(line))
        except json.JSONDecodeError as problem:
            if number == len(lines):
                break  # the writer was killed in the middle of its last line
            raise UsageError(f"{path}, line {number}: not JSON: {problem.msg}") from problem
    return objects


def read_records(path: Path) -> list[Record]:
    """The valid records of a file. Raises `UsageError` that names the line of the first that is not."""
    records = []
    for number, each in enumerate(read_lines(path), start=1):
        try:
            records.append(validate(each))
        except RecordError as problem:
            raise UsageError(f"{path}, record {number}: {problem}") from problem
    return records
