# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Families of allocators: those of the survey of Winter et al. (PPoPP 2021), KMA, and ours.

A family is the designs of one paper. It has one hue on light and on dark pages; its variants differ
in lightness, marker and dash. The hues began with those of Okabe and Ito. Hues and shades were then
moved by simulated annealing until the nearest variants of any two families are far enough apart in
OKLab, also for people who lack one kind of cone: the tests of the looks say how far.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Designs that share a hue: one for a light page, one for a dark page."""

    name: str
    light: str
    dark: str


# By the start of the allocator's name, without underscores.
_KNOWN = {
    "bump": Family("Bump", "#3c3c3c", "#ebe8e0"),
    "atomic": Family("Bump", "#3c3c3c", "#ebe8e0"),
    "cuda": Family("CUDA allocator", "#289989", "#3fc3ae"),
    "xmalloc": Family("XMalloc", "#b28713", "#f2cc7a"),
    "kma": Family("KMA", "#3e5d06", "#5a8600"),
    "scatter": Family("ScatterAlloc", "#c56a5f", "#bd6c62"),
    "flatter": Family("ScatterAlloc", "#c56a5f", "#bd6c62"),
    "fdg": Family("FDGMalloc", "#6a2503", "#d29882"),
    "regeff": Family("Reg-Eff", "#913f80", "#df4ac1"),
    "halloc": Family("Halloc", "#12a1dc", "#99d3f4"),
    "ouroboros": Family("Ouroboros", "#263fb3", "#547bfc"),
    "warpslab": Family("Warp slab", "#8c65ef", "#baacf6"),
    "dynasoar": Family("DynaSOAr", "#4b0357", "#7e5d84"),
    "bulk": Family("Bulk", "#7b6b17", "#af9a2a"),
    "randomwalk": Family("Random walk", "#fa4a9d", "#ff98c2"),
}


KNOWN = tuple(dict.fromkeys(_KNOWN.values()))


def family_of(allocator: str) -> Family | None:
    """The family that the name tells, if it is one of those above."""
    plain = allocator.lower().replace("_", "").replace("-", "")
    for start, family in _KNOWN.items():
        if plain.startswith(start):
            return family
    return None
