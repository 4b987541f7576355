# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How long the rest of a survey will take."""

from collections import Counter
from collections.abc import Iterable

from warpheap.plan import Step
from warpheap.record import Record

_Sum = tuple[float, int]  # of values, and how many


class Forecast:
    """Guesses from the seconds of earlier records of the same case and allocator.

    Where no such record is known, an allocator is taken to use the same share of its time limit as in other cases: some
    designs run into each limit, and most of them are done in a moment. An allocator that nothing is known of is taken
    to need as long as others in the same case, or else as in all cases. Where nothing is known yet, a case counts as
    one second. No case is taken to need more than its limit. `side_by_side` is how many cases run at once.
    """

    def __init__(self, steps: Iterable[Step], known: Iterable[Record] = (), side_by_side: int = 1) -> None:
        self._side_by_side = side_by_side
        self._left = Counter((step.point.case, step.point.allocator, step.effort.time_limit) for step in steps)
        self._seconds: dict[tuple[str, ...], _Sum] = {}
        self._shares: dict[str, _Sum] = {}  # of the time limit, by allocator
        for record in known:
            self.learn(record)

    def learn(self, record: Record) -> None:
        """Takes the seconds of a record into account."""
        seconds, limit = record.get("seconds"), record.get("time_limit_s")
        if seconds is None:
            return
        for group in ((record["case"], record["allocator"]), (record["case"],), ()):
            self._seconds[group] = _added(self._seconds.get(group), float(seconds))
        if limit:
            share = min(float(seconds) / float(limit), 1.0)
            self._shares[record["allocator"]] = _added(self._shares.get(record["allocator"]), share)

    def done(self, step: Step) -> None:
        """Takes a step off what is left."""
        self._left[step.point.case, step.point.allocator, step.effort.time_limit] -= 1

    def seconds_left(self) -> float:
        """Seconds for all steps that are left."""
        left = sum(count * self._guess(*group) for group, count in self._left.items() if count > 0)
        return left / self._side_by_side

    def seconds_of(self, step: Step) -> float:
        """Seconds that a step will take."""
        return self._guess(step.point.case, step.point.allocator, step.effort.time_limit)

    def _guess(self, case: str, allocator: str, limit: float) -> float:
        mean = _mean(self._seconds.get((case, allocator)))
        if mean is None and (share := _mean(self._shares.get(allocator))) is not None:
            mean = share * limit
        for group in ((case,), ()):
            if mean is None:
                mean = _mean(self._seconds.get(group))
        return min(1.0 if mean is None else mean, limit)


def _added(known: _Sum | None, value: float) -> _Sum:
    total, count = known or (0.0, 0)
    return total + value, count + 1


def _mean(known: _Sum | None) -> float | None:
    return None if known is None else known[0] / known[1]
