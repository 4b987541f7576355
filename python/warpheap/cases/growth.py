# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Growth: half of what each round asks for is freed again, until the heap is full.

Threads and heap are chosen so that some hundred rounds fill it: the slowdown compares the last tenth with the first.
"""

from dataclasses import replace

from warpheap.cases.base import GIB, MIB, Axes, Case, Preset

MODES = {
    "thread": "each thread asks for the same size; half as many blocks are freed, of all ages",
    "mixed": "as thread, for random sizes from 4 B to S",
}

_ALL = list(MODES)
_ONCE = Axes(iterations=1, most_iterations=1, warmup=1)
_SMALL = replace(_ONCE, heaps=(256 * MIB,), time_limit=20)
_MIDDLE = replace(_ONCE, heaps=(GIB,), time_limit=120)
_LARGE = replace(_ONCE, heaps=(2 * GIB,), time_limit=600)
_HOST = replace(_ONCE, heaps=(8 * MIB,), time_limit=30)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (_SMALL.over(["thread"], [100_000], [64]), _SMALL.over(["mixed"], [10_000], [1024])),
        "host": (_HOST.over(["thread"], [2048], [64]), _HOST.over(["mixed"], [1024], [256])),
    },
    "default": {
        "cuda": (_MIDDLE.over(["thread"], [100_000], [64]), _MIDDLE.over(_ALL, [10_000], [1024])),
        "host": (_HOST.over(_ALL, [1024], [64, 1024]),),
    },
    "paper": {},
    "full": {
        "cuda": (_LARGE.over(_ALL, [100_000], [16, 64, 256]), _LARGE.over(_ALL, [10_000], [1024, 4096])),
        "host": (_HOST.over(_ALL, [1024], [64, 256, 1024]),),
    },
}

CASE = Case(
    name="growth",
    order=8,
    modes=MODES,
    presets=PRESETS,
    blocks_per_thread=0,
)
