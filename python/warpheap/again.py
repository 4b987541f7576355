# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The commands that measure a record again.

A record does not know its preset. But each preset has points of its own, with a number of rounds, so
the points tell which presets they are of: a record of `quick` to which `paper` was added needs two
commands. What is of no preset as a whole is made by one and by options, which are found by trying
them.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from warpheap import project
from warpheap.cases import CASES
from warpheap.cases.base import PRESETS
from warpheap.errors import UsageError
from warpheap.plan import Catalogue, Wishes, each_point
from warpheap.record import Record
from warpheap.runner import Point
from warpheap.words import quoted

# What a point of a preset and a record of it agree in.
_SHARED = ("case", "mode", "threads", "size", "heap_bytes", "iterations", "warmup")
# The preset that a survey has if none is named.
_DEFAULT = Wishes.preset

# The presets in the order in which a command names one, if it can.
_BY_USE = (_DEFAULT, *(name for name in PRESETS if name != _DEFAULT))
# The options of which a command names as few as it can, and the fields with their values.
_FIELDS = {
    "cases": "case",
    "modes": "mode",
    "threads": "threads",
    "sizes": "size",
    "heap": "heap_bytes",
    "iterations": "iterations",
}
# What these options are called among the axes of a case.
_AXES = {"threads": "threads", "sizes": "size", "heap": "heap"}

_Place = tuple[Any, ...]


@dataclass(frozen=True)
class _Choice:
    """What a command names beside its allocators, and the points that it is there for."""

    preset: str
    options: Mapping[str, str]
    places: Set[_Place]


def commands_for(records: Sequence[Record], facts: Iterable[Mapping[str, Any]] = ()) -> str:
    """The commands that measure these points again, a line each. `facts` describe the machines.

    They name as few options as make these points and no others. Where no options do, as for a survey that was cut
    short, they make more points.
    """
    machines = dict.fromkeys((record["device"], record["backend"]) for record in records)
    memory = {
        each["device"]: each["memory_bytes"]
        for each in facts
        # The file is beside the record for people to read, and perhaps to write.
        if isinstance(each.get("device"), str) and isinstance(each.get("memory_bytes"), int)
    }
    lines: dict[str, None] = {}
    for device, backend in machines:
        own = [record for record in records if (record["device"], record["backend"]) == (device, backend)]
        lines |= dict.fromkeys(_commands(own, _catalogue(own, backend, memory.get(device))))
    return "\n".join(lines)


def _commands(records: Sequence[Record], catalogue: Catalogue) -> list[str]:
    presets = {preset: set(map(_place, each_point(Wishes(preset=preset), catalogue))) for preset in PRESETS}
    known = set(map(_place, records))
    left = list(records)
    commands = []
    while left:
        choice = _next(left, known, presets, catalogue)
        own = [record for record in left if _place(record) in choice.places]
        left = [record for record in left if _place(record) not in choice.places]
        commands.append(_command(own, catalogue.backend, choice))
    return commands


def _catalogue(records: Sequence[Record], backend: str, memory: int | None) -> Catalogue:
    """What a plan can be made of; modes that only a driver knows are those of the records."""
    seen: dict[str, dict[str, None]] = {}
    for record in records:
        seen.setdefault(record["case"], {})[record["mode"]] = None
    modes = {name: list(case.modes) or list(seen.get(name, ())) for name, case in CASES.items()}
    return Catalogue(backend, [], modes, memory)


def _next(
    left: Sequence[Record], known: Set[_Place], presets: Mapping[str, Set[_Place]], catalogue: Catalogue
) -> _Choice:
    """A command for some of the records that are left.

    Options that make all of them; a preset that is known as a whole, the smallest of several; the preset with the most
    of the points; or options for one case.
    """
    if (exact := _exact(left, known, catalogue)) is not None:
        return exact
    places = set(map(_place, left))
    whole = [preset for preset, own in presets.items() if own <= known and own & places]
    if whole:
        preset = min(whole, key=lambda each: len(presets[each]))
        return _Choice(preset, {}, presets[preset])
    present = {place[0] for place in places}

    def rank(preset: str) -> tuple[int, int]:
        return len(places & presets[preset]), -sum(place[0] in present for place in presets[preset])

    preset = max(presets, key=rank)
    own = [record for record in left if _place(record) in presets[preset]]
    # Several cases of which points are missing are those of a survey that was cut short.
    if len({record["case"] for record in own}) > 1:
        return _Choice(preset, {"cases": _values(own, "cases")}, presets[preset])
    alike = ("case", "iterations", "warmup")
    group = [record for record in left if all(record[name] == left[0][name] for name in alike)]
    options = {option: values for option in _FIELDS if (values := _values(group, option))}
    fallback = _Choice(_preset_with(group[0]["case"], catalogue.backend), options, set(map(_place, group)))
    return _exact(group, known, catalogue) or fallback


def _exact(records: Sequence[Record], known: Set[_Place], catalogue: Catalogue) -> _Choice | None:
    """The fewest options that make all of these points and none that is not `known`; None if no options do."""
    wanted = set(map(_place, records))
    values = {option: own for option in _FIELDS if (own := _values(records, option))}
    if "," in values["iterations"]:
        del values["iterations"]
    for number in range(len(values) + 1):
        for names in combinations(values, number):
            options = {name: values[name] for name in names}
            for preset in _BY_USE:
                if _makes(_wishes(preset, options), wanted, known, catalogue):
                    return _Choice(preset, options, wanted)
    return None


def _makes(wishes: Wishes, wanted: Set[_Place], known: Set[_Place], catalogue: Catalogue) -> bool:
    made = set()
    try:
        for place in map(_place, each_point(wishes, catalogue)):
            if place not in known:
                return False
            made.add(place)
    except UsageError:
        return False
    return wanted <= made


def _wishes(preset: str, options: Mapping[str, str]) -> Wishes:
    named = options.get
    iterations = named("iterations")
    return Wishes(
        preset=preset,
        cases=named("cases"),
        modes=named("modes"),
        threads=named("threads"),
        sizes=named("sizes"),
        heap=named("heap"),
        iterations=int(iterations) if iterations else None,
    )


def _place(run: Record | Point) -> _Place:
    return tuple(getattr(run, name) if isinstance(run, Point) else run[name] for name in _SHARED)


def _preset_with(case: str, backend: str) -> str:
    """A preset in which a case has a part: the one that is not named, if it can be."""
    known = CASES[case].presets if case in CASES else {}
    return next((name for name in _BY_USE if known.get(name, {}).get(backend)), _DEFAULT)


def _values(records: Sequence[Record], option: str) -> str:
    """The values that an option names; an axis that means nothing to a case has none of it."""
    axis = _AXES.get(option)
    own = [each for each in records if axis is None or each["case"] not in CASES or axis in CASES[each["case"]].axes]
    return ",".join(str(value) for value in dict.fromkeys(record[_FIELDS[option]] for record in own))


def _command(records: Sequence[Record], backend: str, choice: _Choice) -> str:
    own = "./run" if project.find_installed() is None else "warpheap"
    names = list(dict.fromkeys(record["allocator"] for record in records))
    designs = project.registered_designs(backend)
    chosen = [] if designs is not None and set(names) == set(designs) else [("--allocators", ",".join(names))]
    options = [(f"--{name}", values) for name, values in choice.options.items()]
    shared = ["--share-process"] if any(record.get("shared_process") for record in records) else []
    words = [word for pair in (("--backend", backend), ("--preset", choice.preset), *chosen, *options) for word in pair]
    return quoted([own, "survey", *words, *shared])
