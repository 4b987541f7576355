# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the presets of the throughput case run over.

The paper (Winter et al., PPoPP 2021) steps sizes by 4 bytes; `paper` takes the powers of two among them, which is where
designs change their behaviour. Host presets are small: they verify, and their times mean nothing.
"""

from dataclasses import replace

from warpheap.cases.base import GIB, MIB, Axes

MODES = {
    "thread": "each thread asks for the same size",
    "warp": "one lane of each warp asks",
    "mixed": "each thread asks for a random size from 4 B to S",
}

_GPU = Axes(
    modes=tuple(MODES),
    threads=(10_000, 100_000, 1_000_000),
    sizes=(16, 64, 256, 1024, 4096, 8192),
    heap_bytes=8 * GIB,
    iterations=10,
    warmup=2,
    time_limit=60,
)
_HOST = Axes(
    modes=tuple(MODES),
    threads=(1024, 8192),
    sizes=(16, 64, 256, 1024, 4096),
    heap_bytes=64 * MIB,
    iterations=3,
    warmup=1,
    time_limit=20,
)

PRESETS = {
    "quick": {
        "cuda": replace(_GPU, threads=(10_000, 100_000), sizes=(16, 256, 4096), iterations=6, time_limit=20),
        "host": replace(_HOST, threads=(256, 1024), sizes=(16, 256), iterations=2),
    },
    "default": {"cuda": _GPU, "host": _HOST},
    "paper": {
        "cuda": replace(_GPU, sizes=tuple(2**power for power in range(2, 14)), iterations=100, time_limit=120),
        "host": replace(_HOST, threads=(1024, 10_000), sizes=tuple(2**power for power in range(2, 14))),
    },
}
