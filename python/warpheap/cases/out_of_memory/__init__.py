# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Out of memory: the share of the heap that can be handed out, and how long its last tenth takes."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.out_of_memory.axes import MODES, PRESETS

CASE = Case(
    name="out_of_memory",
    order=7,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("out_of_memory"),
    blocks_per_thread=0,
)
