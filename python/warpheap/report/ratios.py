# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios to the best as text and as strength of colour."""

import math

from warpheap.report.contest import NOTHING
from warpheap.report.numbers import TIMES

# From this ratio on a cell has no colour.
_PALE = 30


def ratio_text(value: float) -> str:
    """Three digits, fewer for what is far from 1."""
    if value >= 0.999 * NOTHING:
        return f"≥1k{TIMES}"
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}{TIMES}"


def text_on(shade: float) -> str:
    """Which colour text needs on a cell of that much colour: strong, some, or as elsewhere."""
    return "strong" if shade > 0.75 else "some" if shade > 0.12 else ""


def heat_of(value: float) -> float:
    """All of the colour at 1 and below, less with the logarithm of the ratio, none far from it."""
    far = math.log(max(value, 1.0)) / math.log(_PALE)
    # Steeper near 1, where most ratios are.
    return round(max(1 - math.pow(far, 0.6), 0.0), 3)
