# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Out of memory: the share of the heap that can be handed out, and how long its last tenth takes.

Every block that was handed out is checked, so small sizes in a large heap take long: 2 GiB hold 128 million blocks of
16 bytes.
"""

from dataclasses import replace

from warpheap.cases.base import GIB, MIB, Axes, Case, Preset, doubling

MODES = {
    "thread": "each thread asks for the same size, round after round, until the heap is full",
    "mixed": "as thread, for random sizes from 4 B to S",
}

_ALL = list(MODES)
_THREADS = [100_000]
_ONCE = Axes(iterations=1, most_iterations=1, warmup=1)
_SMALL = replace(_ONCE, heaps=(256 * MIB,), time_limit=20)
_MIDDLE = replace(_ONCE, heaps=(GIB,), time_limit=120)
_PAPER = replace(_ONCE, heaps=(2 * GIB,), time_limit=3600)
_HOST = replace(_ONCE, heaps=(8 * MIB,), time_limit=30)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (_SMALL.over(["thread"], _THREADS, [64, 8192]), _SMALL.over(["mixed"], _THREADS, [1024])),
        "host": (_HOST.over(["thread"], [1024], [64, 1024]), _HOST.over(["mixed"], [1024], [1024])),
    },
    "default": {
        "cuda": (
            _MIDDLE.over(["thread"], _THREADS, [64, 256, 1024, 8192]),
            _MIDDLE.over(["mixed"], _THREADS, [256, 8192]),
        ),
        "host": (_HOST.over(_ALL, [256], [64, 256, 1024, 8192]),),
    },
    "paper": {
        "cuda": (_PAPER.over(["thread"], _THREADS, doubling(4, 8192)),),
        "host": (_HOST.over(["thread"], [256], doubling(16, 8192)),),
    },
    "full": {
        "cuda": (_PAPER.over(_ALL, _THREADS, doubling(4, 8192)),),
        "host": (_HOST.over(_ALL, [256], doubling(16, 8192)),),
    },
}

CASE = Case(
    name="out_of_memory",
    order=7,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
    blocks_per_thread=0,
)
