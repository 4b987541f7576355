# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Families of allocators: the designs of the survey of Winter et al. (PPoPP 2021), and ours.

A family has one hue, as in that paper; its variants differ in lightness, marker and dash. The hues began with those
of Okabe and Ito; their shades were then moved until all pairs of families differ for people who lack one kind of cone.
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
    "bump": Family("Bump", "#383f4a", "#d3dee9"),
    "atomic": Family("Bump", "#383f4a", "#d3dee9"),
    "cuda": Family("CUDA allocator", "#368e75", "#71c092"),
    "xmalloc": Family("XMalloc", "#a96a01", "#fed093"),
    "scatter": Family("ScatterAlloc", "#d67703", "#d56a03"),
    "flatter": Family("ScatterAlloc", "#d67703", "#d56a03"),
    "fdg": Family("FDGMalloc", "#683501", "#a68873"),
    "regeff": Family("Reg-Eff", "#96387e", "#fd98d3"),
    "halloc": Family("Halloc", "#2a9fd6", "#03cefe"),
    "ouroboros": Family("Ouroboros", "#0351b8", "#4c96ff"),
    "warpslab": Family("Warp slab", "#865be8", "#8277c7"),
    "dynasoar": Family("DynaSOAr", "#4b005a", "#875a69"),
    "bulk": Family("Bulk", "#6b6001", "#b1cd15"),
    "randomwalk": Family("Random walk", "#fe3588", "#f2ff61"),
}


def family_of(allocator: str) -> Family | None:
    """The family that the name tells, if it is one of those above."""
    plain = allocator.lower().replace("_", "").replace("-", "")
    for start, family in _KNOWN.items():
        if plain.startswith(start):
            return family
    return None
