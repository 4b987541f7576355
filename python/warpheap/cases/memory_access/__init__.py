# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Memory access: writing and reading blocks through their pointers, against a packed array."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.memory_access.axes import MODES, PRESETS

CASE = Case(
    name="memory_access",
    order=12,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("memory_access"),
    baselines=("packed_write", "packed_read"),
)
