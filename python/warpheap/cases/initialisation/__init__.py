# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Initialisation: how long it takes to make a heap and to reset it."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.initialisation.axes import MODES, PRESETS

CASE = Case(
    name="initialisation",
    order=10,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("initialisation"),
    axes=("heap",),
    blocks_per_thread=0,
)
