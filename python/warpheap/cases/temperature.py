# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Cold against warm: a heap that is new in every round, and one that has served before."""

from warpheap.cases.base import MIB, Axes, Case, Preset

MODES = {
    "cold": "a new or reset heap before each round",
    "warm": "one heap, which has served before",
}

_ALL = tuple(MODES)
_HOST = Axes(_ALL, (1024,), (64,), (64 * MIB,), iterations=2, warmup=1, time_limit=20)

# In the preset `paper`, too: the paper has no case of a program that changes.
_FEW = (Axes(_ALL, (100_000,), (64,), most_iterations=40, time_limit=10),)

PRESETS: dict[str, Preset] = {
    "quick": {"cuda": _FEW},
    "default": {"cuda": (Axes(_ALL, (10_000, 100_000), (64, 1024)),), "host": (_HOST,)},
    "paper": {"cuda": _FEW},
    "full": {
        "cuda": (
            Axes(
                _ALL,
                (10_000, 100_000, 1_000_000),
                (16, 64, 256, 1024, 4096, 8192),
                iterations=100,
                most_iterations=200,
                time_limit=120,
            ),
        ),
        "host": (_HOST,),
    },
}

CASE = Case(
    name="temperature",
    order=5,
    modes=MODES,
    presets=PRESETS,
    baselines=("floor",),  # of a warm heap, which is measured as throughput is
)
