# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Orders of frees: what it costs to free in another order, from another block, or in the same kernel."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.orders.axes import MODES, PRESETS

CASE = Case(
    name="orders",
    order=4,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("orders"),
)
