# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Two forms of the same thing at the same point, and what the project asks of their ratio."""

from collections.abc import Sequence
from dataclasses import dataclass

from warpheap.experiments.limits import Limit
from warpheap.experiments.records import Record

# From here on Figure 5 has a limit.
_MANY_THREADS = 1 << 17


@dataclass(frozen=True)
class Kind:
    """A case: the form that is to be better, the one that it is compared with, and what its curves differ in."""

    case: str
    better: str
    base: str
    parameter: str
    made: str  # what both must have made alike


SEMAPHORES = Kind("semaphores", "bulk", "counting", "batch", "batches")
DELEGATION = Kind("delegation", "delegating", "classical", "readers_per_writer", "removals")


@dataclass(frozen=True)
class Pair:
    """The ratio of two rates, with what the noise of both leaves open, and the records."""

    parameter: int
    threads: int
    ratio: float
    low: float
    high: float
    better: Record
    base: Record


def spread(record: Record) -> tuple[float, float]:
    """Between which rates the median lies: its interval, or the range of samples that are too few for one."""
    times = record["time_us"]
    least = times.get("median_low") or times.get("min") or times["median"]
    most = times.get("median_high") or times.get("max") or times["median"]
    return record["operations"] / most * 1e6, record["operations"] / least * 1e6


def pairs_of(records: Sequence[Record], kind: Kind) -> list[Pair]:
    """The points at which both forms were measured, by parameter and number of threads."""
    found: dict[tuple[int, int], dict[str, Record]] = {}
    for record in records:
        if record["case"] == kind.case and record["status"] == "ok":
            found.setdefault((record[kind.parameter], record["threads"]), {})[record["subject"]] = record
    pairs = []
    for (parameter, threads), both in sorted(found.items()):
        if kind.better in both and kind.base in both:
            better, base = both[kind.better], both[kind.base]
            (low, high), (base_low, base_high) = spread(better), spread(base)
            ratio = better["rate"] / base["rate"]
            pairs.append(Pair(parameter, threads, ratio, low / base_high, high / base_low, better, base))
    return pairs


def comparable(records: Sequence[Record]) -> bool:
    """False where times are those of the host backend, which mean nothing."""
    return all(record.get("timing_comparable", True) for record in records)


def limits_of(records: Sequence[Record]) -> list[Limit]:
    """The bars; those of times only where times mean something."""
    bulk, delegation = pairs_of(records, SEMAPHORES), pairs_of(records, DELEGATION)
    judged = comparable(records)

    def limit(title: str, at_least: bool, bar: float | None, unit: str, value: float | None) -> Limit:
        return Limit(title, at_least, bar if judged else None, unit, value)

    def least(pairs: Sequence[Pair]) -> float | None:
        return min((pair.ratio for pair in pairs), default=None)

    def beyond_noise(pairs: Sequence[Pair], below: float) -> float | None:
        return float(sum(pair.high < below for pair in pairs)) if pairs else None

    many = [pair for pair in bulk if pair.threads >= _MANY_THREADS]
    best = max((pair.ratio for pair in delegation), default=None)
    return [
        limit("bulk over counting from 2^17 threads on, least", True, 2, "x", least(many)),
        limit("bulk over counting at any point, least", True, None, "x", least(bulk)),
        limit("points where bulk is slower beyond noise", False, 0, "", beyond_noise(bulk, 1)),
        limit("delegation over the classical barrier, best", True, 14, "x", best),
        limit("delegation over the classical barrier, least", True, 0.98, "x", least(delegation)),
        limit("points where delegation is more than 2 % slower beyond noise", False, None, "",
              beyond_noise(delegation, 0.98)),
    ]  # fmt: skip
