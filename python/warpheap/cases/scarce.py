# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Scarce: churn in a heap that is too small for it.

The threads hold half of eight blocks each, and so many run that these want twice the heap, or 1.1 times. On a GPU the
heap is chosen so that this takes 65,536 threads at most: more would not run at once, and those that wait want nothing.
"""

from collections.abc import Sequence

from warpheap.cases.base import MIB, Axes, Case, Preset

MODES = {
    "twice": "the threads want twice the bytes of the heap",
    "tight": "the threads want 1.1 times the bytes of the heap",
    "twice_mixed": "twice the bytes of the heap, in random sizes from 4 B to S",
    "tight_mixed": "1.1 times the bytes of the heap, in random sizes from 4 B to S",
}

_HELD = 4  # blocks that a thread of a churn holds, in the mean, if nothing is refused


def threads_of(mode: str, size: int, heap: int) -> int:
    """How many threads want as much as the mode says: the number that the driver comes to."""
    mean = size // 2 + 2 if mode.endswith("_mixed") else size
    return max((20 if mode.startswith("twice") else 11) * (heap // 10) // (_HELD * mean), 1)


def _heaps(modes: Sequence[str], sizes: Sequence[int], threads: int, effort: Axes, least: int = 0) -> tuple[Axes, ...]:
    """A heap for each size, in which about `threads` threads want twice of what there is."""
    made = []
    for mode in modes:
        for size in sizes:
            mean = size // 2 if mode.endswith("_mixed") else size
            heap = max(_HELD * mean * threads // 2, least)
            made.append(effort.at(mode, threads_of(mode, size, heap), size, heap))
    return tuple(made)


_SAME = ("twice", "tight")
_MIXED = ("twice_mixed", "tight_mixed")
_QUICK = Axes(iterations=3, most_iterations=6, warmup=1, time_limit=30)
_DEFAULT = Axes(iterations=6, most_iterations=40, warmup=1, time_limit=120)
_FULL = Axes(iterations=10, most_iterations=60, warmup=1, time_limit=600)
_HOST = Axes(iterations=1, most_iterations=1, warmup=1, time_limit=60)
_ON_GPU = 1 << 16

# In the preset `paper`, too: the paper has no case of a program that changes.
_FEW = _heaps(["twice_mixed"], [4096], _ON_GPU, _QUICK)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": _FEW,
        "host": _heaps(["twice"], [1024], 256, _HOST, MIB),
    },
    "default": {
        "cuda": (*_heaps(_SAME, [64, 1024], _ON_GPU, _DEFAULT), *_heaps(_MIXED, [4096], _ON_GPU, _DEFAULT)),
        "host": (*_heaps(_SAME, [1024], 256, _HOST, MIB), *_heaps(_MIXED, [2048], 256, _HOST, MIB)),
    },
    "paper": {"cuda": _FEW},
    "full": {
        "cuda": (
            *_heaps(_SAME, [16, 64, 256, 1024, 4096], _ON_GPU, _FULL),
            *_heaps(_MIXED, [64, 512, 4096], _ON_GPU, _FULL),
        ),
        "host": (*_heaps(_SAME, [256, 1024], 256, _HOST, MIB), *_heaps(_MIXED, [2048], 256, _HOST, MIB)),
    },
}

CASE = Case(
    name="scarce",
    order=15,
    modes=MODES,
    presets=PRESETS,
    axes=("size", "heap"),
    blocks_per_thread=0,
)
