# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The records of a report, indexed by their fields. The page builds one set and gives its parts to the chapters."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

from warpheap.record import LACKS_FREE, Measure, Record, out_of_time, unable
from warpheap.report import data
from warpheap.report.data import Point


class Machine(NamedTuple):
    """What a record was measured on."""

    device: str
    backend: str


class RecordSet(Sequence[Record]):
    """Records that do not change, in their order.

    Each index is made when it is first asked for and kept: parts that are asked for twice are the same object.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._records = tuple(records)
        self._groups: dict[str, dict[Any, RecordSet]] = {}
        self._contested: dict[frozenset[str], frozenset[Point]] = {}

    @classmethod
    def of(cls, records: "Iterable[Record]") -> "RecordSet":
        """Return `records` themselves if they are a set, else a set of them."""
        return records if isinstance(records, RecordSet) else cls(records)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> "RecordSet": ...
    def __getitem__(self, index: int | slice) -> "Record | RecordSet":
        return RecordSet(self._records[index]) if isinstance(index, slice) else self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def by(self, field: str) -> Mapping[Any, "RecordSet"]:
        """Return the part of each value of a field, in the order of the records."""
        if field not in self._groups:
            lists: dict[Any, list[Record]] = {}
            for record in self._records:
                lists.setdefault(record[field], []).append(record)
            self._groups[field] = {value: RecordSet(own) for value, own in lists.items()}
        return self._groups[field]

    def where(self, **fields: Any) -> "RecordSet":
        """Return the part whose fields have these values; an empty set if there is no such record."""
        part = self
        for field, value in fields.items():
            part = part.by(field).get(value, _EMPTY)
        return part

    def only(self, wanted: Callable[[Record], bool]) -> "RecordSet":
        """Return the part for which `wanted` is true. It is made anew at each call."""
        return RecordSet(filter(wanted, self._records))

    def values(self, field: str) -> list[int]:
        """Return the values of a numeric field that occur, in rising order."""
        return sorted(self.by(field))

    @cached_property
    def allocators(self) -> list[str]:
        """The allocators that occur, in the registry's order."""
        positions: dict[str, tuple[int, str]] = {}
        for record in self._records:
            place = (record.get("position") or 0, record["allocator"])
            positions[record["allocator"]] = min(place, positions.get(record["allocator"], place))
        return sorted(positions, key=lambda name: positions[name])

    @property
    def cases(self) -> list[str]:
        """The cases that occur, in the order of the records."""
        return list(self.by("case"))

    @property
    def modes(self) -> list[str]:
        """The modes that occur, in the order of the records."""
        return list(self.by("mode"))

    @cached_property
    def machines(self) -> list[Machine]:
        """The machines that occur, GPUs first."""
        found = dict.fromkeys(Machine(record["device"], record["backend"]) for record in self._records)
        return sorted(found, key=lambda machine: machine.backend != "cuda")

    def of_machine(self, machine: tuple[str, str]) -> "RecordSet":
        """Return the part of a device and backend."""
        return self.where(device=machine[0], backend=machine[1])

    def latest(self) -> "RecordSet":
        """Return the set without the records that a later one of the same point and allocator replaces.

        One that ran out of time replaces none of the same sources that ended: presets differ in their effort and limit.
        """
        newest: dict[tuple[Any, ...], Record] = {}
        for record in self._records:
            place = (*data.point_of(record), record["allocator"])
            if place not in newest or _replaces(record, newest[place]):
                newest[place] = record
        return RecordSet(newest.values())

    @cached_property
    def measures(self) -> dict[str, Measure]:
        """The measures that may be shown, in the order of the records, each with one example of it."""
        found: dict[str, Measure] = {}
        for record in self._records:
            for name in record.get("measures") or {}:
                value = data.measure(record, name)
                if value is not None:
                    found.setdefault(name, value)
        return found

    @cached_property
    def series(self) -> dict[str, str]:
        """The series that may be shown and their units. A series of times is one of a machine's speed."""
        found: dict[str, str] = {}
        for record in self._records:
            for name, series in (record.get("series") or {}).items():
                if record["status"] == "ok" and (record["timing_comparable"] or series["unit"] not in data.TIMED_UNITS):
                    found.setdefault(name, series["unit"])
        return found

    @cached_property
    def lost(self) -> "RecordSet":
        """The part without a result that the design should have."""
        return self.only(data.lost)

    @cached_property
    def unable(self) -> "RecordSet":
        """The part in which the design lacks what the case needs."""
        return self.only(unable)

    def contested(self, allowed: Collection[str]) -> frozenset[Point]:
        """Return the common points: those at which more than half of the allowed allocators were run.

        At any other point the few that were run would win by walkover. A run without a result counts: it was tried.
        """
        names = frozenset(allowed)
        if names not in self._contested:
            runs = {name: {data.point_of(record) for record in self.where(allocator=name)} for name in names}
            runs = {name: points for name, points in runs.items() if points}
            numbers = Counter(point for points in runs.values() for point in points)
            self._contested[names] = frozenset(
                point for point, number in numbers.items() if number >= 2 and 2 * number > len(runs)
            )
        return self._contested[names]

    def frees_individually(self, allocator: str) -> bool | None:
        """Return whether a design has individual free, as far as the records tell; None if they do not."""
        own = self.where(allocator=allocator)
        # A design can be unable to serve a case for other reasons, too.
        if any(record["reason"] == LACKS_FREE for record in own.unable):
            return False
        served = [record["measures"] for record in own if record["status"] == "ok" and "free" in record["measures"]]
        if not served:
            return None
        return any(measures["free"] is not None for measures in served)


_EMPTY = RecordSet()


def _replaces(record: Record, other: Record) -> bool:
    if record["sources"] == other["sources"] and out_of_time(record) != out_of_time(other):
        return out_of_time(other)
    return bool(other["time"] <= record["time"])
