# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Initialisation: how long it takes to make a heap and to reset it.

It runs over sizes of heaps.
"""

from warpheap.cases.base import GIB, MIB, Axes, Case, Preset

MODES = {"heap": "make a heap, use it, reset it, and use it again"}

_ALL = tuple(MODES)
_HOST = (Axes(_ALL, heaps=(16 * MIB, 64 * MIB), iterations=2, warmup=1, time_limit=20),)

PRESETS: dict[str, Preset] = {
    "quick": {"cuda": (Axes(_ALL, heaps=(8 * GIB,), most_iterations=10, warmup=1, time_limit=15),)},
    "default": {"cuda": (Axes(_ALL, heaps=(GIB, 8 * GIB), most_iterations=50),), "host": _HOST},
    "paper": {"cuda": (Axes(_ALL, heaps=(8 * GIB,)),)},
    "full": {"cuda": (Axes(_ALL, heaps=(256 * MIB, GIB, 8 * GIB, 32 * GIB)),), "host": _HOST},
}

CASE = Case(
    name="initialisation",
    order=10,
    modes=MODES,
    presets=PRESETS,
    axes=("heap",),
    blocks_per_thread=0,
)
