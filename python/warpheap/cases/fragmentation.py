# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Fragmentation: how far apart the blocks of a round lie, and those of all rounds so far.

The address range depends on the design and not on the machine's speed, so the host backend shows it too.
"""

from warpheap.cases.base import MIB, Axes, Case, Preset, doubling

MODES = {
    "thread": "each thread asks for the same size",
    "mixed": "each thread asks for a random size from 4 B to S",
}

_ALL = list(MODES)
_TWENTY = Axes(iterations=20, most_iterations=20, warmup=1, time_limit=15)
_HUNDRED = Axes(iterations=100, most_iterations=100, warmup=1)
_HOST = Axes(heaps=(64 * MIB,), iterations=10, most_iterations=10, warmup=1, time_limit=20)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (_TWENTY.over(["thread"], [100_000], [16, 1024]), _TWENTY.over(["mixed"], [100_000], [1024])),
        "host": (_HOST.over(["thread"], [1024], [16, 256]), _HOST.over(["mixed"], [1024], [256])),
    },
    "default": {
        "cuda": (
            _HUNDRED.over(["thread"], [100_000], [16, 64, 256, 1024, 4096]),
            _HUNDRED.over(["mixed"], [100_000], [64, 1024, 4096]),
        ),
        "host": (_HOST.over(_ALL, [1024], [16, 256, 4096]),),
    },
    "paper": {
        "cuda": (_HUNDRED.over(["thread"], [100_000], doubling(4, 8192)),),
        "host": (_HOST.over(["thread"], [1024], doubling(4, 8192)),),
    },
    "full": {
        "cuda": (_HUNDRED.over(_ALL, [10_000, 100_000], doubling(4, 8192)),),
        "host": (_HOST.over(_ALL, [1024], doubling(4, 8192)),),
    },
}

CASE = Case(
    name="fragmentation",
    order=6,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
)
