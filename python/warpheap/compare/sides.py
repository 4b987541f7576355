# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What is compared: two sets of records, and which record of the one stands against which of the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpheap.errors import UsageError, unknown_name
from warpheap.record import Record, read_records, record_at

# What makes two records the same point. Rounds may differ: more of them only know the median better.
_FIELDS = ("case", "allocator", "backend", "device", "mode", "threads", "size", "heap_bytes", "seed")


@dataclass(frozen=True)
class Side:
    """One of the two: a record file, or one allocator of it."""

    name: str
    allocator: str | None
    records: list[Record]

    @property
    def devices(self) -> list[str]:
        """The devices that it was measured on."""
        return list(dict.fromkeys(record["device"] for record in self.records))


@dataclass(frozen=True)
class Pairs:
    """Points of both sides, and how many are on one side only."""

    common: list[tuple[Record, Record]]
    only_a: int
    only_b: int


def read_side(text: str) -> Side:
    """`FILE` or `FILE:ALLOCATOR`; a folder stands for the survey.jsonl in it."""
    path, allocator = Path(text), None
    if not path.exists() and ":" in text:
        head, _, allocator = text.rpartition(":")
        path = Path(head)
    path = record_at(path)
    side = Side(text, None, read_records(path))
    if not side.records:
        raise UsageError(f"{path} holds no records")
    return side if allocator is None else of_allocator(side, allocator)


def of_allocator(side: Side, allocator: str) -> Side:
    """The records of one allocator."""
    names = list(dict.fromkeys(record["allocator"] for record in side.records))
    if allocator not in names:
        raise unknown_name(side.name, allocator, names)
    name = side.name if side.name.endswith(f":{allocator}") else f"{side.name}:{allocator}"
    return Side(name, allocator, [record for record in side.records if record["allocator"] == allocator])


def pair(a: Side, b: Side, force: bool) -> Pairs:
    """The points of both sides. Raises `UsageError` if they share no point, or no device and `force` is false."""
    ignored = {"allocator"} if a.allocator is not None and b.allocator is not None else set()
    if not set(a.devices) & set(b.devices):
        if not force:
            raise UsageError(
                f"A was measured on {_named(a)}, B on {_named(b)}; their times do not tell which program is faster. "
                "--force compares them all the same"
            )
        if len(a.devices) > 1 or len(b.devices) > 1:
            raise UsageError(f"A was measured on {_named(a)}, B on {_named(b)}; --force can compare one with one")
        ignored |= {"device", "backend"}
    fields = [field for field in _FIELDS if field not in ignored]
    of_a, of_b = _by_point(a.records, fields), _by_point(b.records, fields)
    common = [(record, of_b[point]) for point, record in of_a.items() if point in of_b]
    if not common:
        raise UsageError(f"A and B have no point in common{_why(a.records, b.records, fields)}")
    return Pairs(common, len(of_a) - len(common), len(of_b) - len(common))


def _named(side: Side) -> str:
    return " and ".join(side.devices)


def _by_point(records: Iterable[Record], fields: Sequence[str]) -> dict[tuple[object, ...], Record]:
    """Of records of one point, that with the most rounds, else the newest."""
    ordered = sorted(records, key=lambda record: (record["iterations"], record["time"]))
    newest = {tuple(record[field] for field in fields): record for record in ordered}
    wanted = dict.fromkeys(tuple(record[field] for field in fields) for record in records)
    return {point: newest[point] for point in wanted}


def _why(a: Sequence[Record], b: Sequence[Record], fields: Sequence[str]) -> str:
    for field in fields:
        of_a, of_b = {record[field] for record in a}, {record[field] for record in b}
        if not of_a & of_b:
            return f": {field} is {_some(of_a)} in A and {_some(of_b)} in B"
    return ""


def _some(values: Iterable[object]) -> str:
    texts = sorted(map(str, values))
    return ", ".join(texts[:3]) + (", ..." if len(texts) > 3 else "")
