# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a case tells the survey."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpheap.driver import Driver
    from warpheap.runner import Runner

GIB = 1 << 30
MIB = 1 << 20

PRESETS = ("quick", "default", "paper", "full")


def doubling(low: int, high: int) -> tuple[int, ...]:
    """From `low` to `high`, each twice the one before."""
    return tuple(low << power for power in range((high // low).bit_length()))


# What an axis that does not matter for a case is set to: a whole warp, for designs that know nothing smaller.
FIXED_THREADS = 32
FIXED_SIZE = 16


@dataclass(frozen=True)
class Axes:
    """Points that a preset of a case runs over: every combination of these."""

    modes: tuple[str, ...] = ()  # none: all that the driver names
    threads: tuple[int, ...] = (FIXED_THREADS,)
    sizes: tuple[int, ...] = (FIXED_SIZE,)  # bytes
    heaps: tuple[int, ...] = (8 * GIB,)  # bytes
    iterations: int = 10
    most_iterations: int = 100  # while medians are not known well enough
    warmup: int = 2
    time_limit: float = 60  # seconds for one case of one allocator

    def over(self, modes: Sequence[str], threads: Sequence[int], sizes: Sequence[int]) -> "Axes":
        """Other points at the same effort."""
        return replace(self, modes=tuple(modes), threads=tuple(threads), sizes=tuple(sizes))

    def at(self, mode: str, threads: int, size: int, heap: int) -> "Axes":
        """One point at the same effort."""
        return replace(self, modes=(mode,), threads=(threads,), sizes=(size,), heaps=(heap,))


# For each backend the points of a preset; a backend that is not named has none.
Preset = Mapping[str, Sequence[Axes]]


@dataclass(frozen=True)
class Case:
    """One kind of measurement. `name` is what the driver calls it."""

    name: str
    order: int  # place in the survey and in the report
    modes: Mapping[str, str]  # each with a few words on it; none: the driver knows them
    presets: Mapping[str, Preset]
    axes: tuple[str, ...] = ("threads", "size", "heap")  # those that matter; the others keep what the preset says
    blocks_per_thread: int = 1  # that a thread holds at once; 0: the case knows itself what a heap can hold
    baselines: tuple[str, ...] = ()  # measures that no allocator has a part in: they are nobody's merit
    shares_process: bool = False  # no first use is measured: a process may have run other cases before
    runner: "Callable[[Driver], Runner] | None" = field(default=None)  # what measures it, if not the driver itself
