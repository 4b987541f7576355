# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Arena: each thread takes sixteen blocks, and then all are released: at once where the design can, else one by one."""

from dataclasses import replace

from warpheap.cases.base import MIB, Axes, Case, Preset

MODES = {
    "thread": "blocks of the same size",
    "mixed": "blocks of random sizes from 4 B to S",
}

_ALL = tuple(MODES)
_EFFORT = Axes(most_iterations=40)
_HOST = Axes(heaps=(64 * MIB,), iterations=1, most_iterations=1, warmup=1, time_limit=30)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (replace(_EFFORT, most_iterations=20, time_limit=15).over(["thread"], [100_000], [32]),),
    },
    "default": {
        "cuda": (_EFFORT.over(_ALL, [100_000], [32, 128]),),
        "host": (_HOST.over(_ALL, [512], [32]),),
    },
    "paper": {},
    "full": {
        "cuda": (replace(_EFFORT, time_limit=120).over(_ALL, [10_000, 100_000, 1_000_000], [16, 32, 64, 128, 256]),),
        "host": (_HOST.over(_ALL, [512], [32, 256]),),
    },
}

CASE = Case(
    name="arena",
    order=15,
    modes=MODES,
    presets=PRESETS,
    blocks_per_thread=16,
)
