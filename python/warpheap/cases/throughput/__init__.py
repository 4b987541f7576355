# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Throughput: a kernel in which every thread allocates, then one in which every thread frees."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.throughput.axes import MODES, PRESETS

CASE = Case(
    name="throughput",
    order=1,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("throughput"),
    baselines=("floor",),
)
