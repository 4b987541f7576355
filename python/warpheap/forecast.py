# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How long the rest of a survey will take."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from warpheap.plan import Step
from warpheap.record import Record

_Group = tuple[str, str]  # case, allocator


class Forecast:
    """Guesses from the seconds of earlier records: of the same case and allocator, else of the same case, else of all.

    Where nothing is known yet, a case counts as one second. `side_by_side` is how many cases run at once.
    """

    def __init__(self, steps: Iterable[Step], known: Iterable[Record] = (), side_by_side: int = 1) -> None:
        self._side_by_side = side_by_side
        self._left = Counter((step.point.case, step.point.allocator) for step in steps)
        self._sums: dict[tuple[str, ...], tuple[float, int]] = defaultdict(lambda: (0.0, 0))
        for record in known:
            self.learn(record)

    def learn(self, record: Record) -> None:
        """Takes the seconds of a record into account."""
        seconds = record.get("seconds")
        if seconds is None:
            return
        for group in ((record["case"], record["allocator"]), (record["case"],), ()):
            total, count = self._sums[group]
            self._sums[group] = (total + float(seconds), count + 1)

    def done(self, step: Step) -> None:
        """Takes a step off what is left."""
        self._left[step.point.case, step.point.allocator] -= 1

    def seconds_left(self) -> float:
        """Seconds for all steps that are left."""
        return sum(count * self._mean(group) for group, count in self._left.items() if count > 0) / self._side_by_side

    def _mean(self, group: _Group) -> float:
        for known in (group, group[:1], ()):
            total, count = self._sums.get(known, (0.0, 0))
            if count:
                return total / count
        return 1.0
