# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Traces: a recorded stream of an application's mallocs and frees, played to every allocator.

It runs over all traces that the driver brings along.

Threads say how many copies of the traced program run side by side: as many as have room, one at least.
"""

from warpheap.cases.base import MIB, Axes, Case, Preset

MODES: dict[str, str] = {}  # the driver knows the traces

_HOST = (Axes(heaps=(256 * MIB,), iterations=1, most_iterations=1, warmup=1),)

PRESETS: dict[str, Preset] = {
    "quick": {"cuda": (Axes(threads=(1 << 14,), most_iterations=20, time_limit=15),)},
    "default": {"cuda": (Axes(threads=(1 << 10, 1 << 16)),), "host": _HOST},
    "paper": {},
    "full": {
        "cuda": (Axes(threads=(32, 1 << 10, 1 << 13, 1 << 16), iterations=50, most_iterations=500, time_limit=120),),
        "host": _HOST,
    },
}

CASE = Case(
    name="trace",
    order=16,
    modes=MODES,
    presets=PRESETS,
    axes=("threads", "heap"),
    blocks_per_thread=0,
)
