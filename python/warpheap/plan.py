# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""From the command line to the list of cases."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warpheap.cases import CASES
from warpheap.cases.base import Axes, Case
from warpheap.driver import Driver, Point
from warpheap.errors import UsageError, unknown_name
from warpheap.units import parse_bytes, parse_count, show_bytes

# A preset leaves out cases that ask for more than this share of the heap; what the user names is run all the same.
_SHARE_OF_HEAP = 0.75

_SEED = 1


@dataclass(frozen=True)
class Wishes:
    """The command line's options, as typed; None: what the preset says."""

    preset: str = "default"
    cases: str | None = None
    allocators: str | None = None
    modes: str | None = None
    threads: str | None = None
    sizes: str | None = None
    heap: str | None = None
    iterations: int | None = None
    time_limit: float | None = None


@dataclass(frozen=True)
class Step:
    """A case to run and the seconds that it may take."""

    point: Point
    time_limit: float


def make_plan(wishes: Wishes, driver: Driver) -> list[Step]:
    """The cases to run, in order. Raises `UsageError` for a wish that cannot be met; it names what can.

    Allocators take turns at each point, and another one begins each time, so that a machine that drifts favours nobody.
    """
    allocators = _chosen(wishes.allocators, driver.names, "--allocators")
    steps: list[Step] = []
    for name in _chosen(wishes.cases, list(CASES), "--cases"):
        case = CASES[name]
        axes = _axes(case, wishes, driver)
        for turn, (mode, threads, size) in enumerate(_points(axes, wishes)):
            first = turn % len(allocators)
            for allocator in allocators[first:] + allocators[:first]:
                point = Point(
                    case=name,
                    allocator=allocator,
                    mode=mode,
                    threads=threads,
                    size=size,
                    heap_bytes=axes.heap_bytes,
                    iterations=axes.iterations,
                    warmup=axes.warmup,
                    seed=_SEED,
                )
                steps.append(Step(point, axes.time_limit))
    if not steps:
        raise UsageError("nothing to run: each case asks for more than the heap holds; use a larger --heap")
    return steps


def _axes(case: Case, wishes: Wishes, driver: Driver) -> Axes:
    if wishes.preset not in case.presets:
        raise unknown_name("--preset", wishes.preset, case.presets)
    axes = case.presets[wishes.preset][driver.backend]
    memory = driver.machine["memory_bytes"]
    if wishes.heap is None and axes.heap_bytes > memory // 2:
        axes = replace(axes, heap_bytes=memory // 2)
    if wishes.modes is not None:
        axes = replace(axes, modes=tuple(_chosen(wishes.modes, case.modes, "--modes")))
    if wishes.threads is not None:
        axes = replace(axes, threads=tuple(parse_count(word, "--threads") for word in _words(wishes.threads)))
    if wishes.sizes is not None:
        axes = replace(axes, sizes=tuple(parse_bytes(word, "--sizes") for word in _words(wishes.sizes)))
    if wishes.heap is not None:
        axes = replace(axes, heap_bytes=parse_bytes(wishes.heap, "--heap"))
        if axes.heap_bytes > memory:
            raise UsageError(f"--heap: {driver.device} has {show_bytes(memory)} of memory; use less than that")
    if wishes.iterations is not None:
        axes = replace(axes, iterations=wishes.iterations)
    if wishes.time_limit is not None:
        axes = replace(axes, time_limit=wishes.time_limit)
    return axes


def _points(axes: Axes, wishes: Wishes) -> list[tuple[str, int, int]]:
    named = wishes.threads is not None or wishes.sizes is not None
    return [
        (mode, threads, size)
        for mode in axes.modes
        for threads in axes.threads
        for size in axes.sizes
        if named or threads * size <= _SHARE_OF_HEAP * axes.heap_bytes
    ]


def _words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.split(",")) if word]


def _chosen(text: str | None, right: Sequence[str], option: str) -> list[str]:
    if text is None:
        return list(right)
    wanted = _words(text)
    for word in wanted or [text]:
        if word not in right:
            raise unknown_name(option, word, right)
    return [name for name in right if name in wanted]  # in the registry's order, each once
