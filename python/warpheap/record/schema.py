# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a valid record is, and what tells one case from another."""

import json
from collections.abc import Callable
from typing import Any

from warpheap.record.check import is_count, is_flag, is_name, is_number, is_number_of, is_text
from warpheap.record.measure import fault_of, fault_of_series
from warpheap.units import show_bytes, show_count

SCHEMA = 2
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


def describe(record: Record) -> str:
    """A case in a few words: `throughput bump thread 10,000 x 16 B`."""
    size = show_bytes(record["size"])
    return f"{record['case']} {record['allocator']} {record['mode']} {show_count(record['threads'])} x {size}"


# What the driver says of a case that came to no end in its time.
_TIME_OVER = "the time was over"

LACKS_FREE = "the design has no individual free"


def unable(record: Record) -> bool:
    """True if the design lacks what the case needs, such as individual free: no failure, and nothing to mend."""
    return bool(record["status"] == "failed" and record["reason"].startswith("the design"))


def out_of_time(record: Record) -> bool:
    """True if the limit ended the case: it was killed, or the driver gave up when half its time was over."""
    return bool(record["status"] == "timeout" or (record["status"] == "failed" and _TIME_OVER in record["reason"]))


# What a record tells of memory: figures that are always there, and figures that may be missing or null.
_MEMORY = ("committed_bytes", "metadata_bytes")
_MEMORY_OR_NULL = ("live_bytes", "requested_bytes", "span_bytes", "reserved_bytes")


def _is_memory(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(is_count(value.get(name)) for name in _MEMORY)
        and all(value.get(name) is None or is_count(value[name]) for name in _MEMORY_OR_NULL)
    )


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (lambda value: value == SCHEMA, f"the number {SCHEMA}"),
    "case": (is_name, "a name"),
    "allocator": (is_name, "a name"),
    "backend": (lambda value: value in BACKENDS, " or ".join(BACKENDS)),
    "device": (is_name, "a name"),
    "mode": (is_name, "a name"),
    "threads": (is_number_of, "a count from 1"),
    "size": (is_number_of, "bytes, from 1"),
    "heap_bytes": (is_number_of, "bytes, from 1"),
    "iterations": (is_number_of, "a count from 1"),
    "warmup": (is_count, "a count"),
    "seed": (is_count, "a whole number"),
    "status": (lambda value: value in STATUSES, ", ".join(STATUSES)),
    "reason": (is_text, "text"),
    "verified": (is_flag, "true or false"),
    "failures": (is_count, "a count"),
    "measures": (lambda value: isinstance(value, dict), "an object: a measure or null for each name"),
    "timing_comparable": (is_flag, "true or false"),
    "memory": (_is_memory, "{committed_bytes, metadata_bytes, live_bytes} or null"),
    "sources": (is_name, "a fingerprint"),
    "version": (is_name, "a version"),
    "time": (is_name, "a date and time"),
}

# Fields that a record may lack, because the process did not live to tell or the case has no such thing.
_OPTIONAL: dict[str, tuple[Callable[[Any], bool], str]] = {
    "position": (is_count, "a place in the registry"),
    "requests": (is_count, "a count"),
    "refused": (is_count, "a count"),
    "rounds": (is_count, "a count"),
    "rounds_judged": (is_count, "a count"),
    "seconds": (is_number, "seconds"),
    "time_limit_s": (is_number, "seconds"),
    "most_iterations": (is_count, "a count"),
    "precision": (is_number, "a share"),
    "series": (lambda value: isinstance(value, dict), "an object: {unit, values} for each name"),
}


def validate(record: Any) -> Record:
    """Returns `record` if it is valid. Raises `RecordError` that names the field and what it should be."""
    if not isinstance(record, dict):
        raise RecordError("a record is a JSON object")
    for field, (check, right) in _FIELDS.items():
        if field not in record:
            raise RecordError(f"field '{field}' is missing; it should be {right}")
        if not check(record[field]):
            raise RecordError(f"field '{field}' is {_shown(record[field])}; it should be {right}")
    for field, (check, right) in _OPTIONAL.items():
        if record.get(field) is not None and not check(record[field]):
            raise RecordError(f"field '{field}' is {_shown(record[field])}; it should be {right}")
    _validate_measures(record)
    if record["backend"] == "host" and record["timing_comparable"]:
        raise RecordError("times of the host backend are not comparable")
    return record


def _validate_measures(record: Record) -> None:
    for name, measure in record["measures"].items():
        if fault := _fault_of_name(name) or fault_of(measure):
            raise RecordError(f"measure '{_plain(name)}': {fault}")
    for name, series in (record.get("series") or {}).items():
        if fault := _fault_of_name(name) or fault_of_series(series):
            raise RecordError(f"series '{_plain(name)}': {fault}")
    measured = any(measure is not None for measure in record["measures"].values())
    if record["status"] == "ok":
        if not record["verified"] or record["failures"] != 0 or not measured:
            raise RecordError("a case of status ok is verified, has no failures, and has measures")
    elif measured:
        raise RecordError(f"a case of status {record['status']} has no measures")
    elif record["reason"] == "":
        raise RecordError(f"a case of status {record['status']} has a reason")


def _fault_of_name(name: Any) -> str:
    return "" if is_name(name) else "its name should be 1 to 300 printable characters"


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return "no value of JSON"
    return text if len(text) <= 60 else text[:57] + "..."


def _plain(name: Any) -> str:
    return _shown(name).strip('"')
