# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Exhaustion: as many requests at once as the heap would hold if nothing of it were lost."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.exhaustion.axes import MODES, PRESETS

CASE = Case(
    name="exhaustion",
    order=7,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("exhaustion"),
    axes=("size", "heap"),
    blocks_per_thread=0,
)
