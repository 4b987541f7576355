# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Scaling: throughput from a single thread to a million."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.scaling.axes import MODES, PRESETS

CASE = Case(
    name="scaling",
    order=3,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("scaling"),
    baselines=("floor",),
)
