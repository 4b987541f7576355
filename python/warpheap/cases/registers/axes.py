# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the registers case runs over: each allocator once."""

from warpheap.cases.base import MIB, Axes, Preset

MODES = {"kernel": "a kernel of one malloc, and one of one free"}

_ONE = (Axes(("kernel",), heaps=(MIB,), iterations=1, most_iterations=1, warmup=0, time_limit=60),)
_BOTH = {"cuda": _ONE, "host": _ONE}

PRESETS: dict[str, Preset] = {"quick": _BOTH, "default": _BOTH, "paper": _BOTH, "full": _BOTH}
