# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Compaction: small blocks are freed, all or 99 in 100; what `trim` and blocks of 8 KiB get back of their memory.

A run fills three heaps, and each block of 16 bytes takes 8 more for its address. So the heaps are smaller than those
of other cases.
"""

from dataclasses import replace

from warpheap.cases.base import GIB, MIB, Axes, Case, Preset

MODES = {
    "all_freed": "all small blocks are freed",
    "few_kept": "one small block in a hundred, at random, stays",
}

NEXT_BYTES = 8192
"""Bytes of the blocks that come after the small ones."""

_ALL = list(MODES)
_THREADS = [100_000]
_MIDDLE = Axes(heaps=(256 * MIB,), iterations=3, most_iterations=3, warmup=1, time_limit=60)
_LARGE = replace(_MIDDLE, heaps=(GIB,), iterations=6, most_iterations=6, time_limit=300)
_HOST = Axes(heaps=(MIB,), iterations=1, most_iterations=1, warmup=1, time_limit=20)

PRESETS: dict[str, Preset] = {
    "quick": {"cuda": (_MIDDLE.over(["few_kept"], _THREADS, [256]),)},
    "default": {
        "cuda": (_MIDDLE.over(_ALL, _THREADS, [16, 256]),),
        "host": (_HOST.over(_ALL, [256], [16, 256]),),
    },
    "paper": {},
    "full": {
        "cuda": (_LARGE.over(_ALL, _THREADS, [16, 64, 256, 1024]),),
        "host": (_HOST.over(_ALL, [256], [16, 64, 256, 1024]),),
    },
}

CASE = Case(
    name="compaction",
    order=8,
    modes=MODES,
    presets=PRESETS,
    blocks_per_thread=0,
)
