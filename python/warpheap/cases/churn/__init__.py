# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Churn: threads hold a few blocks each and malloc and free at random, many times, within one kernel."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.churn.axes import MODES, PRESETS

CASE = Case(
    name="churn",
    order=13,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("churn"),
    blocks_per_thread=4,
)
