# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The commands that measure a record again.

A record does not know its preset. But each preset has points of its own, with a number of rounds, so
the points tell which presets they are of: a record of `quick` to which `paper` was added needs two
commands.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from warpheap import project
from warpheap.cases import CASES
from warpheap.cases.base import PRESETS
from warpheap.plan import Catalogue, Wishes, points_of
from warpheap.record import Record
from warpheap.words import quoted

# What a point of a preset and a record of it agree in.
_SHARED = ("case", "mode", "threads", "size", "heap_bytes", "iterations", "warmup")
# The preset that a survey has if none is named.
_DEFAULT = Wishes.preset

_Place = tuple[Any, ...]


def commands_for(records: Sequence[Record], facts: Iterable[Mapping[str, Any]] = ()) -> str:
    """The commands that measure these points again, a line each. `facts` describe the machines.

    Points of no preset get a command for each case. It names the values of each axis, which can make
    more points.
    """
    machines = dict.fromkeys((record["device"], record["backend"]) for record in records)
    memory = {each.get("device"): each.get("memory_bytes") for each in facts}
    lines: dict[str, None] = {}
    for device, backend in machines:
        own = [record for record in records if (record["device"], record["backend"]) == (device, backend)]
        lines |= dict.fromkeys(_commands(own, backend, memory.get(device)))
    return "\n".join(lines)


def _commands(records: Sequence[Record], backend: str, memory: int | None) -> list[str]:
    presets = _presets(records, backend, memory)
    known = {_place(record) for record in records}
    left = list(records)
    commands = []
    while left and (preset := _most_of(left, known, presets)):
        places = presets[preset]
        own = [record for record in left if _place(record) in places]
        left = [record for record in left if _place(record) not in places]
        cases = [case for case in CASES if any(record["case"] == case for record in own)]
        chosen = [] if places <= known else [("--cases", ",".join(cases))]
        # One case of which points are missing was asked for by its axes; of several the survey was cut short.
        whole = {place for place in places if place[0] in cases} <= known
        commands.append(_command(own, backend, preset, [*chosen, *([] if whole or len(cases) > 1 else _axes(own))]))
    for case in dict.fromkeys(record["case"] for record in left):
        own = [record for record in left if record["case"] == case]
        options = [("--cases", case), *_axes(own), ("--iterations", str(own[0]["iterations"]))]
        commands.append(_command(own, backend, _preset_with(case, backend), options))
    return commands


def _presets(records: Sequence[Record], backend: str, memory: int | None) -> dict[str, set[_Place]]:
    """The points of each preset; modes that only a driver knows are those of the records."""
    seen: dict[str, dict[str, None]] = {}
    for record in records:
        seen.setdefault(record["case"], {})[record["mode"]] = None
    modes = {name: list(case.modes) or list(seen.get(name, ())) for name, case in CASES.items()}
    catalogue = Catalogue(backend, [], modes, memory)
    return {
        preset: {
            tuple(getattr(point, name) for name in _SHARED) for point in points_of(Wishes(preset=preset), catalogue)
        }
        for preset in PRESETS
    }


def _most_of(records: Sequence[Record], known: Set[_Place], presets: Mapping[str, Set[_Place]]) -> str:
    """The preset that these records are of; empty if no preset has any of their points.

    A preset of which all points are `known` comes first, the smallest of several; then the one with
    the most of the points, and of these the one with the fewest others.
    """
    places = {_place(record) for record in records}
    cases = {record["case"] for record in records}

    def rank(preset: str) -> tuple[bool, int, int]:
        own = presets[preset]
        covered = len(places & own)
        if covered and own <= known:
            return True, -len(own), 0
        return False, covered, -sum(place[0] in cases for place in own)

    best = max(presets, key=rank)
    return best if places & presets[best] else ""


def _place(record: Record) -> _Place:
    return tuple(record[name] for name in _SHARED)


def _preset_with(case: str, backend: str) -> str:
    """A preset in which a case has a part: the one that is not named, if it can be."""
    known = CASES[case].presets if case in CASES else {}
    return next((name for name in (_DEFAULT, *PRESETS) if known.get(name, {}).get(backend)), _DEFAULT)


def _axes(records: Sequence[Record]) -> list[tuple[str, str]]:
    fields = {"--modes": "mode", "--threads": "threads", "--sizes": "size", "--heap": "heap_bytes"}
    return [(option, _values(records, field)) for option, field in fields.items()]


def _values(records: Sequence[Record], field: str) -> str:
    return ",".join(str(value) for value in dict.fromkeys(record[field] for record in records))


def _command(records: Sequence[Record], backend: str, preset: str, options: Sequence[tuple[str, str]]) -> str:
    own = "./run" if project.find_installed() is None else "warpheap"
    names = list(dict.fromkeys(record["allocator"] for record in records))
    designs = project.registered_designs(backend)
    chosen = [] if designs is not None and set(names) == set(designs) else [("--allocators", ",".join(names))]
    shared = ["--share-process"] if any(record.get("shared_process") for record in records) else []
    words = [word for pair in (("--backend", backend), ("--preset", preset), *chosen, *options) for word in pair]
    return quoted([own, "survey", *words, *shared])
