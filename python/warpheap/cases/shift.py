# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Shift: a heap full of one size is emptied and filled with another; a new heap is the measure.

A run fills three heaps, and each block of 16 bytes takes 32 more for what the driver knows of it. So the heaps are
smaller than those of other cases.
"""

from dataclasses import replace

from warpheap.cases.base import GIB, MIB, Axes, Case, Preset

MODES = {
    "after_16": "the heap was full of blocks of 16 B, which were freed",
    "after_64": "the heap was full of blocks of 64 B, which were freed",
    "after_8192": "the heap was full of blocks of 8 KiB, which were freed",
}

_THREADS = [100_000]
_SMALL = Axes(heaps=(256 * MIB,), iterations=3, most_iterations=3, warmup=1, time_limit=30)
_MIDDLE = replace(_SMALL, heaps=(GIB,), time_limit=180)
_LARGE = replace(_SMALL, heaps=(2 * GIB,), iterations=6, most_iterations=6, time_limit=900)
_HOST = Axes(heaps=(MIB,), iterations=1, most_iterations=1, warmup=1, time_limit=20)

_PAIRS = (("after_16", 8192), ("after_64", 1024), ("after_8192", 16))


def _pairs(effort: Axes, threads: list[int]) -> tuple[Axes, ...]:
    return tuple(effort.over([mode], threads, [size]) for mode, size in _PAIRS)


# In the preset `paper`, too: the paper has no case of a program that changes.
_FEW = (_SMALL.over(["after_64"], _THREADS, [1024]),)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": _FEW,
        "host": (_HOST.over(["after_64"], [1024], [1024]),),
    },
    "default": {"cuda": _pairs(_MIDDLE, _THREADS), "host": _pairs(_HOST, [1024])},
    "paper": {"cuda": _FEW},
    "full": {
        "cuda": (_LARGE.over(list(MODES), _THREADS, [16, 64, 256, 1024, 8192]),),
        "host": (_HOST.over(list(MODES), [1024], [16, 64, 1024, 8192]),),
    },
}

CASE = Case(
    name="shift",
    order=8,
    modes=MODES,
    presets=PRESETS,
    blocks_per_thread=0,
)
