# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Cold against warm: a heap that is new in every round, and one that has served before."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.temperature.axes import MODES, PRESETS

CASE = Case(
    name="temperature",
    order=5,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("temperature"),
    baselines=("floor",),  # of a warm heap, which is measured as throughput is
)
