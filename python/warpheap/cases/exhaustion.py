# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Exhaustion: as many requests at once as the heap would hold if nothing of it were lost.

It runs over a heap for each size, as Gelado & Garland (PPoPP 2019, section 5.3) chose them.

A million requests as long as they ask for no more than 512 MiB in all, and as many as that holds above. A round is
eleven kernels, one for each size of thread blocks. The host asks fewer requests of smaller heaps, but of none below
512 KiB: designs keep their own state in the heap, and a smaller one may have no room for blocks.
"""

from collections.abc import Sequence

from warpheap.cases.base import MIB, Axes, Case, Preset, doubling

MODES = {"thread": "each thread asks for the same size: all of the heap at once, in blocks of 1 to 1,024 threads"}


def _grids(sizes: Sequence[int], requests: int, most: int, effort: Axes, least: int = 0) -> tuple[Axes, ...]:
    made = []
    for size in sizes:
        heap = max(min(size * requests, most), least)
        made.append(effort.at("thread", heap // size, size, heap))
    return tuple(made)


_ALL = doubling(8, 512 << 10)
_QUICK = Axes(iterations=3, most_iterations=3, warmup=1, time_limit=60)
_DEFAULT = Axes(iterations=5, most_iterations=20, warmup=1, time_limit=300)
_PAPER = Axes(iterations=10, most_iterations=30, warmup=1, time_limit=3600)
_HOST = Axes(iterations=1, most_iterations=1, warmup=1, time_limit=60)

PRESETS: dict[str, Preset] = {
    "quick": {"cuda": _grids([64], 1 << 18, 128 * MIB, _QUICK)},
    "default": {
        "cuda": _grids(_ALL, 1 << 20, 512 * MIB, _DEFAULT),
        "host": _grids([16, 64, 1024, 4096], 1 << 12, MIB, _HOST, MIB // 2),
    },
    "paper": {
        "cuda": _grids(_ALL, 1 << 20, 512 * MIB, _PAPER),
        "host": _grids(_ALL, 1 << 12, MIB, _HOST, MIB // 2),
    },
    "full": {
        "cuda": _grids(_ALL, 1 << 20, 512 * MIB, _PAPER),
        "host": _grids(_ALL, 1 << 12, MIB, _HOST, MIB // 2),
    },
}

CASE = Case(
    name="exhaustion",
    order=7,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
    axes=("size", "heap"),
    blocks_per_thread=0,
)
