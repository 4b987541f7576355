# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Traces: a recorded stream of an application's mallocs and frees, played to every allocator."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.trace.axes import MODES, PRESETS

CASE = Case(
    name="trace",
    order=14,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("trace"),
    axes=("threads", "heap"),
    blocks_per_thread=0,
)
