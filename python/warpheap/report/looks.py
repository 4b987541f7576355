# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How each allocator is drawn: a colour by family, and a pair of marker and dash that no other allocator has."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from warpheap.record import Record
from warpheap.report import colour
from warpheap.report.families import KNOWN, Family, family_of
from warpheap.report.record_set import RecordSet

# Markers and dashes have no common divisor, so stepping through both gives each allocator a pair of its own.
MARKERS = ("circle", "square", "up", "diamond", "down", "cross", "pentagon", "left", "right")
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 2.5), (1.5, 2), (7, 2, 1.5, 2))
# Lightness of the variants of a family: the step between two, and how far they reach to both sides of the family's own.
# Further out they would meet the shades of other families.
_STEP, _REACH = 0.04, 0.09
# What a family that no table knows may look like: lightness on a light and on a dark page, chroma, and hues in degrees.
_SHADES = ((0.45, 0.62), (0.55, 0.78), (0.65, 0.88))
_CHROMA, _HUES = 0.13, range(0, 360, 12)


@dataclass(frozen=True)
class Look:
    """How an allocator is drawn."""

    name: str
    index: int  # in the order of the page; elements and colours of the page carry it
    family: str
    light: str
    dark: str
    marker: str
    dash: tuple[float, ...]


class Looks:
    """The looks of all allocators of a page, by name and in the registry's order."""

    def __init__(self, records: Iterable[Record]) -> None:
        names = RecordSet.of(records).allocators
        members: dict[Family, list[str]] = {}
        for name in names:
            members.setdefault(family_of(name) or _own_family(name, members), []).append(name)
        found = {}
        for family, variants in members.items():
            step = min(_STEP, 2 * _REACH / max(len(variants) - 1, 1))
            for place, name in enumerate(variants):
                found[name] = (family, step * (place - (len(variants) - 1) / 2))
        self._looks = {
            name: Look(
                name, index, found[name][0].name, _shade(found[name][0].light, found[name][1]),
                _shade(found[name][0].dark, found[name][1]), MARKERS[index % len(MARKERS)], DASHES[index % len(DASHES)],
            )
            for index, name in enumerate(names)
        }  # fmt: skip

    def __getitem__(self, name: str) -> Look:
        return self._looks[name]

    def __iter__(self) -> Iterator[Look]:
        return iter(self._looks.values())

    def families(self) -> list[tuple[str, list[Look]]]:
        """Families in the order of their first allocator, each with its allocators."""
        grouped: dict[str, list[Look]] = {}
        for look in self:
            grouped.setdefault(look.family, []).append(look)
        return list(grouped.items())


def looks_of_names(names: Iterable[str]) -> Looks:
    """Looks of lines that are no allocators, in that order."""
    return Looks([{"allocator": name, "position": place} for place, name in enumerate(dict.fromkeys(names))])


def _own_family(name: str, others: Collection[Family]) -> Family:
    """A family for a name that no known one has: its first word, in the colours farthest from all families known."""
    title = name.split("_")[0].capitalize()
    for family in others:
        if family.name == title:
            return family
    taken = [*KNOWN, *others]

    def apart(shades: tuple[str, str]) -> float:
        return min(min(colour.distance(shades[0], each.light), colour.distance(shades[1], each.dark)) for each in taken)

    made = [
        (colour.of_oklch(light, _CHROMA, hue), colour.of_oklch(dark, _CHROMA, hue))
        for light, dark in _SHADES
        for hue in _HUES
    ]
    return Family(title, *max(made, key=apart))


def _shade(base: str, lighter: float) -> str:
    lightness, chroma, hue = colour.to_oklch(base)
    # Neither end may vanish in the page: shades stay within what both a white and a dark page show.
    return colour.of_oklch(min(max(lightness + lighter, 0.3), 0.96), chroma, hue) if lighter else base
