# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the report asks of one record. `record_set` has what it asks of many."""

from typing import NamedTuple

from warpheap.record import Measure, Record, unable

TIMED_UNITS = ("us", "cycles", "ops/s")
# Of more samples than this the shortest and the longest say nothing about the median.
_FEW = 30


class Point(NamedTuple):
    """What two allocators must agree in to be compared."""

    case: str
    device: str
    backend: str
    mode: str
    threads: int
    size: int  # bytes
    heap_bytes: int


def point_of(record: Record) -> Point:
    """Return the point at which the record was measured."""
    return Point(*(record[name] for name in Point._fields))


def measure(record: Record, name: str) -> Measure | None:
    """Return the measure of that name, or None if the case is not ok, lacks it, or may not show it.

    Times are not shown where they mean nothing.
    """
    found: Measure | None = (record.get("measures") or {}).get(name)
    if record["status"] != "ok" or found is None or found.get("median") is None:
        return None
    if name == "metadata" and found["median"] == 0:
        return None  # older records have 0 where nobody can tell: every heap keeps something
    return found if record["timing_comparable"] or not found["timing"] else None


def spread(value: Measure) -> tuple[float, float]:
    """Return the ends of the median's confidence interval; without one, of all samples if they are few."""
    low, high = value.get("median_low"), value.get("median_high")
    if low is not None and high is not None:
        return low, high
    return (value["min"], value["max"]) if (value.get("count") or 1) <= _FEW else (value["median"], value["median"])


def lost(record: Record) -> bool:
    """Return true if the case has no result although the design should have one."""
    return record["status"] != "ok" and not unable(record)
