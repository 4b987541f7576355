# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Growth: half of what each round asks for is freed again, until the heap is full."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.growth.axes import MODES, PRESETS

CASE = Case(
    name="growth",
    order=8,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("growth"),
    blocks_per_thread=0,
)
