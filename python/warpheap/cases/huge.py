# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Huge: one block that is a good part of the heap, and the largest that a heap serves.

Among the sizes are those that are no power of two of anything: 1 MiB and a page, three quarters of a power, and a
number of bytes that is odd in pages of any size.
"""

from collections.abc import Sequence
from dataclasses import replace

from warpheap.cases.base import FIXED_THREADS, GIB, MIB, Axes, Case, Preset

MODES = {
    "single": "one thread takes one block out of an empty heap",
    "largest": "the largest block that an empty heap serves, found by halving",
}

_PAGE = 4096
_ODD = 1000 * MIB + 12_340
_EFFORT = Axes(warmup=1, most_iterations=40, time_limit=60)
_QUICK = replace(_EFFORT, iterations=6, most_iterations=6, time_limit=20)
_HOST = Axes(heaps=(16 * MIB,), iterations=1, most_iterations=1, warmup=1, time_limit=30)


def _sizes(effort: Axes, sizes: Sequence[int]) -> tuple[Axes, ...]:
    single = effort.over(["single"], [FIXED_THREADS], sizes)
    return (single, effort.over(["largest"], [FIXED_THREADS], [MIB]))


# In the preset `paper`, too: the paper has no case of a program that changes.
_FEW = (_QUICK.over(["largest"], [FIXED_THREADS], [MIB]),)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": _FEW,
        "host": (_HOST.over(["largest"], [FIXED_THREADS], [MIB]),),
    },
    "default": {
        "cuda": _sizes(_EFFORT, [MIB, MIB + _PAGE, 3 * MIB, 16 * MIB, 96 * MIB, 256 * MIB, _ODD, 4 * GIB]),
        "host": _sizes(_HOST, [MIB, MIB + _PAGE, 3 * MIB]),
    },
    "paper": {"cuda": _FEW},
    "full": {
        "cuda": (
            *_sizes(
                replace(_EFFORT, heaps=(8 * GIB, 32 * GIB), time_limit=120),
                [MIB, MIB + _PAGE, 3 * MIB, 5 * MIB, 16 * MIB, 48 * MIB, 96 * MIB, 256 * MIB, 768 * MIB, _ODD,
                 2 * GIB, 3 * GIB, 4 * GIB, 5 * GIB, 6 * GIB],
            ),
        ),
        "host": _sizes(_HOST, [MIB, MIB + _PAGE, 3 * MIB, 8 * MIB]),
    },
}  # fmt: skip

CASE = Case(
    name="huge",
    order=8,
    modes=MODES,
    presets=PRESETS,
    axes=("size", "heap"),
    blocks_per_thread=0,
)
