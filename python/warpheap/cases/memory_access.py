# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Memory access: writing and reading blocks through their pointers, against a packed array.

It runs over 2^17 blocks of 16 to 128 bytes, as in the paper.
"""

from warpheap.cases.base import MIB, Axes, Case, Preset, doubling

MODES = {
    "uniform": "all blocks have the same size",
    "mixed": "blocks have random sizes from 16 B to S",
}

_THREADS = (1 << 17,)
_HOST = (Axes(tuple(MODES), (1024,), (128,), (64 * MIB,), iterations=2, warmup=1, time_limit=20),)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (
            Axes(("uniform",), _THREADS, (32,), most_iterations=60, time_limit=10),
            Axes(("mixed",), _THREADS, (128,), most_iterations=60, time_limit=10),
        ),
    },
    "default": {
        "cuda": (Axes(("uniform",), _THREADS, (16, 64, 128)), Axes(("mixed",), _THREADS, (128,))),
        "host": _HOST,
    },
    "paper": {
        "cuda": (
            Axes(("uniform",), _THREADS, doubling(16, 128), iterations=100, time_limit=120),
            Axes(("mixed",), _THREADS, (128,), iterations=100, time_limit=120),
        ),
    },
    "full": {
        "cuda": (
            Axes(tuple(MODES), _THREADS, doubling(16, 1024), iterations=100, most_iterations=500, time_limit=120),
        ),
        "host": _HOST,
    },
}

CASE = Case(
    name="memory_access",
    order=12,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
    baselines=("packed_write", "packed_read"),
)
