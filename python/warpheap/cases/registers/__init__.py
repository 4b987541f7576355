# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Registers: what malloc and free cost a kernel that calls them, in registers, stack and code.

Read from programs that were compiled for it and are never run, so it needs no GPU.

It runs over each allocator once.
"""

from warpheap.cases.base import MIB, Axes, Case, Preset
from warpheap.cases.registers.footprints import find_footprints

MODES = {"kernel": "a kernel of one malloc, and one of one free"}

_ONE = (Axes(("kernel",), heaps=(MIB,), iterations=1, most_iterations=1, warmup=0, time_limit=60),)
_BOTH = {"cuda": _ONE, "host": _ONE}

PRESETS: dict[str, Preset] = {"quick": _BOTH, "default": _BOTH, "paper": _BOTH, "full": _BOTH}

CASE = Case(
    name="registers",
    order=9,
    modes=MODES,
    presets=PRESETS,
    axes=(),
    blocks_per_thread=0,
    runner=find_footprints,
)
