# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""From the command line to the list of cases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warpheap.cases import CASES
from warpheap.cases.base import PRESETS, Axes, Case
from warpheap.driver import Driver
from warpheap.errors import UsageError, unknown_name
from warpheap.runner import CannotRunError, Effort, Point, Runner
from warpheap.units import parse_bytes, parse_count, parse_list, show_bytes, words_of

# A preset leaves out cases that ask for more than this share of the heap; what the user names is run all the same.
_SHARE_OF_HEAP = 0.75

# A plan of more runs than this is a slip: at a second each it takes six days.
MOST_RUNS = 500_000

_SEED = 1
_PRECISION = 0.02
# Bytes of the smallest block in mode mixed.
_LEAST_MIXED = 4


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
    most_iterations: int | None = None
    precision: float | None = None
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A case to run and what it may cost."""

    point: Point
    effort: Effort


@dataclass(frozen=True)
class Plan:
    """What to run, with what, and what is left out."""

    steps: list[Step]
    runners: Mapping[str, Runner]  # by the name of the case
    left_out: Mapping[str, str] = field(default_factory=dict)  # cases that cannot run here, with the reason


@dataclass(frozen=True)
class Catalogue:
    """What a plan can be made of."""

    backend: str
    allocators: Sequence[str]  # in the registry's order
    modes: Mapping[str, Sequence[str]]  # by the name of the case
    memory: int | None = None  # bytes of the device; None: not known yet
    device: str = "the device"


def catalogue_of(driver: Driver) -> Catalogue:
    """What the driver can measure."""
    modes = {name: list(case.modes) or driver.cases.get(name, []) for name, case in CASES.items()}
    return Catalogue(driver.backend, driver.names, modes, int(driver.machine["memory_bytes"]), driver.device)


def make_plan(wishes: Wishes, driver: Driver) -> Plan:
    """The cases to run, in order. Raises `UsageError` for a wish that cannot be met; it names what can.

    Allocators take turns at each point, and another one begins each time, so that a machine that drifts favours nobody.
    """
    catalogue = catalogue_of(driver)
    check_wishes(wishes, catalogue)
    allocators = _chosen(wishes.allocators, catalogue.allocators, "--allocators")
    runners: dict[str, Runner] = {}
    left_out: dict[str, str] = {}
    steps: list[Step] = []
    turn = 0
    for case, grids in _grids(wishes, catalogue):
        if not grids:
            continue
        try:
            runners[case.name] = runner_of(case, driver)
        except CannotRunError as problem:
            if wishes.cases is not None:
                raise UsageError(f"--cases: {case.name} cannot run here: {problem}") from problem
            left_out[case.name] = str(problem)
            continue
        for point, effort in dict(_points(case, grids, wishes)).items():
            first = turn % len(allocators)
            turn += 1
            ordered = allocators[first:] + allocators[:first]
            steps += [Step(replace(point, allocator=name), effort) for name in ordered]
    if not steps:
        raise UsageError("nothing to run: each case asks for more than the heap holds; use a larger --heap")
    return Plan(steps, runners, left_out)


def each_point(wishes: Wishes, catalogue: Catalogue) -> Iterator[Point]:
    """The points of a plan, without an allocator; a point may come twice.

    Raises `UsageError` for a wish that cannot be met.
    """
    return (point for case, grids in _grids(wishes, catalogue) for point, _ in _points(case, grids, wishes))


def check_wishes(wishes: Wishes, catalogue: Catalogue) -> None:
    """Raises `UsageError` for a wish that cannot be met, and for a plan of so many runs that nobody can mean it.

    Counts the runs without making a list of them.
    """
    allocators = _chosen(wishes.allocators, catalogue.allocators, "--allocators")
    points = 0
    for _, grids in _grids(wishes, catalogue):
        for grid in dict.fromkeys(grids):
            if "mixed" in grid.modes and min(grid.sizes) < _LEAST_MIXED:
                raise UsageError(
                    f"--sizes: mode mixed draws sizes from {_LEAST_MIXED} B up; use larger ones, or other --modes"
                )
            points += len(grid.heaps) * len(grid.modes) * len(grid.threads) * len(grid.sizes)
    if points * len(allocators) > MOST_RUNS:
        raise UsageError(
            f"these are {points * len(allocators):,} runs, {points:,} points of {len(allocators)} allocators, and more "
            f"than {MOST_RUNS:,}: use fewer --threads or --sizes, a larger step, or some --cases, --modes, --allocators"
        )


def runner_of(case: Case, driver: Driver) -> Runner:
    """What measures `case`. Raises `CannotRunError` if nothing does here."""
    if case.runner is not None:
        return case.runner(driver)
    if case.name not in driver.cases:
        raise CannotRunError(f"{driver.path.name} does not know it; build it anew")
    return driver


def _grids(wishes: Wishes, catalogue: Catalogue) -> Iterator[tuple[Case, list[Axes]]]:
    if wishes.preset not in PRESETS:
        raise unknown_name("--preset", wishes.preset, PRESETS)
    modes = catalogue.modes
    _refuse_modes_as_cases(wishes, modes)
    cases = [CASES[name] for name in _chosen(wishes.cases, list(CASES), "--cases")]
    every_mode = list(dict.fromkeys(mode for case in cases for mode in modes[case.name]))
    wanted = _chosen(wishes.modes, every_mode, "--modes")
    for case in cases:
        grids = [
            _wished(case, grid, wishes, catalogue) for grid in case.presets[wishes.preset].get(catalogue.backend, ())
        ]
        if not grids and wishes.cases is not None:
            raise UsageError(
                f"--cases: {case.name} has no part in preset {wishes.preset} on the {catalogue.backend} backend; "
                f"use one of: {', '.join(_presets_with(case, catalogue.backend))}"
            )
        chosen = [mode for mode in modes[case.name] if mode in wanted]
        if wishes.modes is not None:
            # A mode that a preset does not use runs where the preset's first mode does.
            used = {mode for grid in grids for mode in grid.modes}
            extra = tuple(mode for mode in chosen if mode not in used)
            grids = [
                replace(grid, modes=tuple(mode for mode in grid.modes if mode in chosen) + (extra if first else ()))
                for first, grid in ((index == 0, grid) for index, grid in enumerate(grids))
            ]
        else:
            grids = [grid if grid.modes else replace(grid, modes=tuple(chosen)) for grid in grids]
        if chosen or wishes.modes is None:
            yield case, grids


def _refuse_modes_as_cases(wishes: Wishes, modes: Mapping[str, Sequence[str]]) -> None:
    """Raises `UsageError` for a mode among the cases; it names the cases that have the mode."""
    for word in words_of(wishes.cases or ""):
        having = [case for case, own in modes.items() if word in own]
        if word not in CASES and having:
            raise UsageError(f"--cases: {word} is a mode of {', '.join(having)}; use --modes {word}")


def _presets_with(case: Case, backend: str) -> list[str]:
    return [name for name in PRESETS if case.presets[name].get(backend)] or ["none"]


def _wished(case: Case, axes: Axes, wishes: Wishes, catalogue: Catalogue) -> Axes:
    memory = catalogue.memory
    if memory is not None:
        axes = replace(axes, heaps=tuple(dict.fromkeys(min(heap, memory // 2) for heap in axes.heaps)))
    if wishes.threads is not None and "threads" in case.axes:
        axes = replace(axes, threads=parse_list(wishes.threads, "--threads", parse_count))
    if wishes.sizes is not None and "size" in case.axes:
        axes = replace(axes, sizes=parse_list(wishes.sizes, "--sizes", parse_bytes))
    if wishes.heap is not None and "heap" in case.axes:
        axes = replace(axes, heaps=parse_list(wishes.heap, "--heap", parse_bytes))
        if memory is not None and max(axes.heaps) > memory:
            raise UsageError(f"--heap: {catalogue.device} has {show_bytes(memory)} of memory; use less than that")
    if wishes.iterations is not None:
        most = max(wishes.iterations, axes.most_iterations)
        axes = replace(axes, iterations=wishes.iterations, most_iterations=most)
    if wishes.most_iterations is not None:
        if wishes.most_iterations < axes.iterations and wishes.iterations is not None:
            raise UsageError(f"--most-iterations: use at least as many as --iterations, {wishes.iterations}")
        axes = replace(axes, most_iterations=wishes.most_iterations)
    if wishes.time_limit is not None:
        axes = replace(axes, time_limit=wishes.time_limit)
    # Times of the host backend mean nothing, so no further round is spent on them.
    most = axes.iterations if catalogue.backend == "host" else max(axes.most_iterations, axes.iterations)
    return replace(axes, most_iterations=most)


def _points(case: Case, grids: Sequence[Axes], wishes: Wishes) -> Iterator[tuple[Point, Effort]]:
    named = wishes.threads is not None or wishes.sizes is not None
    precision = _PRECISION if wishes.precision is None else wishes.precision
    for axes in grids:
        effort = Effort(axes.time_limit, axes.most_iterations, precision)
        for heap in axes.heaps:
            for mode in axes.modes:
                for threads in axes.threads:
                    for size in axes.sizes:
                        asked = case.blocks_per_thread * threads * size
                        if named or asked <= _SHARE_OF_HEAP * heap:
                            yield (
                                Point(
                                    case=case.name,
                                    allocator="",
                                    mode=mode,
                                    threads=threads,
                                    size=size,
                                    heap_bytes=heap,
                                    iterations=axes.iterations,
                                    warmup=axes.warmup,
                                    seed=_SEED,
                                ),
                                effort,
                            )


def _chosen(text: str | None, right: Sequence[str], option: str) -> list[str]:
    if text is None:
        return list(right)
    wanted = words_of(text)
    for word in wanted or [text]:
        if word not in right:
            raise unknown_name(option, word, right)
    return [name for name in right if name in wanted]  # in the registry's order, each once
