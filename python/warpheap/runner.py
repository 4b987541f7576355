# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What can measure a case: the benchmark driver for most, a program of its own for some."""

from dataclasses import asdict, dataclass
from typing import Protocol

from warpheap.record import Record


@dataclass(frozen=True, slots=True)
class Point:
    """One case: what to measure, for whom. With backend and device it is what tells a record from others."""

    case: str
    allocator: str
    mode: str
    threads: int
    size: int
    heap_bytes: int
    iterations: int
    warmup: int
    seed: int

    def arguments(self) -> list[str]:
        """The driver's command line."""
        return [word for name, value in asdict(self).items() for word in (f"--{name.replace('_', '-')}", str(value))]


@dataclass(frozen=True, slots=True)
class Effort:
    """What a case may cost. Rounds go on until each median is known to `precision`, or one of the limits is met."""

    time_limit: float  # seconds until the case is killed
    most_iterations: int  # timed rounds at most; no further ones if that is the point's own number
    precision: float  # how far a median's confidence interval may reach from it, as a share of the median


class Runner(Protocol):
    """Measures cases, one at a time."""

    def measure(self, point: Point, effort: Effort) -> Record:
        """Measures a case and returns a valid record, whatever happens; a hang and a crash are results too."""


class CannotRunError(Exception):
    """A case cannot be measured here; the message says what it lacks."""
