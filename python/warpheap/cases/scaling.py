# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Scaling: throughput from a single thread to a million."""

from dataclasses import replace

from warpheap.cases.base import MIB, Axes, Case, Preset, doubling

MODES = {
    "thread": "each thread asks for the same size",
    "warp": "one lane of each warp asks",
}

_MILLION = 1 << 20
_PAPER = Axes(tuple(MODES), doubling(1, _MILLION), doubling(4, 8192), iterations=100, time_limit=300)
_HOST = Axes(("thread",), (1, 64, 4096), (64,), (64 * MIB,), iterations=2, warmup=1, time_limit=20)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (Axes(("thread",), (1, 256, 4096, 65_536, _MILLION), (64,), most_iterations=60, time_limit=10),),
    },
    "default": {
        "cuda": (
            Axes(("thread",), tuple(4**power for power in range(11)), (64, 1024)),
            Axes(("warp",), tuple(16**power for power in range(5)), (64,)),
        ),
        "host": (_HOST,),
    },
    "paper": {"cuda": (_PAPER,)},
    "full": {"cuda": (replace(_PAPER, most_iterations=1000),), "host": (_HOST,)},
}

CASE = Case(
    name="scaling",
    order=3,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
    baselines=("floor",),
)
