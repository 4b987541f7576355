# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records as the report asks for them."""

from collections.abc import Iterable, Sequence
from typing import Any

from warpheap.record import LACKS_FREE, Record
from warpheap.record import unable as _unable

Measure = dict[str, Any]


def allocators_of(records: Iterable[Record]) -> list[str]:
    """The allocators that occur, in the registry's order."""
    positions: dict[str, tuple[int, str]] = {}
    for record in records:
        place = (record.get("position") or 0, record["allocator"])
        positions[record["allocator"]] = min(place, positions.get(record["allocator"], place))
    return sorted(positions, key=lambda name: positions[name])


def in_order(records: Iterable[Record], field: str) -> list[int]:
    """The values of a field that occur, in rising order."""
    return sorted({record[field] for record in records})


def modes_of(records: Iterable[Record]) -> list[str]:
    """The modes that occur, in the order of the records."""
    return list(dict.fromkeys(record["mode"] for record in records))


def machines_of(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Device and backend of each machine, GPUs first."""
    found = dict.fromkeys((record["device"], record["backend"]) for record in records)
    return sorted(found, key=lambda machine: machine[1] != "cuda")


def of_machine(records: Iterable[Record], machine: tuple[str, str]) -> list[Record]:
    """The records of that device and backend."""
    return [record for record in records if (record["device"], record["backend"]) == machine]


def latest(records: Sequence[Record]) -> list[Record]:
    """The records without those that a later one of the same point replaces."""
    newest: dict[tuple[Any, ...], Record] = {}
    for record in records:
        place = (*point_of(record), record["allocator"])
        if place not in newest or newest[place]["time"] <= record["time"]:
            newest[place] = record
    return list(newest.values())


def point_of(record: Record) -> tuple[Any, ...]:
    """What two allocators must agree in to be compared."""
    return tuple(record[name] for name in ("case", "device", "backend", "mode", "threads", "size", "heap_bytes"))


def measure(record: Record, name: str) -> Measure | None:
    """The measure of that name if the case is ok, has it, and may be shown: no times where they mean nothing."""
    found: Measure | None = (record.get("measures") or {}).get(name)
    if record["status"] != "ok" or found is None or found.get("median") is None:
        return None
    if name == "metadata" and found["median"] == 0:
        return None  # older records have 0 where nobody can tell: every heap keeps something
    return found if record["timing_comparable"] or not found["timing"] else None


def measures_of(records: Iterable[Record]) -> dict[str, Measure]:
    """The measures that may be shown, in the order of the records, each with one example of it."""
    found: dict[str, Measure] = {}
    for record in records:
        for name in record.get("measures") or {}:
            value = measure(record, name)
            if value is not None:
                found.setdefault(name, value)
    return found


def series_of(records: Iterable[Record]) -> dict[str, str]:
    """The series that may be shown and their units. A series of times is one of a machine's speed."""
    found: dict[str, str] = {}
    for record in records:
        for name, series in (record.get("series") or {}).items():
            if record["status"] == "ok" and (record["timing_comparable"] or series["unit"] not in TIMED_UNITS):
                found.setdefault(name, series["unit"])
    return found


# Of more samples than this the shortest and the longest say nothing about the median.
_FEW = 30
TIMED_UNITS = ("us", "cycles", "ops/s")


def spread(value: Measure) -> tuple[float, float]:
    """The ends of the median's confidence interval; where there is none, of all samples if they are few."""
    low, high = value.get("median_low"), value.get("median_high")
    if low is not None and high is not None:
        return low, high
    return (value["min"], value["max"]) if (value.get("count") or 1) <= _FEW else (value["median"], value["median"])


def lost(record: Record) -> bool:
    """True if the case has no result although the design should have one."""
    return record["status"] != "ok" and not _unable(record)


def frees_individually(records: Iterable[Record], allocator: str) -> bool | None:
    """Whether a design has individual free, as far as the records tell: None if they do not."""
    own = [record for record in records if record["allocator"] == allocator]
    # A design can be unable to serve a case for other reasons, too.
    if any(_unable(record) and record["reason"] == LACKS_FREE for record in own):
        return False
    served = [record["measures"] for record in own if record["status"] == "ok" and "free" in record["measures"]]
    if not served:
        return None
    return any(measures["free"] is not None for measures in served)
