# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Fragmentation: how far apart the blocks of a round lie, and those of all rounds so far."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.fragmentation.axes import MODES, PRESETS

CASE = Case(
    name="fragmentation",
    order=6,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("fragmentation"),
)
