# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Registers: what malloc and free cost a kernel that calls them, in registers, stack and code.

Read from programs that were compiled for it and are never run, so it needs no GPU.
"""

from warpheap.cases.base import Case, chapter
from warpheap.cases.registers.axes import MODES, PRESETS
from warpheap.cases.registers.footprints import find_footprints

CASE = Case(
    name="registers",
    order=9,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("registers"),
    axes=(),
    blocks_per_thread=0,
    runner=find_footprints,
)
