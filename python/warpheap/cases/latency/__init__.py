# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Latency: how many clock cycles a thread's own malloc and free take, on the device's clock."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.latency.axes import MODES, PRESETS

CASE = Case(
    name="latency",
    order=2,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("latency"),
)
