# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a record of an experiment holds, so that nothing in one can break tables and figures."""

from collections.abc import Mapping, Sequence
from typing import Any

from warpheap.record import RecordError
from warpheap.record.check import is_count, is_flag, is_name, is_number, is_number_of, is_text

STATUSES = ("ok", "failed", "timeout", "skipped", "absent")

# For each case the fields that a record of status ok needs beside those of every record.
Needs = Mapping[str, Sequence[str]]

_NAMES = ("backend", "device", "version", "sources")
_FLAGS = ("timing_comparable", "warmed_up")
# Places on axes: none of them is 0.
_PLACES = ("size", "live", "threads", "batch", "readers_per_writer", "streams", "peak_live_bytes", "budget_bytes")
_COUNTS = (
    "operations",
    "batches",
    "removals",
    "calls",
    "blocks",
    "host_bytes",
    "budget_failures",
    "peak_reserved_bytes",
)
_TIMES = ("median_low", "median_high", "p95", "p99", "min", "max", "mean")


def validate(record: Any, needs: Needs) -> dict[str, Any]:
    """Returns `record` if it is valid. Raises `RecordError` that names the field and what it should be."""
    if not isinstance(record, dict):
        raise RecordError("a record is a JSON object")
    for name in ("case", "subject"):
        if not is_name(record.get(name)):
            raise RecordError(f"field '{name}' should be a name")
    if record.get("status") not in STATUSES:
        raise RecordError(f"field 'status' should be one of {', '.join(STATUSES)}")
    if not is_text(record.get("reason", "")) or (record["status"] != "ok" and "reason" not in record):
        raise RecordError("field 'reason' should be text")
    for name in record:
        if right := _right_of(name, record[name]):
            raise RecordError(f"field '{name}' should be {right}")
    if "threads" not in record and ("batch" in record or "readers_per_writer" in record):
        raise RecordError("field 'threads' is missing")
    if record["status"] == "ok":
        for name in ("device", *needs.get(record["case"], ())):
            if record.get(name) is None:
                raise RecordError(f"field '{name}' is missing")
    return record


def _right_of(name: str, value: Any) -> str:
    """What a field's value should be; empty if it is that, or if nothing is known of the field."""
    if name in _NAMES:
        return "" if is_name(value) else "a name"
    if name == "log":
        return "" if is_text(value) else "text"
    if name in _FLAGS:
        return "" if is_flag(value) else "true or false"
    if name in _PLACES:
        return "" if is_number_of(value) else "a count from 1"
    if name in _COUNTS:
        return "" if value is None or is_count(value) else "a count or null"
    if name == "rate":
        return "" if is_number(value) and value > 0 else "a number above 0"
    if name.endswith("_ns") or name.startswith("pairs_per_second"):
        return "" if value is None or is_number(value) else "a number or null"
    if name == "time_us":
        return "" if _is_time(value) else "an object whose median is above 0, and whose other fields are numbers"
    return ""


def _is_time(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and is_number(value.get("median"))
        and value["median"] > 0
        and all(value.get(name) is None or is_number(value[name]) for name in _TIMES)
    )
