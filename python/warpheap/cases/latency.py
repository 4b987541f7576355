# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Latency: how many clock cycles a thread's own malloc and free take, on the device's clock.

Its samples are all requests of all rounds; rounds go on until the medians of the rounds agree.
"""

from dataclasses import replace

from warpheap.cases.base import MIB, Axes, Case, Preset, doubling
from warpheap.cases.throughput import MODES as MODES

_FEW = Axes(iterations=6, most_iterations=20)
_PAPER = Axes(iterations=100, time_limit=120)
_HOST = Axes(("thread",), (1024,), (64,), (64 * MIB,), iterations=2, warmup=1, time_limit=20)

PRESETS: dict[str, Preset] = {
    "quick": {"cuda": (replace(_FEW, time_limit=10).over(["thread"], [100_000], [16, 1024]),)},
    "default": {"cuda": (_FEW.over(list(MODES), [10_000, 100_000], [16, 256, 4096]),), "host": (_HOST,)},
    "paper": {"cuda": (_PAPER.over(["thread"], [10_000, 100_000], doubling(4, 8192)),)},
    "full": {"cuda": (_PAPER.over(list(MODES), [10_000, 100_000], doubling(4, 8192)),), "host": (_HOST,)},
}

CASE = Case(
    name="latency",
    order=2,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
)
