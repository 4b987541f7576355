# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How each allocator is drawn: a colour by family, and a pair of marker and dash that no other allocator has."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warpheap.record import Record
from warpheap.report import colour
from warpheap.report.families import Family, family_of
from warpheap.report.record_set import RecordSet

# Markers and dashes have no common divisor, so stepping through both gives each allocator a pair of its own.
MARKERS = ("circle", "square", "up", "diamond", "down", "cross", "pentagon", "left", "right")
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 2.5), (1.5, 2), (7, 2, 1.5, 2))
# Lightness of the variants of a family reaches this far to both sides of its hue.
_REACH = 0.11


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
            for place, name in enumerate(variants):
                found[name] = (family, 0.0 if len(variants) == 1 else 2 * place / (len(variants) - 1) - 1)
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


def _own_family(name: str, others: Iterable[Family]) -> Family:
    """A family for a name that no known one has: its first word, with the next hue of the golden angle."""
    title = name.split("_")[0].capitalize()
    for family in others:
        if family.name == title:
            return family
    unknown = sum(family_of(family.name.replace(" ", "")) is None for family in others)
    hue = (20 + 137.508 * unknown) % 360
    return Family(title, colour.of_oklch(0.52, 0.12, hue), colour.of_oklch(0.78, 0.12, hue))


def _shade(base: str, place: float) -> str:
    lightness, chroma, hue = colour.to_oklch(base)
    # Neither end may vanish in the page: shades stay within what both a white and a dark page show.
    return colour.of_oklch(min(max(lightness + _REACH * place, 0.36), 0.9), chroma, hue) if place else base
