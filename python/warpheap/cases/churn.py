# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Churn: threads hold a few blocks each and malloc and free at random, many times, within one kernel."""

from warpheap.cases.base import MIB, Axes, Case, Preset

MODES = {
    "thread": "blocks of the same size",
    "mixed": "blocks of random sizes from 4 B to S",
}

_ALL = tuple(MODES)
_HOST = (Axes(_ALL, (256,), (256,), (64 * MIB,), iterations=1, warmup=1, time_limit=30),)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (
            Axes(("thread",), (1 << 16,), (64,), most_iterations=20, time_limit=15),
            Axes(("mixed",), (1 << 16,), (1024,), most_iterations=20, time_limit=15),
        ),
    },
    "default": {
        "cuda": (
            Axes(("thread",), (1 << 12, 1 << 16), (16, 64, 1024)),
            Axes(("mixed",), (1 << 16,), (64, 1024, 4096)),
        ),
        "host": _HOST,
    },
    "paper": {},
    "full": {
        "cuda": (Axes(_ALL, (1 << 8, 1 << 12, 1 << 16, 1 << 18), (16, 64, 256, 1024, 4096), time_limit=120),),
        "host": _HOST,
    },
}

CASE = Case(
    name="churn",
    order=15,
    modes=MODES,
    presets=PRESETS,
    blocks_per_thread=4,
)
