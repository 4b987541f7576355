# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records of older schemas, brought to the present one."""

from typing import Any

from warpheap.record.check import is_count
from warpheap.record.schema import SCHEMA, Record, RecordError


def upgrade(record: Any) -> Any:
    """The record in the present schema, a new object if it was of an older one.

    Raises `RecordError` for a schema that is newer or unknown. What it returns is still to be validated.
    """
    if not isinstance(record, dict):
        raise RecordError("a record is a JSON object")
    version = record.get("schema")
    if version is None or not is_count(version) or version == 0:
        raise RecordError("it has no 'schema': this is no record of a survey")
    if version > SCHEMA:
        raise RecordError(f"schema {version} is newer than {SCHEMA}, which this warpheap knows; update it")
    return _from_1(record) if version == 1 else record


# Schema 1 knew one case and its two times, `malloc_us` and `free_us`, without intervals.
def _from_1(old: Record) -> Record:
    new = {name: value for name, value in old.items() if name not in ("malloc_us", "free_us")}
    for name in ("malloc_us", "free_us"):
        if name not in old:
            raise RecordError(f"field '{name}' is missing; schema 1 has it")
    times = {name.removesuffix("_us"): old[name] for name in ("malloc_us", "free_us")}
    measured = any(each is not None for each in times.values())
    measures = {name: _measure(each) for name, each in times.items()} if measured else {}
    return new | {"schema": SCHEMA, "measures": measures}


def _measure(times: Any) -> Any:
    if not isinstance(times, dict):
        return times  # null, or a fault that validation names
    missing = {"median_low": None, "median_high": None, "p99": None}
    return {"unit": "us", "better": "lower", "timing": True} | missing | times
