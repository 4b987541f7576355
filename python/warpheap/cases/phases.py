# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Phases: ten phases of other sizes in half of a heap, with a few blocks that outlive their phase."""

from dataclasses import replace

from warpheap.cases.base import GIB, MIB, Axes, Case, Preset

MODES = {
    "thread": "the blocks of a phase have the same size, from a 512th of S up to S",
    "mixed": "the blocks of a phase have random sizes up to that",
}

_ALL = list(MODES)
_THREADS = [100_000]
_SMALL = Axes(heaps=(256 * MIB,), iterations=1, most_iterations=1, warmup=1, time_limit=40)
_MIDDLE = replace(_SMALL, heaps=(GIB,), iterations=3, most_iterations=3, time_limit=240)
_LARGE = replace(_MIDDLE, heaps=(2 * GIB,), iterations=6, most_iterations=6, time_limit=1200)
_HOST = replace(_SMALL, heaps=(MIB,), time_limit=20)

# In the preset `paper`, too: the paper has no case of a program that changes.
_FEW = (_SMALL.over(["thread"], _THREADS, [8192]),)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": _FEW,
        "host": (_HOST.over(["thread"], [1024], [8192]),),
    },
    "default": {"cuda": (_MIDDLE.over(_ALL, _THREADS, [8192]),), "host": (_HOST.over(_ALL, [1024], [8192]),)},
    "paper": {"cuda": _FEW},
    "full": {
        "cuda": (_LARGE.over(_ALL, [10_000, 100_000], [512, 8192]),),
        "host": (_HOST.over(_ALL, [1024], [512, 8192]),),
    },
}

CASE = Case(
    name="phases",
    order=8,
    modes=MODES,
    presets=PRESETS,
    blocks_per_thread=0,
)
